"""What does a worker do with one run, from claim to end?"""

import json
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError, connection

from planner.engine import ENGINE_VERSION
from planner.engine.execution import Limits, Simulated, SimulationFailed, SimulationStopped, simulate
from planner.engine.outcomes import NOTHING, Outcome, outcome_of
from planner.models import Blob, Run
from planner.services.runs import (
    Beat,
    Claim,
    run_claim,
    run_fail,
    run_finish,
    run_heartbeat,
    run_release,
    run_stop,
)

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")


def worker_name(pid: int | None = None) -> str:
    """Return the name under which a worker process of this machine claims runs."""
    return f"{socket.gethostname()}:{pid or os.getpid()}"


def run_execute(*, run_id: UUID, worker: str, stopping: threading.Event) -> bool:
    """Claim a queued run, simulate it in a child process and store how it ended; was there a run to claim?

    When `stopping` is set the child is killed and the run put back for another worker.
    """
    claim = run_claim(run_id=run_id, worker=worker)
    if claim is None:
        return False
    with structlog.contextvars.bound_contextvars(run=str(run_id), attempt=claim.attempt):
        _execute(claim, _Watch(claim, stopping))
    return True


def _execute(claim: Claim, watch: "_Watch") -> None:
    try:
        run = _patiently(lambda: Run.objects.select_related("input").get(pk=claim.run_id))
        _simulate_and_store(run, claim, watch)
    except SimulationStopped:
        _patiently(watch.end)
    except SimulationFailed as error:
        reason = str(error)
        _patiently(lambda: run_fail(claim=claim, error=reason))
    except DatabaseError:
        connection.close()
        logger.warning("The database is away; when the lease has run out somebody takes the run again.")
    except Exception:
        logger.exception("The run broke.")
        _patiently(lambda: run_fail(claim=claim, error="The run broke; the worker's log says more."))


def _simulate_and_store(run: Run, claim: Claim, watch: "_Watch") -> None:
    assert run.started is not None, "a claimed run has started"
    document = run.input.content()
    began = time.monotonic()
    simulated = _patiently(lambda: known_result(run)) or simulate(
        document, explain=run.options["explain"], limits=_limits(), beat=watch.beat, job=run.job
    )
    timings = {
        "queued_ms": round((run.started - run.created).total_seconds() * 1000, 1),
        **simulated.timings,
        "process_ms": round((time.monotonic() - began) * 1000, 1),
    }
    with watch.beating("storing the outcome"):
        result = Blob.of(simulated.result)
        outcome = _outcome(run, document, simulated)
    facts: dict[str, Any] = {
        "claim": claim,
        "result": result,
        "timings": timings,
        "engine_version": simulated.engine_version,
    }
    error = simulated.error
    if error is not None:
        _patiently(lambda: run_fail(error=error, **facts))
    else:
        _patiently(lambda: run_finish(outcome=outcome, **facts))


def _outcome(run: Run, document: bytes, simulated: Simulated) -> Outcome:
    """Return the rows of a simulation; a search, or one that ended with an error, has none."""
    if run.job or simulated.error is not None:
        return NOTHING
    return outcome_of(json.loads(simulated.result), json.loads(document))


def known_result(run: Run) -> Simulated | None:
    """Return what this engine already made of the same input, unless an extender had a say in it."""
    same = Run.objects.filter(
        input=run.input_id,
        explains=run.explains_id,
        job=run.job,
        options__explain=run.options["explain"],
        engine_version=ENGINE_VERSION,
        state=Run.State.SUCCEEDED,
    )
    twin = same.exclude(pk=run.pk).select_related("result").first()
    if twin is None or twin.result is None or settings.RUN_EXTENDER_HOSTS:
        return None
    logger.info("The result of run %s is shared: same input, same engine.", twin.pk)
    return Simulated(twin.result.content(), ENGINE_VERSION, {}, None)


class _Watch:
    """Between the child and the row: renews the lease, and learns why the child should stop."""

    def __init__(self, claim: Claim, stopping: threading.Event) -> None:
        self.claim = claim
        self.stopping = stopping
        self._heard = Beat.GO_ON

    def beat(self, progress: float, doing: str) -> bool:
        """Renew the lease; should the child go on? It does while the database is away: the fence decides."""
        try:
            self._heard = run_heartbeat(claim=self.claim, progress=progress, doing=doing)
        except DatabaseError:
            logger.warning("The database is away; the run goes on.")
            connection.close()
        return self._heard is Beat.GO_ON and not self.stopping.is_set()

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
        if self._heard is Beat.CANCEL:
            return run_stop(claim=self.claim)
        return run_release(claim=self.claim)


def _patiently(step: Callable[[], Answer]) -> Answer:
    """Return what `step` answers, trying again for as long as a lease lasts while the database is away."""
    until = time.monotonic() + settings.RUN_LEASE_SECONDS
    while True:
        try:
            return step()
        except DatabaseError:
            connection.close()
            if time.monotonic() > until:
                raise
            logger.warning("The database is away; trying again.")
            time.sleep(settings.RUN_HEARTBEAT_SECONDS)


def _limits() -> Limits:
    return Limits(
        memory_mb=settings.RUN_MEMORY_MB,
        seconds=settings.RUN_TIME_LIMIT_SECONDS,
        beat_seconds=settings.RUN_HEARTBEAT_SECONDS,
        extender_hosts=tuple(settings.RUN_EXTENDER_HOSTS),
    )
