"""Plugin overcommit: enqueue jobs up to a multiple of the cluster's resources.

Source: volcano ``pkg/scheduler/plugins/overcommit/overcommit.go`` at v1.15.1.
"""

from __future__ import annotations

from scheduler_core.conf import Arguments
from scheduler_core.decision import Why
from scheduler_core.framework.extension_points import PERMIT, REJECT, Vote
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo
from scheduler_core.model.queue_account import shortage_facts
from scheduler_core.model.renewal import Renewal
from scheduler_core.model.reservations import Reservations, reservation_of, without_gated
from scheduler_core.resource import Resource, total_of
from scheduler_core.resource_limits import short_of

NAME = "overcommit"

FACTOR = "overcommit-factor"
DEFAULT_FACTOR = 1.2


def open_session(session: Session, arguments: Arguments) -> None:
    """Register the callbacks of overcommit."""
    factor = arguments.get_float(FACTOR, DEFAULT_FACTOR)
    overcommit = Overcommit(session, factor if factor >= 1.0 else DEFAULT_FACTOR)
    session.registry.add_job_enqueueable(
        NAME, overcommit.job_enqueueable, reads=lambda _queue: overcommit.version()
    )
    session.registry.add_job_enqueued(NAME, overcommit.job_enqueued)
    session.registry.add_report(overcommit.report)
    session.renewals[NAME] = overcommit.renew


class Overcommit:
    """The idle amount of the enlarged cluster and the reserved amount, in one session.

    Attributes
    ----------
    idle : Resource
        The cluster's total times the factor, less the used amounts of the nodes, including terminating pods;
        may be below 0.
    inqueue : Resource
        The minResources of enqueued jobs: in full for waiting jobs, the rest for running ones.
    reservations : Reservations
        The jobs behind `inqueue`; recorded only if an observer listens.

    """

    def __init__(self, session: Session, factor: float) -> None:
        self.session = session
        self.factor = factor
        self.reservations = Reservations()
        self._version = 0
        self._enlarged = session.total.clone().multi(factor)
        self._reserved: dict[str, Resource] = {}
        self.idle, self.inqueue = Resource(), Resource()
        self._measure()
        for job in session.jobs.values() if session.observer.listens else ():
            reserved = reservation_of(job, whole=True)
            if reserved is not None:
                self.reservations.add(job.key, reserved)

    def _measure(self) -> None:
        """Sum the used amounts of the nodes and the reserved amounts of the queues."""
        session, sums = self.session, self.session.snapshot.sums
        self._is_measured = True
        used = session.nodes.axis.resource(session.nodes.used.sum(axis=0).tolist())
        idle, reserved = self._enlarged.clone().raw_sub(used), self._reserved
        for queue in sums.queues():
            if queue not in reserved:
                reserved[queue] = sums[queue].reserved_whole.resource()
        inqueue = total_of([reserved[queue] for queue in sums.queues()])
        if not (idle.is_same(self.idle) and inqueue.is_same(self.inqueue)):
            self._version += 1
        self.idle, self.inqueue = idle, inqueue

    def renew(self, renewal: Renewal) -> bool:
        """Recompute both amounts; if enqueue is the first action, only when a job is voted on.

        A queue's reservations are unchanged if none of its jobs was rebuilt.
        """
        for queue in renewal.queues:
            self._reserved.pop(queue, None)
        if self.session.conf.actions[:1] == ("enqueue",):
            self._is_measured = False
        else:
            self._measure()
        return True

    def version(self) -> int:
        """Return a version that grows when a voting session finds other amounts than the previous one."""
        if not self._is_measured:
            self._measure()
        return self._version

    def job_enqueueable(self, job: JobInfo, why: Why) -> Vote:
        """Permit a job whose minResources fit the amount that is idle and not reserved."""
        minimum = job.min_resources
        if minimum is None:
            return PERMIT
        self.version()
        short = short_of(self.idle, minimum, self.inqueue)
        if not short:
            return PERMIT
        why["event"] = "resource in cluster is overused: " + ", ".join(f"overused {name}" for name in short)
        if self.session.observer.listens:
            why.update(shortage_facts(self.inqueue, minimum, self.idle, short))
            why["limit"] = {name: self.session.total.get(name) * self.factor for name in short}
            why["factor"] = self.factor
            why["message"] = f"the overcommit limit leaves too little {', '.join(short)} to reserve"
            why["reserved"] = {name: self.inqueue.get(name) for name in short}
            why["reserved_for"] = self.reservations.of(short)
        return REJECT

    def job_enqueued(self, job: JobInfo) -> None:
        """Reserve the minResources of an enqueued job."""
        if job.min_resources is not None:
            amount = without_gated(job, job.min_resources)
            self.inqueue.add(amount)
            if self.session.observer.listens:
                self.reservations.add(job.key, amount)

    def report(self) -> dict[str, object]:
        """Return the idle, reserved and total amounts."""
        self.version()
        return {NAME: {"idle": self.idle, "inqueue": self.inqueue, "total": self.session.total}}
