"""Pools are the sums of their nodes; free resources that no pod fits on are fragmentation."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planning.amounts import read_amounts
from planning.heat import heat, room_for
from planning.utilisation import pool_uses
from scheduler_core import simulate_document
from tests import builders
from tests.builders import conf, podgroup, pods, scenario
from tests.trials import trials

AMOUNTS = st.integers(0, 64).map(lambda cores: cores * 1000.0)


def node(name: str, idle: float, used: float = 0.0, releasing: float = 0.0, pipelined: float = 0.0) -> dict:
    return {
        "name": name, "idle": {"cpu": idle, "pods": 110.0}, "used": {"cpu": used},
        "releasing": {"cpu": releasing}, "pipelined": {"cpu": pipelined},
    }  # fmt: skip


def test_free_resources_spread_over_nodes_may_fit_fewer_pods() -> None:
    nodes = [node("a", 3000.0, 5000.0), node("b", 3000.0, 5000.0), node("c", 2000.0, 6000.0)]
    [pool] = heat(nodes, dict.fromkeys("abc", "all"), {}, {"cpu": 4000.0})
    assert (pool.fits, pool.ideal, pool.fragmentation) == (0, 2, 1.0)


def test_a_node_takes_at_most_its_number_of_pods() -> None:
    small = node("a", 8000.0)
    small["idle"]["pods"] = 2.0
    [pool] = heat([small], {"a": "all"}, {}, {"cpu": 1000.0})
    assert (pool.fits, pool.ideal) == (2, 2)


@pytest.mark.parametrize("seed", trials(range(60), always=20))
def test_as_many_pods_fit_as_a_session_binds(seed: int) -> None:
    dice = random.Random(seed)
    nodes = [
        {
            "cpu": dice.choice(["0", "500m", "3", "7999m"]),
            "memory": dice.choice(["1Gi", "5Gi"]),
            **dice.choice([{}, {"pods": "0"}, {"pods": "2"}, {"pods": "110"}]),
        }
        for _ in range(4)
    ]
    request = dice.choice([{"cpu": "1"}, {"cpu": "250m", "memory": "1Gi"}, {"memory": "1Gi"}])
    document = scenario(
        nodes=[builders.node(f"n{place}") for place in range(4)],
        podgroups=[podgroup("many", phase="Inqueue")],
        pods=pods("many", 80, **request),
        conf=conf("allocate", ["gang", "predicates"]),
    )
    for entry, allocatable in zip(document["nodes"], nodes, strict=True):
        entry["status"]["allocatable"] = allocatable
    empty = simulate_document({**document, "pods": [], "podgroups": []})["cycles"][0]["nodes"]
    ops = [step["op"] for step in simulate_document(document)["cycles"][0]["decisions"]]
    assert sum(pool.fits or 0 for pool in heat(empty, {}, {}, read_amounts(request))) == ops.count("bind")


def test_evicted_pods_count_as_gone_and_pipelined_pods_as_running() -> None:
    [pool] = heat([node("a", 1000.0, 7000.0, releasing=2000.0, pipelined=3000.0)], {"a": "all"}, {})
    assert (pool.free["cpu"], pool.used["cpu"], pool.total["cpu"]) == (0.0, 8000.0, 8000.0)


def test_the_usage_of_a_pool_equals_that_of_its_nodes_without_idle_resources() -> None:
    full = node("a", 0.0, 8000.0, releasing=2000.0)
    del full["idle"]["cpu"]
    [pool] = heat([full], {"a": "all"}, {})
    [everything, _] = pool_uses({}, {"nodes": [full], "podgroups": []})
    [use] = everything.resources
    assert (use.used, use.free) == (pool.used["cpu"], pool.free["cpu"]) == (6000.0, 2000.0)


def test_a_node_is_named_after_the_queue_with_the_most_pods_ties_by_name() -> None:
    [pool] = heat([node("a", 1.0)], {"a": "all"}, {"a": Counter({"b": 2, "a": 2, "c": 1})})
    assert pool.nodes[0].queue == "a"


@given(st.lists(st.tuples(AMOUNTS, AMOUNTS), min_size=1, max_size=20), st.integers(1, 16))
def test_pools_are_the_sums_of_their_nodes(sizes: list[tuple[float, float]], cores: int) -> None:
    nodes = [node(f"n{place}", idle, used) for place, (idle, used) in enumerate(sizes)]
    pools = heat(
        nodes, {f"n{place}": str(place % 3) for place in range(len(nodes))}, {}, {"cpu": cores * 1000.0}
    )
    assert sum(len(pool.nodes) for pool in pools) == len(nodes)
    for pool in pools:
        assert pool.total["cpu"] == sum(one.total["cpu"] or 0 for one in pool.nodes)
        assert pool.used["cpu"] + pool.free["cpu"] == pool.total["cpu"]
        assert pool.fits == sum(one.fits or 0 for one in pool.nodes)
        assert pool.fits <= pool.ideal == room_for(pool.free, {"cpu": cores * 1000.0})
