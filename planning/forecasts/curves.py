"""The figures of a forecast over time, thinned to what a chart can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planning.forecasts.figures import waiting
from planning.forecasts.record import FIGURES, Record
from planning.forecasts.steps import Steps, ratio

POINTS = 250
"""How many intervals of a window keep their peaks, as many as a chart can show."""


@dataclass(frozen=True)
class Curve:
    """A figure of a queue, or of all, in a window: the times where it changes, its values from there."""

    queue: str
    figure: str
    t: list[float]
    values: list[float]


def window_of(record: Record, begin: float, end: float) -> tuple[float, float] | None:
    """Return the part of a window that the forecast covers, in seconds; None if it covers none of it."""
    end = min(end, record.end)
    return (begin, end) if 0.0 <= begin < end else None


def curves(
    record: Record, resource: str, begin: float, end: float, queues: Sequence[str] | None = None
) -> list[Curve]:
    """Return deserved, allocated and request of queues in a window, with every peak."""
    shown = record.leaves if queues is None else queues
    return [
        _curve(queue, figure, record.steps(queue, figure, resource), begin, end)
        for queue in shown
        for figure in FIGURES
    ]


def waiting_curves(record: Record, begin: float, end: float, queues: Sequence[str]) -> list[Curve]:
    """Return the number of waiting jobs of queues in a window."""
    return [_curve(queue, "waiting", waiting(record, queue), begin, end) for queue in queues]


def use_curves(record: Record, resource: str, begin: float, end: float) -> list[Curve]:
    """Return the allocated resources of all queues and the capacity of the nodes, in a window."""
    return [
        _curve("", "allocated", record.allocated(resource), begin, end),
        _curve("", "capacity", record.capacity(resource), begin, end),
    ]


def stack_curves(
    record: Record, resource: str, begin: float, end: float, queues: Sequence[str]
) -> list[Curve]:
    """Return the allocated resources of all queues together, then those of each queue at the same times.

    At each of these times the queues have what they had at one moment. Curves that are thinned each on its
    own do not: their sum can exceed what the nodes offer.
    """
    everything = record.allocated(resource)
    amounts = [record.steps(queue, "allocated", resource) for queue in queues]
    times = np.unique(np.concatenate([everything.times, *(steps.times for steps in amounts)]))
    thin = Steps(times, everything.at(times)).thinned(begin, end, POINTS)
    shown = thin.times.tolist()
    return [
        Curve("", "allocated", shown, thin.values.tolist()),
        *(
            Curve(queue, "allocated", shown, steps.at(thin.times).tolist())
            for queue, steps in zip(queues, amounts, strict=True)
        ),
    ]


def part_curve(record: Record, resource: str, begin: float, end: float) -> Curve:
    """Return the allocated part of what the nodes offer, in a window."""
    part = ratio(record.allocated(resource), record.capacity(resource))
    return _curve("", "allocated", part, begin, end)


def room_curves(record: Record, resource: str, begin: float, end: float) -> list[Curve]:
    """Return the free amount of a resource in a window, and how much of it is fragmented.

    None where no pod requests the resource, or the forecast is of an older release.
    """
    room = record.rooms.get(resource)
    if room is None:
        return []
    amounts = {"free": room.free, "fragmented": room.fragmented, "fragmented_part": room.part}
    return [_curve("", figure, steps, begin, end) for figure, steps in amounts.items()]


def _curve(queue: str, figure: str, steps: Steps, begin: float, end: float) -> Curve:
    thin = steps.thinned(begin, end, POINTS)
    return Curve(queue, figure, thin.times.tolist(), thin.values.tolist())
