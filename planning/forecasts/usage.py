"""Usage of the nodes of a forecast: allocated, free and fragmented resources."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planning.forecasts.record import Record
from planning.forecasts.steps import Steps, moments, ratio


@dataclass(frozen=True)
class UseRow:
    """The usage of a resource over a forecast; fractions of 1, times in seconds.

    Attributes
    ----------
    resource : str
    allocated, most_allocated : float
        The allocated fraction of what the nodes offer, on average over time and at most.
    most_allocated_at : float
    fragmented : float or None
        The fragmented fraction of what is free, on average over time and what is free; None where nothing is
        free, no pod requests the resource, or the forecast is of an older release.
    most_fragmented : float or None
        How much is fragmented at most, in the scheduler's units.
    most_fragmented_at : float or None

    """

    resource: str
    allocated: float
    most_allocated: float
    most_allocated_at: float
    fragmented: float | None
    most_fragmented: float | None
    most_fragmented_at: float | None


def use_rows(record: Record) -> list[UseRow]:
    """Return the usage of each resource of the nodes, by name."""
    rows = [_use_row(record, resource) for resource in record.resources()]
    return [row for row in rows if row is not None]


def _use_row(record: Record, resource: str) -> UseRow | None:
    end = record.end
    allocated, capacity = record.allocated(resource), record.capacity(resource)
    offered = capacity.integral(0.0, end)
    if offered <= 0:
        return None
    at, most = highest(ratio(allocated, capacity), end)
    room = record.rooms.get(resource)
    free = 0.0 if room is None else room.free.integral(0.0, end)
    fragmented: tuple[float | None, float | None, float | None] = None, None, None
    if room is not None and free > 0:
        worst_at, worst = highest(room.fragmented, end)
        fragmented = room.fragmented.integral(0.0, end) / free, worst, worst_at
    return UseRow(resource, allocated.integral(0.0, end) / offered, most, at, *fragmented)


def highest(function: Steps, end: float) -> tuple[float, float]:
    """Return the maximum of a function until an end, and the first time of it.

    >>> highest(Steps.of([(5, 2), (7, 1)]), 10)
    (5.0, 2.0)
    """
    times = moments([function], end)
    values = function.at(times)
    place = int(np.argmax(values))
    return float(times[place]), float(values[place])
