"""Which tasks does each queue have on the nodes, and where?

What of them can still be evicted is told by `framework.holdings`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.node import NodeTable
from scheduler_core.model.status import PREEMPTABLE_STATUSES

Mask = NDArray[np.bool_]
Amounts = NDArray[np.float64]
Thing = TypeVar("Thing", bound=Hashable)

_by_place = attrgetter("node", "key")


class HeldTasks:
    """The tasks of one queue that might be evicted one day, P of them on K nodes, as they were at first.

    Attributes
    ----------
    tasks : list of TaskInfo
        By node, then by namespace/name.
    nodes : (K,) intp
        The nodes that hold any, ascending.
    starts : (K,) intp
        Where the tasks of each node begin.
    node_of : (P,) intp
        The position of each task's node in `nodes`.
    jobs : list of JobInfo
        Whose tasks they are.
    job_of : (P,) intp
        The position of each task's job in `jobs`.
    shapes : list of PodShape
        The different ones.
    shape_of : (P,) intp
        The position of each task's shape in `shapes`.
    amounts : (P, R + 1) float64
        What each task holds; the last number is 1.
    columns : (R + 1, P) float64
        The same amounts.

    """

    def __init__(self, queue: str, tasks: Sequence[TaskInfo]) -> None:
        self.queue = queue
        self.tasks = sorted(tasks, key=_by_place)
        places = np.array([task.node for task in self.tasks], dtype=np.intp)
        is_first = np.diff(places, prepend=-1) != 0
        self.starts = np.flatnonzero(is_first)
        self.nodes = places[self.starts]
        self.node_of = np.cumsum(is_first) - 1
        self._positions, self.job_of = _numbered([_job(task) for task in self.tasks])
        self.jobs = list(self._positions)
        shapes, self.shape_of = _numbered([task.shape for task in self.tasks])
        self.shapes = list(shapes)
        self.amounts: Amounts = np.array([[*shape.row, 1.0] for shape in shapes]).take(self.shape_of, axis=0)
        self.columns: Amounts = np.ascontiguousarray(self.amounts.T)
        self._facts: dict[Callable[[TaskInfo], Any], NDArray[Any]] = {}

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {task.uid: row for row, task in enumerate(self.tasks)}

    def row_of(self, task: TaskInfo) -> int | None:
        """Return where a task is in `tasks`, None when it is not among them."""
        return self._rows.get(task.uid)

    def position_of(self, job: JobInfo | None) -> int | None:
        """Return where a job is in `jobs`, None when it holds nothing."""
        return None if job is None else self._positions.get(job)

    @cached_property
    def groups(self) -> tuple[NDArray[np.intp], Mask]:
        """Return a number for each task's node and job, and whether no other task has it, (P,) each."""
        _, groups, sizes = np.unique(
            self.node_of * len(self.jobs) + self.job_of, return_inverse=True, return_counts=True
        )
        return groups, sizes[groups] == 1

    def each(self, fact: Callable[[TaskInfo], Any]) -> NDArray[Any]:
        """Return what never changes of each task, (P,), asked once."""
        if fact not in self._facts:
            self._facts[fact] = np.array([fact(task) for task in self.tasks])
        return self._facts[fact]


class AllHeldTasks:
    """The tasks of every queue that might be evicted one day.

    Attributes
    ----------
    queues : collection of str
        Those that have any.

    """

    def __init__(self, nodes: NodeTable) -> None:
        self._tasks: dict[str, list[TaskInfo]] = {}
        for on_node in nodes.tasks:
            for task in on_node.values():
                job = task.job
                if job is not None and task.preemptable and task.node_status in PREEMPTABLE_STATUSES:
                    self._tasks.setdefault(job.queue, []).append(task)
        self._built: dict[str, HeldTasks] = {}
        self.queues: Collection[str] = self._tasks.keys()

    def of(self, queue: str) -> HeldTasks | None:
        """Return a queue's tasks, None when it has none."""
        held = self._built.get(queue)
        if held is None and queue in self._tasks:
            held = self._built[queue] = HeldTasks(queue, self._tasks[queue])
        return held


def _numbered(things: Sequence[Thing]) -> tuple[dict[Thing, int], NDArray[np.intp]]:
    """Return the different things with their positions, and the position of each one."""
    positions: dict[Thing, int] = {}
    numbers = [positions.setdefault(thing, len(positions)) for thing in things]
    return positions, np.array(numbers, dtype=np.intp)


def _job(task: TaskInfo) -> JobInfo:
    assert task.job is not None, "who holds something for a queue is of a job"
    return task.job
