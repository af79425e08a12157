"""The bound of preempt: nodes on which other jobs of a queue could lose enough for a job."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce

import numpy as np

from scheduler_core.framework.bounds import PerJobBound, StaticBound
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.living_view import LivingView
from scheduler_core.framework.node_columns import FEW
from scheduler_core.framework.numbering import distinct
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.renewal import Renewal
from scheduler_core.model.rows import add_pairs
from scheduler_core.victims.bound import (
    COUNT,
    AnyCandidate,
    Bound,
    ExactTiers,
    candidates_in_queue,
    exact_bounds_of,
    fits_with,
)
from scheduler_core.victims.index import Amounts, Mask, TaskIndex
from scheduler_core.victims.selection import select_victims


class QueueTasks:
    """The P tasks of one queue on K nodes.

    Attributes
    ----------
    rows : slice
        Their rows in the index.
    first_job, jobs : int, list of JobInfo
        The position of the queue's first job in the index, and all jobs of the queue.
    nodes : (K,) intp
        The nodes with any of the tasks, ascending.
    place_of : (P,) intp
        The position of each task's node in `nodes`.

    """

    def __init__(self, index: TaskIndex, rows: slice) -> None:
        first, last = index.job_of[[rows.start, rows.stop - 1]].tolist()
        self.rows = rows
        self.first_job, self.jobs = first, index.jobs[first : last + 1]
        self.nodes, self.place_of = distinct(index.node_of[rows])

    def on_nodes(self, chosen: Mask) -> Mask:
        """Return which nodes have any of the chosen tasks, (K,)."""
        on_nodes = np.zeros(len(self.nodes), dtype=np.bool_)
        on_nodes[self.place_of[chosen]] = True
        return on_nodes


def preempt_bound(session: Session) -> Bound:
    """Return the bound for evictions of tasks of other jobs of the queue."""
    tiers = exact_bounds_of(session, Point.PREEMPTABLE)
    if tiers is None:
        return AnyCandidate(session, candidates_in_queue)
    return PreemptBound(session, tiers)


class PreemptBound(Bound, LivingView):
    """The possible losses of other jobs of a queue on each node, exactly as the plugins would vote.

    Sound, as every plugin's bound is exact, and `victims_among` combines them as `select_victims` does. The
    sums for one task are reused for the next task of a job of the same queue and priority: a plugin's answer
    for a task changes only when the task moves or when the plugin accepts another number of its job's tasks;
    the nodes concerned are then summed again. The bound is kept for the next session if the index is; its
    sums only if none of its tasks moved.
    """

    def __init__(self, session: Session, tiers: ExactTiers) -> None:
        self._session = session
        self._index = session.view(TaskIndex)
        self._tiers = tiers
        self._per_job = [bound for tier in tiers for bound in tier if isinstance(bound, PerJobBound)]
        self._queues: dict[str, QueueTasks] = {}
        self._limits: dict[PerJobBound, list[float]] = {}
        self._limits_of: tuple[str, int] | None = None
        self._losses: Amounts = np.zeros((0, 0))
        self._losses_of: tuple[str, int, int | None] | None = None
        self._seen = self._index.count

    def renew(self, renewal: Renewal) -> bool:
        """Return whether the next session finds the same tasks."""
        index = self._index
        if any(move.job is not None for move in index.moves_since(self._seen)):
            self._limits_of = self._losses_of = None
        self._seen = index.count
        return index.keeps_tasks(renewal)

    def nodes_for(self, task: TaskInfo) -> Mask:
        """Return on which nodes a task might fit after all possible losses of other jobs, (N,)."""
        nodes = np.zeros(len(self._session.nodes), dtype=np.bool_)
        job, index = task.job, self._index
        if job is None or job.queue not in index.queues:
            return nodes
        queue = self._queues.get(job.queue)
        if queue is None:
            queue = self._queues[job.queue] = QueueTasks(index, index.queues[job.queue])
        if task.best_effort:
            nodes[queue.nodes] = queue.on_nodes(index.evictable[queue.rows])
        else:
            future = self._session.nodes.future.take(queue.nodes, axis=0)
            nodes[queue.nodes] = fits_with(task.shape.demands, future, self._losses_to(queue, job, task))
        return nodes

    def _losses_to(self, queue: QueueTasks, job: JobInfo, task: TaskInfo) -> Amounts:
        """Return the possible losses of other jobs to this job on each node, (K, R + 1)."""
        own = self._index.position_of(job)
        question = job.queue, job.priority, own
        changed = self._changed_places(queue, job)
        if changed is None or self._losses_of != question:
            self._losses, self._losses_of = self._sums(queue, self._victims(queue, own)), question
        else:
            for place in changed:
                self._losses[place] = self._loss_at(queue, place, task)
        return self._losses

    def _changed_places(self, queue: QueueTasks, job: JobInfo) -> Collection[int] | None:
        """Update the limits of jobs; return the nodes where victims may have changed, None for all nodes."""
        index = self._index
        question = job.queue, job.priority
        moves, self._seen = index.moves_since(self._seen), index.count
        if self._limits_of != question:
            self._limits_of = question
            self._limits = {
                bound: [bound.most(other, job.priority) for other in queue.jobs] for bound in self._per_job
            }
            return None
        places: set[int] = set()
        for name, number, row in moves:
            if name != job.queue or number is None:
                continue
            if row is not None:
                places.add(queue.place_of.item(row - queue.rows.start))
            crowd, position = index.crowds[number], number - queue.first_job
            for bound, limits in self._limits.items():
                before, limits[position] = limits[position], bound.most(index.jobs[number], job.priority)
                if max(min(before, crowd), 0) != max(min(limits[position], crowd), 0):
                    rows, first = index.rows_of_job[number], queue.rows.start
                    places.update(queue.place_of[rows.start - first : rows.stop - first].tolist())
        return places if len(places) <= FEW else None

    def _loss_at(self, queue: QueueTasks, place: int, task: TaskInfo) -> list[float]:
        """Return the possible losses to a task on one of the queue's nodes, and the number of victims."""
        assert task.job is not None, "only tasks of a job preempt"
        on_node = self._index.tasks_on(queue.nodes.item(place), task.job.queue)
        candidates = [other for other in on_node if other.job is not task.job]
        victims = select_victims(self._session, Point.PREEMPTABLE, task, candidates).victims
        losses = [0.0] * len(self._index.columns)
        for victim in victims:
            add_pairs(losses, victim.shape.amounts, 1.0)
        losses[COUNT] = len(victims)
        return losses

    def _sums(self, queue: QueueTasks, victims: Mask) -> Amounts:
        """Return the sums of the victims' requests on each node, and their number, (K, R + 1)."""
        rows = victims.nonzero()[0]
        places, count = queue.place_of.take(rows), len(queue.nodes)
        columns = self._index.columns.take(rows + queue.rows.start, axis=1)
        return np.array([np.bincount(places, column, count) for column in columns]).T

    def _victims(self, queue: QueueTasks, own: int | None) -> Mask:
        """Return which tasks of a queue may be lost by jobs other than the preemptor's, (P,)."""
        index, rows = self._index, queue.rows
        candidates = index.evictable[rows].copy()
        if own is not None:
            mine = index.rows_of_job[own]
            candidates[mine.start - rows.start : mine.stop - rows.start] = False
        jobs = index.job_of[rows] - queue.first_job
        ranks = None if index.are_alone else index.ranks(rows, index.evictable)
        accepted: dict[StaticBound | PerJobBound, Mask] = {
            bound: np.array(limits).take(jobs) > (0 if ranks is None else ranks)
            for bound, limits in self._limits.items()
        }
        for tier in self._tiers:
            for bound in tier:
                if isinstance(bound, StaticBound):
                    accepted[bound] = index.each(bound.fact)[rows]
        return victims_among(queue, candidates, [[accepted[bound] for bound in tier] for tier in self._tiers])


