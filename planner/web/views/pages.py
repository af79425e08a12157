"""Is a whole page asked for, or one part of it?"""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from planner.accounts.models import Role, User


def fragment_asked(request: HttpRequest) -> str | None:
    """Return the id of the element that htmx will replace, or None when a whole page is asked for."""
    htmx = request.htmx  # type: ignore[attr-defined]  # set by django_htmx's middleware
    return htmx.target if htmx and not htmx.history_restore_request else None


def page_or_part(
    request: HttpRequest, page: str, parts: Mapping[str, str], context: Mapping[str, Any], status: int = 200
) -> HttpResponse:
    """Render the template of the asked part, else the page, which includes the same template."""
    template = parts.get(fragment_asked(request) or "", page)
    response = render(request, template, dict(context), status=status)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def caller(request: HttpRequest) -> User:
    """Return who asks, behind ``login_required``; a session may do all that its account may."""
    assert isinstance(request.user, User), "only for views that require a login"
    return request.user.acting(Role.ADMIN)
