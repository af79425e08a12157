"""Who may keep an answer? Nobody between, and no browser beyond its window, unless a view says otherwise."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from planner.web.middleware.refusals import is_api

PAGE, CALL = "private, no-store", "private, no-cache"
"""A script may keep what it asks about again: its answers have tags."""


class PrivateAnswers:
    """Puts Cache-Control on every answer without one; static files are answered before."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        response = self._get_response(request)
        response.headers.setdefault("Cache-Control", CALL if is_api(request) else PAGE)
        return response
