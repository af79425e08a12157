"""Action gangpreempt: evict bundles of lower-priority jobs of the same queue for a whole gang.

Source: volcano ``pkg/scheduler/actions/gangpreempt/gangpreempt.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.actions.gang_eviction import GangEviction
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.status import PREEMPTABLE_STATUSES

NAME = "gangpreempt"


def execute(session: Session) -> None:
    """Evict bundles of tasks of lower-priority jobs for starving jobs of the same queue."""
    GangPreempt(session).run()


class GangPreempt(GangEviction):
    """One execution of the action."""

    name = NAME

    def serves(self, _queue: QueueInfo) -> bool:
        """Return True: every queue's jobs get turns, as resources stay within the queue."""
        return True

    def may_evict(self, _queue: QueueInfo, _job: JobInfo, _demand: Sequence[TaskInfo]) -> bool:
        """Return True without a vote: resources stay within the queue."""
        return True

    def is_candidate(self, task: TaskInfo, job: JobInfo, owner: JobInfo) -> bool:
        """Return whether a task is bound or running, and its job is of the same queue and lower priority."""
        return (
            task.node_status in PREEMPTABLE_STATUSES
            and owner is not job
            and owner.queue == job.queue
            and owner.priority < job.priority
        )

    def loses_first(self, left: JobInfo, right: JobInfo, _job: JobInfo) -> bool:
        """Return whether `left` comes after `right` in the job order."""
        return left is not right and not self.session.orders.job_before(left, right)
