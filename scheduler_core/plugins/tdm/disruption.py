"""Disruption budgets of jobs: how many tasks may be evicted at once."""

from __future__ import annotations

import re

from scheduler_core.model.annotations import budget_of
from scheduler_core.model.job import JobInfo
from scheduler_core.model.status import COMPLETED_STATUSES, TaskStatus

DEFAULT_AT_ONCE = 1

_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)


def evictable_at_once(job: JobInfo) -> int:
    """Return how many running tasks may be evicted: by min-available, else by max-unavailable, else one.

    One may still be evicted if fewer run than min-available.
    """
    running = job.count((TaskStatus.RUNNING,))
    minimum, maximum = budget_of(job.annotations())
    if minimum:
        needed = _scaled(minimum, job.size)
        return running - needed if running >= needed else DEFAULT_AT_ONCE
    if maximum:
        unavailable = job.size - job.count(COMPLETED_STATUSES) - running
        return max(0, _scaled(maximum, job.size) - unavailable)
    return DEFAULT_AT_ONCE


def _scaled(text: str, total: int) -> int:
    """Return a number as written, or a percentage of `total` rounded up; 0 for anything else."""
    digits = text.removesuffix("%")
    if _INTEGER.fullmatch(digits) is None:
        return 0
    number = int(digits)
    return -((-number * total) // 100) if text.endswith("%") else number
