"""How large a body may this request send? Decided by its headers, before anything reads it."""

import gc
import threading
from collections.abc import Callable
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
from planning.importing import MAX_TEXT_BYTES

View = Callable[..., HttpResponse]

LARGE_ROUTES = frozenset({"planner:import", "api:snapshots", "api:bundles"})
"""Where members send whole clusters, as files of a form."""
FILES = "multipart/form-data"
LARGEST = MAX_TEXT_BYTES + 10 * 2**20
"""Files of a cluster, and the form around them."""
OF_FIELDS = 2**20
"""Percent signs and ampersands cost eighty times their size when they are read."""
FILES_AT_ONCE = 2
"""Bodies of files that one process reads at a time; the other threads are left for pages."""
PARSED_AT_ONCE = 1
"""Bodies that are parsed whole at a time: parsed, a text takes up to a hundred times its size."""
SMALL = 2**16
"""Below that a body is no burden, and never waits for others."""
PATIENCE_SECONDS = 1.0


class BodyLimits:
    """Refuses what is too large with 413, what has no length with 411, and one body too many with 503."""

    def __init__(self, get_response: View) -> None:
        self._get_response = get_response
        self._of_files = threading.BoundedSemaphore(FILES_AT_ONCE)
        self._parsed = threading.BoundedSemaphore(PARSED_AT_ONCE)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request, or say why its body is not read."""
        if "HTTP_TRANSFER_ENCODING" in request.META:
            return refusal(request, HTTPStatus.LENGTH_REQUIRED, "Send the body with a Content-Length.")
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
        """Refuse a body that this caller may not send to this view."""
        limit = _limit(request)
        if _length(request) <= limit:
            return None
        message = f"The body is larger than {limit / 2**20:g} MiB, which is the most that you may send here."
        if _takes_clusters(request) and request.content_type != FILES:
            message += " Send a cluster as files (multipart/form-data)."
        return refusal(request, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer for a service that has no place free, and a client that stopped sending."""
        if isinstance(exception, UnreadablePostError):
            return refusal(request, HTTPStatus.REQUEST_TIMEOUT, "The body did not come to its end.")
        return _busy(request, str(exception)) if isinstance(exception, Busy) else None


def _forgotten(response: HttpResponse) -> HttpResponse:
    """Return an answer that keeps nothing of what was read for it: the next large body takes that memory."""
    if isinstance(response, SimpleTemplateResponse) and response.is_rendered:
        # They lead to the view, to its request, and to all that was parsed; a pickled answer lacks them, too.
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
    return LARGEST if _takes_clusters(request) and _may_import(request) else small


def _takes_clusters(request: HttpRequest) -> bool:
    match = request.resolver_match
    return match is not None and match.view_name in LARGE_ROUTES


def _may_import(request: HttpRequest) -> bool:
    """May the caller, by session or token, bring in a cluster at all?"""
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
    """Return how long a request says that its body is; the server before us takes no other words."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isdecimal() else LARGEST + 1
