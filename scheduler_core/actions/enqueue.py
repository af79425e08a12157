"""Action enqueue: move pending PodGroups to phase Inqueue.

Source: volcano ``pkg/scheduler/actions/enqueue/enqueue.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.lines import InLine
from scheduler_core.framework.plugin_fn import EnqueueableFn
from scheduler_core.framework.session import Session
from scheduler_core.framework.worklist import WorkList, nothing_waits, waiting_jobs
from scheduler_core.model.job import JobInfo
from scheduler_core.model.queue import QueueInfo

QueueKey = Callable[[QueueInfo], tuple[Any, ...]]
Readers = list[Callable[[str], Hashable]]


def execute(session: Session) -> None:
    """Try one pending job per turn of its queue; a rejected job is not tried again in this session."""
    if nothing_waits(session):
        return
    queue_key, readers = session.orders.queue_key(), _readers(session)
    if session.reasons or queue_key is None or readers is None or session.snapshot.tasks.touched:
        _in_turns(session)
    else:
        _by_line(session, queue_key, readers)


def _readers(session: Session) -> Readers | None:
    """Return the functions for what votes read besides a job's queue and minimum; None if votes read more."""
    voters = session.functions.of_kind(Point.JOB_ENQUEUEABLE, EnqueueableFn)
    readers = [voter.reads for voter in voters if voter.reads is not None]
    return readers if len(readers) == len(voters) else None


def _by_line(session: Session, queue_key: QueueKey, readers: Readers) -> None:
    """Vote on the first job of each line, and after each enqueued job on the next one.

    Sound, as no task changes, so that each queue has all its turns before the next one; and as reservations
    only grow, so that a line whose first job is rejected is rejected as a whole, now and in later sessions,
    until something changes that the votes read. A rejected job may itself change something if one plugin made
    a reservation before another one rejected the job; then the job was touched, and the next one is tried.
    """
    pending, touched = session.lines.pending, session.snapshot.tasks.touched
    for queue in sorted([session.queues[name] for name in pending], key=queue_key):
        reads = tuple([read(queue.name) for read in readers])
        jobs = InLine(session.orders.job_key, {})
        for line in pending[queue.name].values():
            if line.rejected_at != reads:
                jobs.add(line)
        while jobs:
            job = jobs.pop()
            _enqueue(session, job)
            if job.key not in touched:
                jobs.line.rejected_at = reads
                jobs.skip_rest_of_line()


def _in_turns(session: Session) -> None:
    """Vote on every pending job."""
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
            # no task and hence no share changes: later turns would keep the queues in this order
            while jobs:
                _enqueue(session, jobs.pop())


def _enqueue(session: Session, job: JobInfo) -> None:
    """Enqueue a job if plugins permit it; they do not vote on jobs without minResources."""
    refusal = session.plugins.job_enqueueable(job) if job.min_resources is not None else None
    if refusal is None:
        session.plugins.job_enqueued(job)
        job.enter("Inqueue")
        session.decide("enqueue", job)
        return
    session.decide("enqueue_reject", job, reason=str(refusal.pop("event", "")))
    session.observer.job_rejected(job, refusal)
