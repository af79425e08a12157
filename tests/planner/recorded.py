"""Runs whose outcome is a recorded result of the real scheduler, so that pages show real data."""

import gzip
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from planner.clusters.models import Blob
from planner.experiments.models import Experiment, ExperimentGroup
from planner.experiments.selectors.experiments import VERIFYING
from planner.experiments.services.settling import experiment_settle
from planner.forecasts.models import Forecast, ForecastPart
from planner.forecasts.services.replays import forecast_finish
from planner.runs.models import Run
from planner.runs.services.runs import baseline_create
from planner.runs.services.simulations import Simulated, run_finish, simulate
from planner.work.execution import limits
from planner.work.lifecycle import work_claim, work_end
from planning.documents import encoded
from planning.experiments.definition import Definition, grid_of
from planning.experiments.outcomes import Measurer
from planning.forecasts.opening import opened
from planning.forecasts.parts import parts_of, summary_of
from planning.forecasts.record import record_of
from planning.forecasts.seeds import SeedRow, seed_rows
from planning.outcomes import rows_of
from scheduler_core import simulate_document
from tests import factories

CASES = Path(__file__).parents[1] / "fidelity" / "cases"


def finished_run(family: str, index: int = 0) -> Run:
    """Return a succeeded run of a recorded scenario with the recorded result."""
    case = recorded(family, index)
    return run_of(case["scenario"], case["result"])


def simulated_run(family: str, index: int = 0) -> Run:
    """Return a succeeded run of a recorded scenario with the core's result, explanations included."""
    scenario = recorded(family, index)["scenario"]
    return run_of(scenario, json.loads(_result_of(family, index)))


@lru_cache(maxsize=16)
def _result_of(family: str, index: int) -> bytes:
    return encoded(simulate_document(recorded(family, index)["scenario"]))


def recorded(family: str, index: int) -> dict[str, Any]:
    """Return a recorded scenario and its result."""
    with gzip.open(CASES / f"{family}.jsonl.gz") as lines:
        return next(json.loads(line) for number, line in enumerate(lines) if number == index)


def run_of(scenario: dict, result: dict) -> Run:
    """Return a succeeded run of a scenario document with a result of it."""
    return finish(factories.run(factories.scenario(document=scenario)), result)


def finish(run: Run, result: dict) -> Run:
    """Store a result as a worker would."""
    rows = rows_of(result, run.input.document())
    return _stored(run, Simulated(encoded(result), rows, result.get("notes", []), "test", {}, None))


def executed(run: Run) -> Run:
    """Return a run as a worker finishes it; equal inputs share one child process."""
    simulated = _simulated(run.input.content(), json.dumps(run.question), run.options["explain"])
    assert simulated.error is None, simulated.error
    _stored(run, simulated)
    baseline_create(run=run)
    return run


@lru_cache(maxsize=16)
def _simulated(document: bytes, question: str, explain: bool) -> Simulated:
    return simulate(
        document, explain=explain, limits=limits(), beat=lambda *_: True, question=json.loads(question)
    )


def _stored(run: Run, simulated: Simulated) -> Run:
    claim = work_claim(kind=Run, id=run.pk, worker="test")
    assert claim is not None
    result = Blob.of(simulated.result)
    assert run_finish(claim=claim, simulated=simulated, result=result, timings=simulated.timings)
    run.refresh_from_db()
    return run


def experiment_done(experiment: Experiment) -> Experiment:
    """Return an experiment as its child processes finish it, measured in this process."""
    workload = experiment.workload.content().decode() if experiment.workload else ""
    grid, _ = grid_of(experiment.input.document(), experiment.written, workload)
    measurer = Measurer(grid, Definition.of(experiment.written))
    while group := experiment.groups.filter(state=ExperimentGroup.State.QUEUED).first():
        measure = measurer.verification if group.number == VERIFYING else measurer.entry
        measured = [measure(tuple(cell)) for cell in group.cells]
        claim = work_claim(kind=ExperimentGroup, id=group.pk, worker="test")
        if claim is not None:
            work_end(claim=claim, state=ExperimentGroup.State.SUCCEEDED, measured=measured)
            experiment_settle(experiment_id=experiment.pk)
    experiment.refresh_from_db()
    return experiment


def forecast_done(forecast: Forecast) -> Forecast:
    """Return a queued forecast as its child process finishes it, replayed in this process."""
    source = forecast.input.document(), forecast.workload.content().decode(), forecast.options
    drawn: list[SeedRow] = []
    for seed in range(1, int(forecast.options["seeds"]) + 1):
        one = opened(*source, seed=seed)
        drawn += seed_rows(record_of(one.document, one.replay.run()), seed)
    given = opened(*source)
    result = given.replay.run()
    result["notes"] = [*result["notes"], *given.notes]
    record = record_of(given.document, result)
    claim = work_claim(kind=Forecast, id=forecast.pk, worker="test")
    assert claim is not None
    parts = [
        ForecastPart(forecast=forecast, part=part.part, key=part.key, packed=part.packed, size=part.size)
        for part in parts_of(result, record, drawn)
    ]
    actual = {"summary": summary_of(result, record), "notes": result["notes"], "timings": {}}
    assert forecast_finish(claim=claim, parts=parts, answer={**actual, "engine_version": "test"})
    forecast.refresh_from_db()
    return forecast
