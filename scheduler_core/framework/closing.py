"""The end of a session: updates statuses, phases and conditions.

Source: volcano ``pkg/scheduler/framework/session.go`` (closeSession), ``framework/job_updater.go`` at
v1.15.1.
"""

from __future__ import annotations

from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo
from scheduler_core.model.queue import ROOT, ancestors
from scheduler_core.model.status import COMPLETED_STATUSES, SCHEDULED_STATUSES, TaskStatus
from scheduler_core.resource import Resource


def close_session(session: Session) -> None:
    """Call the close functions of the plugins and update the phase of every job that moved.

    The phase of every other job already follows from its tasks.

    Raises
    ------
    SchedulerPanic
        If Volcano follows a parent that does not exist, or a cycle of parents.

    """
    for close in session.events.close_fns:
        close()
    for job in session.moved.in_order():
        job.enter(phase_of(job))
    session.is_closed = True
    if not session.has_sound_parents:
        queue_allocated(session)


def phase_of(job: JobInfo) -> str:
    """Return the phase of a PodGroup from the states of its tasks."""
    if job.unschedulable and job.status_counts().get(TaskStatus.RUNNING):
        return "Unknown"
    scheduled = job.count(SCHEDULED_STATUSES)
    if scheduled >= job.min_available:
        return "Completed" if scheduled == job.count(COMPLETED_STATUSES) else "Running"
    return "Inqueue" if job.phase == "Inqueue" else "Pending"


def queue_allocated(session: Session) -> dict[str, Resource]:
    """Return the amounts that the tasks of each queue and of all its descendants have allocated.

    A queue without tasks has allocated nothing.
    """
    allocated = {name: Resource() for name in session.queues}
    own: dict[str, Resource] = {}
    for job in session.jobs.values():
        if job.allocated_count:
            own.setdefault(job.queue, Resource()).add(job.allocated)
    for name, amount in own.items():
        allocated[name].add(amount)
        if ROOT in session.queues:
            for ancestor in ancestors(session.queues, name):
                allocated[ancestor].add(amount)
    return allocated
