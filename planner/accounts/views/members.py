"""The pages of a workspace's members, invitations and history."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST

from planner.accounts.forms import InvitationForm, RoleForm, WorkspaceForm
from planner.accounts.models import Event, Membership, Role
from planner.accounts.selectors.workspaces import events, memberships, open_invitations
from planner.accounts.selectors.workspaces import members as members_of
from planner.accounts.services.invitations import invitation_create, invitation_offer, invitation_revoke
from planner.accounts.services.members import member_change, member_remove
from planner.errors import Invalid
from planner.scenarios.selectors.history import workspace_changes
from planner.web.selectors.words import CHANGE_TEXTS, EVENT_TEXTS, holding
from planner.web.views.listing import Listing
from planner.web.views.pages import INVALID, caller, warn
from planner.web.views.workspace import present_membership


@require_GET
def here(request: HttpRequest) -> HttpResponse:
    """Redirect to the members of the browser's current workspace."""
    present = present_membership(request, memberships(caller(request)))
    if present is None:
        raise Http404
    return redirect("planner:members", present.workspace_id)


@require_GET
def members(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    """Show the members, and to admins the open invitations."""
    return members_page(request, _mine(request, workspace_id))


@require_POST
def member(request: HttpRequest, workspace_id: UUID, username: str) -> HttpResponse:
    """Change the role of a member, or remove it."""
    mine = _mine(request, workspace_id)
    found = get_object_or_404(members_of(mine.workspace), user__username=username)
    form = RoleForm(request.POST)
    try:
        if request.POST.get("do") == "remove":
            member_remove(membership=found, user=caller(request))
        elif form.is_valid():
            member_change(membership=found, role=form.cleaned_data["role"], user=caller(request))
        else:
            return members_page(request, mine, problems=form.problems, status=INVALID)
    except Invalid as error:
        warn(request, error.problems)
    if username == caller(request).get_username():
        return redirect("planner:account")
    return redirect("planner:members", workspace_id)


@require_POST
def invite(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    """Invite the named account; without a name create a link and show it, this one time."""
    mine = _mine(request, workspace_id)
    form = InvitationForm(request.POST, auto_id="invite-%s")
    if not form.is_valid():
        return members_page(request, mine, invite=form, status=INVALID)
    username, role = form.cleaned_data["username"], form.cleaned_data["role"]
    if username:
        invitation_offer(workspace=mine.workspace, username=username, role=role, user=caller(request))
        messages.success(
            request,
            f"Invited. If there is an account {username}, it finds the invitation on its page Account.",
        )
        return redirect("planner:members", workspace_id)
    _, secret = invitation_create(workspace=mine.workspace, role=role, user=caller(request))
    address = request.build_absolute_uri(reverse("planner:invitation", args=[secret]))
    return members_page(request, mine, invited=address)


@require_POST
def uninvite(request: HttpRequest, workspace_id: UUID, invitation_id: UUID) -> HttpResponse:
    """Revoke an invitation."""
    mine = _mine(request, workspace_id)
    found = get_object_or_404(open_invitations(mine.workspace), pk=invitation_id)
    invitation_revoke(invitation=found, user=caller(request))
    return redirect("planner:members", workspace_id)


@require_GET
def history(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    """Show the events that match the filter."""
    mine = _mine(request, workspace_id)
    kind, words = request.GET.get("kind", ""), request.GET.get("words", "").strip()
    found, changed = events(mine.workspace), workspace_changes(mine.workspace)
    if kind in Event.Kind.values:
        found = found.filter(kind=kind)
    found, changed = holding(found, EVENT_TEXTS, words), holding(changed, CHANGE_TEXTS, words)
    context = {
        "mine": mine,
        "events": Listing(found, name="page", params=request.GET),
        "changes": Listing(changed, name="changes", params=request.GET),
        "events_query": _query(kind=kind, words=words),
        "changes_query": _query(words=words),
        "kinds": Event.Kind.choices,
        "kind": kind,
        "words": words,
        "place": "account",
    }
    return render(request, "accounts/history.html", context)


def _query(**filters: str) -> str:
    return urlencode({name: value for name, value in filters.items() if value})


def members_page(request: HttpRequest, mine: Membership, *, status: int = 200, **more: Any) -> HttpResponse:
    """Return the page of the members of a workspace; `more` has the context of a rejected form."""
    context = {
        "mine": mine,
        "members": members_of(mine.workspace),
        "invitations": open_invitations(mine.workspace),
        "invite": InvitationForm(auto_id="invite-%s"),
        "workspace": WorkspaceForm(initial={"name": mine.workspace.name}, auto_id="workspace-%s"),
        "roles": Role.choices,
        "place": "members",
        **more,
    }
    return render(request, "accounts/members.html", context, status=status)


def _mine(request: HttpRequest, workspace_id: UUID) -> Membership:
    """Return the caller's own membership of the requested workspace."""
    return get_object_or_404(memberships(caller(request)), workspace=workspace_id)
