"""The response to unknown addresses under /api/v1/."""

from typing import Any

from django.urls import resolve
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.views import APIView


@extend_schema(exclude=True)
class Nowhere(APIView):
    """Any other address: 404 in the shape of all errors, 401 for anonymous requests."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Answer 404 once the caller is authenticated."""
        super().initial(request, *args, **kwargs)
        slashed = f"{request.path}/"
        is_near = not request.path.endswith("/") and resolve(slashed).url_name != "nowhere"
        raise NotFound(f"Not found: the address ends with a slash, {slashed}" if is_near else "Not found.")
