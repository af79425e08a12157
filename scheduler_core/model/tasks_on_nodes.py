"""The tasks on each node."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.job import TaskInfo

if TYPE_CHECKING:
    from scheduler_core.model.task_table import TaskTable

_key = attrgetter("key")


class TasksOnNodes:
    """The tasks on each node, by namespace/name; those that a state finds there are created when read."""

    def __init__(self, nodes: int) -> None:
        self._tasks: list[dict[str, TaskInfo]] = [{} for _ in range(nodes)]
        self._sorted: list[list[TaskInfo] | None] = [None] * nodes
        self._found: TasksFound | None = None

    def __len__(self) -> int:
        return len(self._tasks)

    def __getitem__(self, node: int) -> dict[str, TaskInfo]:
        """Return the tasks on a node by namespace/name; do not change them."""
        found = self._found.pop(node) if self._found is not None else ()
        if found:
            came_since = self._tasks[node]
            self._tasks[node] = {task.key: task for task in found} | came_since
        return self._tasks[node]

    def in_order(self, node: int) -> list[TaskInfo]:
        """Return the tasks on a node by namespace/name; do not change the list."""
        tasks = self._sorted[node]
        if tasks is None:
            on_node = self[node]
            tasks = self._sorted[node] = [on_node[key] for key in sorted(on_node)]
        return tasks

    def load(self, table: TaskTable, numbers: NDArray[np.intp]) -> None:
        """Add the tasks of a new state, given by number."""
        self._found = TasksFound(table, numbers, len(self))

    def reload(self, node: int, numbers: Sequence[int]) -> None:
        """Replace the tasks on a node by others, given by number."""
        assert self._found is not None, "what was loaded is loaded again"
        self._found.put(node, numbers)
        self._tasks[node] = {}
        self._sorted[node] = None

    def add(self, task: TaskInfo, node: int) -> bool:
        """Add a task to a node; return False if its pod is already there."""
        tasks = self._tasks[node]
        if task.key in tasks:
            return False
        tasks[task.key] = task
        in_order = self._sorted[node]
        if in_order is not None:
            insort(in_order, task, key=_key)
        return True

    def remove(self, task: TaskInfo, node: int) -> TaskInfo:
        """Remove and return the record of a task's pod on a node; it may be another object than the task."""
        tasks = self._tasks[node]
        record = (tasks if task.key in tasks else self[node]).pop(task.key)
        in_order = self._sorted[node]
        if in_order is not None:
            del in_order[bisect_left(in_order, task.key, key=_key)]
        return record


class TasksFound:
    """The tasks that a state finds on each node, until they are read."""

    def __init__(self, table: TaskTable, numbers: NDArray[np.intp], nodes: int) -> None:
        self._table = table
        self._numbers = numbers
        self._node_of = table.node_of[numbers]
        self._unread = [True] * nodes
        self._renewed: dict[int, Sequence[int]] = {}

    @cached_property
    def _by_node(self) -> tuple[list[int], list[int]]:
        """Return the tasks sorted by node, and the end position of each node's tasks."""
        ends = np.bincount(self._node_of, minlength=len(self._unread)).cumsum()
        return self._numbers[np.argsort(self._node_of, kind="stable")].tolist(), ends.tolist()

    def put(self, node: int, numbers: Sequence[int]) -> None:
        """Set the tasks found on a node."""
        self._renewed[node] = numbers
        self._unread[node] = True

    def pop(self, node: int) -> list[TaskInfo]:
        """Return the tasks found on a node, by uid, the first time; none later."""
        if not self._unread[node]:
            return []
        self._unread[node] = False
        renewed = self._renewed.pop(node, None)
        if renewed is not None:
            return [self._table[number] for number in renewed]
        numbers, ends = self._by_node
        return [self._table[number] for number in numbers[ends[node - 1] if node else 0 : ends[node]]]
