"""Comparison of two forecasts of the same workload, job by job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np

from planning.forecasts.clock import spelled
from planning.forecasts.costs import Costs
from planning.forecasts.losses import lost_by_eviction
from planning.forecasts.record import Record
from planning.forecasts.service import fairness_rows
from planning.forecasts.steps import Floats
from scheduler_core.replay.metrics import quantile

_SAME = 1e-6


@dataclass(frozen=True)
class JobPair:
    """One job under both plans; a wait that has not ended counts until the shorter horizon.

    Attributes
    ----------
    job, queue : str
    before, after : float
        Seconds that it waited.
    started_before, started_after : bool
        Whether it had started by then.

    """

    job: str
    queue: str
    before: float
    after: float
    started_before: bool
    started_after: bool

    @property
    def longer(self) -> float:
        """Return how much longer it waits under the second plan, in seconds; negative: shorter."""
        return self.after - self.before

    @property
    def differs(self) -> bool:
        """Return whether it waits longer or shorter under the second plan."""
        return abs(self.longer) > _SAME


@dataclass(frozen=True)
class QueueComparison:
    """The jobs of one queue under both plans.

    Attributes
    ----------
    queue : str
    jobs, longer, shorter : int
        Jobs of both, and how many of them wait longer and shorter under the second.
    p50, p95 : pair of float
        Percentiles of the waits under both, in seconds.
    mean_change : float
        Mean of the differences, in seconds.
    hours : float
        Sum of the differences, in hours.

    """

    queue: str
    jobs: int
    longer: int
    shorter: int
    p50: tuple[float, float]
    p95: tuple[float, float]
    mean_change: float
    hours: float


@dataclass(frozen=True)
class FairnessPair:
    """How evenly the queues were served with a resource under both plans; see `service.FairnessRow`."""

    resource: str
    jain_index: tuple[float | None, float | None]
    lacked: tuple[float, float]


@dataclass(frozen=True)
class Comparison:
    """Two forecasts of the same workload.

    Attributes
    ----------
    pairs : tuple of JobPair
        Jobs of both by name, without those that had started before.
    only_before, only_after : tuple of str
        Jobs that only one of them has.
    queues : tuple of QueueComparison
        By the queue of the jobs under the first plan.
    ends : pair of float
        The horizons of both, in seconds.
    evictions, lost : pair
        Evictions until the shorter horizon, and the run time that they lose in seconds, under both.
    fairness : tuple of FairnessPair
        By resource; empty where the two do not cover the same time.

    """

    pairs: tuple[JobPair, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    queues: tuple[QueueComparison, ...]
    ends: tuple[float, float]
    evictions: tuple[int, int]
    lost: tuple[float, float]
    fairness: tuple[FairnessPair, ...]

    @property
    def hours(self) -> float:
        """Return the additional wait of all jobs together under the second plan, in hours."""
        return sum(queue.hours for queue in self.queues)

    @property
    def lasts_as_long(self) -> bool:
        """Return whether both forecasts cover the same time, so that their costs can be compared."""
        return self.ends[0] == self.ends[1]


def compared(before: Record, after: Record) -> Comparison:
    """Return the comparison of the same jobs in two forecasts.

    Jobs that had started before both began are left out: their waits are in the past, and would be most of
    the waits of a busy cluster.
    """
    end = min(before.end, after.end)
    first, second = (
        dict(zip(one.jobs.names, range(len(one.jobs.names)), strict=True)) for one in (before, after)
    )
    waits_before, waits_after = (_waits_until(one, end) for one in (before, after))
    pairs = []
    for name in sorted(set(first) & set(second)):
        one, other = first[name], second[name]
        if not (before.jobs.submitted[one] <= end and after.jobs.submitted[other] <= end):
            continue  # submitted later, or a job of the snapshot without a creation time
        if before.jobs.started[one] < 0 and after.jobs.started[other] < 0:
            continue
        pairs.append(
            JobPair(
                job=name,
                queue=before.jobs.queues[one],
                before=float(waits_before[one]),
                after=float(waits_after[other]),
                started_before=bool(before.jobs.started[one] <= end),
                started_after=bool(after.jobs.started[other] <= end),
            )
        )
    queues: dict[str, list[JobPair]] = {}
    for pair in pairs:
        queues.setdefault(pair.queue, []).append(pair)
    evicted = [one.evictions.times <= end for one in (before, after)]
    lost = [
        float(lost_by_eviction(one)[rows].sum()) for one, rows in zip((before, after), evicted, strict=True)
    ]
    return Comparison(
        pairs=tuple(pairs),
        only_before=tuple(sorted(set(first) - set(second))),
        only_after=tuple(sorted(set(second) - set(first))),
        queues=tuple(_queue(queue, own) for queue, own in sorted(queues.items())),
        ends=(before.end, after.end),
        evictions=(int(evicted[0].sum()), int(evicted[1].sum())),
        lost=(lost[0], lost[1]),
        fairness=tuple(_fairness(before, after)) if before.end == after.end else (),
    )


def _fairness(before: Record, after: Record) -> Iterator[FairnessPair]:
    first, second = ({row.resource: row for row in fairness_rows(one)} for one in (before, after))
    for name in sorted(set(first) & set(second)):
        was, now = first[name], second[name]
        yield FairnessPair(name, (was.jain_index, now.jain_index), (was.lacked, now.lacked))


def _waits_until(record: Record, end: float) -> Floats:
    jobs = record.jobs
    return np.where(jobs.started <= end, jobs.started, np.fmin(jobs.ended, end)) - jobs.submitted


def _queue(queue: str, pairs: Sequence[JobPair]) -> QueueComparison:
    before, after = [pair.before for pair in pairs], [pair.after for pair in pairs]
    changes = [pair.longer for pair in pairs]
    return QueueComparison(
        queue=queue,
        jobs=len(pairs),
        longer=sum(change > _SAME for change in changes),
        shorter=sum(change < -_SAME for change in changes),
        p50=(quantile(before, 0.5) or 0.0, quantile(after, 0.5) or 0.0),
        p95=(quantile(before, 0.95) or 0.0, quantile(after, 0.95) or 0.0),
        mean_change=mean(changes),
        hours=sum(changes) / 3600.0,
    )


def cost_against_benefit(found: Comparison, paid: tuple[Costs, Costs] | None = None) -> str:
    """Return one sentence on the additional cost of the second plan, and the waits that it saves.

    A plan costs nodes and lost run time. The nodes are left out without `paid`, the costs of both by the same
    prices, and where the forecasts do not cover the same time.
    """
    gained = found.hours
    if not any(pair.differs for pair in found.pairs):
        waiting = "leaves all waits unchanged"
    elif abs(gained) * 3600 <= _SAME * len(found.pairs):
        waiting = "changes waits, but not their sum"
    else:
        waiting = f"{'saves' if gained < 0 else 'adds'} {spelled(abs(gained) * 3600)} of waiting"
    slower = [queue for queue in found.queues if queue.mean_change > _SAME]
    worst = max(slower, key=lambda queue: (queue.hours, queue.queue), default=None)
    but = (
        f"; jobs of queue {worst.queue} wait {spelled(worst.mean_change)} longer on average"
        if worst is not None and gained < 0
        else ""
    )
    lost = found.lost[1] - found.lost[0]
    losing = (
        ""
        if abs(lost) < 1.0
        else f" and loses {spelled(abs(lost))} {'more' if lost > 0 else 'less'} run time to evictions"
    )
    if paid is None or not found.lasts_as_long:
        return f"This change {waiting}{losing}{but}."
    before, after = paid
    more = after.nodes - before.nodes
    price = (
        "costs the same"
        if abs(more) < 0.005
        else f"{'costs' if more > 0 else 'saves'} {abs(more):,.2f} {after.currency}"
    )
    return f"This change {price}, {waiting}{losing}{but}."
