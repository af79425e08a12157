"""Responses of pages: whole, or the one part that htmx requests."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from planner.accounts.models import Role, User
from planning.rows import Problem

Key = TypeVar("Key")
Found = TypeVar("Found")

INVALID = 422
"""The status of a page that shows rejected values with their problems."""


def is_htmx(request: HttpRequest) -> bool:
    """Return whether htmx requests a part of a page."""
    return bool(request.htmx)  # type: ignore[attr-defined]  # set by django_htmx's middleware


def fragment_requested(request: HttpRequest) -> str | None:
    """Return the id of the element that htmx will replace, or None if a whole page is requested."""
    htmx = request.htmx  # type: ignore[attr-defined]  # set by django_htmx's middleware
    return htmx.target if htmx and not htmx.history_restore_request else None


def page_or_part(
    request: HttpRequest, page: str, parts: Mapping[str, str], context: Mapping[str, Any], status: int = 200
) -> HttpResponse:
    """Render the template of the requested part, otherwise the page, which includes the same template."""
    template = parts.get(fragment_requested(request) or "", page)
    response = render(request, template, dict(context), status=status)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def caller(request: HttpRequest) -> User:
    """Return the user of a page that needs a log-in; a session has all permissions of its account."""
    assert isinstance(request.user, User), "only for views that require a login"
    return request.user.acting(Role.ADMIN)


def found_or_404(request: HttpRequest, get: Callable[[User, Key], Found], key: Key) -> Found:
    """Return the result of a selector, or raise Http404."""
    try:
        return get(caller(request), key)
    except ObjectDoesNotExist:
        raise Http404 from None


def warn(request: HttpRequest, problems: Iterable[Problem]) -> None:
    """Show problems as messages on the next page."""
    for problem in problems:
        messages.warning(request, problem.in_full)


def whole_number(text: str) -> int:
    """Return the number in a text of at most eight digits, 0 for any other text.

    >>> whole_number("12"), whole_number("-3"), whole_number("9" * 5000)
    (12, 0, 0)
    """
    return int(text) if text.isdecimal() and len(text) < 9 else 0
