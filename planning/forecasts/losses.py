"""Run time lost by evictions, by the queue that lost it and the queue they were for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from planning.forecasts.jobs import NO_JOB
from planning.forecasts.record import Record
from planning.forecasts.steps import Floats


@dataclass(frozen=True)
class Loss:
    """Lost run time of one queue's pods.

    Attributes
    ----------
    queue : str
        The queue that lost it.
    by : str
        The queue whose jobs the pods were evicted for; empty: no eviction for a job, such as a lost node.
    evictions : int
    pod_seconds : float
    resource_seconds : dict
        By resource, in the scheduler's units times seconds.
    worst_at : float or None
        The time of the eviction that lost the most.

    """

    queue: str
    by: str
    evictions: int
    pod_seconds: float
    resource_seconds: dict[str, float]
    worst_at: float | None


def preemptor_queue(record: Record, row: int) -> str:
    """Return the queue that an eviction was for; empty if the scheduler names no job."""
    job = int(record.evictions.preemptors[row])
    return "" if job == NO_JOB else record.jobs.queues[job]


def lost_by_eviction(record: Record) -> Floats:
    """Return the run time lost by each eviction, in seconds.

    A job's lost run time is divided among the evictions of its pods in proportion to the times that these
    pods had run. If none of them had run, no eviction caused the loss.
    """
    evictions, jobs = record.evictions, record.jobs
    if not len(evictions.times):
        return np.empty(0)
    ran = np.bincount(evictions.victims, weights=evictions.ran, minlength=len(jobs.names))
    part = np.divide(jobs.lost, ran, out=np.zeros_like(jobs.lost), where=ran > 0)
    found: Floats = evictions.ran * part[evictions.victims]
    return found


def lost_before(record: Record) -> Floats:
    """Return the part of `lost_by_eviction` that pods had run before the forecast began, in seconds.

    A pod loses the end of its run, since its last checkpoint. Where an eviction costs more than its pod had
    run, other pods of the job lose as much as it.
    """
    lost, ran = lost_by_eviction(record), record.evictions.ran
    pods = np.maximum(np.divide(lost, ran, out=np.zeros_like(ran), where=ran > 0), 1.0)
    found: Floats = np.maximum(lost - pods * record.evictions.times, 0.0)
    return found


def gpu_hours(resource_seconds: Mapping[str, float]) -> float:
    """Return the GPU-hours of resource-seconds, of all vendors together.

    >>> gpu_hours({"cpu": 7_200_000, "nvidia.com/gpu": 7_200_000})
    2.0
    """
    return sum(amount for name, amount in resource_seconds.items() if name.endswith("/gpu")) / 1000 / 3600


def losses(record: Record) -> list[Loss]:
    """Return the lost run time by both queues: the most GPU-hours first, then the most time of pods."""
    lost, evictions, jobs = lost_by_eviction(record), record.evictions, record.jobs
    rows: dict[tuple[str, str], list[int]] = {}
    for row, victim in enumerate(evictions.victims.tolist()):
        rows.setdefault((jobs.queues[victim], preemptor_queue(record, row)), []).append(row)
    by_job = np.bincount(evictions.victims, weights=lost, minlength=len(jobs.names)) if len(lost) else 0.0
    left = np.where(jobs.lost - by_job > 1e-9, jobs.lost - by_job, 0.0)
    otherwise: dict[str, list[int]] = {}
    for job in np.flatnonzero(left).tolist():
        otherwise.setdefault(jobs.queues[job], []).append(job)
    for queue in sorted(otherwise):
        rows.setdefault((queue, ""), [])
    found = [
        _loss(record, lost, left, queue, by, of_pair, [] if by else otherwise.get(queue, []))
        for (queue, by), of_pair in rows.items()
    ]
    return sorted(
        found, key=lambda loss: (-gpu_hours(loss.resource_seconds), -loss.pod_seconds, loss.queue, loss.by)
    )


def _loss(
    record: Record, lost: Floats, left: Floats, queue: str, by: str, rows: list[int], others: list[int]
) -> Loss:
    """Return what evictions of some rows lost, with what is `left` of some other jobs."""
    owners = np.concatenate([record.evictions.victims[rows], np.array(others, dtype=np.int64)])
    seconds = np.concatenate([lost[rows], left[others]])
    worst = max(rows, key=lambda row: (lost[row], -row), default=None)
    return Loss(
        queue=queue,
        by=by,
        evictions=len(rows),
        pod_seconds=float(seconds.sum()),
        resource_seconds={
            resource: amount
            for resource, sizes in sorted(record.jobs.sizes.items())
            if (amount := float((seconds * sizes[owners]).sum())) > 0
        },
        worst_at=None if worst is None else float(record.evictions.times[worst]),
    )
