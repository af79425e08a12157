"""The same forecast under several workloads drawn like its trace, to measure chance.

Each seed draws one workload (`planning.forecasts.workload.drawn_from`): arrivals at the trace's rate of each
hour, independent of each other, and jobs like those of the trace. An interval covers the mean over all such
workloads with 95 % confidence; it does not account for errors of the model, nor for a future that differs
from the trace.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

import numpy as np

from planning.forecasts.record import Record
from planning.forecasts.targets import submitted_in_time, waits_of

MOST_SEEDS = 30
T_975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""The 97.5th percentile of Student's t with 1, 2, … 30 degrees of freedom."""
NORMAL_975 = 1.959964


@dataclass(frozen=True)
class SeedRow:
    """The waits of a queue's jobs under one drawn workload, in seconds.

    Covers jobs submitted during the forecast; those that had not started count until its end.

    Attributes
    ----------
    seed : int
    queue : str
    jobs : int
    mean, p50, p95 : float

    """

    seed: int
    queue: str
    jobs: int
    mean: float
    p50: float
    p95: float


@dataclass(frozen=True)
class Interval:
    """A mean over seeds with its 95 % confidence interval by Student's t.

    Attributes
    ----------
    mean : float
    low, high : float or None
        None with a single seed.
    seeds : int

    """

    mean: float
    low: float | None
    high: float | None
    seeds: int

    @property
    def is_clear(self) -> bool:
        """Return whether 0 is outside the interval."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True)
class Change:
    """A figure under two plans, and the difference of the second from the first, paired by seed."""

    before: Interval
    after: Interval
    change: Interval


@dataclass(frozen=True)
class QueueOverSeeds:
    """The waits of a queue's jobs over several seeds, in seconds."""

    queue: str
    mean: Interval
    p50: Interval
    p95: Interval


@dataclass(frozen=True)
class QueueChange:
    """The waits of a queue's jobs under two plans over several seeds, in seconds.

    `mean` is that of all jobs, so its change is the mean over jobs of how much longer each one waits.
    """

    queue: str
    mean: Change
    p50: Change
    p95: Change


def seed_rows(record: Record, seed: int) -> list[SeedRow]:
    """Return the waits of each queue with jobs during the forecast, by name."""
    rows = []
    waits = record.jobs.waits_at_least(record.end)
    for queue in sorted(set(record.jobs.queues)):
        found = waits_of(record, queue)
        if found.p50 is None or found.p95 is None:
            continue
        own = waits[submitted_in_time(record, queue)]
        rows.append(SeedRow(seed, queue, found.jobs, float(np.mean(own)), found.p50, found.p95))
    return rows


def t_975(freedom: int) -> float:
    """Return the 97.5th percentile of Student's t; beyond the table by the expansion of Cornish and Fisher.

    >>> [round(t_975(freedom), 3) for freedom in (30, 31, 60, 99)]
    [2.042, 2.039, 2.0, 1.984]
    """
    if freedom <= len(T_975):
        return T_975[freedom - 1]
    return NORMAL_975 + 2.37227 / freedom + 2.82249 / freedom**2


def interval(values: Sequence[float], least: float = -math.inf) -> Interval:
    """Return the mean of values with its 95 % confidence interval by Student's t, bounded below by `least`.

    >>> interval([1.0, 2.0, 3.0])
    Interval(mean=2.0, low=-0.48433820832295993, high=4.48433820832296, seeds=3)
    """
    middle = mean(values)
    if len(values) < 2:
        return Interval(middle, None, None, len(values))
    half = t_975(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return Interval(middle, max(middle - half, least), middle + half, len(values))


def over_seeds(rows: Sequence[SeedRow]) -> list[QueueOverSeeds]:
    """Return the waits of each queue over the seeds in which it has jobs, by name."""
    return [
        QueueOverSeeds(
            queue,
            mean=_over(of_seed, lambda row: row.mean),
            p50=_over(of_seed, lambda row: row.p50),
            p95=_over(of_seed, lambda row: row.p95),
        )
        for queue, of_seed in _by_queue(rows).items()
    ]


def change_over_seeds(before: Sequence[SeedRow], after: Sequence[SeedRow]) -> list[QueueChange]:
    """Return how the waits of each queue change, over the seeds in which it has jobs in both, by name."""
    first, second = _by_queue(before), _by_queue(after)
    found = []
    for queue in sorted(set(first) & set(second)):
        one, other = first[queue], second[queue]
        seeds = sorted(set(one) & set(other))
        if not seeds:
            continue
        pairs = [(one[seed], other[seed]) for seed in seeds]
        found.append(
            QueueChange(
                queue,
                mean=_change(pairs, lambda row: row.mean),
                p50=_change(pairs, lambda row: row.p50),
                p95=_change(pairs, lambda row: row.p95),
            )
        )
    return found


def _by_queue(rows: Sequence[SeedRow]) -> dict[str, dict[int, SeedRow]]:
    found: dict[str, dict[int, SeedRow]] = {}
    for row in sorted(rows, key=lambda row: row.queue):
        found.setdefault(row.queue, {})[row.seed] = row
    return found


def _over(rows: Mapping[int, SeedRow], figure: Callable[[SeedRow], float]) -> Interval:
    return interval([figure(row) for row in rows.values()], 0.0)


def _change(pairs: Sequence[tuple[SeedRow, SeedRow]], figure: Callable[[SeedRow], float]) -> Change:
    return Change(
        interval([figure(one) for one, _ in pairs], 0.0),
        interval([figure(other) for _, other in pairs], 0.0),
        interval([figure(other) - figure(one) for one, other in pairs]),
    )


_OF_WORK = ("horizon_seconds", "window_begin_seconds", "queues", "rest", "rate", "rates", "size", "run_time")


def same_draws(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether the options of two forecasts of one trace draw the same workloads."""
    return all(before[name] == after[name] for name in _OF_WORK)
