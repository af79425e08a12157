"""Registration of drf's callbacks: jobs, and with hierarchy queues, are ordered by dominant share.

Source: volcano ``pkg/scheduler/plugins/drf/drf.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.conf import Arguments
from scheduler_core.decision import Why
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import leave_nothing
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.renewal import Renewal
from scheduler_core.plugins.drf.hierarchy import DESIGN, NAME, RULE, Hierarchy
from scheduler_core.plugins.drf.share import JobAccount, TotalResource
from scheduler_core.resource import Resource

SHARE_DELTA = 0.000001


def open_session(session: Session, arguments: Arguments) -> None:
    """Compute every job's share, and register the callbacks."""
    drf = Drf(session)
    session.registry.add_job_order(NAME, drf.job_order)
    session.registry.add_evictable(Point.PREEMPTABLE, NAME, drf.preemptable, same_for_equal_tasks=True)
    hierarchical = session.conf.hierarchy_enabled(NAME)
    session.events.add_handler(
        allocate=drf.allocate, deallocate=drf.deallocate, on_discard=None if hierarchical else leave_nothing
    )
    session.registry.add_report(drf.report)
    session.renewals[NAME] = drf.renew
    if hierarchical:
        by_design = arguments.get_str(RULE) == DESIGN
        hierarchy = Hierarchy(session, drf.accounts, drf.total, by_design=by_design)
        drf.hierarchy = hierarchy
        session.orders.live_queues = by_design
        session.registry.add_queue_order(NAME, hierarchy.queue_order)
        session.registry.add_evictable(Point.RECLAIMABLE, NAME, hierarchy.reclaimable)


class Drf:
    """The dominant shares of one session.

    Attributes
    ----------
    accounts : dict
        By job.
    hierarchy : Hierarchy or None
        None if `enableHierarchy` is off.

    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.total = TotalResource(session.total)
        self.accounts = {job.key: JobAccount(job, self.total) for job in session.jobs.values()}
        self.hierarchy: Hierarchy | None = None

    def renew(self, renewal: Renewal) -> bool:
        """Recreate accounts of jobs that were rebuilt or counted as pipelined; False with a hierarchy."""
        for key, job in (*renewal.counted.items(), *renewal.jobs.items()):
            if job is None:
                self.accounts.pop(key, None)
            else:
                self.accounts[key] = JobAccount(job, self.total)
        return self.hierarchy is None

    def job_order(self, job: JobInfo) -> float:
        """Return the job's dominant share as a sort key, compared without tolerance."""
        return self.accounts[job.key].share.value

    def preemptable(
        self, preemptor: TaskInfo, candidates: Sequence[TaskInfo], why: Why | None
    ) -> list[TaskInfo]:
        """Return, in order, the candidates whose job keeps at least the share of the preemptor's job.

        Even a refused candidate is deducted from its job for the candidates after it.
        """
        account = self.accounts.get(preemptor.job.key) if preemptor.job is not None else None
        if account is None:
            return []
        wanted = self.total.dominant_share(account.allocated.clone().add(preemptor.request)).value
        left: dict[str, Resource] = {}
        accepted = []
        for task in candidates:
            theirs = self.accounts.get(task.job.key) if task.job is not None else None
            if theirs is None:
                continue
            remaining = left.get(theirs.job.key)
            if remaining is None:
                remaining = left[theirs.job.key] = theirs.allocated.clone()
            kept = self.total.dominant_share(remaining.sub(task.request)).value
            accepts = wanted < kept or abs(wanted - kept) <= SHARE_DELTA
            if accepts:
                accepted.append(task)
            if why is not None:
                relation = "stays at or above" if accepts else "would fall below"
                why[task.uid] = (
                    f"the job's dominant share {relation} that of the preemptor's job",
                    {"share": kept, "preemptor": wanted},
                )
        return accepted

    # events

    def allocate(self, task: TaskInfo) -> None:
        """Charge an allocated task to its job."""
        account = self.accounts.get(task.job.key) if task.job is not None else None
        if account is not None:
            account.add(task.shape.request)
            if self.hierarchy is not None:
                self.hierarchy.allocate(account, task.shape.request)

    def deallocate(self, task: TaskInfo) -> None:
        """Credit a deallocated task to its job."""
        account = self.accounts.get(task.job.key) if task.job is not None else None
        if account is not None:
            account.sub(task.request)
            if self.hierarchy is not None:
                self.hierarchy.deallocate(account, task.request)

    # report

    def report(self) -> dict[str, object]:
        """Return the current shares of jobs and, with hierarchy, the current tree."""
        report: dict[str, object] = {}
        if self.accounts:
            figures = self.total.figures
            report["drf_jobs"] = {key: figures(self.accounts[key].allocated) for key in sorted(self.accounts)}
        if self.hierarchy is not None:
            report["hdrf_tree"] = self.hierarchy.report()
        return report
