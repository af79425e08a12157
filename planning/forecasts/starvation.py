"""Queues that lack what they deserve and request, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from planning.forecasts.record import Record
from planning.forecasts.steps import NOTHING, Floats, moments

LIMITED_FROM = 0.95
"""The part of what it deserves that a queue has on average of the resource that limits it."""


@dataclass(frozen=True)
class Starvation:
    """The longest interval in which a queue lacked a resource that it deserves and requests.

    Attributes
    ----------
    queue : str
    begin, seconds : float
        When it began and how long it lasted.
    resource : str
        The resource of which it lacked the largest part of what it deserves, other than one that limits it.
    lacking : float
        The most that it lacked of it within the interval, in the scheduler's units.
    at : float
        When that was.
    lasts : bool
        Whether it continues at the end of the forecast.
    closed : float
        For how many of these seconds the queue was closed.
    most_requested : str
        The resource of which it requested most, measured in what it deserved.
    held : float
        The part that it had on average of what it deserved of that resource; 0 if it requested less. Where
        this is almost all, that resource limits the queue, and more of the others is of no use.

    """

    queue: str
    begin: float
    seconds: float
    resource: str
    lacking: float
    at: float
    lasts: bool
    closed: float
    most_requested: str
    held: float

    @property
    def is_limited(self) -> bool:
        """Return whether the queue lacks what it could not use, as another resource limits it."""
        return self.held >= LIMITED_FROM and self.resource != self.most_requested


def starvations(record: Record) -> list[Starvation]:
    """Return the longest starvation of each starved queue, longest first."""
    found = [starved for queue in record.leaves if (starved := longest(record, queue)) is not None]
    return sorted(found, key=lambda starved: (-starved.seconds, starved.queue))


def longest(record: Record, queue: str) -> Starvation | None:
    """Return the longest starvation of a queue; None if it never lacked what it deserves and requests.

    It lacks max(0, min(deserved, request) - allocated) of a resource; `pods` are left out.
    """
    figures = record.queues.get(queue) or {}
    resources = sorted(set(figures.get("deserved") or ()) - {"pods"})
    functions = [function for figure in figures.values() for function in figure.values()]
    edges = moments(functions, record.end)
    if not resources or record.end <= 0:
        return None
    lacks, parts = [], []
    for resource in resources:
        deserved = record.steps(queue, "deserved", resource).at(edges[:-1])
        lacks.append(lacking(record, queue, resource, edges[:-1]))
        parts.append(np.divide(lacks[-1], deserved, out=np.zeros_like(deserved), where=deserved > 0))
    starving = np.any(np.array(lacks) > 0, axis=0)
    if not starving.any():
        return None
    padded = np.concatenate(([False], starving, [False]))
    begins = np.flatnonzero(~padded[:-1] & padded[1:])
    ends = np.flatnonzero(padded[:-1] & ~padded[1:])
    place = int(np.argmax(edges[ends] - edges[begins]))
    first, last = int(begins[place]), int(ends[place])
    lacked = {resource: of_one[first:last] for resource, of_one in zip(resources, lacks, strict=True)}
    most_requested, held = _held(record, queue, lacked, edges[first : last + 1])
    worst = np.array(parts)[:, first:last].max(axis=1)
    if held >= LIMITED_FROM and len(resources) > 1:
        worst[resources.index(most_requested)] = 0.0
    row = int(np.argmax(worst))
    column = int(np.argmax(lacks[row][first:last]))
    return Starvation(
        queue=queue,
        begin=float(edges[first]),
        seconds=float(edges[last] - edges[first]),
        resource=resources[row],
        lacking=float(lacks[row][first + column]),
        at=float(edges[first + column]),
        lasts=last == len(starving),
        closed=record.closures.get(queue, NOTHING).integral(float(edges[first]), float(edges[last])),
        most_requested=most_requested,
        held=held,
    )


def _held(record: Record, queue: str, lacked: Mapping[str, Floats], edges: Floats) -> tuple[str, float]:
    """Return the most requested resource, and the part of its share of it that the queue has on average.

    `lacked` is what the queue lacks of each resource between the edges.
    """
    times, lengths = edges[:-1], np.diff(edges)
    pressures: dict[str, float] = {}
    shares: dict[str, float] = {}
    for resource, lacks in lacked.items():
        deserved = record.steps(queue, "deserved", resource).at(times)
        request = record.steps(queue, "request", resource).at(times)
        parts = np.divide(request, deserved, out=np.zeros_like(deserved), where=deserved > 0)
        pressures[resource] = float(np.dot(parts, lengths))
        due = float(np.dot(np.minimum(deserved, request), lengths))
        shares[resource] = 1.0 - float(np.dot(lacks, lengths)) / due if due > 0 else 0.0
    most = max(pressures, key=lambda name: pressures[name])
    return most, shares[most] if pressures[most] >= lengths.sum() else 0.0


def lacking(record: Record, queue: str, resource: str, times: Floats) -> Floats:
    """Return max(0, min(deserved, request) - allocated) of a queue at each of some times."""
    deserved, request, allocated = (
        record.steps(queue, figure, resource).at(times) for figure in ("deserved", "request", "allocated")
    )
    found: Floats = np.maximum(np.minimum(deserved, request) - allocated, 0.0)
    return found
