"""Scenarios and snapshots; lists are querysets, to filter and to page."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import QuerySet

from planner.accounts.models import User, Workspace
from planner.accounts.selectors.workspaces import visible
from planner.clusters.models import Cluster, Snapshot
from planner.scenarios.models import Change, Scenario
from planning.queues import QueueFields
from planning.rows import QueueRow, hangs_below, tree_order

LAST_CHANGES = 10


def clusters(user: User) -> QuerySet[Cluster]:
    """Return the clusters that an account may see, by name (1 query)."""
    return visible(Cluster.objects.all(), user)


def snapshots(user: User) -> QuerySet[Snapshot]:
    """Return the snapshots that an account may see, newest first, without their content."""
    kept = Snapshot.objects.select_related("workspace", "cluster", "owner").defer("queues")
    return visible(kept, user)


def snapshots_to_carry_over_to(user: User, scenario: Scenario) -> QuerySet[Snapshot]:
    """Return the other snapshots of a scenario's cluster that an account may see, newest first (1 query).

    If the snapshot has no cluster, all other snapshots of the workspace are offered.
    """
    others = snapshots(user).filter(workspace=scenario.workspace_id).exclude(pk=scenario.snapshot_id)
    cluster = scenario.snapshot.cluster_id
    return others.filter(cluster=cluster) if cluster else others


def scenarios(user: User) -> QuerySet[Scenario]:
    """Return the scenarios that an account may see, last changed first, each with its snapshot (1 query)."""
    present = Scenario.objects.filter(removed=None)
    related = present.select_related("workspace", "snapshot", "owner", "parent")
    return visible(related.defer("snapshot__queues"), user)


def get_scenario(user: User, scenario_id: UUID) -> Scenario:
    """Return a scenario, or raise Scenario.DoesNotExist (1 query)."""
    return scenarios(user).get(pk=scenario_id)


def queue_rows(stored: Iterable[QueueFields]) -> list[QueueRow]:
    """Return the queues of a scenario as a tree, parents first."""
    queues = {queue.name: queue for queue in stored}
    parents = {name: hangs_below(name, queue.parent) for name, queue in queues.items()}
    children: dict[str, int] = {}
    for parent in parents.values():
        children[parent] = children.get(parent, 0) + 1
    return [_queue_row(queues[name], depth, children.get(name, 0)) for name, depth in tree_order(parents)]


def changes(scenario: Scenario) -> QuerySet[Change]:
    """Return the history of a scenario, newest first (1 query)."""
    return scenario.changes.all()


def last_changes(scenario: Scenario) -> QuerySet[Change]:
    """Return the newest changes, as many as are shown beside the queues (1 query)."""
    return changes(scenario)[:LAST_CHANGES]


def workspace_changes(workspace: Workspace) -> QuerySet[Change]:
    """Return the changes of all scenarios of a workspace, including removed ones, newest first (1 query)."""
    found = Change.objects.filter(scenario__workspace=workspace).select_related("scenario")
    return found.order_by("-created", "scenario", "-revision", "kind", "key", "field")


def _queue_row(queue: QueueFields, depth: int, children: int) -> QueueRow:
    return QueueRow(
        name=queue.name,
        parent=queue.parent,
        depth=depth,
        children=children,
        weight=queue.weight,
        priority=queue.priority,
        reclaimable=queue.reclaimable,
        state=queue.state,
        guarantee=queue.guarantee,
        deserved=queue.deserved,
        capability=queue.capability,
    )
