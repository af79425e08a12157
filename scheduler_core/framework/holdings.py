"""How much could a queue lose on each node, before any node is looked at closely?

The tasks of a queue as arrays, which plugins judge all at once. What is worked out here only spares looks:
it says at least what a look at the node would find.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.pod import PodShape
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.status import PREEMPTABLE_STATUSES, TaskStatus
from scheduler_core.resource import MIN_RESOURCE

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]
Amounts = NDArray[np.float64]
Thing = TypeVar("Thing", bound=Hashable)

# How far sums in another order may be off before a node is left out.
SLACK = 2 * MIN_RESOURCE

# Where sums over tasks have how many they are.
COUNT = -1


@dataclass(frozen=True)
class TaskJudge:
    """A plugin that judges each task by what it is, and by how its job stands unless that is settled.

    Attributes
    ----------
    accepts : callable
        ``accepts(holdings, rows, priority)``: which of these tasks are accepted when all of them are offered,
        node by node, (len(rows),). `rows` are all tasks of some jobs, ascending; `priority` is that of the
        job that asks, None: whoever asks.
    is_settled : bool
        Whether the answer never changes.

    """

    accepts: Callable[[Holdings, Rows, int | None], Mask]
    is_settled: bool = False
    is_exact: ClassVar[bool] = True


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


Judge = TaskJudge | ShapeJudge


class Holdings:
    """The tasks that one queue might lose, P of them on K nodes.

    Attributes
    ----------
    tasks : list of TaskInfo
        By node, then by namespace/name.
    nodes : (K,) intp
        The nodes that hold any, ascending.
    node_of : (P,) intp
        The position of each task's node in `nodes`.
    jobs : list of JobInfo
        Whose tasks they are.
    job_of : (P,) intp
        The position of each task's job in `jobs`.
    amounts : (P, R + 1) float64
        What each task holds; the last number is 1.
    present : (P,) bool
        Which of them can still be evicted.

    """

    def __init__(self, queue: str, tasks: Sequence[TaskInfo]) -> None:
        self.queue = queue
        self.tasks = sorted(tasks, key=lambda task: (task.node, task.key))
        self.present = np.ones(len(self.tasks), dtype=np.bool_)
        self.nodes, self._starts, self.node_of = np.unique(
            np.array([task.node for task in self.tasks], dtype=np.intp),
            return_index=True,
            return_inverse=True,
        )
        self._row_of = {task.uid: row for row, task in enumerate(self.tasks)}
        self._positions, self.job_of = _numbered([_job(task) for task in self.tasks])
        self.jobs = list(self._positions)
        shapes, self._shape_of = _numbered([task.shape for task in self.tasks])
        self._shapes = list(shapes)
        self.amounts: Amounts = np.array([[*shape.row, 1.0] for shape in shapes])[self._shape_of]
        by_job = np.argsort(self.job_of, kind="stable")
        _, self._group_of, sizes = np.unique(
            self.node_of * len(self.jobs) + self.job_of, return_inverse=True, return_counts=True
        )
        self._is_alone = sizes == 1
        self._rows_of_job = np.split(by_job, np.cumsum(np.bincount(self.job_of))[:-1])
        self._moved: list[int] = []
        self._known: dict[Hashable, Any] = {}
        self._facts: dict[Callable[[TaskInfo], Any], NDArray[Any]] = {}
        self._by_task: dict[tuple[TaskJudge, int | None], tuple[Mask, int]] = {}
        self._by_shape: dict[ShapeJudge, tuple[list[bool], Mask]] = {}

    def note(self, task: TaskInfo, *, present: bool) -> None:
        """Say that something moved in the queue, and whether the task can still be evicted."""
        row = self._row_of.get(task.uid)
        if row is not None:
            self.present[row] = present
        job = self._positions.get(_job(task))
        if job is not None:
            self._moved.append(job)
        self._known.clear()

    def position_of(self, job: JobInfo) -> int | None:
        """Return where a job is in `jobs`, None when it holds nothing."""
        return self._positions.get(job)

    # what is asked of tasks

    def each(self, fact: Callable[[TaskInfo], Any]) -> NDArray[Any]:
        """Return what never changes of each task, (P,), asked once."""
        if fact not in self._facts:
            self._facts[fact] = np.array([fact(task) for task in self.tasks])
        return self._facts[fact]

    def of_jobs(self, number: Callable[[JobInfo], int], rows: Rows) -> NDArray[np.int64]:
        """Return a number of each task's job, asked once for each of the jobs, (len(rows),)."""
        numbers = np.zeros(len(self.jobs), dtype=np.int64)
        for job in set(self.job_of[rows].tolist()):
            numbers[job] = number(self.jobs[job])
        return numbers[self.job_of[rows]]

    def rank_in_job(self, rows: Rows) -> NDArray[np.int64]:
        """Return how many present tasks of the same job stand before each one on its node, (len(rows),)."""
        groups = self._group_of[rows]
        if self._is_alone[groups].all():
            return np.zeros(len(rows), dtype=np.int64)
        return counted_before(groups, self.present[rows])

    def accepted(self, judge: Judge, priority: int | None) -> Mask:
        """Return which tasks a plugin accepts at most, (P,); do not change it."""
        return self._by_queue(judge) if isinstance(judge, ShapeJudge) else self._by_job(judge, priority)

    def _by_job(self, judge: TaskJudge, priority: int | None) -> Mask:
        """Judge the tasks of those jobs again that moved since."""
        mask, seen = self._by_task.get((judge, priority), (None, 0))
        if mask is None:
            mask = judge.accepts(self, np.arange(len(self.tasks)), priority).copy()
        elif seen < len(self._moved) and not judge.is_settled:
            for job in set(self._moved[seen:]):
                rows = self._rows_of_job[job]
                mask[rows] = judge.accepts(self, rows, priority)
        self._by_task[judge, priority] = mask, len(self._moved)
        return mask

    def standing(self, tiers: Iterable[Sequence[Judge]]) -> Hashable:
        """Return what changes whenever the answers of these plugins may do so."""
        judges = [judge for tier in tiers for judge in tier if isinstance(judge, ShapeJudge)]
        return len(self._moved), *(tuple(judge.accepts(self.queue, self._shapes)) for judge in judges)

    def _by_queue(self, judge: ShapeJudge) -> Mask:
        accepts = judge.accepts(self.queue, self._shapes)
        before = self._by_shape.get(judge)
        if before is None or before[0] != accepts:
            before = self._by_shape[judge] = accepts, np.array(accepts)[self._shape_of]
        return before[1]

    def known(self, key: Hashable, work_out: Callable[[], Any]) -> Any:
        """Return an answer as it was worked out when something moved last."""
        if key not in self._known:
            self._known[key] = work_out()
        return self._known[key]

    # tasks and nodes

    def on_nodes(self, chosen: Mask) -> Mask:
        """Return on which nodes any of the chosen tasks is, (K,)."""
        return np.logical_or.reduceat(chosen, self._starts)

    def of_nodes(self, on_nodes: Mask) -> Mask:
        """Return which tasks are on nodes of which this is true, (P,)."""
        return on_nodes[self.node_of]

    def sums(self, chosen: Mask) -> Amounts:
        """Return what the chosen tasks hold on each node, and how many they are, (K, R + 1)."""
        sums: Amounts = np.zeros((len(self.nodes), self.amounts.shape[1]))
        rows = np.flatnonzero(chosen)
        np.add.at(sums, self.node_of[rows], self.amounts[rows])
        return sums


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


