"""How much could a queue lose on each node, before any node is looked at closely?

The tasks of a queue as arrays, which plugins judge all at once. What is worked out here only spares looks:
it says at least what a look at the node would find.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.bounds import ExactBound, PerJobBound, PerShapeBound, PluginBound, StaticBound
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.held_tasks import Amounts, HeldTasks, Mask
from scheduler_core.framework.plugin_fn import EvictableFn
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.pod import Pairs
from scheduler_core.model.status import PREEMPTABLE_STATUSES, TaskStatus
from scheduler_core.resource import MIN_RESOURCE

Rows = NDArray[np.intp]

# How far sums in another order may be off before a node is left out.
SLACK = 2 * MIN_RESOURCE

# Where sums over tasks have how many they are.
COUNT = -1


class Holdings:
    """The tasks that one queue might lose, P of them on K nodes, as `HeldTasks` has them.

    Parameters
    ----------
    held : HeldTasks
        Where they are.
    present : (P,) bool
        Which of them can still be evicted.

    """

    def __init__(self, held: HeldTasks, present: Mask) -> None:
        self.held = held
        self.present = present
        self.queue, self.jobs = held.queue, held.jobs
        self.nodes, self.node_of, self.job_of, self.amounts = (
            held.nodes,
            held.node_of,
            held.job_of,
            held.amounts,
        )
        self.moved: list[tuple[int, int | None]] = []
        self._by_task: dict[tuple[ExactBound, int | None], tuple[Mask, int]] = {}
        self._most: dict[tuple[PerJobBound, int | None], tuple[list[float], int]] = {}

    def note(self, task: TaskInfo, *, present: bool) -> None:
        """Say that something moved in the queue, and whether the task can still be evicted."""
        row = self.held.row_of(task)
        if row is not None:
            self.present[row] = present
        job = self.held.position_of(task.job)
        if job is not None:
            self.moved.append((job, row))

    # what is asked of tasks

    def most(self, judge: PerJobBound, priority: int | None) -> list[float]:
        """Return how many tasks of each job a plugin accepts on a node, (J,); do not change it."""
        most, seen = self._most.get((judge, priority), (None, 0))
        if most is None:
            most = [judge.most(job, priority) for job in self.jobs]
        elif not judge.is_fixed:
            for job in {job for job, _ in self.moved[seen:]}:
                most[job] = judge.most(self.jobs[job], priority)
        self._most[judge, priority] = most, len(self.moved)
        return most

    def rank_in_job(self, rows: Rows) -> NDArray[np.int64]:
        """Return how many present tasks of the same job stand before each one on its node, (len(rows),)."""
        groups, are_alone = self.held.groups
        if are_alone[rows].all():
            return np.zeros(len(rows), dtype=np.int64)
        return counted_before(groups[rows], self.present[rows])

    def accepted(self, judge: ExactBound, priority: int | None) -> Mask:
        """Return which tasks a plugin accepts, (P,); do not change it."""
        mask, seen = self._by_task.get((judge, priority), (None, 0))
        if mask is None:
            mask = self._judged(judge, np.arange(len(self.held)), priority).copy()
        elif seen < len(self.moved) and isinstance(judge, PerJobBound) and not judge.is_fixed:
            rows = self.moved_since(seen)
            mask[rows] = self._judged(judge, rows, priority)
        self._by_task[judge, priority] = mask, len(self.moved)
        return mask

    def _judged(self, judge: ExactBound, rows: Rows, priority: int | None) -> Mask:
        """Tell which of some tasks of some jobs a plugin accepts, (len(rows),); those of each job ascend."""
        if isinstance(judge, StaticBound):
            return self.held.each(judge.fact)[rows]
        most = np.array(self.most(judge, priority)).take(self.job_of[rows])
        accepted: Mask = self.rank_in_job(rows) < most
        return accepted

    def moved_since(self, moves: int) -> Rows:
        """Return the tasks of the jobs in which something moved after so many moves."""
        return self.held.rows_of({job for job, _ in self.moved[moves:]})

    # tasks and nodes

    def tasks_at(self, place: int) -> list[TaskInfo]:
        """Return the present tasks on one of the nodes, by namespace/name."""
        start, stop = self.held.rows_at(place)
        here, task = self.present[start:stop].tolist(), self.held.task
        return [task(row) for row, is_present in enumerate(here, start) if is_present]

    def on_nodes(self, chosen: Mask) -> Mask:
        """Return on which nodes any of the chosen tasks is, (K,)."""
        on_nodes: Mask = np.logical_or.reduceat(chosen, self.held.starts)
        return on_nodes

    def of_nodes(self, on_nodes: Mask) -> Mask:
        """Return which tasks are on nodes of which this is true, (P,)."""
        return on_nodes.take(self.node_of)

    def sums(self, chosen: Mask) -> Amounts:
        """Return what the chosen tasks hold on each node, and how many they are, (K, R + 1)."""
        rows, count = np.flatnonzero(chosen), len(self.nodes)
        nodes = self.node_of.take(rows)
        return np.array([np.bincount(nodes, column.take(rows), count) for column in self.held.columns]).T


def counted_before(groups: NDArray[np.intp], counted: Mask) -> NDArray[np.int64]:
    """Return how many counted rows of its group stand before each row, (P,)."""
    order = np.argsort(groups, kind="stable")
    ordered, numbers = groups[order], counted[order].astype(np.int64)
    before = np.cumsum(numbers) - numbers
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = before - before[np.flatnonzero(first)[np.cumsum(first) - 1]]
    return ranks


class AllHoldings:
    """The holdings of every queue, kept up to date with the nodes."""

    def __init__(self, session: Session) -> None:
        self._held = session.held
        self._built: dict[str, Holdings] = {}
        session.nodes.listeners.append(self._follow)

    def of(self, queue: str) -> Holdings | None:
        """Return what a queue holds, None when that was nothing from the start."""
        holdings = self._built.get(queue)
        if holdings is None:
            held = self._held.of(queue)
            if held is None:
                return None
            holdings = self._built[queue] = Holdings(held, held.are_in(PREEMPTABLE_STATUSES))
        return holdings

    def _follow(self, task: TaskInfo, _before: TaskStatus | None, after: TaskStatus | None) -> None:
        holdings = None if task.job is None else self._built.get(task.job.queue)
        if holdings is not None:
            holdings.note(task, present=after in PREEMPTABLE_STATUSES)


def judges_of(session: Session, point: Point) -> list[list[PluginBound]] | None:
    """Return who judges the tasks of a queue all at once, tier by tier; tiers without an answer are left out.

    None when a plugin cannot: then every candidate is asked about.
    """
    tiers = [
        [added.bound for added in tier if isinstance(added, EvictableFn)]
        for tier in session.registry.tiers_of(point)
        if tier
    ]
    if any(judge is None for tier in tiers for judge in tier):
        return None
    return [[judge for judge in tier if judge is not None] for tier in tiers]


def exact_judges_of(session: Session, point: Point) -> list[list[ExactBound]] | None:
    """Return the same of a point at which every plugin must judge task by task; else None."""
    tiers = judges_of(session, point)
    if tiers is None or any(isinstance(judge, PerShapeBound) for tier in tiers for judge in tier):
        return None
    return [[judge for judge in tier if not isinstance(judge, PerShapeBound)] for tier in tiers]


def fits_with(demands: Pairs, future: Amounts, losses: Amounts) -> Mask:
    """Tell on which of K nodes a task might fit once the losses are gone; both by node and resource."""
    fits = [future[:, place] + losses[:, place] > amount - SLACK for place, amount in demands]
    return reduce(np.logical_and, fits)
