"""How much could a queue lose on each node, before any node is looked at closely?

The tasks of a queue as arrays, which plugins judge all at once. What is worked out here only spares looks:
it says at least what a look at the node would find.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.held_tasks import Amounts, HeldTasks, Mask
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.pod import Pairs, PodShape
from scheduler_core.model.status import PREEMPTABLE_STATUSES
from scheduler_core.resource import MIN_RESOURCE

Rows = NDArray[np.intp]
Numbers = NDArray[np.float64]

# How far sums in another order may be off before a node is left out.
SLACK = 2 * MIN_RESOURCE

# Where sums over tasks have how many they are.
COUNT = -1


@dataclass(frozen=True)
class FactJudge:
    """A plugin that judges each task by what never changes.

    Attributes
    ----------
    fact : callable
        ``fact(task)``: whether it is accepted.

    """

    fact: Callable[[TaskInfo], bool]
    is_settled: ClassVar[bool] = True
    is_exact: ClassVar[bool] = True

    def accepts(self, holdings: Holdings, rows: Rows, _priority: int | None) -> Mask:
        """Tell which of some tasks are accepted, (len(rows),)."""
        return holdings.held.each(self.fact)[rows]


@dataclass(frozen=True)
class JobJudge:
    """A plugin that judges tasks by how their jobs stand.

    Attributes
    ----------
    most : callable
        ``most(job, priority)``: how many of a job's tasks are accepted on a node where all of them are
        offered, the first ones. `priority` is that of the job that asks, None: whoever asks.
    is_settled : bool
        Whether the answer never changes.

    """

    most: Callable[[JobInfo, int | None], float]
    is_settled: bool = False
    is_exact: ClassVar[bool] = True

    def accepts(self, holdings: Holdings, rows: Rows, priority: int | None) -> Mask:
        """Tell which of some tasks are accepted, (len(rows),).

        They are all tasks of some jobs, those of each job ascending.
        """
        most = holdings.of_jobs(lambda job: self.most(job, priority), rows)
        accepted: Mask = holdings.rank_in_job(rows) < most
        return accepted


@dataclass(frozen=True)
class ShapeJudge:
    """A plugin that judges tasks by how much their queue holds; it may accept fewer than it says here.

    Attributes
    ----------
    accepts : callable
        ``accepts(queue, shapes)``: whether tasks of each shape are accepted.

    """

    accepts: Callable[[str, Sequence[PodShape]], list[bool]]
    is_exact: ClassVar[bool] = False


TaskJudge = FactJudge | JobJudge
Judge = TaskJudge | ShapeJudge


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
        self.queue, self.tasks, self.jobs = held.queue, held.tasks, held.jobs
        self.nodes, self.node_of, self.job_of, self.amounts = (
            held.nodes,
            held.node_of,
            held.job_of,
            held.amounts,
        )
        self._moved: list[int] = []
        self._known: dict[Hashable, Any] = {}
        self._by_task: dict[tuple[TaskJudge, int | None], tuple[Mask, int]] = {}
        self._by_shape: dict[ShapeJudge, tuple[list[bool], Mask]] = {}

    def note(self, task: TaskInfo, *, present: bool) -> None:
        """Say that something moved in the queue, and whether the task can still be evicted."""
        row = self.held.row_of(task)
        if row is not None:
            self.present[row] = present
        job = self.held.position_of(task.job)
        if job is not None:
            self._moved.append(job)
        self._known.clear()

    # what is asked of tasks

    def of_jobs(self, number: Callable[[JobInfo], float], rows: Rows) -> Numbers:
        """Return a number of each task's job, asked once for each of the jobs, (len(rows),)."""
        numbers: Numbers = np.zeros(len(self.jobs))
        for job in set(self.job_of[rows].tolist()):
            numbers[job] = number(self.jobs[job])
        return numbers[self.job_of[rows]]

    def rank_in_job(self, rows: Rows) -> NDArray[np.int64]:
        """Return how many present tasks of the same job stand before each one on its node, (len(rows),)."""
        groups, are_alone = self.held.groups
        if are_alone[rows].all():
            return np.zeros(len(rows), dtype=np.int64)
        return counted_before(groups[rows], self.present[rows])

    def accepted(self, judge: Judge, priority: int | None) -> Mask:
        """Return which tasks a plugin accepts at most, (P,); do not change it."""
        return self._by_queue(judge) if isinstance(judge, ShapeJudge) else self._by_job(judge, priority)

    def _by_job(self, judge: TaskJudge, priority: int | None) -> Mask:
        """Judge the tasks of those jobs again that moved since."""
        mask, seen = self._by_task.get((judge, priority), (None, 0))
        if mask is None:
            mask = judge.accepts(self, np.arange(len(self.tasks)), priority).copy()
        elif seen < len(self._moved) and not judge.is_settled:
            rows = self.moved_since(seen)
            mask[rows] = judge.accepts(self, rows, priority)
        self._by_task[judge, priority] = mask, len(self._moved)
        return mask

    def moved_since(self, moves: int) -> Rows:
        """Return the tasks of the jobs in which something moved after so many moves."""
        return self.held.rows_of(set(self._moved[moves:]))

    def _by_queue(self, judge: ShapeJudge) -> Mask:
        accepts = self._accepts(judge)
        before = self._by_shape.get(judge)
        if before is None or before[0] != accepts:
            before = self._by_shape[judge] = accepts, np.array(accepts)[self.held.shape_of]
        return before[1]

    def _accepts(self, judge: ShapeJudge) -> list[bool]:
        """Return which shapes a plugin accepts, asked once as long as nothing moves."""
        accepts: list[bool] = self.known(judge, lambda: judge.accepts(self.queue, self.held.shapes))
        return accepts

    def known(self, key: Hashable, work_out: Callable[[], Any]) -> Any:
        """Return an answer as it was worked out when something moved last."""
        if key not in self._known:
            self._known[key] = work_out()
        return self._known[key]

    # tasks and nodes

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
            present = np.array([task.node_status in PREEMPTABLE_STATUSES for task in held.tasks])
            holdings = self._built[queue] = Holdings(held, present)
        return holdings

    def _follow(self, task: TaskInfo, _node: int, sign: int) -> None:
        holdings = None if task.job is None else self._built.get(task.job.queue)
        if holdings is not None:
            holdings.note(task, present=sign > 0 and task.node_status in PREEMPTABLE_STATUSES)


