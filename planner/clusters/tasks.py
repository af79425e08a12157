"""Registers imports as work for the workers, and the removal of old data as a chore."""

from datetime import timedelta

from django.conf import settings

from planner.clusters.models import Import
from planner.clusters.services.readings import import_read
from planner.clusters.services.retention import old_runs_remove
from planner.work.kinds import Chore, chore_register, work_register

LONGEST_QUIET_START_SECONDS = 60.0
"""The delay of the first removal after a start."""


def register() -> None:
    """Let workers read imports, and remove old data."""
    work_register(Import, import_read)
    every = settings.TIDY_SECONDS
    chore_register(Chore(_old_remove, every, first_after_seconds=min(LONGEST_QUIET_START_SECONDS, every)))


def _old_remove() -> None:
    old_runs_remove(keep=timedelta(days=settings.KEEP_RUNS_DAYS))
