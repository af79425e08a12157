"""On which nodes could a job gain enough from others of its queue, before any node is looked at closely?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.held_tasks import Amounts, Mask
from scheduler_core.framework.holdings import COUNT, AllHoldings, Holdings, JobJudge, TaskJudge, fits_with
from scheduler_core.framework.placement import FEW
from scheduler_core.framework.session import Session
from scheduler_core.framework.victims import ask_victims
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.node import add_pairs


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
    limits : dict
        How many tasks of those jobs that moved since plugins let go on one node, as it was last.

    """

    key: tuple[str, int, int | None]
    losses: Amounts
    moves: int
    limits: dict[int, list[float]]


class LossesInside:
    """What jobs could gain on each node from other jobs of their own queue; every judge is exact."""

    def __init__(self, session: Session, judges: Sequence[Sequence[TaskJudge]]) -> None:
        self._session = session
        self._judges = judges
        self._holdings = AllHoldings(session)
        self._moving = [
            judge for tier in judges for judge in tier if isinstance(judge, JobJudge) and not judge.is_settled
        ]
        self._kept: Kept | None = None

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
        enough[holdings.nodes] = fits_with(task.shape.demands, future, self._losses(holdings, job, task))
        return enough

    def tasks_on(self, node: int, queue: str) -> list[TaskInfo]:
        """Return the tasks of a queue on a node that might be evicted, by namespace/name."""
        holdings = self._holdings.of(queue)
        place = None if holdings is None else holdings.held.places.get(node)
        return [] if holdings is None or place is None else holdings.tasks_at(place)

    def holders(self, job: JobInfo) -> Mask:
        """Tell which nodes have tasks of a job that might be evicted, (N,)."""
        found = np.zeros(len(self._session.nodes), dtype=np.bool_)
        holdings = self._holdings.of(job.queue)
        own = None if holdings is None else holdings.held.position_of(job)
        if holdings is not None and own is not None:
            found[holdings.nodes] = holdings.on_nodes(holdings.present & (holdings.job_of == own))
        return found

    def _losses(self, holdings: Holdings, job: JobInfo, task: TaskInfo) -> Amounts:
        """Return what jobs other than this one may lose to it on each node, (K, R + 1)."""
        own = holdings.held.position_of(job)
        key, moves = (holdings.queue, job.priority, own), len(holdings.moved)
        kept = self._kept
        moved = self._moved_since(holdings, kept, job) if kept is not None and kept.key == key else None
        if kept is None or moved is None:
            candidates = holdings.present if own is None else holdings.present & (holdings.job_of != own)
            losses = holdings.sums(victims_among(holdings, candidates, self._judges, job.priority))
            self._kept = Kept(key, losses, moves, {})
            return losses
        for place in moved:
            kept.losses[place] = self._loss_at(holdings, place, task)
        self._kept = kept._replace(moves=moves)
        return kept.losses

    def _moved_since(self, holdings: Holdings, kept: Kept, asking: JobInfo) -> Collection[int] | None:
        """Return on which of a queue's nodes other tasks may be victims now; None when those are many."""
        held, places = holdings.held, set()
        for job, row in holdings.moved[kept.moves :]:
            crowd = held.crowds[job]
            limits = [min(judge.most(held.jobs[job], asking.priority), crowd) for judge in self._moving]
            if kept.limits.get(job) != limits:
                kept.limits[job] = limits
                places.update(held.node_of.take(held.rows_of([job])).tolist())
            elif row is not None:
                places.add(int(held.node_of[row]))
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
    holdings: Holdings, candidates: Mask, judges: Sequence[Sequence[TaskJudge]], priority: int | None
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
