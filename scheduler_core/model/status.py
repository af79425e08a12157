"""Task statuses, which of them hold resources, and how jobs count them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple


class TaskStatus(IntEnum):
    """The status of a task, with Volcano's numbers (which order messages)."""

    PENDING = 1
    ALLOCATED = 2
    PIPELINED = 4
    BINDING = 8
    BOUND = 16
    RUNNING = 32
    RELEASING = 64
    SUCCEEDED = 128
    FAILED = 256
    UNKNOWN = 512

    @property
    def label(self) -> str:
        """Return Volcano's name of the status."""
        return LABELS[self]


LABELS = {status: status.name.capitalize() for status in TaskStatus}

ALLOCATED_STATUSES = frozenset(
    {TaskStatus.ALLOCATED, TaskStatus.BINDING, TaskStatus.BOUND, TaskStatus.RUNNING}
)
READY_STATUSES = ALLOCATED_STATUSES | {TaskStatus.SUCCEEDED}
PREEMPTABLE_STATUSES = frozenset({TaskStatus.BOUND, TaskStatus.RUNNING})
SCHEDULED_STATUSES = frozenset(
    {TaskStatus.BOUND, TaskStatus.RUNNING, TaskStatus.SUCCEEDED, TaskStatus.FAILED}
)
WAITING_STATUSES = frozenset({TaskStatus.PENDING, TaskStatus.PIPELINED, TaskStatus.ALLOCATED})
COMPLETED_STATUSES = frozenset({TaskStatus.SUCCEEDED, TaskStatus.FAILED})
VALID_STATUSES = READY_STATUSES | {TaskStatus.PIPELINED, TaskStatus.PENDING}
BEFORE_PODS = ("", "Pending", "Inqueue")
"""Phases in which a job without pods may still get pods, which the job controller creates after Inqueue."""


def status_of(phase: str, *, deleting: bool, has_node: bool) -> TaskStatus:
    """Return the status of a task from its pod's phase, deletion timestamp and node name."""
    if phase == "Running":
        return TaskStatus.RELEASING if deleting else TaskStatus.RUNNING
    if phase == "Pending":
        if deleting:
            return TaskStatus.RELEASING
        return TaskStatus.BOUND if has_node else TaskStatus.PENDING
    if phase == "Succeeded":
        return TaskStatus.SUCCEEDED
    if phase == "Failed":
        return TaskStatus.FAILED
    return TaskStatus.UNKNOWN


class Counted(NamedTuple):
    """The counters of a job that include a task, or how they change with its status."""

    valid: int
    ready: int
    allocated: int
    waiting: int
    pending: int


def _counted(status: TaskStatus) -> Counted:
    """Return 1 for each of a job's counters that includes a task of some status, else 0."""
    return Counted(
        valid=int(status in VALID_STATUSES),
        ready=int(status in READY_STATUSES),
        allocated=int(status in ALLOCATED_STATUSES),
        waiting=int(status is TaskStatus.PIPELINED),
        pending=int(status is TaskStatus.PENDING),
    )


# By old and new status; None: no counter changes.
CHANGES: Mapping[TaskStatus, Mapping[TaskStatus, Counted | None]] = {
    before: {
        after: Counted(*[new - old for new, old in zip(_counted(after), _counted(before), strict=True)])
        if _counted(after) != _counted(before)
        else None
        for after in TaskStatus
    }
    for before in TaskStatus
}
