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
    """Evict bundles of tasks of other, reclaimable queues for starving jobs."""
    GangReclaim(session).run()


class GangReclaim(GangEviction):
    """One execution of the action."""

    name = NAME

    def serves(self, queue: QueueInfo) -> bool:
        """Return whether the queue is not overused."""
        return not self.session.plugins.overused(queue)

    def may_evict(self, queue: QueueInfo, job: JobInfo, demand: Sequence[TaskInfo]) -> bool:
        """Return whether the queue may evict for all that the job still requests."""
        refusal = self.session.plugins.preemptive(queue, demand)
        if refusal is None:
            return True
        self.session.observer.reclaim_refused(job, refusal)
        return False

    def is_candidate(self, task: TaskInfo, job: JobInfo, owner: JobInfo) -> bool:
        """Return whether a task is running, and its queue is another one and reclaimable."""
        return (
            task.node_status is TaskStatus.RUNNING
            and owner.queue != job.queue
            and self.session.queues[owner.queue].reclaimable
        )

    def loses_first(self, left: JobInfo, right: JobInfo, job: JobInfo) -> bool:
        """Return whether `left`'s queue is farther from the reclaimer's; if equally far, later in order."""
        if left.queue == right.queue:
            return False
        queues = self.session.queues
        return self.session.orders.victim_queue_before(
            queues[left.queue], queues[right.queue], queues[job.queue]
        )
