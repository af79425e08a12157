"""How well a forecast serves its queues: turnaround, slowdown, deficits and fairness.

Definitions are those of `scheduler_core.replay.metrics`, against which tests compare them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planning.amounts import UNLIMITED
from planning.forecasts.losses import lost_before
from planning.forecasts.record import Record
from planning.forecasts.starvation import lacking, longest
from planning.forecasts.steps import Floats, Steps, moments
from planning.forecasts.targets import PART, submitted_in_time
from scheduler_core.replay.metrics import SHORTEST_RUN, quantile


@dataclass(frozen=True)
class ServiceRow:
    """The service of one queue; times in seconds.

    Attributes
    ----------
    queue : str
    finished : int
        Jobs submitted during the forecast that finished; only these have a turnaround and a slowdown.
    turnaround_p50, turnaround_p95 : float or None
        From submission to the end; None if no job finished.
    slowdown_p50, slowdown_p95 : float or None
        Bounded slowdown: turnaround over the time from start to end, which counts as at least 10 s.
    starved_seconds : float
        The longest time in which the queue lacked a resource; 0: it never did.
    starved_from : float or None
        When that time began.
    lacked : mapping
        By resource, what the queue lacked of min(deserved, request) on average over the forecast, in the
        scheduler's units; without resources of which it never lacked any.

    """

    queue: str
    finished: int
    turnaround_p50: float | None
    turnaround_p95: float | None
    slowdown_p50: float | None
    slowdown_p95: float | None
    starved_seconds: float
    starved_from: float | None
    lacked: Mapping[str, float]


@dataclass(frozen=True)
class FairnessRow:
    """How evenly the queues were served with one resource.

    Attributes
    ----------
    resource : str
    jain_index : float or None
        See `jain_index`.
    lacked : float
        What all queues together lacked on average over the forecast, in the scheduler's units.

    """

    resource: str
    jain_index: float | None
    lacked: float


@dataclass(frozen=True)
class Churn:
    """What evictions and restarts cost, relative to all pods that ran.

    Attributes
    ----------
    per_1000_pod_hours : float or None
        Evictions per 1,000 hours of allocated pods; None if no pod was allocated.
    lost_part : float or None
        Lost run time over the time of allocated pods, both during the forecast: without what evicted pods had
        run before it.

    """

    per_1000_pod_hours: float | None
    lost_part: float | None


def service_rows(record: Record) -> list[ServiceRow]:
    """Return the service of every queue without children, by name."""
    return [_service_row(record, queue) for queue in sorted({*record.leaves, *record.jobs.queues})]


def _service_row(record: Record, queue: str) -> ServiceRow:
    jobs, rows = record.jobs, submitted_in_time(record, queue)
    rows = rows[~np.isnan(jobs.finished[rows])]
    whole = jobs.finished[rows] - jobs.submitted[rows]
    ran = np.maximum(jobs.finished[rows] - jobs.started[rows], SHORTEST_RUN)
    turnarounds, slowdowns = whole.tolist(), np.maximum(whole / ran, 1.0).tolist()
    starved = longest(record, queue)
    lacked = {resource: mean_lacked(record, queue, resource) for resource in record.resources()}
    return ServiceRow(
        queue=queue,
        finished=len(rows),
        turnaround_p50=quantile(turnarounds, 0.5),
        turnaround_p95=quantile(turnarounds, PART),
        slowdown_p50=quantile(slowdowns, 0.5),
        slowdown_p95=quantile(slowdowns, PART),
        starved_seconds=0.0 if starved is None else starved.seconds,
        starved_from=None if starved is None else starved.begin,
        lacked={resource: amount for resource, amount in lacked.items() if amount and resource != "pods"},
    )


def mean_lacked(record: Record, queue: str, resource: str) -> float:
    """Return what a queue lacked of min(deserved, request), on average over the forecast."""
    functions = [record.steps(queue, figure, resource) for figure in ("deserved", "request", "allocated")]
    edges = moments(functions, record.end)
    lacked = lacking(record, queue, resource, edges[:-1])
    return float(np.dot(lacked, np.diff(edges))) / record.end if record.end else 0.0


def fairness_rows(record: Record) -> list[FairnessRow]:
    """Return the fairness of each resource of the nodes but `pods`, by name."""
    return [
        FairnessRow(
            resource,
            jain_index(record, resource),
            sum(mean_lacked(record, queue, resource) for queue in record.leaves),
        )
        for resource in record.resources()
        if resource != "pods"
    ]


def jain_index(record: Record, resource: str) -> float | None:
    """Return the time average of Jain's index of allocated / deserved, over the queues with a request.

    1: every queue has the same part of what it deserves; 1 / n: one of n queues has all. Only times at which
    a queue both deserves and requests the resource count; None without such a time.
    """
    shares, demands, holders = list[Steps](), list[Steps](), list[Steps]()
    for queue in record.leaves:
        functions = [record.steps(queue, figure, resource) for figure in ("deserved", "request", "allocated")]
        times = moments(functions, record.end)[:-1]
        deserved, request, allocated = (function.at(times) for function in functions)
        demanding = (request > 0) & (deserved > 0) & (deserved < UNLIMITED)
        share = np.divide(allocated, deserved, out=np.zeros(len(times)), where=demanding)
        for found, values in ((shares, share), (demands, demanding), (holders, share > 0)):
            found.append(Steps.from_changes(times, values))
    edges = moments([*demands, *shares], record.end)
    times, seconds = edges[:-1], np.diff(edges)
    count, holding = _summed(demands, times), _summed(holders, times)
    squares = _summed([Steps(share.times, share.values**2) for share in shares], times)
    index = np.ones(len(times))
    np.divide(_summed(shares, times) ** 2, count * squares, out=index, where=holding > 0)
    counted = float(seconds[count > 0].sum())
    return float(np.dot(index[count > 0], seconds[count > 0])) / counted if counted else None


def _summed(functions: Sequence[Steps], times: Floats) -> Floats:
    """Return the sum of functions at ordered times that include all their changes."""
    moves = np.zeros(len(times))
    for function in functions:
        moves[np.searchsorted(times, function.times)] += np.diff(function.values, prepend=0.0)
    found: Floats = np.cumsum(moves)
    return found


def churn(record: Record) -> Churn:
    """Return the evictions and the lost run time, relative to the time of allocated pods."""
    seconds = record.allocated("pods").integral(0.0, record.end)
    if not seconds:
        return Churn(None, None)
    evictions = float(record.jobs.evictions.sum())
    lost = float(record.jobs.lost.sum()) - float(lost_before(record).sum())
    return Churn(1000.0 * evictions / (seconds / 3600.0), lost / seconds)
