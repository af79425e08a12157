"""What does a worker do with a run that it has claimed, and how is the outcome kept?"""

import json
import logging
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from django.conf import settings
from django.db import transaction

from planner.clusters.models import Blob
from planner.runs.models import JobOutcome, Outcome, QueueOutcome, Run, Trace, Victim
from planner.runs.services.runs import baseline_create
from planner.work.execution import Watch, limits, retry_on_db_error, unless_away
from planner.work.lifecycle import Claim, work_end
from planner.work.subprocess_runner import (
    Beat,
    Limits,
    OnReport,
    Task,
    child_answer,
    room_on_disk,
    unreported,
)
from planning.outcomes import Rows
from planning.version import ENGINE_VERSION

Row = TypeVar("Row", QueueOutcome, JobOutcome, Victim, Trace)

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Simulated:
    """What the child gave back; `error` is the sentence of a scenario that cannot be simulated.

    The answer to a question has no rows, nor has a result with an error.
    """

    result: bytes
    rows: Rows | None
    notes: Sequence[str]
    engine_version: str
    timings: dict[str, float]
    error: str | None


def run_simulate(claim: Claim[Run], watch: Watch) -> None:
    """Simulate a run in a child process and store how it ended, or share what is known already.

    Raises ChildFailed and ChildStopped as `simulate` does.
    """
    run = retry_on_db_error(lambda: Run.objects.get(pk=claim.id))
    twin = retry_on_db_error(lambda: known_twin(run))
    if twin and retry_on_db_error(lambda: run_share(claim=claim, twin=twin, timings=_waited(run))):
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
        limits=limits(),
        beat=watch.beat,
        on_report=lambda found: found_keep(claim=claim, found=found),
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
    on_report: OnReport = unreported,
    question: Mapping[str, str] | None = None,
) -> Simulated:
    """Simulate a frozen scenario document in a child process.

    The result is byte for byte what ``python -m scheduler_core simulate`` prints for `document`; with a
    question (`Run.question`) it is the answer to that, and `on_report` gets what is found meanwhile.

    Raises ChildFailed with the reason, or ChildStopped after `beat` answered False.
    """
    task = Task(
        "The simulation",
        "planner.runs.simulating",
        ["explain" if explain else "decisions", json.dumps(question or {}), *limits.extender_hosts],
    )
    with room_on_disk(), tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as result:
        source.write(document)
        answer = child_answer(task, source, result, limits, beat, on_report)
        return Simulated(
            result=result.read(answer["size"]),
            rows=Rows.read(result) if answer["has_rows"] else None,
            notes=answer["notes"],
            engine_version=answer["engine_version"],
            timings=answer["timings"],
            error=answer["error"],
        )


def found_keep(*, claim: Claim[Run], found: Any) -> None:
    """Keep what a search has found so far; while the database is away it waits for the next time."""
    unless_away(lambda: claim.mine().update(found_so_far=found))


def _waited(run: Run) -> dict[str, float]:
    assert run.started is not None, "a claimed run has started"
    return {"queued_ms": round((run.started - run.created).total_seconds() * 1000, 1)}


def known_twin(run: Run) -> Run | None:
    """Return a run of the same input by the same engine, None where an extender had a say in it.

    A run and a baseline may be twins; questions are so about one run only.
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
    """Store the result with its rows and end the run, or nothing at all; was the run still this worker's?

    A search has no rows, its answer is its result alone; nor has a run that failed, with the core's reason.
    """
    if claim.mine().select_for_update().first() is None:
        return False
    return work_end(
        claim=claim,
        state=Run.State.SUCCEEDED if simulated.error is None else Run.State.FAILED,
        error=simulated.error or "",
        outcome=None if simulated.rows is None else _outcome_keep(simulated.rows),
        result=result.keep(),
        found_so_far=None,
        notes=list(simulated.notes),
        timings=dict(timings),
        engine_version=simulated.engine_version,
    )


@transaction.atomic
def run_share(*, claim: Claim[Run], twin: Run, timings: Mapping[str, float]) -> bool:
    """End a run with the result and the outcome of its twin; False when either is gone."""
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


def _outcome_keep(rows: Rows) -> Outcome:
    """Save the rows of a result under a new outcome, and return that."""
    outcome = Outcome.objects.create(counts=asdict(rows.counts))
    _rows_keep(QueueOutcome, [QueueOutcome(**columns) for columns in rows.queues], outcome)
    _rows_keep(JobOutcome, [JobOutcome(**columns) for columns in rows.jobs], outcome)
    _rows_keep(Victim, [Victim(**columns) for columns in rows.victims], outcome)
    _rows_keep(Trace, [Trace(**asdict(part)) for part in rows.parts], outcome)
    return outcome


def _rows_keep(model: type[Row], rows: Sequence[Row], outcome: Outcome) -> None:
    for row in rows:
        row.outcome = outcome
    model._default_manager.bulk_create(rows, batch_size=1000)
