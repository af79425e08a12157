"""Error responses outside of views: JSON for API clients, a page for browsers."""

from collections.abc import Sequence
from dataclasses import asdict
from http import HTTPStatus

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views import defaults

from planner.api.errors import error_body
from planning.rows import Problem

CODES = {
    HTTPStatus.BAD_REQUEST: "parse_error",
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.FORBIDDEN: "permission_denied",
    HTTPStatus.REQUEST_TIMEOUT: "incomplete",
    HTTPStatus.LENGTH_REQUIRED: "length_required",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "payload_too_large",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "unsupported_media_type",
    HTTPStatus.INTERNAL_SERVER_ERROR: "internal_error",
    HTTPStatus.SERVICE_UNAVAILABLE: "busy",
    HTTPStatus.INSUFFICIENT_STORAGE: "insufficient_storage",
}
UNREADABLE = "This request cannot be read. Nothing was changed."
BROKEN = "Internal error; it has been logged."
PASTED = (
    "The text is too large to paste. Nothing was changed. Save it to a file and upload that, "
    "compressed with gzip if you like."
)


def refusal(
    request: HttpRequest, status: HTTPStatus, message: str, problems: Sequence[Problem] = ()
) -> HttpResponse:
    """Return an error response for the API, which also lists the problems, or for a browser."""
    if is_api(request):
        return JsonResponse(error_body(CODES[status], message, map(asdict, problems)), status=status)
    return render(request, "refused.html", {"status": status, "message": message}, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that cannot be parsed."""
    if isinstance(exception, RequestDataTooBig):
        return refusal(request, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, PASTED)
    if is_api(request):
        return refusal(request, HTTPStatus.BAD_REQUEST, UNREADABLE)
    return defaults.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request for an unknown address."""
    if is_api(request):
        return refusal(request, HTTPStatus.NOT_FOUND, "Not found.")
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer after an internal error, which Django has logged."""
    if is_api(request):
        return refusal(request, HTTPStatus.INTERNAL_SERVER_ERROR, BROKEN)
    return defaults.server_error(request)


def is_api(request: HttpRequest) -> bool:
    """Return whether the request is an API call."""
    return request.path_info.startswith("/api/")
