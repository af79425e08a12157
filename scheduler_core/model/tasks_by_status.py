"""The tasks of a job by status, created when they are first read."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar

from scheduler_core.model.pod_info import PodInfo
from scheduler_core.model.status import TaskStatus
from scheduler_core.model.task import Task

AnyTask = TypeVar("AnyTask", bound=Task)
AnyTask_co = TypeVar("AnyTask_co", bound=Task, covariant=True)
STATUSES = tuple(TaskStatus)
PENDING = TaskStatus.PENDING
NONE: Mapping[TaskStatus, int] = MappingProxyType({})


class Table(Protocol[AnyTask_co]):
    """The tasks of a snapshot by number, see `model.task_table`."""

    @property
    def pods(self) -> Sequence[PodInfo]:
        """Return the pods of the tasks."""

    def __getitem__(self, number: int, /) -> AnyTask_co:
        """Return a task, created when it is first read."""

    def seen(self, number: int, /) -> AnyTask_co | PodInfo:
        """Return a task if it was created, else its pod."""


class TasksByStatus(dict[TaskStatus, dict[str, AnyTask]], Generic[AnyTask]):
    """The tasks of a job by status, then uid; pending ones are created at once.

    It does not refer to the job: a job that is replaced is freed at once, and leaves nothing to the garbage
    collector.

    Attributes
    ----------
    unmade : mapping
        The number of tasks not created yet, by status.

    """

    __slots__ = ("_by_uid", "_members", "_table", "unmade")

    def __init__(self) -> None:
        self.unmade = NONE
        self._by_uid: dict[str, AnyTask] = {}
        self._members: Sequence[int] = ()
        self._table: Table[AnyTask] | None = None

    def load(self, table: Table[AnyTask], members: Sequence[int], counts: Mapping[TaskStatus, int]) -> None:
        """Load tasks by their numbers.

        `counts` are the numbers of tasks by status, without statuses that no task has.
        """
        self._table, self._members = table, members
        self.unmade = counts
        if PENDING in counts:
            self.unmade = {status: count for status, count in counts.items() if status is not PENDING}
            pods = table.pods
            tasks = [table[number] for number in members if pods[number].status is PENDING]
            self[PENDING] = {task.uid: task for task in tasks}

    def __missing__(self, status: TaskStatus) -> dict[str, AnyTask]:
        if status in self.unmade:
            self.make()
        return self.setdefault(status, {})

    def make(self) -> Mapping[str, AnyTask]:
        """Return the tasks by uid, ascending, after creating those that were not read yet."""
        table, by_uid = self._table, self._by_uid
        if table is None:
            return by_uid
        self._table = None
        self.update((status, {}) for status in self.unmade)
        for number in self._members:
            status, task = table.pods[number].status, table[number]
            by_uid[task.uid] = task
            if status is not PENDING:
                self[status][task.uid] = task
        self.unmade = NONE
        return by_uid

    def replace(self, known: AnyTask, task: AnyTask) -> None:
        """Replace a task by another one of the same pod."""
        self._by_uid[task.uid] = self[known.status][task.uid] = task

    def seen(self) -> Iterable[AnyTask | PodInfo]:
        """Return the tasks, or the pods of tasks not created yet."""
        table = self._table
        return self._by_uid.values() if table is None else [table.seen(number) for number in self._members]

    def counts(self) -> Mapping[TaskStatus, int]:
        """Return the number of tasks by status, without statuses that no task has."""
        counts = [(status, len(tasks)) for status, tasks in super().items() if tasks]
        counts += self.unmade.items()
        return dict(sorted(counts) if len(counts) > 1 else counts)

    def items(self) -> ItemsView[TaskStatus, dict[str, AnyTask]]:  # type: ignore[override]
        """Return all statuses with their tasks."""
        return {status: self[status] for status in STATUSES}.items()
