"""Positions of the marks in a queue's bullet chart, in per cent of its width."""

from collections.abc import Sequence
from dataclasses import dataclass

from planning.rows import QueueFigures, queues_with_children

COMMON, OWN = "common", "own"
SCALES = {COMMON: "one axis for all queues", OWN: "each queue against its deserved amount"}
_OWN_END = 2.0
"""On an axis of its own, a queue's deserved amount is in the middle."""


@dataclass(frozen=True)
class Bullet:
    """The marks of one queue; None is not drawn. Marks beyond the end are drawn at it, see `is_cut`."""

    request: float | None
    allocated: float | None
    deserved: float | None
    guarantee: float | None
    capability: float | None
    is_cut: bool


def bullets(rows: Sequence[QueueFigures], resource: str, scale: str = COMMON) -> list[Bullet]:
    """Return the charts of rows that are shown below each other, with aligned marks.

    A capability beyond the end of the common axis is not drawn.
    """
    common = common_end(rows, resource)
    ends = [_own_end(row, resource) if scale == OWN else common for row in rows]
    return [_bullet(row, resource, end) for row, end in zip(rows, ends, strict=True)]


def common_end(rows: Sequence[QueueFigures], resource: str) -> float:
    """Return the end of an axis for all queues: the largest amount of a queue without children.

    So parents of hundreds of queues do not dwarf them.
    """
    parents = queues_with_children(rows)
    return largest_drawn([row for row in rows if row.queue not in parents] or rows, resource)


def largest_drawn(rows: Sequence[QueueFigures], resource: str) -> float:
    """Return the largest amount of any queue, other than its capability; 0 without rows."""
    measures = ("request", "allocated", "deserved", "guarantee")
    return max((getattr(row, name).get(resource) or 0.0 for row in rows for name in measures), default=0.0)


def _own_end(row: QueueFigures, resource: str) -> float:
    deserved = row.deserved.get(resource) or 0.0
    return _OWN_END * deserved or max(row.request.get(resource) or 0.0, row.allocated.get(resource) or 0.0)


def _bullet(row: QueueFigures, resource: str, end: float) -> Bullet:
    def place(amount: float | None) -> float | None:
        return None if not end or amount is None else round(min(amount / end, 1.0) * 100, 2)

    capability = row.capability.get(resource)
    drawn = (row.request, row.allocated, row.deserved, row.guarantee)
    return Bullet(
        request=place(row.request.get(resource)),
        allocated=place(row.allocated.get(resource)),
        deserved=place(row.deserved.get(resource)),
        guarantee=place(row.guarantee.get(resource) or None),
        capability=place(capability) if capability is not None and capability <= end else None,
        is_cut=any((amounts.get(resource) or 0.0) > end for amounts in drawn),
    )
