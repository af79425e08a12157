"""What happens between a child process and the row of its work, and while the database is away?"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from django.conf import settings
from django.db import DatabaseError, connection

from planner.work.lifecycle import Claim, Heartbeat, work_heartbeat, work_release, work_stop
from planner.work.subprocess_runner import Limits

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")


class Watch:
    """Between the child and the row: renews the lease, and learns why the child should stop."""

    def __init__(self, claim: Claim[Any], stopping: threading.Event) -> None:
        self.claim = claim
        self.stopping = stopping
        self._heard = Heartbeat.GO_ON

    def beat(self, progress: float, doing: str) -> bool:
        """Renew the lease; should the child go on? It does while the database is away: the fence decides."""
        try:
            self._heard = work_heartbeat(claim=self.claim, progress=progress, doing=doing)
        except DatabaseError:
            logger.warning("The database is unavailable; work continues.")
            connection.close()
        return self._heard is Heartbeat.GO_ON and not self.stopping.is_set()

    @contextmanager
    def beating(self, doing: str) -> Iterator[None]:
        """Renew the lease now and then while something is done that takes a while."""
        over = threading.Event()
        self.beat(1.0, doing)

        def beat() -> None:
            while not over.wait(settings.RUN_HEARTBEAT_SECONDS):
                self.beat(1.0, doing)
            connection.close()

        thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def end(self) -> bool:
        """Write why the child was stopped."""
        if self._heard is Heartbeat.CANCEL:
            return work_stop(claim=self.claim)
        return work_release(claim=self.claim)


def unless_away(step: Callable[[], object]) -> None:
    """Do a step that may wait for the next time; it is left out while the database is away."""
    try:
        step()
    except DatabaseError:
        logger.warning("The database is unavailable; work continues.")
        connection.close()


def retry_on_db_error(step: Callable[[], Answer]) -> Answer:
    """Return what `step` answers, trying again for as long as a lease lasts while the database is away."""
    until = time.monotonic() + settings.RUN_LEASE_SECONDS
    while True:
        try:
            return step()
        except DatabaseError:
            connection.close()
            if time.monotonic() > until:
                raise
            logger.warning("The database is unavailable; retrying.")
            time.sleep(settings.RUN_HEARTBEAT_SECONDS)


def limits() -> Limits:
    """Return what a child process may use."""
    return Limits(
        memory_mb=settings.RUN_MEMORY_MB,
        seconds=settings.RUN_TIME_LIMIT_SECONDS,
        beat_seconds=settings.RUN_HEARTBEAT_SECONDS,
        extender_hosts=tuple(settings.RUN_EXTENDER_HOSTS),
    )