def judges_of(session: Session, point: Point) -> list[list[Judge]] | None:
    """Return who judges the tasks of a queue all at once, tier by tier; tiers without an answer are left out.

    None when a plugin cannot: then every candidate is asked about.
    """
    tiers = [[answer.judge for _, answer in tier] for tier in session.tiers_of(point) if tier]
    if any(judge is None for tier in tiers for judge in tier):
        return None
    return [[judge for judge in tier if judge is not None] for tier in tiers]


class LossesInside:
    """What jobs could gain on each node from other jobs of their own queue; every judge is exact."""

    def __init__(self, session: Session, judges: Sequence[Sequence[Judge]]) -> None:
        self._session = session
        self._judges = judges
        self._holdings = AllHoldings(session)

    def enough_for(self, task: TaskInfo) -> Mask:
        """Tell on which nodes a task might fit once all that others may lose is gone, (N,)."""
        job = task.job
        enough = np.zeros(len(self._session.nodes), dtype=np.bool_)
        holdings = None if job is None else self._holdings.of(job.queue)
        if job is None or holdings is None:
            return enough
        if task.best_effort:
            enough[holdings.nodes] = holdings.on_nodes(holdings.present)
            return enough
        future = self._session.nodes.future.take(holdings.nodes, axis=0)
        enough[holdings.nodes] = fits_with(task.shape.demands, future, self._losses(holdings, job))
        return enough

    def holders(self, job: JobInfo) -> Mask:
        """Tell which nodes have tasks of a job that might be evicted, (N,)."""
        found = np.zeros(len(self._session.nodes), dtype=np.bool_)
        holdings = self._holdings.of(job.queue)
        own = None if holdings is None else holdings.held.position_of(job)
        if holdings is not None and own is not None:
            found[holdings.nodes] = holdings.on_nodes(holdings.present & (holdings.job_of == own))
        return found

    def _losses(self, holdings: Holdings, job: JobInfo) -> Amounts:
        """Return what jobs other than this one may lose to it on each node, (K, R + 1)."""
        own = holdings.held.position_of(job)

        def work_out() -> Amounts:
            candidates = holdings.present if own is None else holdings.present & (holdings.job_of != own)
            return holdings.sums(victims_among(holdings, candidates, self._judges, job.priority))

        losses: Amounts = holdings.known((job.priority, own), work_out)
        return losses


def victims_among(
    holdings: Holdings, candidates: Mask, judges: Sequence[Sequence[Judge]], priority: int | None
) -> Mask:
    """Return the victims of the first tier that names any on each node, (P,); see `victims.ask_victims`."""
    victims, undecided = np.zeros_like(candidates), np.ones(len(holdings.nodes), dtype=np.bool_)
    for tier in judges:
        accepted = [holdings.accepted(judge, priority) & candidates for judge in tier]
        named = _named(holdings, accepted) & holdings.of_nodes(undecided)
        victims |= named
        undecided &= ~holdings.on_nodes(named)
    return victims


def _named(holdings: Holdings, accepted: Sequence[Mask]) -> Mask:
    """Return the victims of one tier on each node, (P,), from what each of its plugins accepts, (P,) each."""
    agreed = reduce(np.logical_and, accepted)
    if len(accepted) <= 2:
        return agreed
    passing = reduce(np.logical_and, [holdings.on_nodes(each) for each in accepted])
    if not (passing > holdings.on_nodes(agreed)).any():
        return agreed
    named, some = np.zeros_like(agreed), np.zeros_like(passing)
    for each in accepted:
        named = each & (named | ~holdings.of_nodes(some))
        some = holdings.on_nodes(named)
    return named & holdings.of_nodes(passing)


def fits_with(demands: Pairs, future: Amounts, losses: Amounts | None) -> Mask:
    """Tell on which of K nodes a task might fit once the losses are gone; both by node and resource."""
    fits = np.ones(len(future), dtype=np.bool_)
    for position, amount in demands:
        available = future[:, position] if losses is None else future[:, position] + losses[:, position]
        fits &= available > amount - SLACK
    return fits
