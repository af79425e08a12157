"""Runs whose outcome is a recorded answer of the real scheduler: pages then have something true to show."""

import gzip
import json
from pathlib import Path
from typing import Any

from planner.clusters.models import Blob
from planner.runs.models import Run
from planner.runs.services.runs import run_finish
from planner.scenarios.models import Scenario
from planner.work.lifecycle import work_claim
from planning.documents import encoded
from planning.outcomes import rows_of
from scheduler_core import simulate_document
from tests import factories

CASES = Path(__file__).parents[1] / "fidelity" / "cases"


def finished_run(family: str, index: int = 0) -> Run:
    """Return a succeeded run of a recorded scenario with the recorded result."""
    case = recorded(family, index)
    return run_of(case["scenario"], case["result"])


def simulated_run(family: str, index: int = 0) -> Run:
    """Return a succeeded run of a recorded scenario with what the core makes of it, explanations included."""
    scenario = recorded(family, index)["scenario"]
    return run_of(scenario, simulate_document(scenario))


def recorded(family: str, index: int) -> dict[str, Any]:
    """Return a recorded scenario and its result."""
    with gzip.open(CASES / f"{family}.jsonl.gz") as lines:
        return next(json.loads(line) for number, line in enumerate(lines) if number == index)


def run_of(scenario: dict, result: dict) -> Run:
    """Return a succeeded run of a scenario document with a result of it."""
    return finish(factories.run(factories.scenario(document=scenario)), result)


def finish(run: Run, result: dict) -> Run:
    """Store a result as a worker would."""
    claim = work_claim(kind=Run, id=run.pk, worker="test")
    assert claim is not None
    assert run_finish(
        claim=claim,
        result=Blob.of(encoded(result)),
        rows=rows_of(result, run.input.document()),
        notes=result.get("notes", []),
        timings={},
        engine_version="test",
    )
    run.refresh_from_db()
    return run


def first_queue(scenario: Scenario) -> str:
    """Return the name of some queue of a scenario."""
    return scenario.queues.values_list("name", flat=True)[0]
