"""Counts of a job's tasks by role, compared with the minimum of each role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from scheduler_core.model.job import JobInfo
from scheduler_core.model.status import TaskStatus


def roles_are_met(job: JobInfo, statuses: Iterable[TaskStatus], *, pending_best_effort: bool = False) -> bool:
    """Return whether every role of a job has its minimum among tasks of these statuses.

    True if minimums per role do not apply.
    """
    minimums = job.task_min_available
    if not minimums or not job.role_minimums_apply:
        return True
    counts = role_counts(job, statuses, pending_best_effort=pending_best_effort)
    return all(counts[role] >= minimum for role, minimum in minimums.items() if minimum > 0)


def role_counts(job: JobInfo, statuses: Iterable[TaskStatus], *, pending_best_effort: bool) -> Counter[str]:
    """Return how many tasks of each role of a job have these statuses."""
    counts = Counter(task.role for status in statuses for task in job.by_status[status].values())
    if pending_best_effort:
        pending = job.by_status[TaskStatus.PENDING].values()
        counts.update(task.role for task in pending if task.best_effort)
    return counts
