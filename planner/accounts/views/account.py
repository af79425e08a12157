"""The page of the caller's account: tokens, memberships and invitations."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from planner.accounts.forms import DAYS, TokenForm, WorkspaceForm
from planner.accounts.selectors.workspaces import memberships, offers, tokens
from planner.accounts.services.invitations import invitation_decline, offer_accept
from planner.accounts.services.tokens import token_make, token_revoke
from planner.errors import Invalid
from planner.web.views.pages import INVALID, caller, warn
from planner.web.views.workspace import present_membership


@require_GET
def account(request: HttpRequest) -> HttpResponse:
    """Show the tokens of the caller."""
    return account_page(request)


@require_POST
def token_create(request: HttpRequest) -> HttpResponse:
    """Create a token and show it, this one time."""
    form = TokenForm(request.POST, auto_id="token-%s")
    if not form.is_valid():
        return account_page(request, form=form, status=INVALID)
    typed = form.cleaned_data
    _, text = token_make(
        user=caller(request),
        name=typed["name"],
        scope=typed["scope"],
        days=typed["days"] or min(DAYS),
    )
    return account_page(request, new=text)


@require_POST
def token_drop(request: HttpRequest, token_key: str) -> HttpResponse:
    """Revoke a token of the caller."""
    user = caller(request)
    token_revoke(user=user, details=get_object_or_404(tokens(user), token__token_key=token_key))
    return redirect("planner:account")


@require_POST
def offer(request: HttpRequest, invitation_id: UUID) -> HttpResponse:
    """Accept an invitation that names the caller, or decline it."""
    user = caller(request)
    invitation = get_object_or_404(offers(user), pk=invitation_id)
    if request.POST.get("do") == "accept":
        try:
            offer_accept(invitation=invitation, user=user)
            messages.success(request, f"You are now a member of {invitation.workspace}.")
        except Invalid as error:
            warn(request, error.problems)
    else:
        invitation_decline(invitation=invitation, user=user)
    return redirect("planner:account")


def account_page(request: HttpRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    """Return the page of the account; `more` has the context of a rejected form."""
    user = caller(request)
    mine = list(memberships(user))
    context = {
        "tokens": tokens(user),
        "memberships": mine,
        "offers": offers(user),
        "here": present_membership(request, mine),
        "form": TokenForm(auto_id="token-%s"),
        "workspace": WorkspaceForm(auto_id="workspace-%s"),
        "place": "account",
        **more,
    }
    return render(request, "accounts/account.html", context, status=status)
