"""Action gangreclaim: evict bundles of other queues' jobs for a whole gang.

Source: volcano ``pkg/scheduler/actions/gangreclaim/gangreclaim.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.actions.gang_eviction import GangEviction
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.status import TaskStatus

NAME = "gangreclaim"


def execute(session: Session) -> None:
    """Let starving jobs evict bundles of tasks of other, reclaimable queues."""
    GangReclaim(session).run()


class GangReclaim(GangEviction):
    """One execution of the action."""

    name = NAME

    def serves(self, queue: QueueInfo) -> bool:
        """Serve the queues that are not overused."""
        return not self.session.plugins.overused(queue)

    def may_evict(self, queue: QueueInfo, job: JobInfo, demand: Sequence[TaskInfo]) -> bool:
        """Return whether the queue deserves all that the job still needs."""
        refusal = self.session.plugins.preemptive(queue, demand)
        if refusal is None:
            return True
        self.session.observer.reclaim_refused(job, refusal)
        return False

    def is_candidate(self, task: TaskInfo, job: JobInfo, owner: JobInfo) -> bool:
        """Accept running tasks of other queues that are reclaimable."""
        return (
            task.node_status is TaskStatus.RUNNING
            and owner.queue != job.queue
            and self.session.queues[owner.queue].reclaimable
        )

    def loses_first(self, left: JobInfo, right: JobInfo, job: JobInfo) -> bool:
        """Return whether `left`'s queue is farther from the reclaimer's, else later in the queue order."""
        if left.queue == right.queue:
            return False
        queues = self.session.queues
        return self.session.orders.victim_queue_before(
            queues[left.queue], queues[right.queue], queues[job.queue]
        )
