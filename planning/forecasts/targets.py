"""Wait targets of queues, and whether jobs meet them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from planning.forecasts.record import Record
from scheduler_core.replay.metrics import quantile

Status = Literal["met", "missed", "open", "no_jobs"]
PART = 0.95
"""The fraction of a queue's jobs that must start within the target."""


@dataclass(frozen=True)
class Waits:
    """The waits of a queue's jobs.

    Jobs that had not started by the end count in `p50` and `p95` with their wait until then, so these are at
    least that long.

    Attributes
    ----------
    jobs, started : int
    p50, p95, longest : float or None
        In seconds; None without jobs.
    p95_at_most : float or None
        The 95th percentile if the jobs that had not started never do: infinite when these are too many.

    """

    jobs: int
    started: int
    p50: float | None
    p95: float | None
    longest: float | None
    p95_at_most: float | None


@dataclass(frozen=True)
class TargetVerdict:
    """Whether a queue meets its wait target.

    Attributes
    ----------
    queue : str
    target : float
        Seconds within which 95 % of its jobs must have started.
    waits : Waits
    status : str
        `open`: jobs that had not started by the end decide.
    at : float or None
        When the wait of the first late job reached the target, in seconds.
    job : str
        That job.
    late : int
        How many jobs waited for longer than the target.

    """

    queue: str
    target: float
    waits: Waits
    status: Status
    at: float | None
    job: str
    late: int


def submitted_in_time(record: Record, queue: str) -> np.ndarray:
    """Return the rows of a queue's jobs that were submitted during the forecast.

    Jobs of the snapshot are left out, as their wait began before the forecast, and so are jobs that failed or
    were aborted before they started, as they no longer wait.
    """
    jobs = record.jobs
    rows = jobs.of_queue(queue)
    at, never = jobs.submitted[rows], np.isnan(jobs.started[rows]) & ~np.isnan(jobs.ended[rows])
    inside: np.ndarray = rows[(at >= 0.0) & (at <= record.end) & ~never]
    return inside


def waits_of(record: Record, queue: str) -> Waits:
    """Return the waits of a queue's jobs that were submitted during the forecast."""
    return _waits_of_rows(record, submitted_in_time(record, queue))


def waits_of_both(before: Record, after: Record, queue: str) -> tuple[Waits, Waits]:
    """Return the waits of a queue's jobs in two forecasts; only of jobs that were submitted during both."""
    rows = [submitted_in_time(record, queue) for record in (before, after)]
    first, second = (
        {record.jobs.names[row]: row for row in of_record.tolist()}
        for record, of_record in zip((before, after), rows, strict=True)
    )
    both = sorted(first.keys() & second.keys())
    kept = [np.array([of_record[name] for name in both], dtype=np.intp) for of_record in (first, second)]
    return _waits_of_rows(before, kept[0]), _waits_of_rows(after, kept[1])


def _waits_of_rows(record: Record, rows: np.ndarray) -> Waits:
    so_far = record.jobs.waits_at_least(record.end)[rows].tolist()
    started = ~np.isnan(record.jobs.started[rows])
    at_most = np.where(started, record.jobs.waits[rows], np.inf).tolist()
    return Waits(
        jobs=len(rows),
        started=int(started.sum()),
        p50=quantile(so_far, 0.5),
        p95=quantile(so_far, PART),
        longest=max(so_far, default=None),
        p95_at_most=quantile(at_most, PART),
    )


def target_verdicts(record: Record, targets: Mapping[str, float]) -> list[TargetVerdict]:
    """Return whether each queue meets its target, in seconds, by name."""
    return [_target_verdict(record, queue, target) for queue, target in sorted(targets.items())]


def _target_verdict(record: Record, queue: str, target: float) -> TargetVerdict:
    waits, jobs = waits_of(record, queue), record.jobs
    rows = submitted_in_time(record, queue)
    late = rows[jobs.waits_at_least(record.end)[rows] > target]
    first = min(late.tolist(), key=lambda row: (jobs.submitted[row], jobs.names[row]), default=None)
    return TargetVerdict(
        queue=queue,
        target=target,
        waits=waits,
        status=_status(waits, target),
        at=None if first is None else float(jobs.submitted[first] + target),
        job="" if first is None else jobs.names[first],
        late=len(late),
    )


def _status(waits: Waits, target: float) -> Status:
    if waits.p95 is None or waits.p95_at_most is None:
        return "no_jobs"
    if waits.p95 > target:
        return "missed"
    return "met" if waits.p95_at_most <= target else "open"
