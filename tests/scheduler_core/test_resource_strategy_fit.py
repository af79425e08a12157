"""Plugin resource-strategy-fit: scores and rejections recorded from the real plugin."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_core.errors import SchedulerPanic
from scheduler_core.framework.extension_points import Point
from tests.builders import GPU, Object, Plugin, node, pod
from tests.scheduler_core.placing import FITS, answers, coming, opened, passing, reasons, scores

NODES = [
    node("a", cpu=8, memory="16Gi", gpu=4),
    node("b", cpu=8, memory="16Gi", gpu=4),
    node("c", cpu=16, memory="32Gi"),
]
BUSY = [
    pod("on-a", group="group", node="a", cpu=2, memory="4Gi", gpu=1),
    pod("on-b", group="group", node="b", cpu=6, memory="2Gi"),
]
STRATEGIES = {
    GPU: {"type": "MostAllocated", "weight": 2},
    "cpu": {"type": "LeastAllocated", "weight": 1},
}


def fit(**arguments: Any) -> Plugin:
    return "resource-strategy-fit", {"arguments": arguments}


def row(plugin: Plugin, **facts: Any) -> list[float]:
    return list(scores(opened(NODES, [coming(**facts)], plugin, there=BUSY)).values())


@pytest.mark.parametrize(
    ("facts", "want"),
    [
        ({"cpu": 1, "memory": "2Gi", "gpu": 1}, [541.6666666666666, 208.33333333333334, 312.5]),
        ({"cpu": "1500m", "memory": "1Gi"}, [562.5, 62.5, 1906.25]),
        ({"cpu": 3, "memory": "1Gi"}, [375, 0, 1812.5]),
    ],
)
def test_worked_example_scores(facts: Object, want: list[float]) -> None:
    plugin = fit(resources=STRATEGIES, sra={"enable": True, "resources": GPU, "weight": 10})
    assert row(plugin, **facts) == want


def test_default_strategy_spreads_cpu_and_memory() -> None:
    assert row(fit(), cpu=2, memory="4Gi") == [500.0, 312.5, 875.0]


STRATEGY_TABLES: dict[str, tuple[Object, list[float]]] = {
    "a prefix": ({"nvidia.com/*": {"type": "MostAllocated", "weight": 1}}, [500.0, 250.0, 0.0]),
    "the longest prefix wins": (
        {"nvidia.com/*": {"type": "LeastAllocated"}, "nvidia.com/g*": {"type": "MostAllocated"}},
        [500.0, 250.0, 0.0],
    ),
    "unknown type spreads": ({GPU: {"type": "Sideways"}}, [500.0, 750.0, 0.0]),
    "misplaced asterisk is dropped without a default": (
        {"*": {}, "*.com/gpu": {}},
        [0.0, 0.0, 0.0],
    ),
}


@pytest.mark.parametrize(("table", "want"), STRATEGY_TABLES.values(), ids=STRATEGY_TABLES.keys())
def test_table_of_strategies(table: Object, want: list[float]) -> None:
    assert row(fit(resources=table), gpu=1) == want


def own(kind: str, weights: str | None) -> dict[str, str]:
    notes = {"volcano.sh/resource-strategy-scoring-type": kind}
    if weights is not None:
        notes["volcano.sh/resource-strategy-weight"] = weights
    return notes


OWN = {
    "fills": (own("MostAllocated", json.dumps({"cpu": 1})), [500.0, 1000.0, 125.0]),
    "spreads": (own("LeastAllocated", json.dumps({"cpu": 1})), [500.0, 0.0, 875.0]),
    "no weights": (own("MostAllocated", None), [0.0, 0.0, 0.0]),
    "unparsable weights": (own("MostAllocated", "cpu=1"), [0.0, 0.0, 0.0]),
    "unknown type": (own("Sideways", json.dumps({"cpu": 1})), [0.0, 0.0, 0.0]),
}


@pytest.mark.parametrize(("annotations", "want"), OWN.values(), ids=OWN.keys())
def test_pod_annotations_override_the_strategy(annotations: dict[str, str], want: list[float]) -> None:
    assert row(fit(resources=STRATEGIES), cpu=2, annotations=annotations) == want


def test_pods_with_their_own_strategy_do_not_share_scores() -> None:
    pods = [coming("plain", cpu=2), coming("own", cpu=2, annotations=OWN["fills"][0])]
    session = opened(NODES, pods, fit(resources=STRATEGIES), there=BUSY)
    actual = {
        name: session.placement.scores(task, session.placement.all) for name, task in session_tasks(session)
    }
    assert actual["plain"].tolist() == [500.0, 0.0, 875.0]
    assert actual["own"].tolist() == [500.0, 1000.0, 125.0]


def session_tasks(session: Any) -> list[tuple[str, Any]]:
    return [(task.name, task) for task in session.jobs["default/group"].tasks.values() if not task.node_name]


def test_sra_without_the_strategy_score_needs_a_weight() -> None:
    off = fit(resourceStrategyFitWeight=0, sra={"enable": True, "resources": GPU})
    assert opened(NODES, [coming()], off).functions[Point.NODE_ORDER] == []
    on = fit(resourceStrategyFitWeight=0, sra={"enable": True, "resources": f"{GPU}, foo.com/x", "weight": 2})
    assert row(on, cpu=1) == [100.0, 100.0, 200.0]


def test_argument_of_the_wrong_type_crashes_volcano() -> None:
    for arguments in ({"resourceStrategyFitWeight": "10"}, {"sra": {"enable": "yes"}}, {"resources": [1]}):
        with pytest.raises(SchedulerPanic):
            opened(NODES, [coming()], fit(**arguments))


# proportional

PROPORTIONAL = fit(
    proportional={
        "enable": True,
        "resources": GPU,
        "resourceProportion": {f"{GPU}.cpu": 8, f"{GPU}.memory": 8},
    }
)
BIG = [node("big", cpu=74, memory="128Gi", gpu=8), node("none", cpu=4, memory="8Gi", gpu=0)]


@pytest.mark.parametrize(
    ("facts", "want"),
    [
        ({"cpu": 10}, FITS),
        ({"cpu": 11}, "3"),
        ({"memory": "60Gi"}, FITS),
        ({"cpu": 11, "gpu": 2}, FITS),
    ],
)
def test_proportional_filter_reserves_cpu_and_memory_for_idle_accelerators(facts: Object, want: str) -> None:
    session = opened(BIG, [coming(**facts)], PROPORTIONAL)
    assert answers(session)["big"] == want


def test_proportional_filter_applies_to_nodes_with_zero_accelerators() -> None:
    session = opened(BIG, [coming(cpu=5)], PROPORTIONAL)
    assert answers(session)["none"] == "3"
    assert reasons(session, "none") == [f"proportional of resource {GPU} check failed"]
    assert passing(opened([node("plain", cpu=4)], [coming(cpu=5)], PROPORTIONAL)) == ["plain"]
