"""The nodes that a task fits when a session opens, and the reasons why the others refuse it."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_core.errors import PrePredicateError
from scheduler_core.framework.error_cache import ErrorCache
from scheduler_core.framework.session import Session
from scheduler_core.model.fit import FITS, Why
from scheduler_core.model.job import TaskInfo


def fitting(session: Session, task: TaskInfo) -> dict[str, Any]:
    """Return what allocate would report about every node if it placed this task first.

    Returns
    -------
    dict
        `refusal`: why plugins refuse the task before nodes are examined, empty if they do not; `queue`: the
        reasons of the refusing plugin if the queue has no room, else None; `chosen`: the node that allocate
        chooses, None if there is none; `nodes`: for each its `name`, whether the task `fits`, whether `now`
        or only once evicted pods have terminated, its `score` (None if the task does not fit or the node is
        the only one), and the `reasons` with which it refuses the task.

    """
    assert task.job is not None, "only the task of a job is placed"
    queue = session.plugins.allocatable(session.queues[task.job.queue], task)
    try:
        session.plugins.pre_predicate(task)
    except PrePredicateError as error:
        return {"refusal": str(error), "queue": queue, "chosen": None, "nodes": []}
    placement, names = session.placement, session.nodes.names
    candidates, errors = placement.predicates.examine(
        task, resources=True, lenient=False, cache=ErrorCache(enabled=False)
    )
    chosen = placement.choose(task, candidates)
    scores = placement.scores(task, candidates) if len(candidates) > 1 else None
    score_of = {} if scores is None else dict(zip(candidates.tolist(), scores.tolist(), strict=True))
    why: Why = errors.why if errors.why is not None else np.zeros(len(names), dtype=np.int32)
    return {
        "refusal": "",
        "queue": queue,
        "chosen": None if chosen is None else names[chosen],
        "nodes": [
            {
                "name": name,
                "fits": bool(why[number] == FITS),
                "now": bool(why[number] == FITS and session.nodes.fits_idle(task, number)),
                "score": score_of.get(number),
                "reasons": [status.reason for status in session.statuses.lists[why[number]]],
            }
            for number, name in enumerate(names)
        ],
    }
