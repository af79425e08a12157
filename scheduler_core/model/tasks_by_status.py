"""The tasks of a job by status."""

from __future__ import annotations

from collections.abc import Callable, ItemsView
from typing import TypeVar

from scheduler_core.model.status import TaskStatus

Task = TypeVar("Task")
STATUSES = tuple(TaskStatus)


class TasksByStatus(dict[TaskStatus, dict[str, Task]]):
    """The tasks of a job by status, then uid.

    Parameters
    ----------
    make : callable
        ``make(status)`` adds the tasks of a status when it is first read.

    """

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[TaskStatus], None]) -> None:
        self._make = make

    def __missing__(self, status: TaskStatus) -> dict[str, Task]:
        self._make(status)
        return self.setdefault(status, {})

    def items(self) -> ItemsView[TaskStatus, dict[str, Task]]:  # type: ignore[override]
        """Return all statuses with their tasks."""
        return {status: self[status] for status in STATUSES}.items()

    def made(self) -> ItemsView[TaskStatus, dict[str, Task]]:
        """Return the statuses that were read, with their tasks."""
        return super().items()
