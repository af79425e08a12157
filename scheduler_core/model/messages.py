"""Messages that the scheduler writes on waiting pods and PodGroups.

Source: volcano ``pkg/scheduler/api/job_info.go`` (FitError, TaskSchedulingReason) at v1.15.1.
"""

from __future__ import annotations

from collections import Counter

from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.status import LABELS, WAITING_STATUSES, TaskStatus


def fit_error(job: JobInfo) -> str:
    """Return the sentence that summarises a job's tasks."""
    counts = [f"{count} {LABELS[status]}" for status, count in job.status_counts().items()]
    parts = sorted([*counts, f"{job.min_available} minAvailable"])
    text = f"pod group is {'ready' if job.is_ready() else 'not ready'}, {', '.join(parts)}"
    pending = Counter([_word(task) for task in job.by_status[TaskStatus.PENDING].values()])
    if pending:
        text += "; Pending: " + ", ".join(sorted(f"{count} {word}" for word, count in pending.items()))
    if job.fit_errors:
        uid = min(job.fit_errors)
        text += f". Origin reason is {job.tasks[uid].name}: {job.fit_errors[uid].text()}"
    return text


def _word(task: TaskInfo) -> str:
    status = task.standing().status
    if status is TaskStatus.ALLOCATED:
        return "Schedulable"
    if status in (TaskStatus.PIPELINED, TaskStatus.PENDING):
        return "Unschedulable"
    return status.label


def task_reason(task: TaskInfo) -> tuple[str, str, str]:
    """Return (reason, message, nominated node) of a task that is not bound yet."""
    place = task.standing()
    if place.status is TaskStatus.ALLOCATED:
        message = (
            f"Pod {task.key} can possibly be assigned to {place.node_name}, once minAvailable is satisfied"
        )
        return "Schedulable", message, ""
    if place.status is TaskStatus.PIPELINED:
        message = (
            f"Pod {task.key} can possibly be assigned to {place.node_name}, "
            "once resource is released and minAvailable is satisfied"
        )
        return "Unschedulable", message, cleared_node(task)
    if place.status is TaskStatus.PENDING:
        errors = task.job.fit_errors.get(task.uid) if task.job is not None else None
        return "Unschedulable", errors.text() if errors is not None else "", ""
    return place.status.label, "", ""


def cleared_node(task: TaskInfo) -> str:
    """Return the node on which evictions make room for an unbound task, empty if there is none."""
    place = task.standing()
    clears = place.status is TaskStatus.PIPELINED and place.eviction_occurred
    return place.node_name if clears else ""


def is_waiting(task: TaskInfo) -> bool:
    """Return whether a task is still to be bound."""
    return task.status in WAITING_STATUSES
