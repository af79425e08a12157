"""How often may an account write? Reading is free; whoever writes in a loop without end has to wait."""

from typing import TYPE_CHECKING

from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.throttling import UserRateThrottle

if TYPE_CHECKING:
    from rest_framework.views import APIView  # which itself asks the settings for this class


class WritingCalls(UserRateThrottle):
    """At most so many writing calls of an account in a time, whichever tokens it uses."""

    scope = "writes"

    def allow_request(self, request: Request, view: "APIView") -> bool:
        """Say whether this call is one too many."""
        return request.method in SAFE_METHODS or super().allow_request(request, view)
