"""Rate limit of writing calls; reading is not limited."""

from typing import TYPE_CHECKING

from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.throttling import UserRateThrottle

if TYPE_CHECKING:
    from rest_framework.views import APIView  # which itself asks the settings for this class


class WritingCalls(UserRateThrottle):
    """The most writing calls of an account in a period, for all of its tokens together."""

    scope = "writes"

    def allow_request(self, request: Request, view: "APIView") -> bool:
        """Return whether the call is within the limit."""
        return request.method in SAFE_METHODS or super().allow_request(request, view)
