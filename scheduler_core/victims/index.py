"""Index of the tasks that may be evicted.

Tasks are referred to by number, because few of tens of thousands of tasks are ever evicted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.bounds import Fact
from scheduler_core.framework.living_view import LivingView
from scheduler_core.framework.numbering import Numbers, distinct, numbered
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.renewal import Renewal
from scheduler_core.model.status import PREEMPTABLE_STATUSES, TaskStatus
from scheduler_core.model.task import NO_NODE
from scheduler_core.model.task_table import TaskTable

Mask = NDArray[np.bool_]
Amounts = NDArray[np.float64]

IS_PREEMPTABLE: Mask = np.isin(np.arange(max(TaskStatus) + 1), list(PREEMPTABLE_STATUSES))
"""Whether a task may be evicted, by status."""


class Move(NamedTuple):
    """A task was added or removed, or changed its status; the index may contain neither it nor its job."""

    queue: str
    job: int | None
    row: int | None


class TaskIndex(LivingView):
    """The tasks that were bound or running at the open and allow eviction: P rows.

    They are sorted by queue, job, node and namespace/name, so that each queue and each job is a slice. Only
    `evictable`, `running` and the moves change, when nodes report changes of their tasks.

    The next session finds the same tasks unless a job that has any of them was replaced. Sound, as a job that
    only sessions moved is restored, and jobs without such tasks do not affect the index. Tasks that moved in
    the session have then moved back.

    Attributes
    ----------
    jobs : list of JobInfo
        The jobs that have any of the tasks.
    job_of, node_of : (P,) intp
        The position of each task's job in `jobs`, and the number of its node.
    rows_of_job : list of slice
        The rows of each job.
    queues : dict
        The rows of each queue that has any of the tasks.
    shapes : list of PodShape
        The distinct shapes.
    shape_of : (P,) intp
        The position of each task's shape in `shapes`.
    columns : (R + 1, P) float64
        The request of each task, resource by resource; the last number is 1.
    evictable, running : (P,) bool
        Which tasks are currently bound or running, and which are running.
    count : int
        The number of moves. Readers store how many moves they have read.

    """

    def __init__(self, session: Session) -> None:
        table = session.snapshot.tasks
        self._table = table
        self._listeners = session.nodes.listeners
        by_queue: dict[str, list[JobInfo]] = {}
        for job in session.jobs.values():
            by_queue.setdefault(job.queue, []).append(job)
        jobs = [job for of_queue in by_queue.values() for job in of_queue]
        self._numbers, owners = _found(table, jobs)
        positions, self.job_of = distinct(owners)
        self.jobs = [jobs[position] for position in positions.tolist()]
        self.node_of = table.node_of[self._numbers]
        stops = np.cumsum(np.bincount(self.job_of, minlength=len(self.jobs))).tolist()
        starts = [0, *stops[:-1]] if stops else []
        self.rows_of_job = [*map(slice, starts, stops)]
        queues = [job.queue for job in self.jobs]
        first_of = dict(zip(reversed(queues), reversed(starts), strict=True))
        last_of = dict(zip(queues, stops, strict=True))
        self.queues = {queue: slice(first_of[queue], stop) for queue, stop in last_of.items()}
        shapes, self.shape_of = distinct(table.shape_numbers[self._numbers])
        self.shapes = [table.shapes[number] for number in shapes.tolist()]
        requests = np.array(
            [[*shape.row, 1.0] for shape in self.shapes] or [[0.0] * (len(session.nodes.axis) + 1)]
        )
        self.columns: Amounts = requests.T.take(self.shape_of, axis=1)
        is_first = np.ones(len(self._numbers), dtype=np.bool_)
        is_first[1:] = (self.job_of[1:] != self.job_of[:-1]) | (self.node_of[1:] != self.node_of[:-1])
        self._group = np.cumsum(is_first) - 1
        self._starts = is_first.nonzero()[0]
        statuses = table.statuses_on_nodes(self._numbers)
        self.evictable = IS_PREEMPTABLE[statuses]
        self.running: Mask = statuses == TaskStatus.RUNNING
        self.count = self._renewed_at = 0
        self._moves: dict[Move, int] = {}
        self._facts: dict[Fact, Mask] = {}
        self._by_node: dict[str, dict[int, list[int]]] = {}
        self._listeners.append(self._follow)

    def __len__(self) -> int:
        return len(self._numbers)

    def moves_since(self, seen: int) -> list[Move]:
        """Return all moves except the first `seen`, each once, the latest first."""
        return [*takewhile(lambda move: self._moves[move] > seen, reversed(self._moves))]

    def keeps_tasks(self, renewal: Renewal) -> bool:
        """Return whether no replaced job had any of the tasks, and none has any now."""
        for key, job in renewal.jobs.items():
            before = renewal.before[key]
            if job is before:
                continue
            if before in self._positions:
                return False
            if job is not None and not PREEMPTABLE_STATUSES.isdisjoint(job.status_counts()):
                return False
        return True

    def renew(self, renewal: Renewal) -> bool:
        """Return whether the next session finds the same tasks; if so, update to it."""
        if not self.keeps_tasks(renewal):
            return False
        ended, self._renewed_at = self.moves_since(self._renewed_at), self.count
        found_running = self._table.statuses[self._numbers] == TaskStatus.RUNNING
        differ = np.flatnonzero(~self.evictable | (self.running != found_running)).tolist()
        self.evictable.fill(True)
        self.running = found_running
        moved = {*differ, *[row for _, _, row in ended if row is not None]}
        for job in renewal.jobs.values():
            position = None if job is None else self.position_of(job)
            if position is not None:
                self._log(Move(self.jobs[position].queue, position, None))
        for row in sorted(moved):
            position = self.job_of.item(row)
            self._log(Move(self.jobs[position].queue, position, row))
        self._listeners.append(self._follow)
        return True

    def _log(self, move: Move) -> None:
        """Log a move and drop an equal earlier one, because readers need each move only once."""
        self.count += 1
        self._moves.pop(move, None)
        self._moves[move] = self.count

    def _follow(self, task: TaskInfo, _before: TaskStatus | None, after: TaskStatus | None) -> None:
        if task.job is not None:
            row = self.row_of(task)
            if row is not None:
                self.evictable[row] = after in PREEMPTABLE_STATUSES
                self.running[row] = after is TaskStatus.RUNNING
            self._log(Move(task.job.queue, self.position_of(task.job), row))

    # subsets of the tasks

    @cached_property
    def _rows(self) -> dict[int, int]:
        return dict(zip(self._numbers.tolist(), range(len(self)), strict=True))

    @cached_property
    def _positions(self) -> dict[JobInfo | None, int]:
        return dict(zip(self.jobs, range(len(self.jobs)), strict=True))

    def row_of(self, task: TaskInfo) -> int | None:
        """Return the row of a task, None if it has none."""
        return self._rows.get(task.number)

    def position_of(self, job: JobInfo) -> int | None:
        """Return the position of a job in `jobs`, None if it has none of the tasks."""
        return self._positions.get(job)

    def of_job(self, job: JobInfo) -> Mask:
        """Return which tasks are of a job, (P,)."""
        position = self.position_of(job)
        return self._are_in(slice(0, 0) if position is None else self.rows_of_job[position])

    def of_queue(self, queue: str) -> Mask:
        """Return which tasks are of a queue, (P,)."""
        return self._are_in(self.queues.get(queue, slice(0, 0)))

    def _are_in(self, rows: slice) -> Mask:
        are_in = np.zeros(len(self), dtype=np.bool_)
        are_in[rows] = True
        return are_in

    def tasks_on(self, node: int, queue: str) -> list[TaskInfo]:
        """Return the tasks of a queue on a node that can be evicted now, by namespace/name."""
        by_node = self._by_node.get(queue)
        if by_node is None:
            by_node = self._by_node[queue] = {}
            rows = self.queues.get(queue, slice(0, 0))
            for row, number in enumerate(self.node_of[rows].tolist(), rows.start):
                by_node.setdefault(number, []).append(row)
        found = [self._table[int(self._numbers[row])] for row in by_node.get(node, ()) if self.evictable[row]]
        return sorted(found, key=lambda task: task.key) if len(found) > 1 else found

    # facts about all tasks

    def each(self, fact: Fact) -> Mask:
        """Return for which tasks ``fact(kind, namespace)`` is true, (P,), called once for equal arguments."""
        if fact not in self._facts:
            names, of_job = numbered(job.namespace for job in self.jobs)
            kinds = self._table.kinds
            pairs = (
                self._table.kind_numbers[self._numbers] * len(names)
                + np.array(of_job, dtype=np.intp)[self.job_of]
            )
            different, which = distinct(pairs)
            answers = [
                fact(kinds[kind], names[name])
                for kind, name in (divmod(pair, len(names)) for pair in different.tolist())
            ]
            self._facts[fact] = np.array(answers, dtype=np.bool_)[which]
        return self._facts[fact]

    def ranks(self, rows: slice, counted: Mask) -> Numbers:
        """Return for each task the number of preceding counted tasks of its job on its node.

        `rows` are the rows of whole jobs; `counted` says which tasks count, (P,).
        """
        numbers = counted[rows].astype(np.intp)
        before = np.cumsum(numbers) - numbers
        firsts = self._starts.take(self._group[rows]) - rows.start
        ranks: Numbers = before - before.take(firsts)
        return ranks

    @cached_property
    def crowds(self) -> Numbers:
        """Return the largest number of tasks of each job on one node, (J,)."""
        crowds = np.zeros(len(self.jobs), dtype=np.intp)
        np.maximum.at(crowds, self.job_of[self._starts], np.bincount(self._group))
        return crowds

    @cached_property
    def are_alone(self) -> bool:
        """Return whether no node has two tasks of one job."""
        return len(self._starts) == len(self)


def _found(table: TaskTable, jobs: Sequence[JobInfo]) -> tuple[Numbers, Numbers]:
    """Return the tasks of some jobs that might be evicted, sorted, and the job of each, (P,)."""
    members = [job.members for job in jobs]
    numbers = np.fromiter(chain.from_iterable(members), dtype=np.intp)
    owners = np.repeat(np.arange(len(jobs)), [*map(len, members)])
    preemptable = np.array([kind.preemptable for kind in table.kinds], dtype=np.bool_)
    might = preemptable[table.kind_numbers[numbers]] & (table.node_of[numbers] != NO_NODE)
    might &= IS_PREEMPTABLE[table.statuses[numbers]]
    numbers, owners = numbers[might], owners[might]
    node_of = table.node_of[numbers]
    order = np.argsort(owners * (node_of.max(initial=0) + 1) + node_of, kind="stable")
    numbers, owners, node_of = numbers[order], owners[order], node_of[order]
    is_next = (owners[1:] == owners[:-1]) & (node_of[1:] == node_of[:-1])
    crowded = np.flatnonzero(np.append(is_next, False) | np.append(False, is_next)).tolist()
    numbers[crowded] = numbers[
        _by_name(crowded, owners, node_of, [table.pods[n].key for n in numbers[crowded]])
    ]
    return numbers, owners


def _by_name(rows: Sequence[int], owners: Numbers, node_of: Numbers, keys: Iterable[str]) -> list[int]:
    """Return rows in which the tasks of each job on each node are sorted by namespace/name."""
    named = zip(owners[rows].tolist(), node_of[rows].tolist(), keys, rows, strict=True)
    return [row for *_, row in sorted(named)]
