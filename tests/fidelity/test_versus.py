"""The scenarios for comparing two versions of the core are as large and varied as documented."""

from __future__ import annotations

from scheduler_core import Options, simulate_document
from tests.builders import node, podgroup, pods, queue, scenario
from tests.fidelity.versus import FAMILIES, changed, difference, grown

ONE = scenario(
    nodes=[node("n", cpu=2)],
    queues=[queue("a")],
    podgroups=[podgroup("runs", queue="a"), podgroup("waits", queue="a", min_member=2)],
    pods=[*pods("runs", 1, cpu=1, node="n"), *pods("waits", 2, cpu=1)],
)


def test_copies_have_their_own_nodes_and_jobs_and_shared_queues() -> None:
    three = grown(ONE, 3)
    assert [len(three[kind]) for kind in ("nodes", "queues", "podgroups", "pods")] == [3, 1, 6, 9]
    for kind in ("nodes", "podgroups", "pods"):
        assert len({thing["metadata"]["name"] for thing in three[kind]}) == len(three[kind])
    places = [pod["spec"]["nodeName"] for pod in three["pods"] if pod["spec"].get("nodeName")]
    assert places == ["n", "n-copy-1", "n-copy-2"]
    result = simulate_document(three, Options(explain=False))
    assert "error" not in result


def test_growing_a_scenario_by_one_returns_it_unchanged() -> None:
    assert grown(ONE, 1) is ONE


def test_changed_scenario_is_deterministic_by_number() -> None:
    assert changed(7) == changed(7)
    assert len(FAMILIES) > 20


def test_first_difference_is_named() -> None:
    assert difference(b'{"a": [{"b": 1}]}', b'{"a": [{"b": 2}]}') == ".a[0].b: 1 became 2"
    assert difference(b'{"a": 1, "b": 2}', b'{"b": 2, "a": 1}').startswith("the order of keys")
