"""What does an address under /api/v1/ answer that leads nowhere?"""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.views import APIView


@extend_schema(exclude=True)
class Nowhere(APIView):
    """Every other address: 404 in the shape of all failures, 401 for a stranger."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse once the caller is known."""
        super().initial(request, *args, **kwargs)
        raise NotFound("Not found.")
