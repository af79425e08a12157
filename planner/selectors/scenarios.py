"""What does a scenario look like? Lists are querysets, to be filtered and cut into pages."""

from uuid import UUID

from django.db.models import QuerySet

from planner.models import Change, Queue, Scenario, Snapshot, Workspace
from planner.rows import QueueRow, hangs_below, tree_order


def snapshots(workspace: Workspace) -> QuerySet[Snapshot]:
    """Return the snapshots of a workspace, newest first, without their content."""
    return Snapshot.objects.filter(workspace=workspace).select_related("cluster", "owner")


def scenarios(workspace: Workspace) -> QuerySet[Scenario]:
    """Return the scenarios of a workspace, last changed first, each with its snapshot (1 query)."""
    return Scenario.objects.filter(workspace=workspace).select_related("snapshot", "owner", "parent")


def get_scenario(workspace: Workspace, scenario_id: UUID) -> Scenario:
    """Return a scenario, or raise Scenario.DoesNotExist (1 query)."""
    return scenarios(workspace).get(pk=scenario_id)


def queue_rows(scenario: Scenario) -> list[QueueRow]:
    """Return the queue tree of a scenario, parents first (1 query)."""
    queues = {queue.name: queue for queue in scenario.queues.all()}
    parents = {name: hangs_below(name, queue.parent) for name, queue in queues.items()}
    children: dict[str, int] = {}
    for parent in parents.values():
        children[parent] = children.get(parent, 0) + 1
    return [_queue_row(queues[name], depth, children.get(name, 0)) for name, depth in tree_order(parents)]


def changes(scenario: Scenario) -> QuerySet[Change]:
    """Return the history of a scenario, newest first (1 query)."""
    return scenario.changes.select_related("user")


def _queue_row(queue: Queue, depth: int, children: int) -> QueueRow:
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
        dequeue_strategy=queue.dequeue_strategy,
        affinity=queue.affinity,
        annotations=queue.annotations,
        labels=queue.labels,
    )
