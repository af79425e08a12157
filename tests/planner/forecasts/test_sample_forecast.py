"""The forecast of the sample in docs/forecasts.md: analytics misses its target, more nodes reach it."""

from copy import deepcopy
from typing import Any

import pytest

import manifests
from planner.clusters.sample import sample_document
from planning.forecasts.document import Times, forecast_of
from planning.forecasts.record import record_of
from planning.forecasts.targets import target_verdicts
from planning.forecasts.workload import Fitting, fitted_to
from planning.node_constraints import known_constraints
from scheduler_core.replay import replay_document
from tests.builders import Object
from traces import Pattern, generate

HOURS = 4 * 3600.0


def with_nodes(document: Object, count: int) -> Object:
    """Return the document with copies of node cpu-01."""
    model: Any = next(node for node in document["nodes"] if node["metadata"]["name"] == "cpu-01")
    copies = [deepcopy(model) for _ in range(count)]
    for number, node in enumerate(copies):
        node["metadata"]["name"] = f"more-{number}"
    return {**document, "nodes": [*document["nodes"], *copies]}


@pytest.mark.parametrize(("nodes", "status"), [(0, "missed"), (24, "met")])
def test_the_sample_needs_more_nodes_for_its_target(nodes: int, status: str) -> None:
    requests = {"cpu": "16", "memory": "64Gi"}
    pattern = Pattern("analytics", 8, run_median=2400, pods={20: 1.0}, requests=requests)
    trace = generate([pattern], seconds=HOURS, seed=1)
    document = with_nodes(manifests.resolve(sample_document()), nodes)
    fitted, _ = fitted_to(trace, ["analytics"], Fitting(), known_constraints(document))
    forecast, problems = forecast_of(document, fitted, Times(horizon=HOURS, period=10.0))
    assert not problems
    record = record_of(forecast.document, replay_document(forecast.document), jobs_only=True)
    assert [found.status for found in target_verdicts(record, {"analytics": 60.0})] == [status]
