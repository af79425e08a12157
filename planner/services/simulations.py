"""What does a worker do with a run that it has claimed?"""

import json
import logging
import time
from typing import Any

from django.conf import settings

from planner.engine import ENGINE_VERSION
from planner.engine.execution import Simulated, simulate
from planner.engine.outcomes import NOTHING, Outcome, outcome_of
from planner.models import Blob, Run
from planner.services.runs import run_fail, run_finish
from planner.services.watch import Watch, limits, patiently
from planner.services.work import Claim

logger = logging.getLogger(__name__)


def run_simulate(claim: Claim[Run], watch: Watch) -> None:
    """Simulate a run in a child process and store how it ended.

    Raises ChildFailed and ChildStopped as `simulate` does.
    """
    run = patiently(lambda: Run.objects.select_related("input").get(pk=claim.id))
    assert run.started is not None, "a claimed run has started"
    document = run.input.content()
    began = time.monotonic()
    simulated = patiently(lambda: known_result(run)) or simulate(
        document,
        explain=run.options["explain"],
        limits=limits(),
        beat=watch.beat,
        heard=watch.heard,
        job=run.job,
    )
    timings = {
        "queued_ms": round((run.started - run.created).total_seconds() * 1000, 1),
        **simulated.timings,
        "process_ms": round((time.monotonic() - began) * 1000, 1),
    }
    with watch.beating("storing the outcome"):
        blob = Blob.of(simulated.result)
        result = json.loads(simulated.result)
        outcome = _outcome(run, document, simulated, result)
    facts: dict[str, Any] = {
        "claim": claim,
        "result": blob,
        "notes": result.get("notes", []),
        "timings": timings,
        "engine_version": simulated.engine_version,
    }
    error = simulated.error
    if error is not None:
        patiently(lambda: run_fail(error=error, **facts))
    else:
        patiently(lambda: run_finish(outcome=outcome, **facts))


def _outcome(run: Run, document: bytes, simulated: Simulated, result: Any) -> Outcome:
    """Return the rows of a simulation; a search, or one that ended with an error, has none."""
    if run.job or simulated.error is not None:
        return NOTHING
    return outcome_of(result, json.loads(document))


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
    logger.info("Reusing the result of run %s: same input, same engine.", twin.pk)
    return Simulated(twin.result.content(), ENGINE_VERSION, {}, None)
