"""The limits of capacity on allocation, eviction and reservation for a queue.

Source: volcano ``pkg/scheduler/plugins/capacity/capacity.go`` (Allocatable, Preemptive, JobEnqueueable) at
v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.decision import Why
from scheduler_core.framework.extension_points import PERMIT, REJECT, Vote
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.queue_account import shortage_facts
from scheduler_core.model.reservations import without_gated
from scheduler_core.plugins.capacity.account import CapacityAccount, Queues
from scheduler_core.release import Rule
from scheduler_core.resource import Resource, total_of
from scheduler_core.resource_limits import requested_dimensions


class Limits:
    """The limits of one session's queues.

    Parameters
    ----------
    levels : int
        How many ancestors are considered for reclaim (argument `ancestorReclaimLevel`).

    """

    def __init__(self, session: Session, queues: Queues, levels: int) -> None:
        self.session = session
        self.queues = queues
        self.levels = levels
        self.reserves_when_enqueued = session.release.follows(Rule.RESERVE_WHEN_ENQUEUED)
        self._closed: dict[str, tuple[str, str]] = {}

    def forget_queues(self) -> None:
        """Drop values derived from Queue objects, which may have changed."""
        self._closed.clear()

    def allocatable(self, queue: QueueInfo, task: TaskInfo, why: Why | None) -> bool:
        """Return whether the queue and its ancestors stay within real capability, regardless of deserved."""
        to_all, to_jobs = self._closed.get(queue.name) or self._closed_reasons(queue)
        if closed := to_all or to_jobs:
            if why is not None:
                why["message"] = closed
            return False
        request = task.shape.request
        for account in self.queues.chain(queue.name):  # noqa: SIM110
            if not fits_real_capability(account, request, why):
                return False
        return True

    def allocatable_after_release(self, queue: QueueInfo, task: TaskInfo, freed: Resource) -> bool:
        """Return whether they would after the queue releases `freed`, or whether it cannot release that much.

        With an obstacle they never would, but a queue whose jobs were not counted cannot release anything.
        """
        if self.queues.obstacle:
            return not all(account.holds(freed) for account in self.queues.charged_accounts(queue.name))
        return not any(
            account.is_short_after_release(task.request, account.real_capability, freed)
            for account in self.queues.chain(queue.name)
        )

    def preemptive(self, queue: QueueInfo, tasks: Sequence[TaskInfo], why: Why | None) -> bool:
        """Return whether the queue stays within real capability, and it or an ancestor deserves a part."""
        closed = self._closed_to_all(queue)
        if closed:
            if why is not None:
                why["message"] = closed
            return False
        request = total_of(task.request for task in tasks)
        account = self.queues.accounts[queue.name]
        bounded = self.session.release.follows(Rule.RECLAIM_WITHIN_REAL_CAPABILITY)
        if bounded and not fits_real_capability(account, request, why):
            return False
        if account.deserves_part_of(request) or self._ancestor_deserves(account, request):
            return True
        if why is not None:
            short = requested_dimensions(request)
            if short:
                why.update(shortage_facts(account.allocated, request, account.deserved, short))
                why["bound"] = "deserved"
            why["message"] = f"queue {queue.name} has all that it deserves of everything requested"
        return False

    def _ancestor_deserves(self, account: CapacityAccount, request: Resource) -> bool:
        """Return whether an ancestor within `levels`, except root, deserves part of a request."""
        near = (account.ancestor(level) for level in range(1, self.levels + 1))
        accounts = [self.queues.accounts[name] for name in near if name is not None]
        return any(above.deserves_part_of(request) for above in accounts)

    def job_enqueueable(self, job: JobInfo, why: Why) -> Vote:
        """Permit a job whose minResources fit the real capability of its queue and of all ancestors.

        The permit reserves them in all these queues, whatever other plugins vote, unless the release reserves
        once the job is enqueued.
        """
        queue = self.session.queues[job.queue]
        to_all, to_jobs = self._closed.get(queue.name) or self._closed_reasons(queue)
        if closed := to_jobs or to_all:
            why["message"] = closed
            return REJECT
        minimum = job.min_resources
        if minimum is None:
            return PERMIT
        for account in self.queues.chain(job.queue):
            if not self._may_reserve(account, minimum, why):
                return REJECT
        if not self.reserves_when_enqueued:
            self.reserve(job)
        return PERMIT

    def versions(self, queue: str) -> tuple[int, ...]:
        """Return the versions of the accounts that `job_enqueueable` reads."""
        if self.queues.obstacle:
            return ()
        return tuple([account.allocated_version for account in self.queues.chain(queue)])

    def reserve(self, job: JobInfo) -> None:
        """Reserve a job's minResources in its queue and all ancestors."""
        if job.min_resources is None or self.queues.obstacle:
            return
        reserved = without_gated(job, job.min_resources)
        for account in self.queues.chain(job.queue):
            account.reserve(job, reserved)

    def _may_reserve(self, account: CapacityAccount, minimum: Resource, why: Why) -> bool:
        short = account.shortage_beside(minimum)
        if not short:
            return True
        why["event"] = "queue resource quota insufficient: " + ", ".join(
            f"insufficient {name}" for name in short
        )
        if self.session.observer.listens:
            why.update(account.reservation_facts(minimum, short))
            why["message"] = f"queue {account.name} has too little {', '.join(short)} left to reserve"
        return False

    def _closed_reasons(self, queue: QueueInfo) -> tuple[str, str]:
        """Return why a queue is closed to all, and to jobs, empty where it is not; computed once."""
        why = self._closed[queue.name] = self._closed_to_all(queue), self._closed_to_jobs(queue)
        return why

    def _closed_to_all(self, queue: QueueInfo) -> str:
        if self.queues.obstacle:
            return f"capacity places nothing in this session: {self.queues.obstacle}"
        return "" if queue.is_open else f"queue {queue.name} is {queue.state or 'without a state'}, not Open"

    def _closed_to_jobs(self, queue: QueueInfo) -> str:
        if self.queues.obstacle or self.queues.is_leaf(queue.name):
            return ""
        return f"queue {queue.name} has children, so that no job may run in it"


def fits_real_capability(account: CapacityAccount, request: Resource, why: Why | None) -> bool:
    """Return whether a queue stays within its real capability with a request."""
    short = account.shortage_for(request, account.real_capability)
    if short and why is not None:
        why.update(shortage_facts(account.allocated, request, account.real_capability, short))
        why["queue"] = account.name
        why["message"] = f"queue {account.name} may hold no more {', '.join(short)}"
        why["bound"] = "realCapability"
    return not short
