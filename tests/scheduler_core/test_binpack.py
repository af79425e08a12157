"""Plugin binpack: recorded scores, for single nodes and in batches."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.framework.extension_points import Point
from scheduler_core.plugins.binpack import Binpack, Demand, Dimension
from tests.builders import GPU, Object, Plugin, node, pod
from tests.scheduler_core.placing import coming, opened, scores

NODES = [
    node("a", cpu=8, memory="16Gi", gpu=4),
    node("b", cpu=8, memory="16Gi", gpu=4),
    node("c", cpu=16, memory="32Gi"),
]
BUSY = [
    pod("on-a", group="group", node="a", cpu=2, memory="4Gi", gpu=1),
    pod("on-b", group="group", node="b", cpu=6, memory="2Gi"),
]


def binpack(**arguments: Any) -> Plugin:
    named = {key.replace("_", ".", 1): value for key, value in arguments.items()}
    return "binpack", {"arguments": named}


def row(plugin: Plugin, **facts: Any) -> list[float]:
    return list(scores(opened(NODES, [coming(**facts)], plugin, there=BUSY)).values())


EXAMPLE: Plugin = (
    "binpack",
    {
        "arguments": {
            "binpack.weight": 10,
            "binpack.cpu": 5,
            "binpack.memory": 1,
            "binpack.resources": f"{GPU}, example.com/foo",
            f"binpack.resources.{GPU}": 2,
        }
    },
)


@pytest.mark.parametrize(
    ("facts", "want"),
    [
        ({"cpu": 1, "memory": "2Gi", "gpu": 1}, [406.25, 640.625, 46.875]),
        ({"cpu": "1500m", "memory": "1Gi"}, [416.6666666666667, 812.5, 83.33333333333333]),
        ({"cpu": 3, "memory": "1Gi"}, [572.9166666666666, 0, 161.45833333333334]),
    ],
)
def test_worked_example_scores(facts: Object, want: list[float]) -> None:
    assert row(EXAMPLE, **facts) == want


def test_resource_with_weight_zero_is_ignored() -> None:
    assert row(binpack(binpack_cpu=0), cpu=3, memory="4Gi") == [50.0, 37.5, 12.5]


def test_negative_resource_weight_counts_as_one() -> None:
    assert row(binpack(binpack_cpu=-2), cpu=2) == row(binpack(), cpu=2)


def test_resource_requested_as_zero_has_no_weight() -> None:
    assert row(binpack(), cpu=2, memory=0) == [50.0, 100.0, 12.5]


def test_negative_plugin_weight_prefers_empty_nodes() -> None:
    assert row(binpack(binpack_weight=-1), cpu=2) == [-50.0, -100.0, -12.5]


def test_plugin_weight_zero_disables_scoring() -> None:
    assert opened(NODES, [coming()], binpack(binpack_weight=0)).functions[Point.NODE_ORDER] == []


def test_pod_count_is_scored_when_listed_as_a_resource() -> None:
    few = [node("a", cpu=8, pods=4)]
    session = opened(
        few, [coming()], binpack(binpack_resources="pods"), there=[pod("x", group="group", node="a")]
    )
    assert scores(session) == {"a": 50.0}


amounts = st.integers(0, 2**40).map(float)


@settings(max_examples=60)
@given(
    used=st.lists(st.tuples(amounts, amounts, amounts), min_size=3, max_size=3),
    demand=st.lists(st.tuples(amounts, st.integers(1, 9)), min_size=1, max_size=3),
    spare=st.integers(0, 3),
)
def test_single_and_batch_scores_are_equal(
    used: list[tuple[float, ...]], demand: list[tuple[float, int]], spare: int
) -> None:
    session = opened(NODES, [coming(gpu=1)], "binpack")
    for number, amounts_used in enumerate(used):
        session.nodes.used_of[number][:3] = amounts_used
        session.nodes.changes.add(number)
    scorer = Binpack(session.nodes, {}, 300)
    dimensions = [Dimension(column, amount, weight) for column, (amount, weight) in enumerate(demand)]
    arguments = [
        Demand(tuple(dimensions[first:]), sum(weight for _, weight in demand[first:]) + spare)
        for first in range(len(demand) + 1)
    ]
    every = session.placement.all
    of_all, on_nodes = scorer.scorer(arguments), session.nodes.used
    allocatable = scorer.nodes.allocatable.tolist()
    for number in every.tolist():
        scores = [one_score(each, used[number], allocatable[number], 300) for each in arguments]
        assert of_all(every, on_nodes)[number].tolist() == scores
        assert [scorer.scorer([each])(every, on_nodes)[number, 0] for each in arguments] == scores
        assert [scorer.node_scorer(each)(number) for each in arguments] == scores


def one_score(demand: Demand, used: tuple[float, ...], allocatable: list[float], scale: int) -> float:
    total = 0.0
    for column, amount, weight in demand.dimensions:
        if allocatable[column]:
            if used[column] + amount > allocatable[column]:
                return 0.0
            total += (used[column] + amount) * weight / allocatable[column]
    if demand.weight_sum > 0:
        total /= demand.weight_sum
    return total * scale
