"""What does a worker do with a run that it has claimed?"""

import json
import logging
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from planner.clusters.models import Blob
from planner.runs.models import Run
from planner.runs.services.baselines import baseline_create
from planner.runs.services.runs import run_fail, run_finish, run_share
from planner.work.lifecycle import Claim
from planner.work.subprocess_runner import (
    Beat,
    Limits,
    OnReport,
    Task,
    child_answer,
    room_on_disk,
    unreported,
)
from planner.work.watch import Watch, limits, retry_on_db_error, unless_away
from planning.outcomes import Rows, rows_of
from planning.version import ENGINE_VERSION

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Simulated:
    """What the child gave back; `error` is the sentence of a scenario that cannot be simulated."""

    result: bytes
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
        blob = Blob.of(simulated.result)
        result = json.loads(simulated.result)
        rows = _rows(run, document, simulated, result)
    facts: dict[str, Any] = {
        "claim": claim,
        "result": blob,
        "notes": result.get("notes", []),
        "timings": {**_waited(run), **simulated.timings, "process_ms": process_ms},
        "engine_version": simulated.engine_version,
    }
    error = simulated.error
    if error is not None:
        retry_on_db_error(lambda: run_fail(error=error, **facts))
    else:
        retry_on_db_error(lambda: run_finish(rows=rows, **facts))


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
        return Simulated(result.read(), answer["engine_version"], answer["timings"], answer["error"])


def found_keep(*, claim: Claim[Run], found: Any) -> None:
    """Keep what a search has found so far; while the database is away it waits for the next time."""
    unless_away(lambda: claim.mine().update(found_so_far=found))


def _waited(run: Run) -> dict[str, float]:
    assert run.started is not None, "a claimed run has started"
    return {"queued_ms": round((run.started - run.created).total_seconds() * 1000, 1)}


def _rows(run: Run, document: bytes, simulated: Simulated, result: Any) -> Rows | None:
    """Return the rows of a simulation; a question, or one that ended with an error, has none."""
    if run.question or simulated.error is not None:
        return None
    return rows_of(result, json.loads(document))


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
