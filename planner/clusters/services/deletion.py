"""Deletion of an object with all that depends on it; shared bytes stay while anything refers to them."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from planner.accounts.models import Event, Role, User, Workspace
from planner.accounts.services.events import event_note
from planner.accounts.services.logins import is_own_password
from planner.accounts.services.members import (
    full_access_require,
    invitations_revoke,
    member_remove,
    role_require,
)
from planner.clusters.models import Cluster, Import, ImportPreview
from planner.clusters.selectors.usage import (
    Deletable,
    dependent_counts,
    experiments_of,
    forecasts_of,
    runs_of,
    scenarios_of,
    snapshots_of,
    sole_admin_of,
)
from planner.errors import Invalid, RoleTooLow
from planner.forecasts.models import Forecast
from planner.rules import row_lock
from planner.runs.models import Outcome, Run
from planner.scenarios.models import Rebase, Scenario
from planner.work.models import Work
from planning.rows import Problem


@transaction.atomic
def thing_delete(*, thing: Deletable, user: User | None) -> dict[str, int]:
    """Delete a run, forecast, scenario, snapshot, cluster or workspace; return how many rows depended on it.

    Running work notices at its next heartbeat that its row is gone, and stops. The workers' sweep deletes
    documents that nothing refers to. Raises RoleTooLow and Gone.
    """
    is_workspace = isinstance(thing, Workspace)
    workspace = _deletion_require(thing, user)
    _lock(thing)
    gone = dependent_counts(thing)
    event_note(
        workspace=None if is_workspace else workspace,
        user=user,
        kind=Event.Kind.WORKSPACE if is_workspace else Event.Kind.SCENARIO,
        action="deleted",
        subject=f"{thing._meta.verbose_name} {thing.pk if isinstance(thing, Work) else thing}",
        before=", ".join(f"{count} {name}" for name, count in gone.items()),
    )
    runs_of(thing).delete()
    forecasts_of(thing).delete()
    experiments_of(thing).delete()
    scenarios_of(thing).delete()
    snapshots_of(thing).delete()
    thing.delete()
    unreferenced_outcomes_delete()
    return gone


def deletion_refusal(*, thing: Deletable, user: User) -> str:
    """Return why the account may not delete an object; empty if it may."""
    try:
        _deletion_require(thing, user)
    except RoleTooLow as refusal:
        return str(refusal)
    return ""


def _deletion_require(thing: Deletable, user: User | None) -> Workspace:
    """Return the workspace of an object; raise RoleTooLow unless the account may delete the object."""
    is_workspace = isinstance(thing, Workspace)
    workspace = thing if isinstance(thing, Workspace) else thing.workspace
    role_require(user=user, workspace=workspace, needed=Role.ADMIN if is_workspace else Role.EDITOR)
    return workspace


def _lock(thing: Deletable) -> None:
    """Let what would refer to an object or to what is deleted with it wait, and find it deleted.

    Rows are locked in the order in which everything else locks them, so that nothing waits in a circle.
    """
    ordered: list[QuerySet[Any]] = [scenarios_of(thing), snapshots_of(thing)]
    if isinstance(thing, Run | Forecast):
        ordered = [Scenario.objects.filter(pk=thing.scenario_id)]
    elif isinstance(thing, Workspace):
        waiting = ImportPreview.objects.filter(workspace=thing), Import.objects.filter(workspace=thing)
        clusters = Cluster.objects.filter(workspace=thing)
        ordered = [*waiting, Rebase.objects.filter(workspace=thing), *ordered, clusters]
    for rows in ordered:
        list(rows.select_for_update(of=("self",)).order_by("pk").values_list("pk"))
    row_lock(thing)


def account_delete(*, user: User, confirmation: str, address: str) -> None:
    """Delete the caller's own account with its tokens, sessions and memberships; what it created stays.

    `confirmation` is its password, or its user name if it has no password. Raises Invalid if it is wrong
    and as `account_deletable_require` does, TooSoon after many wrong passwords.
    """
    account_deletable_require(user=user)
    if user.has_usable_password():
        is_confirmed = is_own_password(user=user, password=confirmation, address=address)
        message, fix = "The password is wrong.", "Enter the password of this account."
    else:
        is_confirmed = confirmation == user.get_username()
        message, fix = "This is not the user name of the account.", f"Enter {user.get_username()}."
    if not is_confirmed:
        raise Invalid([Problem("account.not_confirmed", "error", message, path="confirmation", fix=fix)])
    with transaction.atomic():
        event_note(
            workspace=None,
            user=user,
            kind=Event.Kind.MEMBER,
            action="deleted",
            subject=user.get_username(),
            address=address,
        )
        for membership in user.memberships.select_related("workspace", "user"):
            member_remove(membership=membership, user=user)
        invitations_revoke(invitations=user.invitations_received.all(), user=user)
        user.delete()


def account_deletable_require(*, user: User) -> None:
    """Raise Invalid if a workspace has no other admin, RoleTooLow for a token below scope admin."""
    full_access_require(user=user)
    if alone := sole_admin_of(user):
        names = ", ".join(workspace.name for workspace in alone)
        message = f"You are the only admin of {names}."
        fix = "Make another member admin, or delete the workspace first."
        raise Invalid([Problem("account.sole_admin", "error", message, path="workspaces", fix=fix)])


def unreferenced_outcomes_delete() -> int:
    """Delete the outcomes that no run refers to."""
    return Outcome.objects.filter(runs=None).delete()[1].get("planner.Outcome", 0)
