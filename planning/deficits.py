"""Deficits of queues, and the figures of parents with their descendants."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from planning.amounts import limited_amounts
from planning.rows import Amounts, QueueFigures, hangs_below
from scheduler_core.resource import MIN_RESOURCE

NEGLIGIBLE = 0.001
"""The fraction of deserved up to which missing resources do not count as a deficit."""


class Requesting(Protocol):
    """A queue of a tree: its deserved amount, and the requests of its jobs."""

    # ruff: noqa: D102
    @property
    def queue(self) -> str: ...
    @property
    def parent(self) -> str: ...
    @property
    def deserved(self) -> Amounts: ...
    @property
    def request(self) -> Amounts: ...


def contested(rows: Iterable[Requesting]) -> list[str]:
    """Return the deserved resources, those whose requests exceed deserved most first."""
    parents_too = list(rows)
    above = {hangs_below(row.queue, row.parent) for row in parents_too}
    leaves = [row for row in parents_too if row.queue not in above]

    def pressure(name: str) -> float:
        deserved = sum(row.deserved.get(name) or 0.0 for row in leaves)
        request = sum(row.request.get(name) or 0.0 for row in leaves)
        return request / deserved if deserved else 0.0

    return sorted({name for row in leaves for name in row.deserved}, key=lambda name: (-pressure(name), name))


def measured_in(row: QueueFigures, resources: Iterable[str]) -> str:
    """Return the first of these resources that a queue deserves and requests, empty without one."""
    return next((name for name in resources if row.deserved.get(name) and row.request.get(name)), "")


def deficit(row: QueueFigures, resource: str) -> float:
    """Return how much of its deserved amount a queue lacks, limited to its requests."""
    deserved = row.deserved.get(resource)
    if deserved is None:
        return 0.0
    missing = min(deserved, row.request.get(resource) or 0.0) - (row.allocated.get(resource) or 0.0)
    return missing if missing > max(MIN_RESOURCE, NEGLIGIBLE * deserved) else 0.0


def dominant(allocated: Amounts, deserved: Amounts) -> tuple[str, float | None]:
    """Return the resource with the largest allocated ÷ deserved, and that share; None for 0 of 0.

    >>> dominant({"cpu": 2000.0, "pods": 3.0}, {"cpu": 8000.0, "memory": 0.0})
    ('cpu', 0.25)
    >>> dominant({"cpu": 0.0}, {"cpu": 0.0})
    ('', None)
    """
    shares: dict[str, float] = {}
    for name, limit in deserved.items():
        held = allocated.get(name) or 0.0
        if limit:
            shares[name] = held / limit
        elif limit == 0 and held > 0:
            shares[name] = 1.0
    name = max(sorted(shares), key=lambda name: shares[name], default="")
    return name, shares.get(name)


def share_of(queue: Mapping[str, Any]) -> float | None:
    """Return the share of a queue of a session; with children that of its own amounts, None for 0 of 0.

    Volcano computes no share of a queue with children when a session opens; an action may leave one there.

    >>> share_of({"share": 0, "children": ["b"], "allocated": {"cpu": 2000}, "deserved": {"cpu": 8000}})
    0.25
    """
    if not queue.get("children"):
        return queue.get("share")
    return dominant(limited_amounts(queue.get("allocated")), limited_amounts(queue.get("deserved")))[1]


def rolled_up(rows: Sequence[QueueFigures]) -> list[QueueFigures]:
    """Return the rows with parents that include the queues below them.

    Hierarchical capacity computes parents this way itself, including root. The other plugins ignore the
    hierarchy: their parents get the sums of deserved, allocated and request, including their own figures.
    """
    if any(row.queue == "root" and row.in_session for row in rows):
        return list(rows)
    below: dict[str, list[QueueFigures]] = {}
    for row in rows:
        below.setdefault(hangs_below(row.queue, row.parent), []).append(row)
    sums: dict[str, QueueFigures] = {}
    for row in sorted(rows, key=lambda row: -row.depth):
        children = [sums[child.queue] for child in below.get(row.queue, ()) if child.queue in sums]
        sums[row.queue] = _with(row, children)
    return [sums[row.queue] for row in rows]


def _with(row: QueueFigures, children: Sequence[QueueFigures]) -> QueueFigures:
    if not children:
        return row
    together = [row, *children]
    return replace(
        row,
        in_session=any(one.in_session for one in together),
        deserved=_sum(one.deserved for one in together),
        allocated=_sum(one.allocated for one in together),
        allocated_at_open=_sum(one.allocated_at_open for one in together),
        request=_sum(one.request for one in together),
        elastic=_sum(one.elastic for one in together),
        inqueue=_sum(one.inqueue for one in together),
    )


def _sum(vectors: Iterable[Mapping[str, float | None]]) -> dict[str, float | None]:
    total: dict[str, float | None] = {}
    for vector in vectors:
        for name, amount in vector.items():
            held = total.get(name, 0.0)
            total[name] = None if amount is None or held is None else held + amount
    return total
