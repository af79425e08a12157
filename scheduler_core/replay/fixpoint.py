"""Detects that the next session would decide nothing, unless an event happens in between.

The input of a session is the state after the previous one. After a session that changed nothing, the next one
has the same input and again decides nothing. The same holds if only phases of fully running jobs changed.
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
    """How much of the state that later sessions read a session changed: nothing, only phases, or more."""

    NOTHING = 0
    PHASES = 1
    STATE = 2


def change_of_phases(session: Session, jobs: Iterable[JobInfo]) -> Change:
    """Return how much the changed phases of these jobs matter to later sessions.

    They do not if each job was enqueued and all of its pods run, so that no action acts on it in either
    phase, and if either no reservation changes with the phase or no job waits to be enqueued (only votes on
    such jobs read reservations). No other rule reads a phase, except for the payload of plugin extender.
    """
    changed = [job for job in jobs if job.phase != job.phase_before]
    if not changed:
        return Change.NOTHING
    if session.conf.first_option("extender") is not None or not all(map(_runs_whole, changed)):
        return Change.STATE
    whole = reads_whole_minimum(session)
    if any(moves_reservation(job, whole=whole) for job in changed) and _any_job_is_pending(session):
        return Change.STATE
    return Change.PHASES


def reads_whole_minimum(session: Session) -> bool:
    """Return whether a plugin reads reservations in which an enqueued job counts with its whole minimum."""
    reads = session.conf.first_option(overcommit.NAME) is not None
    return reads or not session.release.follows(Rule.INQUEUE_REMAINDER)


def _runs_whole(job: JobInfo) -> bool:
    return job.phase_before == "Inqueue" and job.phase == "Running" and is_settled(job)


def moves_reservation(job: JobInfo, *, whole: bool) -> bool:
    """Return whether a job that changed from Inqueue to Running changes its reservation.

    With `whole` a plugin reads the whole minimum.
    """
    if job.min_resources is None:
        return False
    rest = rest_of_minimum(job)
    reserves = not (rest.is_nothing() or job.allocated_count >= job.min_available)
    return reserves or (whole and not job.min_resources.is_nothing())


def _any_job_is_pending(session: Session) -> bool:
    touched = session.snapshot.tasks.touched.values()
    return bool(session.lines.pending) or any(job.is_pending for job in touched)
