"""The tasks that preempt may evict, before the plugins vote, and those that it has evicted.

Source: volcano ``pkg/scheduler/actions/preempt/preempt.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.status import PREEMPTABLE_STATUSES
from scheduler_core.victims.bound import Bound

Filter = Callable[[TaskInfo], bool]


class Candidates(NamedTuple):
    """The tasks that may be evicted.

    Attributes
    ----------
    on : callable
        ``on(node)``: the candidates on a node, by namespace/name.
    bound : Bound
        Finds the nodes where they might be enough; any other node is considered only if it has room.

    """

    on: Callable[[int], list[TaskInfo]]
    bound: Bound


Among = Callable[[TaskInfo], Candidates]


def job_of(task: TaskInfo) -> JobInfo:
    """Return the job of a starving task."""
    assert task.job is not None, "only tasks of a job starve"
    return task.job


def _may_be_preempted(task: TaskInfo, preemptor: TaskInfo) -> bool:
    if task.node_status not in PREEMPTABLE_STATUSES or task.job is None or not task.preemptable:
        return False
    return task.best_effort or not preemptor.best_effort


def of_other_jobs(task: TaskInfo, job: JobInfo) -> Filter:
    """Return the filter for candidates among other jobs of the queue, applied before the plugins vote."""
    queue = job.queue
    return lambda other: (
        other.job is not None
        and other.job.queue == queue
        and other.job is not job
        and _may_be_preempted(other, task)
    )


def of_same_job(task: TaskInfo, job: JobInfo) -> Filter:
    """Return the filter for candidates in the task's own job, applied before the plugins vote."""
    return lambda other: other.job is job and _may_be_preempted(other, task)


def is_terminating_victim(other: TaskInfo, task: TaskInfo) -> bool:
    """Return whether a pod of lower priority than the task's is terminating because it was preempted."""
    if not other.pod["metadata"].get("deletionTimestamp"):
        return False
    if int(other.pod["spec"].get("priority") or 0) >= int(task.pod["spec"].get("priority") or 0):
        return False
    for condition in (other.pod.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "DisruptionTarget":
            mine = (condition.get("status"), condition.get("reason"))
            return bool(mine == ("True", "PreemptionByScheduler"))
    return False
