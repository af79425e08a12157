"""Which node came closest to taking a task, and what does it lack?"""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_core.framework.session import Session
from scheduler_core.model.fit import FitErrors, numbers_in
from scheduler_core.model.job import TaskInfo
from scheduler_core.resource import MIN_RESOURCE

INSUFFICIENT = "Insufficient "


def closest_node(session: Session, task: TaskInfo, errors: FitErrors) -> dict[str, Any] | None:
    """Return the node that lacks the smallest part of what a task asks for, None when resources are not it.

    Only nodes that refused the task for want of resources are looked at; of each the resource of which the
    largest part is missing counts.

    Returns
    -------
    dict or None
        `node`, and by resource what it `lacks` and will have `free` once what leaves has left.

    """
    if errors.why is None:
        return None
    short = [
        number
        for number in numbers_in(errors.why)
        if any(status.reason.startswith(INSUFFICIENT) for status in session.statuses.lists[number])
    ]
    nodes = np.flatnonzero(np.isin(errors.why, short))
    if not len(nodes):
        return None
    free = session.nodes.future[nodes]
    lacks = task.shape.demand - free
    lacks[lacks < MIN_RESOURCE] = 0.0
    wanted = np.where(task.shape.row > 0.0, task.shape.row, 1.0)
    closest = int((lacks / wanted).max(axis=1).argmin())
    missing = {
        name: (amount, free[closest, position])
        for position, (name, amount) in enumerate(
            zip(session.nodes.axis.names, lacks[closest].tolist(), strict=True)
        )
        if amount > 0.0
    }
    return {
        "node": session.nodes.names[int(nodes[closest])],
        "lacks": {name: amount for name, (amount, _) in missing.items()},
        "free": {name: float(left) for name, (_, left) in missing.items()},
    }
