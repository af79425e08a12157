"""Which tokens let scripts work in my name?"""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST
from knox.models import AuthToken

from planner.selectors.workspaces import memberships
from planner.views.pages import caller


@login_required
@require_GET
def account(request: HttpRequest) -> HttpResponse:
    """Show the tokens of the caller."""
    return render(request, "planner/account.html", _context(request))


@login_required
@require_POST
def token_create(request: HttpRequest) -> HttpResponse:
    """Make a token and show it, this once."""
    _, token = AuthToken.objects.create(user=request.user)
    return render(request, "planner/account.html", {**_context(request), "new": token})


@login_required
@require_POST
def token_revoke(request: HttpRequest, token_key: str) -> HttpResponse:
    """Take a token of the caller away."""
    _tokens(request).filter(token_key=token_key).delete()
    return redirect("planner:account")


def _context(request: HttpRequest) -> dict[str, Any]:
    return {"tokens": _tokens(request), "memberships": memberships(caller(request)), "place": "account"}


def _tokens(request: HttpRequest):  # type: ignore[no-untyped-def]  # knox brings no types
    return AuthToken.objects.filter(user=request.user).order_by("-created")
