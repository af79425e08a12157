"""Which tasks does each queue have on the nodes, and where?

What of them can still be evicted is told by `framework.holdings`. Tasks are known by their numbers, since of
ten thousands of them few are ever evicted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.bounds import Fact
from scheduler_core.framework.numbering import Numbers, distinct, numbered
from scheduler_core.model.job import NO_NODE, JobInfo, TaskInfo
from scheduler_core.model.status import PREEMPTABLE_STATUSES, TaskStatus
from scheduler_core.model.task_table import TaskTable

Mask = NDArray[np.bool_]
Amounts = NDArray[np.float64]


class Found(NamedTuple):
    """Tasks, P of them, by queue, then by node, then by namespace/name.

    Attributes
    ----------
    numbers : (P,) intp
        Their numbers.
    jobs : (P,) intp
        The numbers of their jobs.
    groups : (P,) intp
        A number for each queue and node, ascending.

    """

    numbers: Numbers
    jobs: Numbers
    groups: Numbers

    def at(self, rows: slice | Mask | Numbers) -> Found:
        """Return those of some rows."""
        return Found(self.numbers[rows], self.jobs[rows], self.groups[rows])


class HeldTasks:
    """Tasks that might be evicted one day, P of them on K nodes, as they were at first.

    They are those of one queue, or of several ones; then everything is by queue first, and a node is counted
    once for each queue.

    Attributes
    ----------
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
    shapes : tuple of PodShape
        The different ones.
    shape_of : (P,) intp
        The position of each task's shape in `shapes`.
    amounts : (P, R + 1) float64
        What each task holds; the last number is 1.
    """

    def __init__(self, queue: str, table: TaskTable, jobs: Sequence[JobInfo], found: Found) -> None:
        self.queue = queue
        self._table = table
        self._numbers = found.numbers
        is_first = np.diff(found.groups, prepend=-1) != 0
        self.starts = np.flatnonzero(is_first)
        self.nodes = table.places[found.numbers[self.starts]]
        self.node_of = np.cumsum(is_first) - 1
        owners, self.job_of = distinct(found.jobs)
        self.jobs = [jobs[number] for number in owners.tolist()]
        shapes, self.shape_of = distinct(table.shape_numbers[found.numbers])
        self.shapes = tuple([table.shapes[number] for number in shapes.tolist()])
        self.amounts: Amounts = np.array([[*shape.row, 1.0] for shape in self.shapes]).take(
            self.shape_of, axis=0
        )
        self._facts: dict[Fact, Mask] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def task(self, row: int) -> TaskInfo:
        """Return the task of a row."""
        return self._table[int(self._numbers[row])]

    def are_in(self, statuses: Collection[TaskStatus]) -> Mask:
        """Tell which tasks have any of the statuses on their nodes now, (P,)."""
        return self._table.are_in(statuses, self._numbers)

    @cached_property
    def columns(self) -> Amounts:
        """Return what each task holds, resource by resource, (R + 1, P)."""
        return np.ascontiguousarray(self.amounts.T)

    @cached_property
    def _positions(self) -> dict[JobInfo, int]:
        return {job: position for position, job in enumerate(self.jobs)}

    @cached_property
    def _by_job(self) -> tuple[Numbers, list[int]]:
        """Return the rows by job, and where those of each job end."""
        ends = np.cumsum(np.bincount(self.job_of, minlength=len(self.jobs)))
        return np.argsort(self.job_of, kind="stable"), ends.tolist()

    def rows_of(self, jobs: Collection[int]) -> Numbers:
        """Return where the tasks of some jobs are, those of each job ascending."""
        rows, ends = self._by_job
        return np.concatenate([rows[ends[job - 1] if job else 0 : ends[job]] for job in jobs])

    @cached_property
    def _rows(self) -> dict[int, int]:
        return dict(zip(self._numbers.tolist(), range(len(self)), strict=True))

    @cached_property
    def _bounds(self) -> list[int]:
        return [*self.starts.tolist(), len(self)]

    def rows_at(self, place: int) -> tuple[int, int]:
        """Return where the tasks of one of the `nodes` begin and end."""
        bounds = self._bounds
        return bounds[place], bounds[place + 1]

    @cached_property
    def places(self) -> dict[int, int]:
        """Return the position of each node in `nodes`."""
        return {node: position for position, node in enumerate(self.nodes.tolist())}

    def row_of(self, task: TaskInfo) -> int | None:
        """Return the row of a task, None when it is not among them."""
        return self._rows.get(task.number)

    def position_of(self, job: JobInfo | None) -> int | None:
        """Return where a job is in `jobs`, None when it holds nothing."""
        return None if job is None else self._positions.get(job)

    @cached_property
    def groups(self) -> tuple[Numbers, Mask]:
        """Return a number for each task's node and job, and whether no other task has it, (P,) each."""
        _, groups, sizes = np.unique(
            self.node_of * len(self.jobs) + self.job_of, return_inverse=True, return_counts=True
        )
        return groups, sizes[groups] == 1

    @cached_property
    def crowds(self) -> Numbers:
        """Return how many tasks of each job are on the node where most of them are, (J,)."""
        groups, _ = self.groups
        crowds = np.zeros(len(self.jobs), dtype=np.intp)
        np.maximum.at(crowds, self.job_of, np.bincount(groups)[groups])
        return crowds

    def each(self, fact: Fact) -> Mask:
        """Tell for which tasks ``fact(kind, namespace)`` is true, (P,), asked once."""
        if fact not in self._facts:
            names, of_job = numbered(job.namespace for job in self.jobs)
            kinds = self._table.kinds
            pairs = self._table.kind_numbers[self._numbers] * len(names) + np.array(of_job)[self.job_of]
            asked, answers = distinct(pairs)
            asked_of, asked_in = divmod(asked, len(names))
            said = [
                fact(kinds[kind], names[name])
                for kind, name in zip(asked_of.tolist(), asked_in.tolist(), strict=True)
            ]
            self._facts[fact] = np.array(said)[answers]
        return self._facts[fact]


