"""Thrashing: jobs that are evicted again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planning.forecasts.jobs import NO_JOB
from planning.forecasts.record import Record

LEAST_EVICTIONS = 50
"""The number of evictions from which a cluster may thrash."""
MINUTE = 60.0


@dataclass(frozen=True)
class Thrashing:
    """More than half of the evictions hit jobs that had already lost as many pods as they have.

    Attributes
    ----------
    evictions : int
        All evictions of jobs.
    again : int
        Those of jobs from which as many pods as they have had been evicted before.
    at_most : int
        The most evictions in one minute of the forecast.
    at : float
        When that minute begins, in seconds from the beginning.

    """

    evictions: int
    again: int
    at_most: int
    at: float


def thrashing(record: Record) -> Thrashing | None:
    """Return how the cluster thrashes; None if it does not."""
    of_jobs = record.evictions.victims != NO_JOB
    victims, times = record.evictions.victims[of_jobs], record.evictions.times[of_jobs]
    if len(victims) < LEAST_EVICTIONS:
        return None
    counts = np.bincount(victims, minlength=len(record.jobs.names))
    again = int(np.maximum(counts - np.maximum(record.jobs.pods, 1), 0).sum())
    if 2 * again <= len(victims):
        return None
    by_minute = np.bincount((times // MINUTE).astype(np.int64))
    busiest = int(by_minute.argmax())
    return Thrashing(len(victims), again, int(by_minute[busiest]), busiest * MINUTE)
