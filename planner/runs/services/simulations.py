"""Simulate a claimed run in a child process and store its outcome."""

import json
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from django.conf import settings
from django.db import transaction

from planner.clusters.models import Blob
from planner.runs.models import JobOutcome, Outcome, QueueOutcome, Run, Trace, Victim
from planner.runs.services.runs import baseline_create
from planner.work.execution import Watch, retry_on_db_error, skip_on_db_error
from planner.work.lifecycle import Claim, work_end
from planner.work.subprocess_runner import (
    Beat,
    Limits,
    OnReport,
    Task,
    ignore_found,
    run_child,
)
from planning.rows.stored import Rows
from planning.version import ENGINE_VERSION

Row = TypeVar("Row", QueueOutcome, JobOutcome, Victim, Trace)

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Simulated:
    """The child's output; `error` is the sentence of a scenario that cannot be simulated.

    A search has no rows; neither has a result with an error.
    """

    result: bytes
    rows: Rows | None
    notes: Sequence[str]
    engine_version: str
    timings: dict[str, float]
    error: str | None


def run_simulate(claim: Claim[Run], watch: Watch) -> None:
    """Simulate a run in a child process and store its outcome, or share the outcome of an equal run.

    Raises ChildFailed and ChildStopped as `simulate` does.
    """
    run = retry_on_db_error(lambda: Run.objects.get(pk=claim.id))
    twin = retry_on_db_error(lambda: find_twin(run))
    if twin and retry_on_db_error(lambda: run_finish_from_twin(claim=claim, twin=twin, timings=_waited(run))):
        logger.info("Sharing the result of run %s: same input, same engine.", twin.pk)
    else:
        _simulate(run, claim, watch)
    retry_on_db_error(lambda: baseline_create(run=run))


def _simulate(run: Run, claim: Claim[Run], watch: Watch) -> None:
    document = run.input.content()
    began = time.monotonic()
    simulated = simulate(
        document,
        explain=run.options["explain"],
        limits=watch.limits,
        beat=watch.beat,
        on_report=lambda found: search_progress_store(claim=claim, found=found),
        question=run.question,
    )
    process_ms = round((time.monotonic() - began) * 1000, 1)
    with watch.beating("storing the outcome"):
        content = Blob.of(simulated.result)
    timings = {**_waited(run), **simulated.timings, "process_ms": process_ms}
    retry_on_db_error(lambda: run_finish(claim=claim, simulated=simulated, result=content, timings=timings))


def simulate(
    document: bytes,
    *,
    explain: bool,
    limits: Limits,
    beat: Beat,
    on_report: OnReport = ignore_found,
    question: Mapping[str, str] | None = None,
) -> Simulated:
    """Simulate a frozen scenario document in a child process.

    The result is byte for byte what ``python -m scheduler_core simulate`` prints for `document`; with a
    question (`Run.question`) it is the answer to it, and `on_report` receives what was found so far.

    Raises ChildFailed with the reason, or ChildStopped after `beat` returned False.
    """
    task = Task(
        "The simulation",
        "planner.runs.simulating",
        ["explain" if explain else "decisions", json.dumps(question or {}), *limits.extender_hosts],
    )
    with run_child(task, [document], limits, beat, on_report) as (answer, result):
        return Simulated(
            result=result.read(answer["size"]),
            rows=Rows.read(result) if answer["has_rows"] else None,
            notes=answer["notes"],
            engine_version=answer["engine_version"],
            timings=answer["timings"],
            error=answer["error"],
        )


def search_progress_store(*, claim: Claim[Run], found: Any) -> None:
    """Store what a search has found so far; skipped while the database is unavailable."""
    skip_on_db_error(lambda: claim.mine().update(found_so_far=found))


def _waited(run: Run) -> dict[str, float]:
    assert run.started is not None, "a claimed run has started"
    return {"queued_ms": round((run.started - run.created).total_seconds() * 1000, 1)}


def find_twin(run: Run) -> Run | None:
    """Return a finished run with the same input and engine; None if extenders are allowed.

    A run and a baseline may be twins. Searches are twins only within the run that they are about.
    """
    if settings.RUN_EXTENDER_HOSTS:
        return None
    question = {"explains": run.explains_id} if run.question else {}
    probe = {"probe__isnull": True} if run.probe is None else {"probe": run.probe}
    same = Run.objects.filter(
        **question,
        input=run.input_id,
        job=run.job,
        old_release=run.old_release,
        new_release=run.new_release,
        **probe,
        options__explain=run.options["explain"],
        engine_version=ENGINE_VERSION,
        state=Run.State.SUCCEEDED,
    )
    return same.exclude(pk=run.pk).first()


@transaction.atomic
def run_finish(
    *, claim: Claim[Run], simulated: Simulated, result: Blob, timings: Mapping[str, float]
) -> bool:
    """Store the result with its rows and end the run, in one transaction; return False if the claim was lost.

    A search has no rows, only its result. A failed run has no rows either, only the core's reason.
    """
    if claim.mine().select_for_update().first() is None:
        return False
    return work_end(
        claim=claim,
        state=Run.State.SUCCEEDED if simulated.error is None else Run.State.FAILED,
        error=simulated.error or "",
        outcome=None if simulated.rows is None else _store_outcome(simulated.rows),
        result=result.keep(),
        found_so_far=None,
        notes=list(simulated.notes),
        timings=dict(timings),
        engine_version=simulated.engine_version,
    )


@transaction.atomic
def run_finish_from_twin(*, claim: Claim[Run], twin: Run, timings: Mapping[str, float]) -> bool:
    """End a run with the result and outcome of its twin; return False if the claim or the twin is gone."""
    kept = Run.objects.select_for_update().filter(pk=twin.pk).first()
    return kept is not None and work_end(
        claim=claim,
        state=Run.State.SUCCEEDED,
        outcome=kept.outcome_id,
        result=kept.result_id,
        notes=kept.notes,
        timings=dict(timings),
        engine_version=kept.engine_version,
    )


def _store_outcome(rows: Rows) -> Outcome:
    """Store the rows of a result under a new outcome and return it."""
    outcome = Outcome.objects.create(counts=asdict(rows.counts))
    _store_rows(QueueOutcome, [QueueOutcome(**columns) for columns in rows.queues], outcome)
    _store_rows(JobOutcome, [JobOutcome(**columns) for columns in rows.jobs], outcome)
    _store_rows(Victim, [Victim(**columns) for columns in rows.victims], outcome)
    _store_rows(Trace, [Trace(**asdict(part)) for part in rows.parts], outcome)
    return outcome


def _store_rows(model: type[Row], rows: Sequence[Row], outcome: Outcome) -> None:
    for row in rows:
        row.outcome = outcome
    model._default_manager.bulk_create(rows, batch_size=1000)
