"""What does each node hold and have left? The nodes of a snapshot as a struct of arrays.

Source: volcano ``pkg/scheduler/api/node_info.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.axis import ResourceAxis
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.status import TaskStatus
from scheduler_core.resource import MIN_RESOURCE, Resource

Matrix = NDArray[np.float64]

OVERSUBSCRIPTION = {"cpu": "volcano.sh/oversubscription-cpu", "memory": "volcano.sh/oversubscription-memory"}


def allocatable_of(node: Mapping[str, Any]) -> Resource:
    """Return a node's allocatable with its oversubscription annotations (milli-cores and bytes) added."""
    allocatable = Resource.from_list((node.get("status") or {}).get("allocatable"))
    annotations = node["metadata"].get("annotations") or {}
    for name, key in OVERSUBSCRIPTION.items():
        if key in annotations:
            allocatable.set(name, allocatable.get(name) + _float_or_zero(annotations[key]))
    return allocatable


def _float_or_zero(text: object) -> float:
    try:
        return float(str(text))
    except ValueError:
        return 0.0


class NodeTable:
    """Every node of a session, by name.

    Attributes
    ----------
    names : list of str
        In byte order; the position in it is the node's number everywhere.
    allocatable, idle, used, releasing, pipelined : (N, R) float64
        Amounts on the resource axis; an absent resource is 0.
    future : (N, R) float64
        What will be idle once the terminating pods are gone and the pipelined ones are in.
    tasks : list of dict
        The tasks on each node by namespace/name.
    listeners : list
        Told of every task that comes to a node (1), leaves it (-1), or does both because its status changed.
    clock : int
        Counts the changes of any node.
    changed_at : (N,) int64
        The clock of each node's last change, 0 for none: what keeps rows of choices up to date.

    """

    def __init__(
        self, nodes: Sequence[Mapping[str, Any]], allocatable: Sequence[Resource], axis: ResourceAxis
    ) -> None:
        self.objects = list(nodes)
        self.names: list[str] = [node["metadata"]["name"] for node in nodes]
        self.index = {name: number for number, name in enumerate(self.names)}
        self.axis = axis
        shape = (len(self.names), len(axis))
        self.allocatable = np.array([axis.row(amount) for amount in allocatable]).reshape(shape)
        self.names_scalars = [amount.scalars is not None for amount in allocatable]
        self.idle = self.allocatable.copy()
        self.used: Matrix = np.zeros(shape)
        self.releasing: Matrix = np.zeros(shape)
        self.pipelined: Matrix = np.zeros(shape)
        self.tasks: list[dict[str, TaskInfo]] = [{} for _ in self.names]
        self.future: Matrix = self.allocatable.copy()
        self.listeners: list[Callable[[TaskInfo, int, int], None]] = []
        self.clock = 0
        self.changed_at = np.zeros(len(self.names), dtype=np.int64)
        self._sorted: list[list[TaskInfo] | None] = [None] * len(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def labels(self, number: int) -> Mapping[str, str]:
        """Return a node's labels."""
        return self.objects[number]["metadata"].get("labels") or {}

    # amounts

    def future_idle_of(self, number: int) -> NDArray[np.float64]:
        """Return a copy of what will be idle on one node, (R,)."""
        available: NDArray[np.float64] = self.future[number].copy()
        return available

    def fits_idle(self, task: TaskInfo, number: int) -> bool:
        """Tell whether a task fits what is idle on a node."""
        return fits(task, self.idle[number])

    def fits_future_idle(self, task: TaskInfo, number: int) -> bool:
        """Tell whether a task fits what will be idle on a node."""
        return fits(task, self.future[number])

    # tasks

    def load(self, tasks: Sequence[TaskInfo]) -> None:
        """Put the tasks of a new snapshot on their nodes, all at once; `task.node_name` says where."""
        numbers = [self.index[task.node_name] for task in tasks]
        for task, number in zip(tasks, numbers, strict=True):
            task.node = number
            self.tasks[number][task.key] = task
            if not self.names_scalars[number]:
                self._account(task, number, 1.0)
        regular = np.array(self.names_scalars, dtype=np.bool_)[numbers]
        held = self._sums(tasks, numbers, regular)
        self.idle -= held
        self.used += held
        leaving = np.array([task.status is TaskStatus.RELEASING for task in tasks], dtype=np.bool_)
        if leaving.any():
            self.releasing += self._sums(tasks, numbers, regular & leaving)
        self.future = self.idle + self.releasing

    def _sums(self, tasks: Sequence[TaskInfo], numbers: Sequence[int], chosen: NDArray[np.bool_]) -> Matrix:
        """Return what the chosen ones of these tasks, on nodes of these numbers, hold on them, (N, R)."""
        shapes = {task.shape.number: task.shape for task in tasks}
        rows = np.zeros((max(shapes, default=-1) + 1, len(self.axis)))
        for number, shape in shapes.items():
            rows[number] = shape.row
        kinds = np.array([task.shape.number for task in tasks], dtype=np.intp)[chosen]
        places = np.array(numbers, dtype=np.intp)[chosen]
        sums: Matrix = np.zeros((len(self.names), len(self.axis)))
        for column, amounts in enumerate(rows.T):
            sums[:, column] = np.bincount(places, amounts[kinds], minlength=len(self.names))
        return sums

    def sorted_tasks(self, number: int) -> list[TaskInfo]:
        """Return the tasks on a node by namespace/name; do not change the list."""
        tasks = self._sorted[number]
        if tasks is None:
            on_node = self.tasks[number]
            tasks = self._sorted[number] = [on_node[key] for key in sorted(on_node)]
        return tasks

    def add_task(self, task: TaskInfo, number: int) -> None:
        """Put a task on a node; what it takes depends on its status."""
        self.tasks[number][task.key] = task
        self._sorted[number] = None
        task.node = number
        task.node_name = self.names[number]
        task.node_status = task.status
        self._account(task, number, 1.0)

    def remove_task(self, task: TaskInfo) -> None:
        """Take a task from its node; `task.node` and `task.node_name` stay for those who are told of it."""
        number = task.node
        del self.tasks[number][task.key]
        self._sorted[number] = None
        self._account(task, number, -1.0)

    def update_task(self, task: TaskInfo) -> None:
        """Account for a task on its node by its new status."""
        self._account(task, task.node, -1.0)
        task.node_status = task.status
        self._account(task, task.node, 1.0)

    def _account(self, task: TaskInfo, number: int, sign: float) -> None:
        row = task.shape.row * sign
        if task.node_status is TaskStatus.PIPELINED:
            self.pipelined[number] += row
        else:
            if self.names_scalars[number]:
                self.idle[number] -= row
            else:
                self._account_without_scalars(row, number, sign)
            self.used[number] += row
            if task.node_status is TaskStatus.RELEASING:
                self.releasing[number] += row
        self.future[number] = self.idle[number] + self.releasing[number] - self.pipelined[number]
        self.clock += 1
        self.changed_at[number] = self.clock
        for listener in self.listeners:
            listener(task, number, 1 if sign > 0 else -1)

    def _account_without_scalars(self, row: NDArray[np.float64], number: int, sign: float) -> None:
        """Idle without any scalar ignores subtracted scalars.

        The first amount given back makes it name them.
        """
        if sign > 0:
            self.idle[number, :2] -= row[:2]
        else:
            self.names_scalars[number] = True
            self.idle[number] -= row


def fits(task: TaskInfo, available: NDArray[np.float64]) -> bool:
    """Tell whether a task fits the available amounts, (R,), in every dimension that its request names."""
    return not bool(((task.shape.demand - available) >= MIN_RESOURCE).any())
