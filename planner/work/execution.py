"""Execution of one piece of work by a worker, from claim to end, also while the database is unavailable."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import structlog
from django.conf import settings
from django.db import DatabaseError, connection

from planner.errors import Gone, Invalid, QuotaExceeded, RoleTooLow
from planner.work.kinds import steps
from planner.work.lifecycle import (
    Claim,
    Heartbeat,
    work_fail,
    work_heartbeat,
    work_killed,
    work_release,
    work_stop,
)
from planner.work.subprocess_runner import ChildFailed, ChildKilled, ChildStopped, Limits
from planner.work.turns import work_claim_next

logger = logging.getLogger(__name__)

NOT_ALLOWED = "Whoever requested it may no longer edit this workspace."

Answer = TypeVar("Answer")


def work_execute_next(*, worker: str, stopping: threading.Event) -> bool:
    """Claim and execute the work whose turn it is; return whether there was any."""
    claim = work_claim_next(worker=worker)
    if claim is not None:
        claim_execute(claim=claim, stopping=stopping)
    return claim is not None


def claim_execute(*, claim: Claim[Any], stopping: threading.Event) -> None:
    """Execute claimed work in a child process and store how it ended.

    When `stopping` is set, the child is killed and the work is put back for another worker.
    """
    with structlog.contextvars.bound_contextvars(
        **{claim.kind.kind_name(): str(claim.id)}, attempt=claim.attempt
    ):
        _execute(claim, Watch(claim, stopping))


def _execute(claim: Claim[Any], watch: Watch) -> None:
    kind = claim.kind.kind_name()
    try:
        steps()[claim.kind](claim, watch)
    except ChildStopped:
        retry_on_db_error(watch.end)
    except ChildKilled as error:
        killed = str(error)
        logger.warning("The child of the %s was killed.", kind)
        retry_on_db_error(lambda: work_killed(claim=claim, error=killed))
    except (ChildFailed, Gone, Invalid, QuotaExceeded) as error:
        reason = str(error)
        retry_on_db_error(lambda: work_fail(claim=claim, error=reason))
    except RoleTooLow:
        retry_on_db_error(lambda: work_fail(claim=claim, error=NOT_ALLOWED))
    except DatabaseError:
        connection.close()
        logger.warning(
            "The database is unavailable; a worker picks up the %s again when the lease has expired.", kind
        )
    except Exception:
        if not retry_on_db_error(claim.mine().exists):
            logger.info("The %s was deleted, or another worker has it.", kind)
            return
        logger.exception("The %s failed unexpectedly.", kind)
        retry_on_db_error(
            lambda: work_fail(claim=claim, error=f"The {kind} failed unexpectedly; see the worker's log.")
        )


class Watch:
    """The link between child and row: limits the child, renews the lease, and learns when to stop."""

    def __init__(self, claim: Claim[Any], stopping: threading.Event) -> None:
        self.claim = claim
        self.stopping = stopping
        self.limits = limits()
        self._last = Heartbeat.CONTINUE

    def beat(self, progress: float, doing: str) -> bool:
        """Renew the lease; return whether the child may continue.

        While the database is unavailable it continues: the attempt number decides whether the result is
        stored.
        """
        try:
            self._last = work_heartbeat(claim=self.claim, progress=progress, doing=doing)
        except DatabaseError:
            logger.warning("The database is unavailable; work continues.")
            connection.close()
        return self._last is Heartbeat.CONTINUE and not self.stopping.is_set()

    @contextmanager
    def beating(self, doing: str) -> Iterator[None]:
        """Renew the lease at intervals during a step that takes a while."""
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
        """Store why the child was stopped."""
        if self._last is Heartbeat.CANCEL:
            return work_stop(claim=self.claim)
        return work_release(claim=self.claim)


def skip_on_db_error(step: Callable[[], object]) -> None:
    """Execute a step that may be skipped while the database is unavailable."""
    try:
        step()
    except DatabaseError:
        logger.warning("The database is unavailable; work continues.")
        connection.close()


def retry_on_db_error(step: Callable[[], Answer]) -> Answer:
    """Return the result of `step`; while the database is unavailable retry for as long as a lease lasts."""
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
    """Return the limits of a child process."""
    return Limits(
        memory_mb=settings.RUN_MEMORY_MB,
        seconds=settings.RUN_TIME_LIMIT_SECONDS,
        beat_seconds=settings.RUN_HEARTBEAT_SECONDS,
        extender_hosts=tuple(settings.RUN_EXTENDER_HOSTS),
    )