def _numbered(things: Sequence[Thing]) -> tuple[dict[Thing, int], NDArray[np.intp]]:
    """Return the different things with their positions, and the position of each one."""
    positions: dict[Thing, int] = {}
    numbers = [positions.setdefault(thing, len(positions)) for thing in things]
    return positions, np.array(numbers, dtype=np.intp)


def _job(task: TaskInfo) -> JobInfo:
    assert task.job is not None, "who holds something for a queue is of a job"
    return task.job


class AllHoldings:
    """The holdings of every queue, kept up to date with the nodes.

    Parameters
    ----------
    statuses : collection of TaskStatus
        Those in which a task might be evicted.

    """

    def __init__(self, session: Session, statuses: Collection[TaskStatus]) -> None:
        self._session = session
        self._statuses = statuses
        self._tasks = self._by_queue()
        self._built: dict[str, Holdings] = {}
        self.moved: set[str] = set(self._tasks)
        session.nodes.listeners.append(self._follow)

    def _by_queue(self) -> dict[str, list[TaskInfo]]:
        found: dict[str, list[TaskInfo]] = {}
        for tasks in self._session.nodes.tasks:
            for task in tasks.values():
                if self._might_go(task):
                    found.setdefault(_job(task).queue, []).append(task)
        return found

    def _might_go(self, task: TaskInfo) -> bool:
        return task.node_status in self._statuses and task.preemptable and task.job is not None

    def of(self, queue: str) -> Holdings | None:
        """Return what a queue holds, None when that was nothing from the start."""
        if queue not in self._built and queue in self._tasks:
            holdings = self._built[queue] = Holdings(queue, self._tasks[queue])
            holdings.present = np.array([self._might_go(task) for task in holdings.tasks])
        return self._built.get(queue)

    def _follow(self, task: TaskInfo, _node: int, sign: int) -> None:
        if task.job is None or task.job.queue not in self._tasks:
            return
        queue = task.job.queue
        self.moved.add(queue)
        if queue in self._built:
            self._built[queue].note(task, present=sign > 0 and self._might_go(task))


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
        self._holdings = AllHoldings(session, PREEMPTABLE_STATUSES)

    def enough_for(self, task: TaskInfo) -> Mask:
        """Tell on which nodes a task might fit once all that others may lose is gone, (N,)."""
        job = _job(task)
        enough = np.zeros(len(self._session.nodes), dtype=np.bool_)
        holdings = self._holdings.of(job.queue)
        if holdings is None:
            return enough
        if task.best_effort:
            enough[holdings.nodes] = True
            return enough
        future = self._session.nodes.future[holdings.nodes]
        enough[holdings.nodes] = _fits(task, future, self._losses(holdings, job))
        return enough

    def holders(self, job: JobInfo) -> Mask:
        """Tell which nodes have tasks of a job that might be evicted, (N,)."""
        found = np.zeros(len(self._session.nodes), dtype=np.bool_)
        holdings = self._holdings.of(job.queue)
        own = None if holdings is None else holdings.position_of(job)
        if holdings is not None and own is not None:
            found[holdings.nodes] = holdings.on_nodes(holdings.present & (holdings.job_of == own))
        return found

    def _losses(self, holdings: Holdings, job: JobInfo) -> Amounts:
        """Return what jobs other than this one may lose to it on each node, (K, R + 1)."""
        own = holdings.position_of(job)

        def work_out() -> Amounts:
            candidates = holdings.present if own is None else holdings.present & (holdings.job_of != own)
            return holdings.sums(victims_among(holdings, candidates, self._judges, job.priority))

        losses: Amounts = holdings.known((job.priority, own), work_out)
        return losses


