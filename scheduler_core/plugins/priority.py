"""Plugin priority: order jobs and tasks by priority, and preempt those of lower priority.

Source: volcano ``pkg/scheduler/plugins/priority/priority.go`` at v1.15.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from scheduler_core.conf import Arguments
from scheduler_core.decision import Why
from scheduler_core.framework.bounds import PerJobBound
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.living_view import nothing_to_renew
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo

NAME = "priority"


def open_session(session: Session, _arguments: Arguments) -> None:
    """Register the callbacks of priority."""
    session.registry.add_task_order(NAME, task_order)
    session.registry.add_job_order(NAME, job_order)
    session.registry.add_evictable(
        Point.PREEMPTABLE,
        NAME,
        lower_priority_tasks,
        bound=PerJobBound(preemptable_count),
        same_for_equal_tasks=True,
        same_for_equal_jobs=True,
    )
    session.registry.add_unified_evictable(NAME, evictable)
    session.registry.add_job_starving(NAME, job_starving, same_for_equal_jobs=True)
    session.renewals[NAME] = nothing_to_renew


def task_order(task: TaskInfo) -> int:
    """Return a sort key that puts tasks of higher priority first."""
    return -task.priority


def job_order(job: JobInfo) -> int:
    """Return a sort key that puts jobs of higher priority first."""
    return -job.priority


def job_starving(job: JobInfo) -> bool:
    """Return whether the job has a task that is neither placed nor pipelined."""
    return job.ready_count + job.waiting_count < job.size


def lower_priority_tasks(
    preemptor: TaskInfo, candidates: Sequence[TaskInfo], why: Why | None
) -> list[TaskInfo]:
    """Return the candidates of lower priority: of the job between jobs, of the task within a job."""
    if preemptor.job is None:
        return []
    accepted = []
    for task in candidates:
        if task.job is None:
            continue
        inside = task.job is preemptor.job
        theirs = task.priority if inside else task.job.priority
        mine = preemptor.priority if inside else preemptor.job.priority
        if theirs < mine:
            accepted.append(task)
        if why is not None:
            whose = "task" if inside else "job"
            relation = "lower than" if theirs < mine else "not lower than"
            why[task.uid] = (
                f"{whose} priority is {relation} the preemptor's",
                {"priority": theirs, "preemptor": mine},
            )
    return accepted


def preemptable_count(job: JobInfo, priority: int | None) -> float:
    """Return how many of a job's tasks `lower_priority_tasks` accepts: all if its priority is lower."""
    assert priority is not None, "the bound is used for preempt only"
    return math.inf if job.priority < priority else 0


def evictable(
    preemptor: TaskInfo, candidates: Sequence[TaskInfo], action: str, _why: Why | None
) -> list[TaskInfo]:
    """Return all candidates for gangreclaim, those of jobs of lower priority for gangpreempt."""
    if action == "gangreclaim":
        return list(candidates)
    if preemptor.job is None:
        return []
    mine = preemptor.job.priority
    return [task for task in candidates if task.job is not None and task.job.priority < mine]