def victims_among(queue: QueueTasks, candidates: Mask, tiers: Sequence[Sequence[Mask]]) -> Mask:
    """Return on each node the victims of the first tier that names any, (P,); see `selection.select_victims`.

    `tiers` contain the tasks that each plugin accepts, (P,) each.
    """
    victims, undecided = np.zeros_like(candidates), np.ones(len(queue.nodes), dtype=np.bool_)
    for tier in tiers:
        named = _named(queue, [accepted & candidates for accepted in tier]) & undecided.take(queue.place_of)
        victims |= named
        undecided &= ~queue.on_nodes(named)
    return victims


def _named(queue: QueueTasks, accepted: Sequence[Mask]) -> Mask:
    """Return the victims of one tier on each node, (P,), from the tasks that each plugin accepts, (P,) each.

    Two plugins must agree. With more plugins, a later one's answer replaces an empty intersection of the
    earlier ones; a plugin that accepts no task on a node ends the tier there.
    """
    agreed = reduce(np.logical_and, accepted)
    if len(accepted) <= 2:
        return agreed
    passing = reduce(np.logical_and, [queue.on_nodes(each) for each in accepted])
    if not (passing > queue.on_nodes(agreed)).any():
        return agreed
    named, some = np.zeros_like(agreed), np.zeros_like(passing)
    for each in accepted:
        named = each & (named | ~some.take(queue.place_of))
        some = queue.on_nodes(named)
    return named & passing.take(queue.place_of)
