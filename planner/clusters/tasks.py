"""What do workers do with an import, and when do they remove old data?"""

from datetime import timedelta

from django.conf import settings

from planner.clusters.models import Import
from planner.clusters.services.readings import import_read
from planner.clusters.services.retention import old_runs_remove
from planner.work.kinds import Chore, chore_register, work_register

LONGEST_QUIET_START_SECONDS = 60.0
"""A start has better things to do than to remove what is old, so long."""


def register() -> None:
    """Let workers read imports, and remove what is old."""
    work_register(Import, import_read)
    every = settings.TIDY_SECONDS
    chore_register(Chore(_old_remove, every, first_after_seconds=min(LONGEST_QUIET_START_SECONDS, every)))


def _old_remove() -> None:
    old_runs_remove(keep=timedelta(days=settings.KEEP_RUNS_DAYS))
