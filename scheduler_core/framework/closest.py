"""Which node came closest to taking a task, and what does it lack?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.session import Session
from scheduler_core.model.fit import FitErrors
from scheduler_core.model.job import TaskInfo
from scheduler_core.resource import MIN_RESOURCE


def closest_node(session: Session, task: TaskInfo, errors: FitErrors) -> dict[str, Any] | None:
    """Return the node that lacks the smallest part of what a task asks for, None when resources are not it.

    Only nodes that refused the task for want of resources are looked at; of each the resource of which the
    largest part is missing counts.

    Returns
    -------
    dict or None
        `node`, and by resource what it `lacks` and will have `free` once what leaves has left.

    """
    short = None if errors.why is None else session.statuses.lacking(errors.why)
    if short is None or not short.any():
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
