"""Limits of request bodies, enforced by the headers before the body is read."""

import gc
import threading
from collections.abc import Callable, Collection
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.template.response import SimpleTemplateResponse
from rest_framework.exceptions import AuthenticationFailed

from planner.accounts.models import Role
from planner.accounts.services.members import workspace_require
from planner.api.authentication import ApiToken
from planner.errors import Busy, RoleTooLow
from planner.web.middleware.refusals import refusal
from planning.forecasts.trace_sources import MOST_BYTES
from planning.importing import MAX_TEXT_BYTES

View = Callable[..., HttpResponse]

LARGE_ROUTES = frozenset({"planner:import", "api:snapshots", "api:bundles"})
"""Views to which members upload whole clusters, as files of a form."""
TRACE_ROUTES = frozenset({"planner:traces", "api:traces"})
"""Views to which members upload traces, as a file of a form."""
FILES = "multipart/form-data"
LARGEST = MAX_TEXT_BYTES + 10 * 2**20
"""The size of a cluster's files with the form around them."""
LARGEST_TRACE = MOST_BYTES + 2**20
"""The size of a trace's file, plain or gzip, with the form around it."""
_LARGEST = {**dict.fromkeys(LARGE_ROUTES, LARGEST), **dict.fromkeys(TRACE_ROUTES, LARGEST_TRACE)}
OF_FIELDS = 2**20
"""Percent signs and ampersands take eighty times their size in memory when they are parsed."""
FILES_AT_ONCE = 2
"""The most file uploads that a process reads at a time; other threads stay free for pages."""
PARSED_AT_ONCE = 1
"""The most bodies that are parsed in memory at a time; a parsed text takes up to a hundred times its size."""
SMALL = 2**16
"""Smaller bodies are cheap, and never wait for others."""
PATIENCE_SECONDS = 1.0


class BodyLimits:
    """Answers 413 to a body that is too large, 411 without a length, and 503 to one upload too many.

    415 to one with a Content-Encoding, whose real size is unknown.
    """

    def __init__(self, get_response: View) -> None:
        self._get_response = get_response
        self._of_files = threading.BoundedSemaphore(FILES_AT_ONCE)
        self._parsed = threading.BoundedSemaphore(PARSED_AT_ONCE)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle the request, or reject its body."""
        if "HTTP_TRANSFER_ENCODING" in request.META:
            return refusal(request, HTTPStatus.LENGTH_REQUIRED, "Send the body with a Content-Length.")
        if _length(request) and request.headers.get("Content-Encoding", "identity").lower() != "identity":
            message = "Send the body without a Content-Encoding; files of a form may be compressed by gzip."
            return refusal(request, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message)
        if _length(request) <= SMALL:
            return self._get_response(request)
        free = self._of_files if request.content_type == FILES else self._parsed
        if not free.acquire(timeout=PATIENCE_SECONDS):
            return _busy(request, "The server is reading other large requests. Try again in a few seconds.")
        try:
            response = self._get_response(request)
            too_large = response.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            return response if too_large else _forgotten(response)  # what was refused was never parsed
        finally:
            free.release()

    def process_view(
        self, request: HttpRequest, view: View, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        """Reject a body that this caller may not send to this view."""
        limit = _limit(request)
        if _length(request) <= limit:
            return None
        message = f"The body is larger than {limit / 2**20:g} MiB, which is the most that you may send here."
        if _is_of(LARGE_ROUTES, request) and request.content_type != FILES:
            message += " Send a cluster as files (multipart/form-data)."
        if _is_of(TRACE_ROUTES, request):
            message += (
                " Send a trace as a file, plain or compressed by gzip (multipart/form-data)."
                if request.content_type != FILES
                else " Cut the trace to the days that you need."
            )
        return refusal(request, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer for a service that is busy, and for a client that stopped sending."""
        if isinstance(exception, UnreadablePostError):
            return refusal(request, HTTPStatus.REQUEST_TIMEOUT, "The body ends too early.")
        return _busy(request, str(exception)) if isinstance(exception, Busy) else None


def _forgotten(response: HttpResponse) -> HttpResponse:
    """Return a response that holds no data of its request, to free the memory for the next large body."""
    if isinstance(response, SimpleTemplateResponse) and response.is_rendered:
        # They refer to the view, its request, and all that was parsed; pickled responses drop them, too.
        for name in ("renderer_context", *response.rendering_attrs):
            vars(response).pop(name, None)
    gc.collect()
    return response


def _busy(request: HttpRequest, message: str) -> HttpResponse:
    response = refusal(request, HTTPStatus.SERVICE_UNAVAILABLE, message)
    response["Retry-After"] = "5"
    return response


def _limit(request: HttpRequest) -> int:
    kind = request.content_type
    if kind == "application/x-www-form-urlencoded":
        return OF_FIELDS
    small = int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    if kind != FILES or _length(request) <= small:
        return small
    match = request.resolver_match
    large = _LARGEST.get(match.view_name, small) if match is not None else small
    return large if large > small and _may_import(request) else small


def _is_of(routes: Collection[str], request: HttpRequest) -> bool:
    match = request.resolver_match
    return match is not None and match.view_name in routes


def _may_import(request: HttpRequest) -> bool:
    """Return whether the caller, by session or token, may import clusters at all."""
    user: Any = request.user
    try:
        if (by_token := ApiToken().authenticate(request)) is not None:
            user = by_token[0]
        if isinstance(user, AnonymousUser):
            return False
        workspace_require(user=user if by_token else user.acting(Role.ADMIN))
    except (AuthenticationFailed, RoleTooLow):
        return False
    return True


def _length(request: HttpRequest) -> int:
    """Return the declared length of the body; the web server rejects other values."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isdecimal() else LARGEST + 1
