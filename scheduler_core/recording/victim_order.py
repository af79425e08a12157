"""Why a victim comes before the next one.

It is derived from the current keys of both, by the rules of `victims.order.victims_queue`. These keys may
have changed since the heap was built, which is not sorted again.
"""

from __future__ import annotations

import math
from typing import Any

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.plugin_fn import PluginFn
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.release import Rule

Reason = dict[str, Any]


def why_first(session: Session, victim: TaskInfo, other: TaskInfo, preemptor: TaskInfo) -> Reason:
    """Return why `victim` is evicted before `other`.

    Returns
    -------
    dict
        `before`: the other pod; `compared`: tasks, jobs, queues, none, or heap if the current keys put the
        other first; `plugin`: the one whose order decided, or the key that broke the tie; `mine` and
        `theirs`: the two keys, if they are numbers.

    """
    reason: Reason = {"before": other.key}
    mine, theirs = victim.job, other.job
    if mine is None or theirs is None:
        return {**reason, "compared": "none", "plugin": ""}
    if not _is_first(session, victim, other, preemptor):
        return {**reason, "compared": "heap", "plugin": ""}
    if mine is theirs:
        return {**reason, **_by_task(session, victim, other)}
    if preemptor.job is None or mine.queue == theirs.queue:
        by_job = _by_job(session, mine, theirs)
        if by_job is None and not session.release.follows(Rule.VICTIM_ORDER_BY_PLUGINS):
            tie = "name" if mine.creation == theirs.creation else "creation"
            by_job = {"compared": "jobs", "plugin": tie}
        return {**reason, **(by_job or _by_task(session, victim, other))}
    queues = session.queues
    return {
        **reason,
        **_by_queue(session, queues[mine.queue], queues[theirs.queue], queues[preemptor.job.queue]),
    }


def _is_first(session: Session, victim: TaskInfo, other: TaskInfo, preemptor: TaskInfo) -> bool:
    """Return whether the current keys put `victim` first; both have jobs."""
    orders, queues, mine, theirs = session.orders, session.queues, victim.job, other.job
    assert mine is not None
    assert theirs is not None
    if preemptor.job is not None and mine.queue != theirs.queue:
        left, right, evicting = queues[mine.queue], queues[theirs.queue], queues[preemptor.job.queue]
        my_key, their_key = (orders.victim_queue_key(queue, evicting) for queue in (left, right))
        return my_key < their_key if my_key != their_key else not orders.queue_before(left, right)
    if mine is not theirs:
        if not session.release.follows(Rule.VICTIM_ORDER_BY_PLUGINS):
            return not orders.job_before(mine, theirs)
        if compared := orders.compare_jobs(mine, theirs):
            return compared > 0
    return not orders.task_before(victim, other)


def _by_job(session: Session, victim: JobInfo, other: JobInfo) -> Reason | None:
    for plugin, fn in _named(session, Point.JOB_ORDER):
        mine, theirs = fn(victim), fn(other)
        if mine != theirs:
            return {"compared": "jobs", "plugin": plugin, "mine": _finite(mine), "theirs": _finite(theirs)}
    return None


def _by_task(session: Session, victim: TaskInfo, other: TaskInfo) -> Reason:
    for plugin, fn in _named(session, Point.TASK_ORDER):
        if fn(victim) != fn(other):
            return {
                "compared": "tasks",
                "plugin": plugin,
                "mine": victim.priority,
                "theirs": other.priority,
            }
    if victim.index is not None and other.index is not None and victim.index != other.index:
        return {"compared": "tasks", "plugin": "index", "mine": victim.index, "theirs": other.index}
    tie = "uid" if victim.creation == other.creation else "creation"
    return {"compared": "tasks", "plugin": tie}


def _by_queue(session: Session, victim: QueueInfo, other: QueueInfo, preemptor: QueueInfo) -> Reason:
    for plugin, fn in _named(session, Point.VICTIM_QUEUE_ORDER):
        if fn(victim, preemptor) != fn(other, preemptor):
            return {"compared": "queues", "plugin": f"{plugin}, nearest to the preemptor"}
    for plugin, fn in _named(session, Point.QUEUE_ORDER):
        if fn(victim, other) != 0:
            return {"compared": "queues", "plugin": plugin}
    tie = "name" if victim.creation == other.creation else "creation"
    return {"compared": "queues", "plugin": tie}


def _named(session: Session, point: Point) -> list[tuple[str, Any]]:
    return [(added.plugin, added.fn) for added in session.functions.of_kind(point, PluginFn)]


def _finite(key: Any) -> Any:
    return key if isinstance(key, (bool, int)) or math.isfinite(key) else None