def victims_among(
    holdings: Holdings, candidates: Mask, judges: Sequence[Sequence[Judge]], priority: int | None
) -> Mask:
    """Return the victims of the first tier that names any on each node, (P,); see `victims.ask_victims`."""
    nobody, nowhere = np.zeros_like(candidates), np.zeros(len(holdings.nodes), dtype=np.bool_)
    victims, undecided = nobody, ~nowhere
    for tier in judges:
        named, some, passing = nobody, nowhere, undecided
        for judge in tier:
            accepted = holdings.accepted(judge, priority) & candidates
            passing = passing & holdings.on_nodes(accepted)
            named = accepted & (named | ~holdings.of_nodes(some))
            some = holdings.on_nodes(named)
        decided = passing & some
        victims = victims | (named & holdings.of_nodes(decided))
        undecided = undecided & ~decided
    return victims


@dataclass
class Share:
    """One queue's part in the sums over all queues, S of them.

    Attributes
    ----------
    chosen : (S, P) bool
        Which of its tasks count.
    sums : (S, K, R + 1) float64
        What these hold, by node.
    standing : hashable
        How the queue stood then, see `Holdings.standing`.

    """

    chosen: Mask
    sums: Amounts
    standing: Hashable = None

    @classmethod
    def of(cls, holdings: Holdings, count: int) -> Share:
        """Return the share of a queue of whose tasks none counts yet."""
        size = len(holdings.nodes), holdings.amounts.shape[1]
        return cls(np.zeros((count, len(holdings.tasks)), dtype=np.bool_), np.zeros((count, *size)))


