"""Which lines does the tree-table of queues have?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planner.engine.quantities import amounts
from planner.rows import Amounts, QueueRow
from planner.templatetags.quantities import resource_order


@dataclass(frozen=True)
class QueueLine:
    """One queue with its quantities as amounts, which a page can say in words."""

    row: QueueRow
    guarantee: Amounts
    deserved: Amounts
    capability: Amounts

    @property
    def level(self) -> int:
        """Its level in the tree, from 1, as ARIA counts."""
        return self.row.depth + 1


@dataclass(frozen=True)
class QueueTree:
    """The lines, parents first, and the resources that can be set."""

    lines: Sequence[QueueLine]
    resources: Sequence[str]

    def line(self, name: str) -> QueueLine | None:
        """Return the line of a queue."""
        return next((line for line in self.lines if line.row.name == name), None)


def queue_tree(rows: Sequence[QueueRow], cluster: Iterable[str]) -> QueueTree:
    """Return the tree-table of these queues; `cluster` names the resources that nodes have."""
    named = {name for row in rows for quantities in _quantities(row) for name in quantities}
    return QueueTree(
        lines=[QueueLine(row, *(amounts(quantities) for quantities in _quantities(row))) for row in rows],
        resources=resource_order(named | set(cluster) | {"cpu", "memory"}),
    )


def _quantities(row: QueueRow) -> tuple[dict[str, str], ...]:
    return dict(row.guarantee), dict(row.deserved), dict(row.capability)
