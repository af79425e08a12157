"""Whether a session that follows without any event in between would decide anything.

It finds what this one left. After a session that changed nothing it finds the same, and decides the same:
nothing. So it does after one in which all that changed is that jobs that run are now said to run.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo
from scheduler_core.model.job_index import is_settled
from scheduler_core.model.reservations import rest_of_minimum
from scheduler_core.plugins import overcommit
from scheduler_core.release import Rule


class Change(Enum):
    """What a session changed of all that a later one reads: nothing, only words, or more than that."""

    NOTHING = 0
    WORDS = 1
    STATE = 2


def change_of_phases(session: Session, jobs: Iterable[JobInfo]) -> Change:
    """Return what it amounts to that these jobs have another phase than the closed session found.

    Words, where each of them was enqueued and runs whole, so that nobody has anything to do for it in either
    phase; and where no reservation moves with the phase, or no job waits to be enqueued: only the votes on
    those read reservations. No other rule reads a phase, but for what plugin extender posts.
    """
    changed = [job for job in jobs if job.phase != job.phase_before]
    if not changed:
        return Change.NOTHING
    if session.conf.first_option("extender") is not None or not all(map(_runs_whole, changed)):
        return Change.STATE
    whole = reads_whole_minimum(session)
    if any(moves_reservation(job, whole=whole) for job in changed) and _anybody_is_pending(session):
        return Change.STATE
    return Change.WORDS


def reads_whole_minimum(session: Session) -> bool:
    """Return whether somebody reads the reservations in which an enqueued job has all of its minimum."""
    reads = session.conf.first_option(overcommit.NAME) is not None
    return reads or not session.release.follows(Rule.INQUEUE_REMAINDER)


def _runs_whole(job: JobInfo) -> bool:
    return job.phase_before == "Inqueue" and job.phase == "Running" and is_settled(job)


def moves_reservation(job: JobInfo, *, whole: bool) -> bool:
    """Return whether a job that has gone from Inqueue to Running reserves something else.

    With `whole` somebody reads the whole minimum.
    """
    if job.min_resources is None:
        return False
    rest = rest_of_minimum(job)
    reserves = not (rest.is_nothing() or job.allocated_count >= job.min_available)
    return reserves or (whole and not job.min_resources.is_nothing())


def _anybody_is_pending(session: Session) -> bool:
    touched = session.snapshot.tasks.touched.values()
    return bool(session.lines.pending) or any(job.is_pending for job in touched)
