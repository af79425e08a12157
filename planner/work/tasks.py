"""What is done elsewhere, and who sends it there?"""

import logging
import subprocess
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import IO, Any

from celery import bootsteps, current_app, shared_task
from celery.concurrency.thread import TaskPool
from celery.signals import worker_shutting_down
from celery.worker import WorkController
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from planner.accounts.models import User, Workspace
from planner.backups.services import is_backup_due, scheduled_backup_begin
from planner.clusters.models import Blob, Import
from planner.clusters.services.imports import import_create
from planner.clusters.services.retention import old_runs_remove
from planner.runs.models import Run
from planner.runs.services.bundles import bundle_import
from planner.runs.services.runs import run_create
from planner.runs.services.searches import search_create
from planner.scenarios.models import Scenario
from planner.upgrades.services import impact_create
from planner.work.execution import next_execute, worker_name
from planner.work.recovery import work_recover
from planner.work.turns import does_any_wait
from planner.work.workers import worker_gone, worker_seen
from planning.bundle import About

logger = logging.getLogger(__name__)

BACKUP_LOOK_SECONDS = 60.0

STOPPING = threading.Event()
"""Set when this worker is asked to go: its work is put back for others."""
BUSY: set[int] = set()
"""The threads of this worker that are at work."""


def submit_run(
    *, scenario: Scenario, options: Mapping[str, Any] | None = None, user: User | None = None
) -> Run:
    """Queue a run of the scenario's present revision and, once the row is visible to workers, kick one."""
    run = run_create(scenario=scenario, options=options, user=user)
    transaction.on_commit(kick)
    return run


def submit_search(*, run: Run, job: str, user: User | None = None) -> Run:
    """Queue a search for what would unblock a job, unless there is one, and kick a worker."""
    search, is_new = search_create(run=run, job=job, user=user)
    if is_new:
        transaction.on_commit(kick)
    return search


def submit_impact(*, run: Run, old: str, new: str, user: User | None = None) -> Run:
    """Queue what an upgrade of Volcano changes for a run's input, unless it is known, and kick a worker."""
    impact, is_new = impact_create(run=run, old=old, new=new, user=user)
    if is_new:
        transaction.on_commit(kick)
    return impact


def submit_bundle(*, file: IO[bytes], workspace: Workspace, user: User) -> tuple[Run, About]:
    """Import a run's bundle and repeat the run; return it with what the bundle tells about it."""
    run, about = bundle_import(file=file, workspace=workspace, user=user)
    transaction.on_commit(kick)
    return run, about


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
    """Keep files that are too large to be read while their sender waits, and kick a worker."""
    asked = import_create(
        files=files,
        workspace=workspace,
        name=name,
        provenance=provenance,
        is_dry=is_dry,
        is_bundle=is_bundle,
        user=user,
    )
    transaction.on_commit(kick)
    return asked


def kick() -> None:
    """Tell the workers that something waits. While the broker is away they see it when they look."""
    try:
        do_waiting_work.apply_async(retry=False)
    except (OperationalError, OSError):
        logger.warning(
            "The broker did not accept the task; a worker finds the queued work when it next polls."
        )


@shared_task(ignore_result=True)
def do_waiting_work() -> None:
    """Do the work whose turn it is, then the next, until none waits. The rows hold states and results.

    There is a kick for all work, but it names none: whose turn it is shows when a worker is free.
    """
    BUSY.add(threading.get_ident())
    try:
        while not STOPPING.is_set() and next_execute(worker=worker_name(), stopping=STOPPING):
            pass
    finally:
        BUSY.discard(threading.get_ident())


def do_unkicked_work() -> None:
    """Do the work that waits, without a message."""
    try:
        do_waiting_work()
    except DatabaseError:
        logger.warning("The database was unavailable; queued work is retried.")
    finally:
        connection.close()


class Recovery(bootsteps.StartStopStep):
    """A thread in every worker that takes back what was left behind, and wakes a free place of its worker.

    So work starts within a sweep, however many messages are lost.
    """

    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent: WorkController, **options: Any) -> None:
        super().__init__(parent, **options)
        self._started = timezone.now()
        self._over = threading.Event()
        # Not at once: a start has better things to do.
        self._next_tidy = time.monotonic() + min(60.0, settings.TIDY_SECONDS)
        self._next_backup = time.monotonic()
        self._backup: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._sweep, name="recovery", daemon=True)

    def start(self, parent: WorkController) -> None:
        """Begin to sweep."""
        assert isinstance(parent.pool, TaskPool), "see CELERY_WORKER_POOL"
        self._places: ThreadPoolExecutor = parent.pool.executor
        self._thread.start()

    def stop(self, parent: WorkController) -> None:
        """Let the last sweep end."""
        self._over.set()
        self._thread.join()

    def _tidy(self) -> None:
        """Remove what is old, now and then; several workers that do so do no harm."""
        if settings.TIDY_SECONDS and time.monotonic() > self._next_tidy:
            self._next_tidy = time.monotonic() + settings.TIDY_SECONDS
            old_runs_remove(keep=timedelta(days=settings.KEEP_RUNS_DAYS))

    def _back_up(self) -> None:
        """Begin a backup when one is due; the sweep goes on meanwhile, and so does the process without it."""
        is_under_way = self._backup is not None and self._backup.poll() is None
        if settings.BACKUP_DIR and not is_under_way and time.monotonic() > self._next_backup:
            self._next_backup = time.monotonic() + BACKUP_LOOK_SECONDS
            if is_backup_due():
                self._backup = scheduled_backup_begin()

    def _sweep(self) -> None:
        while not self._over.is_set():
            try:
                worker_seen(name=worker_name(), started=self._started)
                work_recover()
                self._tidy()
                self._back_up()
                if len(BUSY) < settings.CELERY_WORKER_CONCURRENCY and does_any_wait():
                    self._places.submit(do_unkicked_work)
            except DatabaseError:
                logger.warning("Recovery could not read the database and will retry.")
            finally:
                connection.close()
            self._over.wait(settings.RUN_SWEEP_SECONDS)
        with suppress(DatabaseError):
            worker_gone(name=worker_name())
            connection.close()


@worker_shutting_down.connect
def _put_back_work(**_: Any) -> None:
    STOPPING.set()


current_app.steps["worker"].add(Recovery)
