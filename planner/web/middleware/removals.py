"""Responses to requests about what another one removes at the same moment."""

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse

from planner.errors import gone_of
from planner.web.middleware.refusals import refusal


class Removals:
    """Answers 404 with the reason, as the next request about it is answered; API calls do so themselves."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle the request."""
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer for a view that found an object gone."""
        gone = gone_of(exception)
        return None if gone is None else refusal(request, HTTPStatus.NOT_FOUND, str(gone))
