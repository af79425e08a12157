"""Which tasks does each queue have on the nodes, and where?

What of them can still be evicted is told by `framework.holdings`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from functools import cached_property
from itertools import accumulate
from operator import attrgetter
from typing import Any, Self, TypeVar

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
    """Tasks that might be evicted one day, P of them on K nodes, as they were at first.

    They are those of one queue, or of several ones joined; then everything is by queue first, and a node,
    job or shape is counted once for each queue.

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
    """

    def __init__(self, queue: str, tasks: Sequence[TaskInfo]) -> None:
        self.queue = queue
        self.tasks = sorted(tasks, key=_by_place)
        places = np.array([task.node for task in self.tasks], dtype=np.intp)
        is_first = np.diff(places, prepend=-1) != 0
        self.starts = np.flatnonzero(is_first)
        self.nodes = places[self.starts]
        self.node_of = np.cumsum(is_first) - 1
        self.jobs, self.job_of = _numbered([_job(task) for task in self.tasks])
        self.shapes, self.shape_of = _numbered([task.shape for task in self.tasks])
        self.amounts: Amounts = np.array([[*shape.row, 1.0] for shape in self.shapes]).take(
            self.shape_of, axis=0
        )
        self._facts: dict[Callable[[TaskInfo], Any], NDArray[Any]] = {}

    @classmethod
    def joined(cls, parts: Sequence[HeldTasks]) -> Self:
        """Return the tasks of several queues, of one at least."""
        held = cls.__new__(cls)
        held.queue = ""
        held.tasks = [task for part in parts for task in part.tasks]
        held.nodes = np.concatenate([part.nodes for part in parts])
        held.starts = _counted_on([part.starts for part in parts], [len(part.tasks) for part in parts])
        held.node_of = _counted_on([part.node_of for part in parts], [len(part.nodes) for part in parts])
        held.jobs = [job for part in parts for job in part.jobs]
        held.job_of = _counted_on([part.job_of for part in parts], [len(part.jobs) for part in parts])
        held.shapes = [shape for part in parts for shape in part.shapes]
        held.shape_of = _counted_on([part.shape_of for part in parts], [len(part.shapes) for part in parts])
        held.amounts = np.concatenate([part.amounts for part in parts])
        held._facts = {}
        return held

    @cached_property
    def columns(self) -> Amounts:
        """Return what each task holds, resource by resource, (R + 1, P)."""
        return np.ascontiguousarray(self.amounts.T)

    @cached_property
    def _positions(self) -> dict[JobInfo, int]:
        return {job: position for position, job in enumerate(self.jobs)}

    @cached_property
    def _rows_by_job(self) -> list[NDArray[np.intp]]:
        order = np.argsort(self.job_of, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.job_of, minlength=len(self.jobs)))[:-1])

    def rows_of(self, jobs: Collection[int]) -> NDArray[np.intp]:
        """Return where the tasks of some jobs are, those of each job ascending."""
        by_job = self._rows_by_job
        return np.concatenate([by_job[job] for job in jobs])

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {task.uid: row for row, task in enumerate(self.tasks)}

    def rows_at(self, place: int) -> tuple[int, int]:
        """Return where the tasks of one of the `nodes` begin and end."""
        starts = self.starts
        return int(starts[place]), int(starts[place + 1]) if place + 1 < len(starts) else len(self.tasks)

    @cached_property
    def places(self) -> dict[int, int]:
        """Return the position of each node in `nodes`."""
        return {node: position for position, node in enumerate(self.nodes.tolist())}

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

    @cached_property
    def crowds(self) -> NDArray[np.intp]:
        """Return how many tasks of each job are on the node where most of them are, (J,)."""
        groups, _ = self.groups
        crowds = np.zeros(len(self.jobs), dtype=np.intp)
        np.maximum.at(crowds, self.job_of, np.bincount(groups)[groups])
        return crowds

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


def _numbered(things: Sequence[Thing]) -> tuple[list[Thing], NDArray[np.intp]]:
    """Return the different things, and the position of each one among them."""
    positions: dict[Thing, int] = {}
    numbers = [positions.setdefault(thing, len(positions)) for thing in things]
    return list(positions), np.array(numbers, dtype=np.intp)


def _counted_on(parts: Sequence[NDArray[np.intp]], sizes: Sequence[int]) -> NDArray[np.intp]:
    """Return numbers of several parts that are counted on from one to the next, each part having a size."""
    firsts = accumulate(sizes, initial=0)
    return np.concatenate([part + first for part, first in zip(parts, firsts, strict=False)])


def _job(task: TaskInfo) -> JobInfo:
    assert task.job is not None, "who holds something for a queue is of a job"
    return task.job
