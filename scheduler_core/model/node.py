"""The nodes of a snapshot as a struct of arrays: allocatable, idle, used, releasing and pipelined.

Source: volcano ``pkg/scheduler/api/node_info.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler_core.model.axis import ResourceAxis
from scheduler_core.model.changes import ChangeLog, RowTable
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.pod import Pairs
from scheduler_core.model.rows import Matrix, add_pairs, fits, without_scalars
from scheduler_core.model.status import TaskStatus
from scheduler_core.model.task import NO_NODE
from scheduler_core.model.tasks_on_nodes import TasksOnNodes
from scheduler_core.resource import Resource

if TYPE_CHECKING:
    from scheduler_core.model.task_table import TaskTable

Rows = RowTable[list[float], np.float64]
Listener = Callable[[TaskInfo, TaskStatus | None, TaskStatus | None], None]

PIPELINED, RELEASING = TaskStatus.PIPELINED, TaskStatus.RELEASING
PIPELINED_OR_RELEASING = frozenset({PIPELINED, RELEASING})


class NodeTable:
    """Every node of a session, by name.

    Amounts are one list of numbers per node, because a placement changes one node at a time; the arrays over
    all nodes are updated when they are read.

    Attributes
    ----------
    names : list of str
        In byte order; the position is the node's number everywhere.
    allocatable : (N, R) float64
        Amounts on the resource axis; an absent resource is 0.
    idle_of, used_of, releasing_of, pipelined_of : list of list of float
        By node, the amounts of `idle`, `used`, `releasing` and `pipelined`. Only this table changes them.
    future_of : list of list of float
        The amounts that will be idle once the releasing pods have terminated and the pipelined ones are
        bound: the same list as `idle_of` if nothing is releasing or pipelined.
    tasks : TasksOnNodes
        The tasks on each node.
    listeners : list
        Called for every task that is added to a node, removed from it, or changes its status there:
        ``listener(task, before, after)``, with the old and the new status on ``task.node``; None: absent.
    releasing_or_pipelined : set of int
        The nodes with releasing or pipelined tasks.
    moved : set of int
        The nodes where tasks were added, removed or changed since the state was last renewed.
    changes : ChangeLog
        The nodes that changed, in order, from which caches over nodes are updated.

    """

    def __init__(
        self, nodes: Sequence[Mapping[str, Any]], allocatable: Sequence[Resource], axis: ResourceAxis
    ) -> None:
        self.objects = list(nodes)
        self.names: list[str] = [node["metadata"]["name"] for node in nodes]
        self.index = {name: number for number, name in enumerate(self.names)}
        self.axis = axis
        self.allocatable = axis.rows(allocatable)
        self._offers: list[list[float]] = self.allocatable.tolist()
        self._named_scalars = [amount.scalars is not None for amount in allocatable]
        self.names_scalars = list(self._named_scalars)
        self.tasks = TasksOnNodes(len(self.names))
        self.listeners: list[Listener] = []
        self.changes = ChangeLog(len(self.names))
        self.releasing_or_pipelined: set[int] = set()
        self.moved: set[int] = set()
        nothing = np.zeros_like(self.allocatable)
        self._write(self.allocatable, nothing, nothing)

    def _write(self, idle: Matrix, used: Matrix, releasing: Matrix) -> None:
        """Set the amounts of all nodes, (N, R) each; nothing is pipelined."""
        self._idle: Rows = RowTable(idle, self.changes)
        self._used: Rows = RowTable(used, self.changes)
        self._releasing: Rows = RowTable(releasing, self.changes)
        self._pipelined: Rows = RowTable(np.zeros_like(idle), self.changes)
        self._future: Rows = RowTable(idle + releasing, self.changes)
        self.idle_of, self.used_of = self._idle.rows, self._used.rows
        self.releasing_of, self.pipelined_of = self._releasing.rows, self._pipelined.rows
        self.future_of = self._future.rows
        self.future_of[:] = self.idle_of
        for number in np.flatnonzero(releasing.any(axis=1)).tolist():
            self._update_future(number)

    def __len__(self) -> int:
        return len(self.names)

    def labels(self, number: int) -> Mapping[str, str]:
        """Return a node's labels."""
        return self.objects[number]["metadata"].get("labels") or {}

    # amounts

    @property
    def idle(self) -> Matrix:
        """Return the idle amounts, (N, R); do not change them."""
        return self._idle.array

    @property
    def used(self) -> Matrix:
        """Return the used amounts, including those of terminating pods, (N, R); do not change them."""
        return self._used.array

    @property
    def releasing(self) -> Matrix:
        """Return the amounts of terminating pods, (N, R); do not change them."""
        return self._releasing.array

    @property
    def pipelined(self) -> Matrix:
        """Return the amounts of pipelined pods, (N, R); do not change them."""
        return self._pipelined.array

    @property
    def future(self) -> Matrix:
        """Return the future idle amounts, (N, R); do not change them."""
        return self._future.array

    def fits_idle(self, task: TaskInfo, number: int) -> bool:
        """Return whether a task fits the idle amounts of a node."""
        return fits(task, self.idle_of[number])

    def fits_future_idle(self, task: TaskInfo, number: int) -> bool:
        """Return whether a task fits the future idle amounts of a node."""
        return fits(task, self.future_of[number])

    # tasks

    def load(self, table: TaskTable) -> None:
        """Add the tasks of a new state to their nodes."""
        numbers = np.flatnonzero(table.node_of != NO_NODE)
        self.tasks.load(table, numbers)
        node_of = table.node_of[numbers]
        regular = np.array(self.names_scalars, dtype=np.bool_)[node_of]
        for number in numbers[~regular].tolist():
            self._account(table[number], table[number].node, 1.0)
            self.changes.add(table[number].node)
        used, leaves = table.sums_on_nodes(numbers[regular], node_of[regular], len(self))
        self._write(self.idle - used, self.used + used, self.releasing + leaves)

    def reload(self, found: Mapping[int, Sequence[int]], table: TaskTable) -> None:
        """Replace the tasks on some nodes by the given ones, and recompute the amounts of these nodes."""
        nothing = [0.0] * len(self.axis)
        for number, tasks in found.items():
            self.tasks.reload(number, tasks)
            self.names_scalars[number] = self._named_scalars[number]
            self.pipelined_of[number] = nothing[:]
        regular = [number for number in found if self.names_scalars[number]]
        others = [number for number in found if not self.names_scalars[number]]
        on_regular = [found[number] for number in regular]
        of_tasks = np.fromiter(chain.from_iterable(on_regular), dtype=np.intp)
        places = np.repeat(np.arange(len(regular)), [*map(len, on_regular)])
        used, leaves = table.sums_on_nodes(of_tasks, places, len(regular))
        idle = self.allocatable[regular] - used
        amounts = zip(regular, idle.tolist(), used.tolist(), leaves.tolist(), strict=True)
        for number, *rows in amounts:
            self.idle_of[number], self.used_of[number], self.releasing_of[number] = rows
        for number in others:
            self.idle_of[number] = self._offers[number][:]
            self.used_of[number], self.releasing_of[number] = nothing[:], nothing[:]
            for task in found[number]:
                self._account(table[task], number, 1.0)
        for number in found:
            self._update_future(number)
            self.changes.add(number)

    def add_task(self, task: TaskInfo, number: int) -> bool:
        """Add a task to a node and account for it by its status; return False if its pod is already there."""
        is_new = self.tasks.add(task, number)
        task.node = number
        task.node_name = self.names[number]
        if not is_new:
            return False
        task.node_status = task.status
        self._account(task, number, 1.0)
        self._changed(task, None, task.status)
        return True

    def remove_task(self, task: TaskInfo) -> None:
        """Remove the record of a task's pod from its node; the record may be another object than the task.

        `task.node` and `task.node_name` remain, for event handlers.
        """
        number = task.node
        task = self.tasks.remove(task, number)
        self._account(task, number, -1.0)
        self._changed(task, task.node_status, None)

    def update_task(self, task: TaskInfo) -> None:
        """Account for a task on its node by its new status."""
        before = task.node_status
        self._account(task, task.node, -1.0)
        task.node_status = task.status
        self._account(task, task.node, 1.0)
        self._changed(task, before, task.status)

    def count(self, pairs: Pairs, number: int, sign: float) -> None:
        """Add (1.0) or subtract (-1.0) the amounts of a pod without a task on a node.

        The node must name all scalars and have no releasing or pipelined pods; rebuilding it finds the pod.
        """
        add_pairs(self.idle_of[number], pairs, -sign)
        add_pairs(self.used_of[number], pairs, sign)
        self.changes.add(number)

    def count_pipelined(self, task: TaskInfo, sign: float) -> None:
        """Add (1.0) or subtract (-1.0) the amounts of a pipelined task without adding it to its node."""
        number, pairs = task.node, task.shape.amounts
        add_pairs(self.pipelined_of[number], pairs, sign)
        if sign > 0 and number in self.releasing_or_pipelined:
            self._update_future_of(number, pairs)
        else:
            self._update_future(number)
        statuses = (None, PIPELINED) if sign > 0 else (PIPELINED, None)
        self._announce(task, *statuses)

    def _changed(self, task: TaskInfo, before: TaskStatus | None, after: TaskStatus | None) -> None:
        """Update the amounts, the log and the listeners after a change on a task's node."""
        number = task.node
        if (
            number in self.releasing_or_pipelined
            or before in PIPELINED_OR_RELEASING
            or after in PIPELINED_OR_RELEASING
        ):
            self._update_future(number)
        self._announce(task, before, after)

    def _announce(self, task: TaskInfo, before: TaskStatus | None, after: TaskStatus | None) -> None:
        """Log that a task's node changed, and call the listeners."""
        self.changes.add(task.node)
        for listener in self.listeners:
            listener(task, before, after)

    def forget_counted(self, number: int) -> None:
        """Undo all calls of `count_pipelined` on a node on which nothing else has changed."""
        self.pipelined_of[number] = [0.0] * len(self.axis)
        self._update_future(number)
        self.changes.add(number)

    def _account(self, task: TaskInfo, number: int, sign: float) -> None:
        self.moved.add(number)
        pairs, status = task.shape.amounts, task.node_status
        if status is PIPELINED:
            add_pairs(self.pipelined_of[number], pairs, sign)
        else:
            idle, used = self.idle_of[number], self.used_of[number]
            if self.names_scalars[number]:
                for position, amount in pairs:
                    idle[position] -= sign * amount
                    used[position] += sign * amount
            else:
                add_pairs(idle, self._without_scalars(pairs, number, sign), -sign)
                add_pairs(used, pairs, sign)
            if status is RELEASING:
                releasing = self.releasing_of[number]
                add_pairs(releasing, pairs if sign > 0 or any(releasing) else without_scalars(pairs), sign)

    def _update_future(self, number: int) -> None:
        """Recompute the future idle amounts of a node."""
        idle, releasing = self.idle_of[number], self.releasing_of[number]
        pipelined = self.pipelined_of[number]
        if any(releasing) or any(pipelined):
            self.releasing_or_pipelined.add(number)
            self.future_of[number] = [
                now + comes - goes for now, comes, goes in zip(idle, releasing, pipelined, strict=True)
            ]
        else:
            self.releasing_or_pipelined.discard(number)
            self.future_of[number] = idle

    def _update_future_of(self, number: int, pairs: Pairs) -> None:
        """Recompute them for a pod's resources only, on a node that still has releasing or pipelined pods."""
        idle, future = self.idle_of[number], self.future_of[number]
        releasing, pipelined = self.releasing_of[number], self.pipelined_of[number]
        for position, _ in pairs:
            future[position] = idle[position] + releasing[position] - pipelined[position]

    def _without_scalars(self, pairs: Pairs, number: int, sign: float) -> Pairs:
        """Return the amounts without scalars if an idle vector without a scalar map must ignore them.

        Volcano ignores scalars that are subtracted from such a vector; the first addition creates its scalar
        map.
        """
        if sign < 0:
            self.names_scalars[number] = True
            return pairs
        return without_scalars(pairs)
