"""Workspaces, members and their roles, and the filter of rows by membership."""

from typing import TypeVar

from django.db.models import F, QuerySet
from django.utils import timezone

from planner.accounts.models import Event, Invitation, Membership, Role, TokenDetails, User, Workspace
from planner.clusters.models import Cluster, Import, Snapshot
from planner.experiments.models import Experiment
from planner.forecasts.models import Forecast, WorkloadTrace
from planner.runs.models import Run
from planner.scenarios.models import Rebase, Scenario

Owned = TypeVar(
    "Owned", Cluster, Experiment, Forecast, Import, Rebase, Run, Scenario, Snapshot, WorkloadTrace
)


def default_workspace() -> Workspace:
    """Return the oldest workspace, which a migration created, whatever its name is now (1 query)."""
    return Workspace.objects.earliest("created")


def visible(rows: QuerySet[Owned], user: User) -> QuerySet[Owned]:
    """Return the rows in workspaces of the account, each with the account's `role` there."""
    mine = rows.filter(workspace__memberships__user=user)
    return mine.annotate(role=F("workspace__memberships__role"))


def memberships(user: User) -> QuerySet[Membership]:
    """Return the workspaces of an account with its role in each, the oldest first (1 query)."""
    return Membership.objects.filter(user=user).select_related("workspace")


def members(workspace: Workspace) -> QuerySet[Membership]:
    """Return the members of a workspace, by name (1 query)."""
    return workspace.memberships.select_related("user").order_by("user__username")


def role_held(user: User, workspace: Workspace) -> Role | None:
    """Return an account's role in a workspace, whatever its token; None for non-members (1 query)."""
    role = workspace.memberships.filter(user=user).values_list("role", flat=True).first()
    return None if role is None else Role(role)


def editable(user: User) -> QuerySet[Membership]:
    """Return the caller's memberships of workspaces that it may edit, the oldest first (1 query)."""
    mine = memberships(user).exclude(role=Role.VIEWER)
    return mine if user.limit.covers(Role.EDITOR) else mine.none()


def tokens(user: User) -> QuerySet[TokenDetails]:
    """Return the tokens of an account, newest first (1 query)."""
    mine = TokenDetails.objects.filter(token__user=user).select_related("token")
    return mine.order_by("-token__created")


def open_invitations(workspace: Workspace) -> QuerySet[Invitation]:
    """Return the open invitations to a workspace, newest first (1 query)."""
    return _open().filter(workspace=workspace)


def offers(user: User) -> QuerySet[Invitation]:
    """Return the open invitations that name an account, newest first (1 query)."""
    return _open().filter(invitee=user)


def _open() -> QuerySet[Invitation]:
    still = Invitation.objects.filter(accepted_by=None, expires__gt=timezone.now())
    return still.select_related("workspace", "invited_by")


def events(workspace: Workspace) -> QuerySet[Event]:
    """Return the audit of a workspace, newest first (1 query)."""
    return Event.objects.filter(workspace=workspace)
