"""Which queues of a run are shown, and in which order?"""

from collections.abc import Sequence
from dataclasses import dataclass

from planning.rows import QueueFigures

TOP = 30
"""How many queues a chart shows unless all are asked for."""


@dataclass(frozen=True)
class ShownQueues:
    """The queues that chart and table show, out of `total`."""

    rows: Sequence[QueueFigures]
    total: int

    @property
    def is_cut(self) -> bool:
        """Are there queues that are not shown?"""
        return len(self.rows) < self.total


def shown_queues(
    figures: Sequence[QueueFigures], *, containing: str = "", everything: bool = False
) -> ShownQueues:
    """Return the fullest queues first, equal ones by name; all of them in tree order when asked for.

    `containing` keeps queues whose name contains it, whatever its capitals. Queues that take no part, and
    root, which stands for the whole cluster, are left out unless all are asked for.
    """
    wanted = containing.casefold()
    matching = [row for row in figures if wanted in row.queue.casefold()]
    if everything:
        return ShownQueues(matching, len(figures))
    taking_part = [row for row in matching if row.in_session and row.queue != "root"]
    fullest = sorted(taking_part, key=lambda row: (-(row.share or 0.0), row.queue))
    return ShownQueues(fullest[:TOP], len(figures))


def most_contested(figures: Sequence[QueueFigures], names: Sequence[str]) -> str:
    """Return the resource most of which is asked for beyond what is deserved; of equal ones the first."""

    def pressure(name: str) -> float:
        deserved = sum(row.deserved.get(name) or 0.0 for row in figures)
        request = sum(row.request.get(name) or 0.0 for row in figures)
        return request / deserved if deserved else 0.0

    return max(names, key=pressure)


def resources(figures: Sequence[QueueFigures]) -> set[str]:
    """Return the names of the resources that the queues of a run deserve, hold or ask for."""
    return {
        name for row in figures for amounts in (row.deserved, row.allocated, row.request) for name in amounts
    }
