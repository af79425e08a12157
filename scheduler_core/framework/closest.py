"""Which node came closest to taking a task, and what does it lack?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.fit import FitErrors, Why
from scheduler_core.model.job import TaskInfo
from scheduler_core.resource import MIN_RESOURCE

if TYPE_CHECKING:
    from scheduler_core.framework.session import Session

Closest = dict[str, Any]


def tell_unfit(session: Session, task: TaskInfo, errors: FitErrors) -> None:
    """Keep that a job was stopped as a task of it found no node, unless something stopped it before."""
    trace, job = session.trace, task.job
    if trace is None or job is None or job.key in trace.pending:
        return
    trace.stop(
        job.key,
        "node",
        queue=job.queue,
        pod=task.key,
        message=errors.text(),
        nodes=dict(sorted(errors.reasons().items())),
        closest=session.closest.to(task, errors),
    )


class ClosestNodes:
    """What the tasks of a session that fit nowhere are told.

    The last answer to each class of tasks is kept as long as no node changes and the same nodes refuse it.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._kept: dict[int, tuple[int, Why, Closest | None]] = {}

    def to(self, task: TaskInfo, errors: FitErrors) -> Closest | None:
        """Return the node that lacks the smallest part of what a task asks for, None if resources are not it.

        Only nodes that refused the task for want of resources are looked at; of each the resource of which
        the largest part is missing counts.

        Returns
        -------
        dict or None
            `node`, and by resource what it `lacks` and will have `free` once what leaves has left.

        """
        why = errors.why
        if why is None:
            return None
        number, now = self._session.class_of(task), len(self._session.nodes.changes)
        seen, refusals, closest = self._kept.get(number, (-1, why, None))
        if seen != now or not np.array_equal(refusals, why):
            closest = _closest(self._session, task, why)
            self._kept[number] = now, why, closest
        return closest


def _closest(session: Session, task: TaskInfo, why: Why) -> Closest | None:
    short = session.statuses.lacking(why)
    if not short.any():
        return None
    nodes, demands = session.nodes, task.shape.demands
    lacks = [_lacking(amount, nodes.future[:, position]) for position, amount in demands]
    worst = np.zeros(len(nodes))
    for (_, amount), lack in zip(demands, lacks, strict=True):
        np.maximum(worst, lack / (amount or 1.0), out=worst)
    closest = int(np.where(short, worst, np.inf).argmin())
    missing = {
        position: float(lack[closest])
        for (position, _), lack in zip(demands, lacks, strict=True)
        if lack[closest] > 0.0
    }
    names, free = nodes.axis.names, nodes.future_of[closest]
    return {
        "node": nodes.names[closest],
        "lacks": {names[position]: amount for position, amount in missing.items()},
        "free": {names[position]: free[position] for position in missing},
    }


def _lacking(amount: float, free: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much less is free on each node, (N,)."""
    lack: NDArray[np.float64] = amount - free
    lack[lack < MIN_RESOURCE] = 0.0
    return lack
