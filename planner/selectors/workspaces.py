"""What may an account see, and in which role?"""

from typing import TypeVar

from django.db.models import F, QuerySet
from django.utils import timezone

from planner.models import (
    Event,
    Import,
    Invitation,
    Membership,
    Role,
    Run,
    Scenario,
    Snapshot,
    TokenDetails,
    User,
    Workspace,
)

Owned = TypeVar("Owned", Import, Run, Scenario, Snapshot)


def default_workspace() -> Workspace:
    """Return the workspace that the first migration made (1 query)."""
    return Workspace.objects.get(name=Workspace.DEFAULT)


def visible(rows: QuerySet[Owned], user: User) -> QuerySet[Owned]:
    """Return those rows that belong to a workspace of the account, each with its `role` there."""
    mine = rows.filter(workspace__memberships__user=user)
    return mine.annotate(role=F("workspace__memberships__role"))


def memberships(user: User) -> QuerySet[Membership]:
    """Return the workspaces of an account with its role in each, the oldest first (1 query)."""
    return Membership.objects.filter(user=user).select_related("workspace")


def members(workspace: Workspace) -> QuerySet[Membership]:
    """Return who may see a workspace, by name (1 query)."""
    return workspace.memberships.select_related("user").order_by("user__username")


def role_of(user: User, workspace: Workspace) -> Role | None:
    """Return the account's role in a workspace; None when it is not theirs (1 query).

    Somebody who calls with a token of a lower scope has that role only.
    """
    role = workspace.memberships.filter(user=user).values_list("role", flat=True).first()
    return None if role is None else min(Role(role), scope_of(user), key=list(Role).index)


def scope_of(user: User) -> Role:
    """Return what this call may do at most: its token says it, a browser's session has no limit."""
    scope: Role = getattr(user, "token_scope", Role.ADMIN)
    return scope


def workspace_for_new(user: User) -> Workspace | None:
    """Return where what an account brings in belongs: the first workspace that it may edit (1 query)."""
    if not scope_of(user).covers(Role.EDITOR):
        return None
    first = memberships(user).exclude(role=Role.VIEWER).first()
    return first.workspace if first else None


def tokens(user: User) -> QuerySet[TokenDetails]:
    """Return the tokens of an account, newest first (1 query)."""
    mine = TokenDetails.objects.filter(token__user=user).select_related("token")
    return mine.order_by("-token__created")


def open_invitations(workspace: Workspace) -> QuerySet[Invitation]:
    """Return the invitations that nobody accepted yet, newest first (1 query)."""
    still = Invitation.objects.filter(workspace=workspace, accepted_by=None, expires__gt=timezone.now())
    return still.select_related("invited_by")


def events(workspace: Workspace) -> QuerySet[Event]:
    """Return what happened to members, tokens, invitations and links, newest first (1 query)."""
    return Event.objects.filter(workspace=workspace)
