"""Which tokens let scripts work in my name, where am I a member, and who invites me?"""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from planner.accounts.models import Role
from planner.accounts.selectors.workspaces import memberships, offers, tokens
from planner.accounts.services.invitations import invitation_decline, offer_accept
from planner.accounts.services.tokens import LONGEST_DAYS, token_make, token_revoke
from planner.errors import Invalid
from planner.web.views.pages import caller
from planner.web.views.workspace import present_membership

DAYS = (7, 30, 90, 365)
SCOPES = ((Role.VIEWER, "read"), (Role.EDITOR, "read and edit"), (Role.ADMIN, "same as your role"))


@login_required
@require_GET
def account(request: HttpRequest) -> HttpResponse:
    """Show the tokens of the caller."""
    return render(request, "accounts/account.html", _context(request))


@login_required
@require_POST
def token_create(request: HttpRequest) -> HttpResponse:
    """Make a token and show it, this once."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return render(
            request,
            "accounts/account.html",
            {**_context(request), "form": form},
            status=HTTPStatus.UNPROCESSABLE_ENTITY,
        )
    typed = form.cleaned_data
    _, text = token_make(
        user=caller(request),
        name=typed["name"],
        scope=Role(typed["scope"] or Role.VIEWER),
        days=typed["days"] or min(DAYS),
    )
    return render(request, "accounts/account.html", {**_context(request), "new": text})


class TokenForm(forms.Form):
    """What a token is called, what it may do and for how long; unless said, to read, for the fewest days."""

    name = forms.CharField(max_length=100, required=False)
    scope = forms.ChoiceField(choices=SCOPES, required=False)
    days = forms.IntegerField(min_value=1, max_value=LONGEST_DAYS, required=False)


@login_required
@require_POST
def token_drop(request: HttpRequest, token_key: str) -> HttpResponse:
    """Take a token of the caller away."""
    user = caller(request)
    token_revoke(user=user, details=get_object_or_404(tokens(user), token__token_key=token_key))
    return redirect("planner:account")


@login_required
@require_POST
def offer(request: HttpRequest, invitation_id: UUID) -> HttpResponse:
    """Accept an invitation that names the caller, or decline it."""
    user = caller(request)
    invitation = get_object_or_404(offers(user), pk=invitation_id)
    if request.POST.get("do") == "accept":
        try:
            offer_accept(invitation=invitation, user=user)
            messages.success(request, f"You are a member of {invitation.workspace} now.")
        except Invalid as error:
            for problem in error.problems:
                messages.warning(request, problem.in_full)
    else:
        invitation_decline(invitation=invitation, user=user)
    return redirect("planner:account")


def _context(request: HttpRequest) -> dict[str, Any]:
    user = caller(request)
    mine = list(memberships(user))
    return {
        "tokens": tokens(user),
        "memberships": mine,
        "offers": offers(user),
        "here": present_membership(request, mine),
        "scopes": SCOPES,
        "days": DAYS,
        "place": "account",
    }
