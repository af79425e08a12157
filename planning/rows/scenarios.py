"""Rows of a scenario's queues and its export."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from planning.queues import QueueFields
from planning.rows.amounts import Quantities
from planning.rows.outcomes import QueueFigures
from planning.rows.problems import Problem


@dataclass(frozen=True)
class QueueRow:
    """One queue of a scenario's tree; rows come parents first, children by name under their parent."""

    name: str
    parent: str
    depth: int
    children: int
    weight: int | None
    priority: int | None
    reclaimable: bool | None
    state: str
    guarantee: Quantities
    deserved: Quantities
    capability: Quantities


@dataclass(frozen=True)
class ExportStep:
    """One write on the way to a scenario; `halfway` if a later one sets the queue's final value.

    `removes` are the fields that it removes, such as `spec.capability.cpu`.
    """

    verb: str
    queue: str
    halfway: bool
    removes: Sequence[str]


@dataclass(frozen=True)
class Export:
    """The steps that turn a cluster into the scenario.

    `changed` and `whole` are YAML to apply from top to bottom; `script` deletes, opens and closes queues;
    `impossible` is what Volcano accepts in no order.
    """

    steps: Sequence[ExportStep]
    deletions: Sequence[str]
    states: Mapping[str, str]
    conf_changed: bool
    impossible: Sequence[Problem]
    changed: str
    whole: str
    script: str

    @property
    def removes(self) -> bool:
        """Whether a step removes a field."""
        return any(step.removes for step in self.steps)


def queue_rows(stored: Iterable[QueueFields]) -> list[QueueRow]:
    """Return the queues of a scenario as a tree, parents first."""
    queues = {queue.name: queue for queue in stored}
    parents = {name: hangs_below(name, queue.parent) for name, queue in queues.items()}
    children = Counter(parents.values())
    return [_queue_row(queues[name], depth, children[name]) for name, depth in tree_order(parents)]


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


def hangs_below(name: str, parent: str) -> str:
    """Return the parent of queue `name`: as in Volcano, one without a parent is below root."""
    return parent or ("" if name == "root" else "root")


def queues_with_children(rows: Iterable[QueueFigures]) -> set[str]:
    """Return the names of the queues that have children."""
    return {hangs_below(row.queue, row.parent) for row in rows}


def tree_order(parents: Mapping[str, str]) -> list[tuple[str, int]]:
    """Return names with their depths, parents first, children by name; `parents` maps child to parent.

    A queue whose parent is missing, or that hangs in a circle, stands at the top: who mends it must see it.

    >>> tree_order({"b": "a", "a": "root", "root": "", "c": "b", "d": "gone"})
    [('d', 0), ('root', 0), ('a', 1), ('b', 2), ('c', 3)]
    >>> tree_order({"x": "y", "y": "x"})
    [('x', 0), ('y', 1)]
    """
    children: dict[str, list[str]] = {}
    for name in sorted(parents):
        children.setdefault(parents[name], []).append(name)
    tops = [name for name in sorted(parents) if parents[name] not in parents]
    order: dict[str, int] = {}
    for top in [*tops, *sorted(parents)]:
        waiting = [(top, 0)]
        while waiting:
            name, depth = waiting.pop()
            if name not in order:
                order[name] = depth
                waiting += [(child, depth + 1) for child in reversed(children.get(name, []))]
    return list(order.items())
