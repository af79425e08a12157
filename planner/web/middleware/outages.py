"""Responses while the database is unavailable or the disk is full."""

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse

from planner.api.errors import error_body
from planner.errors import QuotaExceeded, is_outage
from planner.web.middleware.refusals import CODES, is_api, refusal

logger = logging.getLogger(__name__)

RETRY_SECONDS = 10
_DISK_FULL = ("disk is full", "no space left", "could not extend file")
"""Error messages of SQLite and PostgreSQL about a full disk."""


class Outages:
    """Answers 503 while the database is unavailable, 507 while the disk is full, with one line in the log."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle the request."""
        return self._get_response(request)

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponse | None:
        """Load the session's user here, where an unavailable database can still be handled."""
        if settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return None
        try:
            _ = request.user.is_authenticated
        except (OperationalError, InterfaceError) as error:
            return outage(request, error)
        return None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer for a view that failed because of an outage."""
        return outage(request, exception)


def outage(request: HttpRequest, error: Exception) -> HttpResponse | None:
    """Return the response to an outage, None for any other error."""
    if not is_outage(error):
        return None
    if isinstance(error, QuotaExceeded):
        problem = error.problem
        return refusal(request, HTTPStatus.INSUFFICIENT_STORAGE, problem.in_full, [problem])
    logger.error("%s %s: %s", request.method, request.path, str(error).partition("\n")[0])
    if isinstance(error, OSError) or any(words in str(error).lower() for words in _DISK_FULL):
        status, message = HTTPStatus.INSUFFICIENT_STORAGE, "The server's disk is full. Nothing was saved."
    elif "deadlock" in str(error).lower():
        message = "Another request changes the same objects. Nothing was saved."
        status = HTTPStatus.SERVICE_UNAVAILABLE
    else:
        status, message = HTTPStatus.SERVICE_UNAVAILABLE, "The database does not answer. Nothing was saved."
    return _plain(request, status, f"{message} Try again in a few seconds.")


def _plain(request: HttpRequest, status: HTTPStatus, message: str) -> HttpResponse:
    """Return a response without reading the database, as a page would."""
    headers = {"Retry-After": str(RETRY_SECONDS)}
    if is_api(request):
        return JsonResponse(error_body(CODES[status], message), status=status, headers=headers)
    return HttpResponse(f"{message}\n", content_type="text/plain", status=status, headers=headers)
