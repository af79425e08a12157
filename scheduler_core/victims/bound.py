"""Bounds: find the nodes that are worth searching for victims."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.bounds import ExactBound, PerShapeBound, PluginBound
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.plugin_fn import EvictableFn
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.pod import Pairs
from scheduler_core.resource import MIN_RESOURCE
from scheduler_core.victims.index import Amounts, Mask, TaskIndex

Nodes = NDArray[np.intp]
Tiers = Sequence[Sequence[PluginBound]]
ExactTiers = Sequence[Sequence[ExactBound]]

# The tolerance for sums that are added in another order.
SLACK = 2 * MIN_RESOURCE

# The column of sums over tasks that counts the tasks.
COUNT = -1


class Bound(ABC):
    """The nodes on which victims might make room for a task.

    Sound, as a node is left out only if searching it has no effect: if no task on it is a candidate, or if
    its future idle amounts plus the requests of all its victims are less than the preemptor's request. Each
    bound adds up, node by node, at least the requests of the victims that `select_victims` would return, and
    compares with the tolerance `SLACK`. Including a task that is not a victim only causes an unnecessary
    search, so in doubt a bound includes it. Leaving out such a node changes no decision, as the search would
    change nothing, and an action that finds too few victims continues with the next node. This holds as long
    as evictions on a node that does not suffice are undone (`Rule.PREEMPT_ROLLBACK`,
    `Rule.RECLAIM_ROLLBACK`).
    """

    @abstractmethod
    def nodes_for(self, task: TaskInfo) -> Mask:
        """Return which nodes are worth searching for a task, (N,)."""


class AnyCandidate(Bound):
    """The nodes with a candidate. Sound, as a node without one has no victim.

    Used for a job's own tasks, and for tasks of other jobs if a plugin has no bound.

    Parameters
    ----------
    candidates : callable
        ``candidates(session, job)``: the tasks of the index that are candidates for a job, (P,).

    """

    def __init__(self, session: Session, candidates: Callable[[Session, JobInfo], Mask]) -> None:
        self._session = session
        self._candidates = candidates

    def nodes_for(self, task: TaskInfo) -> Mask:
        """Return which nodes have a candidate."""
        nodes = np.zeros(len(self._session.nodes), dtype=np.bool_)
        if task.job is not None:
            nodes[self._session.view(TaskIndex).node_of[self._candidates(self._session, task.job)]] = True
        return nodes


def candidates_in_queue(session: Session, job: JobInfo) -> Mask:
    """Return which tasks of other jobs of its queue a job might preempt, (P,)."""
    index = session.view(TaskIndex)
    return index.evictable & index.of_queue(job.queue) & ~index.of_job(job)


def candidates_in_job(session: Session, job: JobInfo) -> Mask:
    """Return which of its own tasks a job might preempt, (P,)."""
    index = session.view(TaskIndex)
    return index.evictable & index.of_job(job)


def candidates_outside(session: Session, job: JobInfo) -> Mask:
    """Return which tasks of other queues a job might reclaim, (P,)."""
    index = session.view(TaskIndex)
    candidates = np.zeros(len(index), dtype=np.bool_)
    for name, rows in index.queues.items():
        candidates[rows] = name != job.queue and session.queues[name].reclaimable
    return candidates & index.running


def bounds_of(session: Session, point: Point) -> Tiers | None:
    """Return the bounds of the plugins, tier by tier; tiers without any are left out.

    None if a plugin has no bound.
    """
    tiers = [
        [added.bound for added in tier if isinstance(added, EvictableFn)]
        for tier in session.functions.tiers_of(point)
        if tier
    ]
    if any(bound is None for tier in tiers for bound in tier):
        return None
    return [[bound for bound in tier if bound is not None] for tier in tiers]


def exact_bounds_of(session: Session, point: Point) -> ExactTiers | None:
    """Return the bounds of the plugins if all of them are exact; else None."""
    tiers = bounds_of(session, point)
    if tiers is None or any(isinstance(bound, PerShapeBound) for tier in tiers for bound in tier):
        return None
    return [[bound for bound in tier if not isinstance(bound, PerShapeBound)] for tier in tiers]


def fits_with(demands: Pairs, future: Amounts, losses: Amounts) -> Mask:
    """Return on which of K nodes a task might fit after the losses, given by node and resource."""
    fits = [future[:, place] + losses[:, place] > amount - SLACK for place, amount in demands]
    return reduce(np.logical_and, fits)
