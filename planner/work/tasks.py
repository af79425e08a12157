"""The Celery task that executes queued work, and the recovery thread of each worker."""

import logging
import threading
from contextlib import suppress
from typing import Any

from celery import bootsteps, shared_task
from celery.concurrency.base import BasePool
from celery.concurrency.thread import TaskPool
from celery.signals import worker_shutting_down
from celery.worker import WorkController
from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from config.celery import app
from planner.work.broker import DRAIN_QUEUE
from planner.work.execution import work_execute_next
from planner.work.kinds import chores
from planner.work.recovery import work_recover
from planner.work.turns import has_queued_work
from planner.work.workers import worker_delete, worker_name, worker_report

logger = logging.getLogger(__name__)

STOPPING = threading.Event()
"""Set when this worker has to stop: its work is put back for others."""
BUSY: set[int] = set()
"""The threads of this worker that execute work."""


@shared_task(name=DRAIN_QUEUE, ignore_result=True)
def drain_queue() -> None:
    """Execute queued work, one piece after the other, until none is left. The rows hold states and results.

    The message does not name a piece of work: the turn is decided when a worker is free.
    """
    BUSY.add(threading.get_ident())
    try:
        while not STOPPING.is_set() and work_execute_next(worker=worker_name(), stopping=STOPPING):
            pass
    finally:
        BUSY.discard(threading.get_ident())


def drain_queue_unnotified() -> None:
    """Execute queued work without a message."""
    try:
        drain_queue()
    except DatabaseError:
        logger.warning("The database was unavailable; queued work is retried.")
    finally:
        connection.close()


def _ended(_result: None) -> None:
    """Accept the pool's notification that a task ended; the row has the state."""


class Recovery(bootsteps.StartStopStep):
    """A thread in every worker that recovers lost work, and starts queued work on an idle thread of the pool.

    So work starts within one interval, even if messages are lost.
    """

    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent: WorkController, **options: Any) -> None:
        super().__init__(parent, **options)
        self._started = timezone.now()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sweep, name="recovery", daemon=True)

    def start(self, parent: WorkController) -> None:
        """Start the recovery thread."""
        assert isinstance(parent.pool, TaskPool), "see CELERY_WORKER_POOL"
        self._pool: BasePool = parent.pool
        self._thread.start()

    def stop(self, parent: WorkController) -> None:
        """Stop after the current pass."""
        self._over.set()
        self._thread.join()

    def _sweep(self) -> None:
        while not self._over.is_set():
            try:
                worker_report(name=worker_name(), started=self._started)
                work_recover()
                for chore in chores():
                    chore.do_if_due()
                if len(BUSY) < settings.CELERY_WORKER_CONCURRENCY and has_queued_work():
                    self._pool.apply_async(drain_queue_unnotified, callback=_ended)
            except DatabaseError:
                logger.warning("Recovery could not read the database and will retry.")
            finally:
                connection.close()
            self._over.wait(settings.RUN_SWEEP_SECONDS)
        with suppress(DatabaseError):
            worker_delete(name=worker_name())
            connection.close()


@worker_shutting_down.connect
def _put_back_work(**_: Any) -> None:
    STOPPING.set()


app.steps["worker"].add(Recovery)
