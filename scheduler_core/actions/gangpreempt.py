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
    """Let starving jobs evict bundles of tasks of lower-priority jobs in their queue."""
    GangPreempt(session).run()


class GangPreempt(GangEviction):
    """One execution of the action."""

    name = NAME

    def serves(self, _queue: QueueInfo) -> bool:
        """Serve every queue: resources stay within it."""
        return True

    def may_evict(self, _queue: QueueInfo, _job: JobInfo, _demand: Sequence[TaskInfo]) -> bool:
        """Return True without a vote: resources stay within the queue."""
        return True

    def is_candidate(self, task: TaskInfo, job: JobInfo, owner: JobInfo) -> bool:
        """Accept bound and running tasks of jobs of the same queue with a lower priority."""
        return (
            task.node_status in PREEMPTABLE_STATUSES
            and owner is not job
            and owner.queue == job.queue
            and owner.priority < job.priority
        )

    def loses_first(self, left: JobInfo, right: JobInfo, _job: JobInfo) -> bool:
        """Return whether `left` comes after `right` in the job order."""
        return left is not right and not self.session.orders.job_before(left, right)
