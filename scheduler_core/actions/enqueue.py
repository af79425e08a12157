"""Which PodGroups may enter?

Source: volcano ``pkg/scheduler/actions/enqueue/enqueue.go`` at v1.15.1.
"""

from __future__ import annotations

from scheduler_core.framework.session import Session
from scheduler_core.framework.worklist import WorkList, waiting_jobs
from scheduler_core.model.job import JobInfo


def execute(session: Session) -> None:
    """Ask for one pending job per turn of its queue; a rejected one is not asked again in this session."""
    work = WorkList(session, settled=True)
    for name in session.snapshot.index.queues():
        work.add_queue(name)
    for job in waiting_jobs(session):
        if job.is_pending:
            work.add_job(job)
    while work.queues:
        in_line = list(work.queues.items)
        queue = work.queues.pop()
        jobs = work.waiting(queue)
        if jobs is None:
            continue
        _enqueue(session, jobs.pop())
        work.queues.push(queue)
        if work.queues.items == in_line:
            # no task comes or goes, so no share moves: later turns would leave the queues in this line, too
            while jobs:
                _enqueue(session, jobs.pop())


def _enqueue(session: Session, job: JobInfo) -> None:
    """Let a job in when the votes pass; without minResources nobody is asked."""
    refusal = session.job_enqueueable(job) if job.min_resources is not None else None
    if refusal is None:
        session.job_enqueued(job)
        job.enter("Inqueue")
        session.decide("enqueue", job)
        return
    session.decide("enqueue_reject", job, reason=str(refusal.pop("event", "")))
    if session.trace is not None:
        session.trace.stop(job.key, "enqueue", **{"queue": job.queue, **refusal})
