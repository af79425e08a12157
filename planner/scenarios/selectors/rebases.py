"""Rebases: the snapshots to rebase onto, the result of one, and those that workers make."""

from uuid import UUID

from django.db.models import QuerySet

from planner.accounts.models import User
from planner.accounts.selectors.workspaces import visible
from planner.clusters.models import Blob, Snapshot
from planner.clusters.selectors.contents import content_if_needed
from planner.clusters.selectors.snapshots import snapshots
from planner.scenarios.models import Rebase, Scenario
from planner.scenarios.selectors.scenarios import state_of
from planning.rebase import Rebased, rebased
from planning.rebase.conflicts import Choices, Side
from planning.rows import Problem

AT_ONCE_BYTES = 2_000_000
"""The most text of snapshots that is unpacked within a request."""


def snapshots_to_carry_over_to(user: User, scenario: Scenario) -> QuerySet[Snapshot]:
    """Return the other snapshots of a scenario's cluster that an account may see, newest first (1 query).

    If the snapshot has no cluster, all other snapshots of the workspace are offered.
    """
    others = snapshots(user).filter(workspace=scenario.workspace_id).exclude(pk=scenario.snapshot_id)
    cluster = scenario.snapshot.cluster_id
    return others.filter(cluster=cluster) if cluster else others


def rebase_of(scenario: Scenario, snapshot: Snapshot, choices: Choices) -> Rebased:
    """Return the state of a scenario rebased onto another snapshot (4 queries at most)."""
    sides = [Side(content_if_needed(one), one.scheduler_conf) for one in (scenario.snapshot, snapshot)]
    return rebased(sides[0], state_of(scenario), sides[1], choices)


def rebase_takes_long(scenario: Scenario, snapshot: Snapshot) -> bool:
    """Return whether two large snapshots have to be unpacked to compare objects (2 queries)."""
    if not scenario.object_changes.exists():
        return False
    both = Blob.objects.filter(pk__in=(scenario.snapshot.content_id, snapshot.content_id))
    return sum(both.values_list("size", flat=True)) > AT_ONCE_BYTES


def rebases(user: User) -> QuerySet[Rebase]:
    """Return the rebases that an account may see, newest first (1 query)."""
    there = Rebase.objects.filter(scenario__removed=None)
    related = ("workspace", "owner", "scenario", "scenario__snapshot", "snapshot", "branch")
    return visible(there.select_related(*related), user)


def get_rebase(user: User, rebase_id: UUID) -> Rebase:
    """Return a rebase, or raise Rebase.DoesNotExist (1 query)."""
    return rebases(user).get(pk=rebase_id)


def rebases_at_work(scenario: Scenario) -> QuerySet[Rebase]:
    """Return the unfinished rebases of a scenario, newest first (1 query)."""
    return scenario.rebases.exclude(state__in=Rebase.OVER).select_related("snapshot")


def problems_of(rebase: Rebase) -> list[Problem]:
    """Return why a rebase created no branch."""
    return [Problem(**found) for found in rebase.problems]
