"""Plugin sla: give precedence to jobs that have waited too long.

Source: volcano ``pkg/scheduler/plugins/sla/sla.go`` at v1.15.1.
"""

from __future__ import annotations

import math

from scheduler_core.conf import Arguments
from scheduler_core.framework.extension_points import ABSTAIN, PERMIT, Vote
from scheduler_core.framework.session import Session
from scheduler_core.model.annotations import WAITING_TIME, positive_duration, waiting_time_of
from scheduler_core.model.job import JobInfo
from scheduler_core.model.timestamps import ZERO_TIME

NAME = "sla"


def open_session(session: Session, arguments: Arguments) -> None:
    """Register the callbacks of sla."""
    sla = Sla(positive_duration(arguments.values.get(WAITING_TIME)), session.now)
    session.registry.add_job_order(NAME, sla.job_order)
    session.registry.add_job_enqueueable(NAME, lambda job, _why: sla.vote(job))
    session.registry.add_job_pipelined(NAME, sla.vote)


class Sla:
    """The waiting times of one session.

    Parameters
    ----------
    default : float or None
        Seconds that a job without an annotation of its own may wait; None: forever.
    now : float
        Seconds since 1970.

    """

    def __init__(self, default: float | None, now: float) -> None:
        self.default = default
        self.now = now

    def waiting_time(self, job: JobInfo) -> float | None:
        """Return the seconds that a job may wait: its own annotation, else the argument; None: forever."""
        own = waiting_time_of(job.annotations())
        return self.default if own is None else own

    def deadline(self, job: JobInfo) -> float | None:
        """Return the time from which a job has waited too long; None: never."""
        waiting = self.waiting_time(job)
        return None if waiting is None else max(job.creation, ZERO_TIME) + waiting

    def job_order(self, job: JobInfo) -> float:
        """Return the job's deadline as a sort key: earlier ones are first, jobs without one last."""
        deadline = self.deadline(job)
        return math.inf if deadline is None else deadline

    def vote(self, job: JobInfo) -> Vote:
        """Permit a job that has reached its deadline; never reject one."""
        deadline = self.deadline(job)
        return ABSTAIN if deadline is None or self.now < deadline else PERMIT
