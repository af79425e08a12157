"""On which nodes could a job gain enough from others of its queue, before any node is looked at closely?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from scheduler_core.framework.bounds import ExactBound, PerJobBound
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.held_tasks import Amounts, Mask
from scheduler_core.framework.holdings import COUNT, AllHoldings, Holdings, fits_with
from scheduler_core.framework.placement import FEW, Nodes
from scheduler_core.framework.session import Session
from scheduler_core.framework.victims import ask_victims
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.node import add_pairs

NO_NODES: Nodes = np.zeros(0, dtype=np.intp)


class Kept(NamedTuple):
    """What other jobs than the one that asks may lose to it on each node.

    Attributes
    ----------
    key : tuple
        The queue, the priority of the job that asks, and where it is among those that hold something.
    losses : (K, R + 1) float64
        What may go, and how many tasks that is.
    moves : int
        How many moves of the queue are in it.
    limits : list of list of float
        How many tasks of each job plugins let go on one node, plugin by plugin.

    """

    key: tuple[str, int, int | None]
    losses: Amounts
    moves: int
    limits: list[list[float]]


class LossesInside:
    """What jobs could gain on each node from other jobs of their own queue; every judge is exact."""

    def __init__(self, session: Session, judges: Sequence[Sequence[ExactBound]]) -> None:
        self._session = session
        self._judges = judges
        self._holdings = AllHoldings(session)
        self._moving = [
            judge
            for tier in judges
            for judge in tier
            if isinstance(judge, PerJobBound) and not judge.is_fixed
        ]
        self._kept: Kept | None = None

    def enough_for(self, task: TaskInfo) -> Nodes:
        """Return the nodes where a task might fit once all that others may lose is gone, by name."""
        job = task.job
        holdings = None if job is None else self._holdings.of(job.queue)
        if job is None or holdings is None:
            return NO_NODES
        if task.best_effort:
            return holdings.nodes[holdings.on_nodes(holdings.present)]
        future = self._session.nodes.future.take(holdings.nodes, axis=0)
        return holdings.nodes[fits_with(task.shape.demands, future, self._losses(holdings, job, task))]

    def tasks_on(self, node: int, queue: str) -> list[TaskInfo]:
        """Return the tasks of a queue on a node that might be evicted, by namespace/name."""
        holdings = self._holdings.of(queue)
        place = None if holdings is None else holdings.held.places.get(node)
        return [] if holdings is None or place is None else holdings.tasks_at(place)

    def holders(self, job: JobInfo) -> Nodes:
        """Return the nodes that have tasks of a job that might be evicted, by name."""
        holdings = self._holdings.of(job.queue)
        own = None if holdings is None else holdings.held.position_of(job)
        if holdings is None or own is None:
            return NO_NODES
        return holdings.nodes[holdings.on_nodes(holdings.present & (holdings.job_of == own))]

    def _losses(self, holdings: Holdings, job: JobInfo, task: TaskInfo) -> Amounts:
        """Return what jobs other than this one may lose to it on each node, (K, R + 1)."""
        own = holdings.held.position_of(job)
        key, moves = (holdings.queue, job.priority, own), len(holdings.moved)
        kept = self._kept
        moved = self._moved_since(holdings, kept, job) if kept is not None and kept.key == key else None
        if kept is None or moved is None:
            candidates = holdings.present if own is None else holdings.present & (holdings.job_of != own)
            losses = holdings.sums(victims_among(holdings, candidates, self._judges, job.priority))
            limits = [[*holdings.most(judge, job.priority)] for judge in self._moving]
            self._kept = Kept(key, losses, moves, limits)
            return losses
        for place in moved:
            kept.losses[place] = self._loss_at(holdings, place, task)
        self._kept = kept._replace(moves=moves)
        return kept.losses

    def _moved_since(self, holdings: Holdings, kept: Kept, asking: JobInfo) -> Collection[int] | None:
        """Return on which of a queue's nodes other tasks may be victims now; None when those are many."""
        held, places = holdings.held, set()
        for job, row in holdings.moved[kept.moves :]:
            if row is not None:
                places.add(int(held.node_of[row]))
            for judge, limits in zip(self._moving, kept.limits, strict=True):
                before, limits[job] = limits[job], judge.most(held.jobs[job], asking.priority)
                if max(min(before, held.crowds[job]), 0) != max(min(limits[job], held.crowds[job]), 0):
                    places.update(held.node_of.take(held.rows_of([job])).tolist())
        return places if len(places) <= FEW else None

    def _loss_at(self, holdings: Holdings, place: int, task: TaskInfo) -> list[float]:
        """Return what others may lose to a task on one of their queue's nodes, and how many that is."""
        candidates = [other for other in holdings.tasks_at(place) if other.job is not task.job]
        victims = ask_victims(self._session, Point.PREEMPTABLE, task, candidates).victims
        losses = [0.0] * holdings.amounts.shape[1]
        for victim in victims:
            add_pairs(losses, victim.shape.amounts, 1.0)
        losses[COUNT] = len(victims)
        return losses


def victims_among(
    holdings: Holdings, candidates: Mask, judges: Sequence[Sequence[ExactBound]], priority: int | None
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