class AllHeldTasks:
    """The tasks of every queue that might be evicted one day.

    Parameters
    ----------
    table : TaskTable
        All tasks.
    jobs : iterable of JobInfo
        All jobs.
    nodes : int
        How many nodes there are.

    Attributes
    ----------
    queues : collection of str
        Those that have any.

    """

    def __init__(self, table: TaskTable, jobs: Iterable[JobInfo], nodes: int) -> None:
        by_queue: dict[str, list[JobInfo]] = {}
        for job in jobs:
            by_queue.setdefault(job.queue, []).append(job)
        self._table = table
        self._nodes = nodes
        self._jobs = [job for of_queue in by_queue.values() for job in of_queue]
        queues = np.repeat(np.arange(len(by_queue)), [len(of_queue) for of_queue in by_queue.values()])
        self._found = _found(table, self._jobs, queues * nodes)
        bounds = self._found.groups.searchsorted(np.arange(len(by_queue) + 1) * nodes).tolist()
        self._rows = {
            queue: slice(start, stop)
            for queue, start, stop in zip(by_queue, bounds, bounds[1:], strict=False)
            if start < stop
        }
        self._built: dict[str, HeldTasks] = {}
        self.queues: Collection[str] = self._rows.keys()

    def of(self, queue: str) -> HeldTasks | None:
        """Return a queue's tasks, None when it has none."""
        held = self._built.get(queue)
        if held is None and queue in self._rows:
            found = self._found.at(self._rows[queue])
            held = self._built[queue] = HeldTasks(queue, self._table, self._jobs, found)
        return held

    def counts(self, statuses: Collection[TaskStatus]) -> dict[str, NDArray[np.int64]]:
        """Return by queue how many tasks have any of the statuses on each node now, (N,)."""
        places = self._table.places[self._found.numbers]
        are_in = self._table.are_in(statuses, self._found.numbers)
        return {
            queue: np.bincount(places[rows][are_in[rows]], minlength=self._nodes)
            for queue, rows in self._rows.items()
        }

    def of_several(self, queues: Iterable[str]) -> tuple[HeldTasks, dict[str, slice]]:
        """Return the tasks of several of the `queues`, by their order there, and the rows of each."""
        chosen = np.zeros(len(self._found.numbers), dtype=np.bool_)
        rows, count = {}, 0
        for queue in queues:
            of_queue = self._rows[queue]
            chosen[of_queue] = True
            rows[queue] = slice(count, count := count + of_queue.stop - of_queue.start)
        return HeldTasks("", self._table, self._jobs, self._found.at(chosen)), rows


def _found(table: TaskTable, jobs: Sequence[JobInfo], first_groups: Numbers) -> Found:
    """Return the tasks of some jobs that might be evicted; a job's groups are its first one plus the node."""
    members = [job.members for job in jobs]
    numbers = np.fromiter(chain.from_iterable(members), dtype=np.intp)
    owners = np.repeat(np.arange(len(jobs)), [len(of_job) for of_job in members])
    preemptable = np.array([kind.preemptable for kind in table.kinds], dtype=np.bool_)
    might = preemptable[table.kind_numbers[numbers]] & (table.places[numbers] != NO_NODE)
    might &= np.isin(table.statuses[numbers], list(PREEMPTABLE_STATUSES))
    numbers, owners = numbers[might], owners[might]
    found = Found(numbers, owners, first_groups[owners] + table.places[numbers])
    found = found.at(np.argsort(found.groups, kind="stable"))
    return found.at(_by_name(table, found))


def _by_name(table: TaskTable, found: Found) -> Numbers:
    """Return the order in which tasks of one group are by namespace/name, (P,)."""
    order = np.arange(len(found.numbers))
    follows = found.groups[1:] == found.groups[:-1]
    crowded = np.flatnonzero(np.append(follows, False) | np.append(False, follows))
    keys = [
        (group, table.pods[number].key, row)
        for group, number, row in zip(
            found.groups[crowded].tolist(), found.numbers[crowded].tolist(), crowded.tolist(), strict=True
        )
    ]
    order[crowded] = [row for _, _, row in sorted(keys)]
    return order
