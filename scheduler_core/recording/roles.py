"""The roles of which a job has too few tasks."""

from __future__ import annotations

from typing import Any

from scheduler_core.model.job import JobInfo
from scheduler_core.model.roles import role_counts
from scheduler_core.model.status import VALID_STATUSES


def short_of_minimum(job: JobInfo) -> dict[str, Any]:
    """Return the tasks an invalid job requires, has and lacks; under `roles` for each short role.

    With roles, the numbers are those of the first one.
    """
    roles = _short_roles(job)
    first = roles[0] if roles else _shortfall(job.min_available, job.valid_count)
    return {**first, "roles": roles or None}


def _short_roles(job: JobInfo) -> list[dict[str, Any]]:
    """Return the roles with too few valid tasks, by name; none if minimums per role do not apply."""
    if not job.task_min_available or not job.role_minimums_apply:
        return []
    valid = role_counts(job, VALID_STATUSES, pending_best_effort=False)
    return [
        {"role": role, **_shortfall(minimum, valid[role])}
        for role, minimum in job.task_min_available.items()
        if valid[role] < minimum
    ]


def _shortfall(required: int, available: int) -> dict[str, int]:
    return {"required": required, "available": available, "missing": max(required - available, 0)}
