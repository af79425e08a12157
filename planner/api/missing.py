"""What does an address under /api/v1/ answer that leads nowhere?"""

from typing import Any

from django.urls import resolve
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
        slashed = f"{request.path}/"
        is_near = not request.path.endswith("/") and resolve(slashed).url_name != "nowhere"
        raise NotFound(f"Not found: the address ends with a slash, {slashed}" if is_near else "Not found.")
