"""May more jobs enter than the cluster has room for, and how many more?

Source: volcano ``pkg/scheduler/plugins/overcommit/overcommit.go`` at v1.15.1.
"""

from __future__ import annotations

from scheduler_core.conf import Arguments
from scheduler_core.framework.extension_points import PERMIT, REJECT, Point, Vote
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo
from scheduler_core.model.queue_account import shortage_facts
from scheduler_core.resource import Resource, short_of
from scheduler_core.trace import Why

NAME = "overcommit"

FACTOR = "overcommit-factor"
DEFAULT_FACTOR = 1.2


def open_session(session: Session, arguments: Arguments) -> None:
    """Register what overcommit answers."""
    factor = arguments.get_float(FACTOR, DEFAULT_FACTOR)
    overcommit = Overcommit(session, factor if factor >= 1.0 else DEFAULT_FACTOR)
    session.add_fn(Point.JOB_ENQUEUEABLE, NAME, overcommit.job_enqueueable)
    session.add_fn(Point.JOB_ENQUEUED, NAME, overcommit.job_enqueued)
    session.add_report(overcommit.report)


class Overcommit:
    """What the enlarged cluster has left, and what has been let in.

    Attributes
    ----------
    idle : Resource
        The cluster's total times the factor, less what is used on the nodes by anybody, terminating pods too;
        may be below 0.
    inqueue : Resource
        The minimums of the jobs let in: whole for jobs that wait, the missing part for jobs that run.

    """

    def __init__(self, session: Session, factor: float) -> None:
        self.session = session
        self.idle = session.total.clone().multi(factor)
        self.idle.raw_sub(session.nodes.axis.resource(session.nodes.used.sum(axis=0).tolist()))
        self.inqueue = Resource()
        for job in session.jobs.values():
            reserved = job.inqueue_reservation(whole=True)
            if reserved is not None:
                self.inqueue.add(job.deduct_gated(reserved))

    def job_enqueueable(self, job: JobInfo, why: Why) -> Vote:
        """Permit a job whose minimum fits what is left beside all that was let in."""
        minimum = job.min_resources
        if minimum is None:
            return PERMIT
        short = short_of(self.idle, minimum, self.inqueue)
        if not short:
            return PERMIT
        why["event"] = "resource in cluster is overused: " + ", ".join(f"overused {name}" for name in short)
        if self.session.trace is not None:
            why.update(shortage_facts(self.inqueue, minimum, self.idle, short))
            why["message"] = (
                f"the cluster, overcommitted as it is, has no {', '.join(short)} left for its minimum"
            )
        return REJECT

    def job_enqueued(self, job: JobInfo) -> None:
        """Count the minimum of a job that was let in."""
        if job.min_resources is not None:
            self.inqueue.add(job.deduct_gated(job.min_resources))

    def report(self) -> dict[str, object]:
        """Return what is left and what was let in."""
        return {NAME: {"idle": self.idle, "inqueue": self.inqueue, "total": self.session.total}}
