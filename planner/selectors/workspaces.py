"""What may an account see, and in which role?"""

from typing import TypeVar

from django.contrib.auth.models import User
from django.db.models import F, QuerySet

from planner.models import Membership, Role, Run, Scenario, Snapshot, Workspace

Owned = TypeVar("Owned", Run, Scenario, Snapshot)


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
    """Return the account's role in a workspace; None when it is not theirs (1 query)."""
    role = workspace.memberships.filter(user=user).values_list("role", flat=True).first()
    return None if role is None else Role(role)


def workspace_for_new(user: User) -> Workspace | None:
    """Return where what an account brings in belongs: the first workspace that it may edit (1 query)."""
    first = memberships(user).exclude(role=Role.VIEWER).first()
    return first.workspace if first else None
