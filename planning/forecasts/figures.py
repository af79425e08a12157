"""Rows and curves of a forecast's record, for pages, API and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from planning.forecasts.jobs import NO_JOB
from planning.forecasts.record import Record
from planning.forecasts.steps import Floats, Ints, Steps, counted_intervals
from planning.forecasts.targets import TargetVerdict, submitted_in_time, target_verdicts, waits_of


@dataclass(frozen=True)
class JobRow:
    """The life of one job, in seconds from the beginning; None: it did not happen.

    `ended` is when it failed, was aborted or terminated: such a job neither waits nor runs. `wait_seconds` is
    None for jobs of the snapshot: their wait began before the forecast.
    """

    job: str
    queue: str
    pods: int
    submitted: float | None
    enqueued: float | None
    started: float | None
    finished: float | None
    ended: float | None
    wait_seconds: float | None
    evictions: int
    lost_seconds: float


@dataclass(frozen=True)
class WaitRow:
    """The waits and evictions of one queue's jobs submitted during the forecast; waits in seconds.

    Jobs that had not started count with their wait until the end. Evictions and lost run time are those of
    all its jobs. `target_status` is empty without a target, else as `targets.TargetVerdict` has it.
    """

    queue: str
    jobs: int
    started: int
    finished: int
    wait_p50: float | None
    wait_p95: float | None
    wait_longest: float | None
    evictions: int
    lost_seconds: float
    most_waiting: int
    most_waiting_at: float
    target_seconds: float | None
    target_status: str

    @property
    def unstarted(self) -> int:
        """Return how many of its jobs never started."""
        return self.jobs - self.started


@dataclass(frozen=True)
class EvictionRow:
    """One eviction; `ran_seconds` is how long the pod had run. Empty names: the scheduler names none."""

    t: float
    pod: str
    job: str
    queue: str
    for_job: str
    for_queue: str
    ran_seconds: float


@dataclass(frozen=True)
class FlowRow:
    """Evictions of one queue's pods for another queue."""

    queue: str
    for_queue: str
    evictions: int
    ran_seconds: float
    first: float
    last: float


def _known(value: float) -> float | None:
    return None if isnan(value) else float(value)


def job_rows(record: Record, places: Ints | None = None) -> list[JobRow]:
    """Return the jobs by name; with `places` those in these rows of the record, in this order."""
    jobs = record.jobs
    all_of_them = np.arange(len(jobs.names)) if places is None else places
    names = [(jobs.names[place], jobs.queues[place]) for place in all_of_them.tolist()]
    numbers = (
        jobs.pods, jobs.submitted, jobs.enqueued, jobs.started, jobs.finished, jobs.ended, jobs.waits,
        jobs.evictions, jobs.lost,
    )  # fmt: skip
    columns = zip(names, *(column[all_of_them].tolist() for column in numbers), strict=True)
    return [_job_row(*values) for values in columns]


def _job_row(
    named: tuple[str, str],
    pods: int,
    submitted: float,
    enqueued: float,
    started: float,
    finished: float,
    ended: float,
    wait: float,
    evictions: int,
    lost: float,
) -> JobRow:
    return JobRow(
        *named,
        pods=pods,
        submitted=_known(submitted),
        enqueued=_known(enqueued),
        started=_known(started),
        finished=_known(finished),
        ended=_known(ended),
        wait_seconds=_known(wait) if submitted >= 0 else None,
        evictions=evictions,
        lost_seconds=lost,
    )


def longest_first(record: Record) -> Ints:
    """Return the rows of the jobs: those that still wait, then the longest waits; equal ones by name."""
    jobs = record.jobs
    waits = np.where(jobs.submitted >= 0, np.nan_to_num(jobs.waits), 0.0)
    still = np.isnan(jobs.started) & np.isnan(jobs.over)
    return np.lexsort((-waits, ~still))


def started_waits(record: Record) -> dict[str, Floats]:
    """Return the waits of each queue's jobs that were submitted during the forecast and started, by queue."""
    jobs = record.jobs
    counted = (jobs.submitted >= 0) & ~np.isnan(jobs.started)
    rows = {queue: jobs.of_queue(queue) for queue in sorted(set(jobs.queues))}
    found = {queue: jobs.waits[own[counted[own]]] for queue, own in rows.items()}
    return {queue: waits for queue, waits in found.items() if len(waits)}


def wait_rows(record: Record, targets: Mapping[str, float]) -> list[WaitRow]:
    """Return the waits of every queue, of the jobs submitted during the forecast, by name."""
    verdicts = {found.queue: found for found in target_verdicts(record, targets)}
    queues = sorted({*record.jobs.queues, *verdicts})
    return [_wait_row(record, queue, verdicts.get(queue)) for queue in queues]


def _wait_row(record: Record, queue: str, target: TargetVerdict | None) -> WaitRow:
    jobs, rows, waits = record.jobs, submitted_in_time(record, queue), waits_of(record, queue)
    counts = waiting(record, queue)
    most = int(np.argmax(counts.values)) if len(counts.values) else None
    own = jobs.of_queue(queue)
    return WaitRow(
        queue=queue,
        jobs=waits.jobs,
        started=waits.started,
        finished=int((~np.isnan(jobs.finished[rows])).sum()),
        wait_p50=waits.p50,
        wait_p95=waits.p95,
        wait_longest=waits.longest,
        evictions=int(jobs.evictions[own].sum()),
        lost_seconds=float(jobs.lost[own].sum()),
        most_waiting=0 if most is None else int(counts.values[most]),
        most_waiting_at=0.0 if most is None else float(counts.times[most]),
        target_seconds=None if target is None else target.target,
        target_status="" if target is None else target.status,
    )


def waiting(record: Record, queue: str) -> Steps:
    """Return the number of jobs of a queue that were submitted and had not started."""
    jobs = record.jobs
    rows = jobs.of_queue(queue)
    began = np.maximum(jobs.there_from[rows], 0.0)
    gone = np.where(np.isnan(jobs.started[rows]), jobs.over[rows], jobs.started[rows])
    return counted_intervals(began, gone)


def eviction_rows(record: Record) -> list[EvictionRow]:
    """Return the evictions in their order."""
    jobs, found = record.jobs, record.evictions
    rows = []
    for t, victim, pod, preemptor, ran in zip(
        found.times.tolist(), found.victims.tolist(), found.pods, found.preemptors.tolist(),
        found.ran.tolist(), strict=True,
    ):  # fmt: skip
        job, queue = (jobs.names[victim], jobs.queues[victim]) if victim != NO_JOB else ("", "")
        for_job, for_queue = (
            (jobs.names[preemptor], jobs.queues[preemptor]) if preemptor != NO_JOB else ("", "")
        )
        rows.append(EvictionRow(t, pod, job, queue, for_job, for_queue, ran))
    return rows


def flow_rows(rows: Sequence[EvictionRow]) -> list[FlowRow]:
    """Return how many pods of each queue were evicted for each other queue, the largest flow first."""
    between: dict[tuple[str, str], list[EvictionRow]] = {}
    for row in rows:
        between.setdefault((row.queue, row.for_queue), []).append(row)
    flows = [
        FlowRow(queue, for_queue, len(found), sum(row.ran_seconds for row in found), found[0].t, found[-1].t)
        for (queue, for_queue), found in between.items()
    ]
    return sorted(flows, key=lambda flow: (-flow.evictions, flow.queue, flow.for_queue))
