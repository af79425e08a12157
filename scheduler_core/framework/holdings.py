"""How much could a queue lose on each node, before any node is looked at closely?

The tasks of a queue as arrays, which plugins judge all at once. What is worked out here only spares looks:
it says at least what a look at the node would find.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.status import PREEMPTABLE_STATUSES, TaskStatus
from scheduler_core.resource import MIN_RESOURCE

Mask = NDArray[np.bool_]
Amounts = NDArray[np.float64]
Thing = TypeVar("Thing", bound=Hashable)

# How far sums in another order may be off before a node is left out.
SLACK = 2 * MIN_RESOURCE

# Where sums over tasks have how many they are.
COUNT = -1


class Judge(NamedTuple):
    """What a plugin makes of the candidates of one queue, all at once.

    Attributes
    ----------
    accepts : callable
        ``accepts(holdings, priority)``: which tasks are accepted when all of them are offered, node by node,
        (P,). `priority` is that of the job that asks, None: whoever asks.
    is_exact : bool
        Whether it is these; else there may be fewer.

    """

    accepts: Callable[[Holdings, int | None], Mask]
    is_exact: bool = True


class Holdings:
    """The tasks that one queue might lose, P of them on K nodes.

    Attributes
    ----------
    tasks : list of TaskInfo
        By node, then by namespace/name.
    nodes : (K,) intp
        The nodes that hold any, ascending.
    jobs : list of JobInfo
        Whose tasks they are.
    job_of, shape_of : (P,) intp
        The positions of each task's job in `jobs` and of its shape in `shapes`.
    present : (P,) bool
        Which of them can still be evicted.

    """

    def __init__(self, queue: str, tasks: Sequence[TaskInfo]) -> None:
        self.queue = queue
        self.tasks = sorted(tasks, key=lambda task: (task.node, task.key))
        self._row_of = {task.uid: row for row, task in enumerate(self.tasks)}
        self.present = np.ones(len(self.tasks), dtype=np.bool_)
        self._positions, self.job_of = _numbered([_job(task) for task in self.tasks])
        self.jobs = list(self._positions)
        shapes, self.shape_of = _numbered([task.shape for task in self.tasks])
        self.shapes = list(shapes)
        self.nodes, self._starts, self._node_of = np.unique(
            np.array([task.node for task in self.tasks], dtype=np.intp),
            return_index=True,
            return_inverse=True,
        )
        rows = np.array([[*shape.row, 1.0] for shape in self.shapes])
        self._amounts: Amounts = rows[self.shape_of].T.copy()
        self._together = _Groups(self._node_of * len(self.jobs) + self.job_of)
        self._known: dict[Hashable, Any] = {}
        self._facts: dict[Callable[[TaskInfo], Any], NDArray[Any]] = {}

    def note(self, task: TaskInfo, *, present: bool) -> None:
        """Say that something moved in the queue, and whether the task can still be evicted."""
        row = self._row_of.get(task.uid)
        if row is not None:
            self.present[row] = present
        self._known.clear()

    def position_of(self, job: JobInfo) -> int | None:
        """Return where a job is in `jobs`, None when it holds nothing."""
        return self._positions.get(job)

    def each(self, fact: Callable[[TaskInfo], Any]) -> NDArray[Any]:
        """Return what never changes of each task, (P,), asked once."""
        if fact not in self._facts:
            self._facts[fact] = np.array([fact(task) for task in self.tasks])
        return self._facts[fact]

    def rank_in_job(self) -> NDArray[np.int64]:
        """Return how many present tasks of the same job stand before each one on its node, (P,)."""
        return self._together.counted_before(self.present)

    def known(self, key: Hashable, work_out: Callable[[], Any]) -> Any:
        """Return an answer as it was worked out when something moved last."""
        if key not in self._known:
            self._known[key] = work_out()
        return self._known[key]

    def on_nodes(self, chosen: Mask) -> Mask:
        """Return on which nodes any of the chosen tasks is, (K,)."""
        return np.logical_or.reduceat(chosen, self._starts)

    def of_nodes(self, on_nodes: Mask) -> Mask:
        """Return which tasks are on nodes of which this is true, (P,)."""
        return on_nodes[self._node_of]

    def sums(self, chosen: Mask) -> Amounts:
        """Return what the chosen tasks hold on each node, and how many they are, (R + 1, K)."""
        return np.add.reduceat(self._amounts * chosen, self._starts, axis=1)


class _Groups:
    """Rows that belong together, by a number for each row."""

    def __init__(self, numbers: NDArray[np.intp]) -> None:
        self._order = np.argsort(numbers, kind="stable")
        ordered = numbers[self._order]
        first = np.ones(len(numbers), dtype=np.bool_)
        first[1:] = ordered[1:] != ordered[:-1]
        self._first = np.flatnonzero(first)[np.cumsum(first) - 1]

    def counted_before(self, counted: Mask) -> NDArray[np.int64]:
        """Return how many counted rows of its group stand before each row, (P,)."""
        ordered = counted[self._order].astype(np.int64)
        before = np.cumsum(ordered) - ordered
        ranks = np.empty(len(counted), dtype=np.int64)
        ranks[self._order] = before - before[self._first]
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
            for row, task in enumerate(holdings.tasks):
                holdings.present[row] = self._might_go(task)
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

    None when a plugin cannot, or when each refusal is to be explained: then every candidate is asked about.
    """
    tiers = [[answer.judge for _, answer in tier] for tier in session.tiers_of(point) if tier]
    if session.trace is not None or any(judge is None for tier in tiers for judge in tier):
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
        future = self._session.nodes.future[holdings.nodes].T
        enough[holdings.nodes] = _fits(task, future + self._losses(holdings, job)[:-1])
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
        """Return what jobs other than this one may lose to it on each node, (R + 1, K)."""
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
            accepted = judge.accepts(holdings, priority) & candidates
            passing = passing & holdings.on_nodes(accepted)
            named = accepted & (named | ~holdings.of_nodes(some))
            some = holdings.on_nodes(named)
        decided = passing & some
        victims = victims | (named & holdings.of_nodes(decided))
        undecided = undecided & ~decided
    return victims


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
        self._sums: Amounts = np.zeros(shape)
        self._parts: dict[str, Amounts] = {}

    def enough_for(self, task: TaskInfo, queue: QueueInfo) -> Mask:
        """Tell which nodes have candidates of other queues, perhaps enough of them for a task, (N,)."""
        self._catch_up()
        sums = self._sums
        if queue.name in self._parts:
            own = self._holdings.of(queue.name)
            assert own is not None, "a queue with a part holds something"
            sums = sums.copy()
            sums[:, :, own.nodes] -= self._parts[queue.name]
        future = self._session.nodes.future.T
        enough = _fits(task, future)
        undecided = np.ones_like(enough)
        for losses, decides in zip(sums[1:], self._decides, strict=True):
            enough |= undecided & _fits(task, future + losses[:-1])
            if decides:
                undecided &= losses[COUNT] == 0
        worth_a_look: Mask = enough & (sums[0, COUNT] > 0)
        return worth_a_look

    def _catch_up(self) -> None:
        """Judge the queues again in which something moved."""
        for queue in self._holdings.moved:
            holdings = self._holdings.of(queue)
            if holdings is None or not self._session.queues[queue].reclaimable:
                continue
            chosen = [holdings.present, *(self._at_most(holdings, tier) for tier in self._judges)]
            part = np.array([holdings.sums(tasks) for tasks in chosen])
            self._sums[:, :, holdings.nodes] += part - self._parts.get(queue, 0.0)
            self._parts[queue] = part
        self._holdings.moved.clear()

    def _at_most(self, holdings: Holdings, tier: Sequence[Judge]) -> Mask:
        """Return who could be a victim by one tier, (P,).

        Two plugins must agree on a victim. With more, the later ones start afresh where the earlier ones do
        not agree, so that only the last one's word counts.
        """
        accepted = [judge.accepts(holdings, None) for judge in tier]
        agreed = accepted[0] & accepted[-1] if len(tier) <= 2 else accepted[-1]
        return agreed & holdings.present


def _fits(task: TaskInfo, available: Amounts) -> Mask:
    """Tell on which nodes a task fits, with some slack; `available` by resource and node, (R, K)."""
    fits = np.ones(available.shape[1], dtype=np.bool_)
    for position, amount in task.shape.demands:
        fits &= available[position] > amount - SLACK
    return fits
