"""The queues and jobs at a time of a forecast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

import numpy as np

from planning.forecasts.figures import JobRow, job_rows
from planning.forecasts.record import FIGURES, Record


@dataclass(frozen=True)
class QueueNow:
    """A queue at a time, in the scheduler's units by resource."""

    queue: str
    waiting: int
    running: int
    deserved: Mapping[str, float]
    allocated: Mapping[str, float]
    request: Mapping[str, float]


@dataclass(frozen=True)
class Now:
    """Queues by name, waiting jobs by how long they wait, running jobs by name."""

    queues: list[QueueNow]
    waiting: list[JobRow]
    running: list[JobRow]


def session_at(time: float, period: float) -> int:
    """Return the number of the first session at or after a time, which may have been rounded as text.

    >>> [session_at(time, 0.1) for time in (0.3, 3 * 0.1, 0.31)], session_at(2.1, 0.7)
    ([3, 3, 4], 3)
    """
    nearest = round(time / period)
    return nearest if abs(nearest * period - time) < 1e-6 * period else ceil(time / period)


def cluster_now(record: Record, at: float) -> Now:
    """Return the state at a time, from the record."""
    jobs = record.jobs
    there = job_rows(record, np.flatnonzero((jobs.there_from <= at) & ~(jobs.over <= at)))
    waiting = [row for row in there if row.started is None or row.started > at]
    running = [row for row in there if row.started is not None and row.started <= at]
    queues = [
        QueueNow(
            queue=queue,
            waiting=sum(row.queue == queue for row in waiting),
            running=sum(row.queue == queue for row in running),
            **{figure: _amounts(record, queue, figure, at) for figure in FIGURES},
        )
        for queue in record.leaves
    ]
    return Now(queues, sorted(waiting, key=lambda row: (row.submitted or 0.0, row.job)), running)


def _amounts(record: Record, queue: str, figure: str, at: float) -> dict[str, float]:
    of_figure = record.queues.get(queue, {}).get(figure, {})
    return {resource: float(steps.at(at)) for resource, steps in of_figure.items()}
