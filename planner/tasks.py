"""What is done elsewhere, and who sends it there?"""

import logging
import threading
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from celery import bootsteps, current_app, shared_task
from celery.signals import worker_shutting_down
from celery.worker import WorkController
from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from kombu.exceptions import OperationalError

from planner.models import Run, Scenario
from planner.services.execution import run_execute, worker_name
from planner.services.recovery import oldest_forgotten_run, runs_recover
from planner.services.runs import run_create

logger = logging.getLogger(__name__)

STOPPING = threading.Event()
"""Set when this worker is asked to go: its runs are put back for others."""


def submit_run(
    *, scenario: Scenario, options: Mapping[str, Any] | None = None, user: User | None = None
) -> Run:
    """Queue a run of the scenario's present revision and, once the row is visible to workers, kick one."""
    run = run_create(scenario=scenario, options=options, user=user)
    transaction.on_commit(lambda: kick(run.pk))
    return run


def kick(run_id: UUID) -> None:
    """Tell a worker about a queued run. A broker that is away loses nothing: recovery kicks again."""
    try:
        execute_run.apply_async((str(run_id),), retry=False)
    except (OperationalError, OSError):
        logger.warning("The broker did not take the kick of run %s; recovery will repeat it.", run_id)


@shared_task(ignore_result=True)
def execute_run(run_id: str) -> None:
    """Execute one run, then those whose kick was lost. The row, not the message, holds state and result."""
    following: UUID | None = UUID(run_id)
    while following is not None and not STOPPING.is_set():
        run_execute(run_id=following, worker=worker_name(), stopping=STOPPING)
        following = oldest_forgotten_run()


class Recovery(bootsteps.StartStopStep):
    """A thread in every worker that takes back what was left behind."""

    def __init__(self, parent: WorkController, **options: Any) -> None:
        super().__init__(parent, **options)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sweep, name="recovery", daemon=True)

    def start(self, parent: WorkController) -> None:
        """Begin to sweep."""
        self._thread.start()

    def stop(self, parent: WorkController) -> None:
        """Let the last sweep end."""
        self._over.set()

    def _sweep(self) -> None:
        while not self._over.is_set():
            try:
                for run_id in runs_recover():
                    kick(run_id)
            except DatabaseError:
                logger.warning("Recovery could not read the database; it will try again.")
            finally:
                connection.close()
            self._over.wait(settings.RUN_SWEEP_SECONDS)


@worker_shutting_down.connect
def _put_back_runs(**_: Any) -> None:
    STOPPING.set()


current_app.steps["worker"].add(Recovery)
