"""Cache-Control of responses: private, unless a view says otherwise."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from planner.web.middleware.refusals import is_api

PAGE, CALL = "private, no-store", "private, no-cache"
"""API clients may cache and revalidate: responses have ETags."""


class PrivateAnswers:
    """Sets Cache-Control on every response without one; static files are served before."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle the request."""
        response = self._get_response(request)
        response.headers.setdefault("Cache-Control", CALL if is_api(request) else PAGE)
        return response
