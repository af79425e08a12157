"""Plugin gang: run a job with at least its minimum of pods, or not at all.

Source: volcano ``pkg/scheduler/plugins/gang/gang.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from scheduler_core.conf import Arguments
from scheduler_core.decision import Why
from scheduler_core.framework.bounds import PerJobBound
from scheduler_core.framework.extension_points import PERMIT, REJECT, Point, Vote
from scheduler_core.framework.living_view import nothing_to_renew
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.messages import fit_error
from scheduler_core.model.roles import roles_are_met
from scheduler_core.model.status import ALLOCATED_STATUSES, READY_STATUSES, VALID_STATUSES, TaskStatus

NAME = "gang"

_PLACED = READY_STATUSES
_PLACED_OR_PIPELINED = READY_STATUSES | {TaskStatus.PIPELINED}


def open_session(session: Session, _arguments: Arguments) -> None:
    """Register the callbacks of gang."""
    session.registry.add_job_valid(NAME, job_valid, same_for_equal_jobs=True)
    session.registry.add_job_order(NAME, job_order)
    session.registry.add_job_ready(NAME, job_ready)
    session.registry.add_job_pipelined(NAME, job_pipelined, keeps_whole_jobs=True)
    session.registry.add_job_starving(NAME, JobInfo.is_starving, same_for_equal_jobs=True)
    session.registry.add_evictable(
        Point.PREEMPTABLE,
        NAME,
        surplus_tasks,
        bound=PerJobBound(surplus),
        same_for_equal_tasks=True,
        same_for_equal_jobs=True,
    )
    session.registry.add_evictable(
        Point.RECLAIMABLE,
        NAME,
        surplus_tasks,
        bound=PerJobBound(surplus),
        same_for_equal_tasks=True,
        same_for_equal_jobs=True,
    )
    session.events.add_close_fn(lambda: write_conditions(session))
    session.registry.add_unified_evictable(
        NAME, lambda _preemptor, candidates, _action, _why: list(candidates)
    )
    session.renewals[NAME] = nothing_to_renew


def job_valid(job: JobInfo) -> tuple[str, str] | None:
    """Return why a job cannot reach its minimum with its current tasks, None if it can."""
    if not roles_are_met(job, VALID_STATUSES):
        return "NotEnoughPodsOfTask", "Not enough valid pods of each task for gang-scheduling"
    if job.valid_count < job.min_available:
        counts = f"valid: {job.valid_count}, min: {job.min_available}"
        return "NotEnoughTasks", f"Not enough valid tasks for gang-scheduling, {counts}"
    return None


def job_order(job: JobInfo) -> bool:
    """Return whether the job has its minimum, as a sort key: incomplete gangs are first."""
    return job.is_ready()


def job_ready(job: JobInfo) -> bool:
    """Return whether the job has its minimum, in total and per role."""
    return job.is_ready() and roles_are_met(job, _PLACED, pending_best_effort=True)


def job_pipelined(job: JobInfo) -> Vote:
    """Permit a job that has its minimum once resources are released; reject any other."""
    complete = roles_are_met(job, _PLACED_OR_PIPELINED, pending_best_effort=True) and job.is_pipelined()
    return PERMIT if complete else REJECT


def surplus_tasks(_preemptor: TaskInfo, candidates: Sequence[TaskInfo], why: Why | None) -> list[TaskInfo]:
    """Return, in order, the candidates without which their jobs still have their minimum."""
    accepted = []
    ready: dict[str, int] = {}
    for task in candidates:
        job = task.job
        if job is None:
            continue
        left = ready.setdefault(job.key, job.ready_count)
        if left > job.min_available:
            ready[job.key] = left - 1
            accepted.append(task)
        if why is not None:
            why[task.uid] = _reason(left, job.min_available)
    return accepted


def surplus(job: JobInfo, _priority: int | None) -> int:
    """Return how many of a job's tasks `surplus_tasks` accepts, not below 0 if there are any."""
    return job.ready_count - job.min_available


@lru_cache(maxsize=1024)
def _reason(ready: int, minimum: int) -> tuple[str, dict[str, int]]:
    """Return the reason of a vote, one object for all candidates with the same numbers."""
    kept = ready > minimum
    text = "the job keeps its minMember without it" if kept else "minMember would no longer be met"
    return text, {"ready": ready, "minAvailable": minimum}


def write_conditions(session: Session) -> None:
    """Write a condition to every PodGroup with tasks that says whether its gang is ready to be scheduled.

    Does nothing if the session writes no conditions; no session reads them.
    """
    for job in session.moved.in_order():
        job.unschedulable = job.size > 0 and not job.is_ready()
        if not (session.writes_conditions and job.size):
            continue
        if not job.unschedulable:
            _set_condition(job, "Scheduled", "tasks in gang are ready to be scheduled", "")
            continue
        reserved = [
            task
            for task in job.by_status[TaskStatus.PENDING].values()
            if task.standing().status in ALLOCATED_STATUSES
        ]
        missing = job.min_available - job.ready_count - len(reserved)
        text = f"{missing}/{job.size} tasks in gang unschedulable: {fit_error(job)}"
        _set_condition(job, "Unschedulable", "NotEnoughResources", text)


def _set_condition(job: JobInfo, kind: str, reason: str, message: str) -> None:
    """Set a condition with status True; it replaces an older one of its type."""
    condition = {"type": kind, "status": "True", "reason": reason, "message": message}
    for position, entry in enumerate(job.conditions):
        if entry.get("type") == kind:
            if entry != condition:
                job.conditions[position] = condition
                job.touch()
            return
    job.conditions.append(condition)
    job.touch()