class LossesOutside:
    """What a queue could gain on each node from all others.

    The first sums are those of everybody who might be asked about, the others those of the tiers.
    """

    def __init__(self, session: Session, judges: Sequence[Sequence[Judge]]) -> None:
        self._session = session
        self._judges = judges
        self._decides = [len(tier) <= 2 and all(judge.is_exact for judge in tier) for tier in judges]
        self._holdings = AllHoldings(session, {TaskStatus.RUNNING})
        shape = (1 + len(judges), len(session.nodes.axis) + 1, len(session.nodes))
        self._sums: Amounts = np.zeros(shape).transpose(0, 2, 1)
        self._shares: dict[str, Share] = {}

    def enough_for(self, task: TaskInfo, queue: QueueInfo) -> Mask:
        """Tell which nodes have candidates of other queues, perhaps enough of them for a task, (N,)."""
        self._catch_up()
        future, own = self._session.nodes.future, self._holdings.of(queue.name)
        enough = self._enough(task, future, self._sums)
        if own is not None and queue.name in self._shares:
            others = self._sums[:, own.nodes] - self._shares[queue.name].sums
            enough[own.nodes] = self._enough(task, future[own.nodes], others)
        return enough

    def _enough(self, task: TaskInfo, future: Amounts, sums: Amounts) -> Mask:
        """Tell on which of some nodes with these sums there are candidates, perhaps enough of them, (K,)."""
        enough, undecided = _fits(task, future, None), sums[0, :, COUNT] > 0
        enough &= undecided
        for losses, decides in zip(sums[1:], self._decides, strict=True):
            enough |= undecided & _fits(task, future, losses)
            if decides:
                undecided &= losses[:, COUNT] == 0
                if not undecided.any():
                    break
        return enough

    def _catch_up(self) -> None:
        """Judge the queues again in which something moved."""
        for queue in self._holdings.moved:
            holdings = self._holdings.of(queue)
            if holdings is None or not self._session.queues[queue].reclaimable:
                continue
            share = self._shares.get(queue)
            if share is None:
                share = self._shares[queue] = Share.of(holdings, len(self._sums))
            standing = holdings.standing(self._judges)
            if share.standing == standing:
                continue
            share.standing = standing
            chosen = np.array([holdings.present, *(self._at_most(holdings, tier) for tier in self._judges)])
            tiers, rows = np.nonzero(chosen != share.chosen)
            change = np.where(chosen[tiers, rows], 1.0, -1.0)[:, None] * holdings.amounts[rows]
            nodes = holdings.node_of[rows]
            np.add.at(share.sums, (tiers, nodes), change)
            np.add.at(self._sums, (tiers, holdings.nodes[nodes]), change)
            share.chosen = chosen
        self._holdings.moved.clear()

    def _at_most(self, holdings: Holdings, tier: Sequence[Judge]) -> Mask:
        """Return who could be a victim by one tier, (P,).

        Two plugins must agree on a victim. With more, the later ones start afresh where the earlier ones do
        not agree, so that only the last one's word counts.
        """
        accepted = [holdings.accepted(judge, None) for judge in tier]
        agreed = accepted[0] & accepted[-1] if len(tier) <= 2 else accepted[-1]
        return agreed & holdings.present


def _fits(task: TaskInfo, future: Amounts, losses: Amounts | None) -> Mask:
    """Tell on which of K nodes a task might fit once the losses are gone; both by node and resource."""
    fits = np.ones(len(future), dtype=np.bool_)
    for position, amount in task.shape.demands:
        available = future[:, position] if losses is None else future[:, position] + losses[:, position]
        fits &= available > amount - SLACK
    return fits
