"""The order in which victims are evicted.

Source: volcano ``pkg/scheduler/framework/session_plugins.go`` (BuildVictimsPriorityQueue) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.framework.heap import PriorityQueue
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.release import Rule


def victims_queue(
    session: Session, victims: Sequence[TaskInfo], preemptor: TaskInfo
) -> PriorityQueue[TaskInfo]:
    """Return the victims in a heap, in the order of eviction."""
    queues, preemptor_job, queue_order = session.queues, preemptor.job, session.orders.queue_before
    by_plugins = session.release.follows(Rule.VICTIM_ORDER_BY_PLUGINS)
    losing = {victim.job.queue for victim in victims if victim.job is not None}
    keys = (
        {}
        if preemptor_job is None
        else {
            name: session.orders.victim_queue_key(queues[name], queues[preemptor_job.queue])
            for name in losing
        }
    )

    def less(left: TaskInfo, right: TaskInfo) -> bool:
        mine, theirs = left.job, right.job
        if mine is theirs:
            return not session.orders.task_before(left, right)
        if mine is None or theirs is None:
            return mine is None
        my_queue, their_queue = mine.queue, theirs.queue
        if preemptor_job is None or my_queue == their_queue:
            if not by_plugins:
                return not session.orders.job_before(mine, theirs)
            compared = session.orders.compare_jobs(mine, theirs)
            if compared != 0:
                return compared > 0
            return not session.orders.task_before(left, right)
        my_key, their_key = keys[my_queue], keys[their_queue]
        if my_key != their_key:
            return my_key < their_key
        return not queue_order(queues[my_queue], queues[their_queue])

    return PriorityQueue(less, victims)
