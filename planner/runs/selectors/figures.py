"""The queues that a run's page shows, their order, and the figures derived for each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planning.deficits import contested, deficit, dominant, rolled_up
from planning.rows import QueueFigures, hangs_below, queues_with_children

TOP = 100
"""How many queues are shown unless all are requested."""
AMOUNTS = ("deserved", "allocated", "request", "guarantee", "capability")
SORTS = ("deficit", "share", "name", "weight", "waiting", *AMOUNTS)


@dataclass(frozen=True)
class QueueLine:
    """One queue in a table of one resource: its deficit, share and waiting jobs.

    A parent includes the queues below it. `dominant` is the resource of the share; it is empty and the share
    None if nothing is deserved and nothing allocated.
    """

    figures: QueueFigures
    resource: str
    deficit: float
    share: float | None
    share_at_open: float | None
    dominant: str
    waiting: int
    is_parent: bool
    takes_part: bool

    @property
    def is_starved(self) -> bool:
        """Whether it lacks some of its deserved amount while jobs wait."""
        return bool(self.deficit and self.waiting and not self.is_parent)


@dataclass(frozen=True)
class ShownQueues:
    """The queues that a table shows, out of `total`."""

    lines: Sequence[QueueLine]
    total: int

    @property
    def is_cut(self) -> bool:
        """Whether some queues are not shown."""
        return len(self.lines) < self.total

    @property
    def rows(self) -> list[QueueFigures]:
        """The figures of the shown queues."""
        return [line.figures for line in self.lines]


def queue_lines(
    figures: Sequence[QueueFigures], resource: str, waiting: Mapping[str, int]
) -> list[QueueLine]:
    """Return the lines of all queues in tree order, given the number of waiting jobs of each queue."""
    parents = queues_with_children(figures)
    jobs = _with_descendants(figures, waiting)
    return [
        _line(row, resource, jobs, is_parent=row.queue in parents, takes_part=own.in_session)
        for own, row in zip(figures, rolled_up(figures), strict=True)
    ]


def shown_queues(
    lines: Sequence[QueueLine],
    *,
    containing: str = "",
    sort: str = "deficit",
    backwards: bool = False,
    everything: bool = False,
    as_tree: bool = False,
) -> ShownQueues:
    """Return the first lines in an order, all of them with `everything`; with `as_tree` all in tree order.

    A list leaves out root, which is the whole cluster, and queues that take no part. `containing` keeps
    queues whose name contains it, ignoring case.
    """
    wanted = containing.casefold()
    matching = [line for line in lines if wanted in line.figures.queue.casefold()]
    if as_tree:
        return ShownQueues(matching, len(lines))
    part = [line for line in matching if line.takes_part and line.figures.queue != "root"]
    ordered = sorted(part, key=_KEYS.get(sort, _KEYS["deficit"]))
    if backwards:
        ordered.reverse()
    return ShownQueues(ordered if everything else ordered[:TOP], len(lines))


def most_contested(figures: Sequence[QueueFigures], names: Sequence[str]) -> str:
    """Return the resource whose requests exceed deserved most; the first name if there is none."""
    return next((name for name in contested(figures) if name in names), names[0])


def resources(figures: Sequence[QueueFigures]) -> set[str]:
    """Return the resources that the queues of a run deserve, have allocated or request."""
    return {
        name for row in figures for amounts in (row.deserved, row.allocated, row.request) for name in amounts
    }


def largest_amount(figures: Iterable[QueueFigures], resource: str) -> float:
    """Return the largest of all amounts of a resource; 0 if there is none."""
    amounts = (getattr(row, name).get(resource) for row in figures for name in AMOUNTS)
    return max((amount for amount in amounts if amount), default=0.0)


def with_dominant_share(row: QueueFigures) -> QueueFigures:
    """Return a parent with the share of the queues below it: Volcano calculates none and leaves it at 0."""
    if row.share is None:
        return row
    _, share = dominant(row.allocated, row.deserved)
    _, earlier = dominant(row.allocated_at_open, row.deserved)
    return replace(row, share=share, share_at_open=earlier)


def _line(
    row: QueueFigures, resource: str, waiting: Mapping[str, int], *, is_parent: bool, takes_part: bool
) -> QueueLine:
    name, share = dominant(row.allocated, row.deserved)
    _, earlier = dominant(row.allocated_at_open, row.deserved)
    if not is_parent and share is not None:
        share, earlier = row.share, row.share_at_open
    return QueueLine(
        figures=row,
        resource=resource,
        deficit=deficit(row, resource),
        share=share,
        share_at_open=earlier,
        dominant=name,
        waiting=waiting.get(row.queue, 0),
        is_parent=is_parent,
        takes_part=takes_part,
    )


def _with_descendants(figures: Sequence[QueueFigures], waiting: Mapping[str, int]) -> dict[str, int]:
    """Return how many jobs wait in each queue and in the queues below it."""
    jobs = dict(waiting)
    for row in sorted(figures, key=lambda row: -row.depth):
        above = hangs_below(row.queue, row.parent)
        jobs[above] = jobs.get(above, 0) + jobs.get(row.queue, 0)
    return jobs


def _descending(number: Callable[[QueueLine], float | None]) -> Callable[[QueueLine], Any]:
    """Return the sort key that puts the largest number first, None last, and equal numbers by name."""

    def key(line: QueueLine) -> Any:
        value = number(line)
        return value is None, -(value or 0.0), line.figures.queue

    return key


def _amount(measure: str) -> Callable[[QueueLine], float | None]:
    def number(line: QueueLine) -> float | None:
        amounts: Mapping[str, float | None] = getattr(line.figures, measure)
        return amounts.get(line.resource)

    return number


_KEYS: dict[str, Callable[[QueueLine], Any]] = {
    "deficit": lambda line: (
        -(line.deficit if line.waiting else 0.0),
        not line.waiting,
        -line.deficit,
        -(line.share or 0.0),
        line.figures.queue,
    ),
    "share": _descending(lambda line: line.share),
    "name": lambda line: line.figures.queue,
    "weight": _descending(lambda line: line.figures.weight),
    "waiting": _descending(lambda line: line.waiting),
    **{measure: _descending(_amount(measure)) for measure in AMOUNTS},
}
