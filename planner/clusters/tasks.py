"""How do large imports reach a worker, and when is old data removed?"""

from datetime import timedelta

from django.conf import settings
from django.db import transaction

from planner.accounts.models import User, Workspace
from planner.clusters.models import Blob, Import
from planner.clusters.services.imports import import_create
from planner.clusters.services.readings import import_read
from planner.clusters.services.retention import old_runs_remove
from planner.work.kinds import Chore, chore_register, work_register
from planner.work.tasks import notify_workers

LONGEST_QUIET_START_SECONDS = 60.0
"""A start has better things to do than to remove what is old, so long."""


def register() -> None:
    """Let workers read imports, and remove what is old."""
    work_register(Import, import_read)
    every = settings.TIDY_SECONDS
    chore_register(Chore(_old_remove, every, first_after_seconds=min(LONGEST_QUIET_START_SECONDS, every)))


def _old_remove() -> None:
    old_runs_remove(keep=timedelta(days=settings.KEEP_RUNS_DAYS))


def submit_import(
    *,
    files: Blob,
    workspace: Workspace,
    name: str,
    provenance: str,
    is_dry: bool = False,
    is_bundle: bool = False,
    user: User | None = None,
) -> Import:
    """Keep files that are too large to be read while their sender waits, and notify a worker."""
    row = import_create(
        files=files,
        workspace=workspace,
        name=name,
        provenance=provenance,
        is_dry=is_dry,
        is_bundle=is_bundle,
        user=user,
    )
    transaction.on_commit(notify_workers)
    return row
