"""A pod fits where the scheduler would place it, and nowhere else."""

from typing import Any

import pytest

from planning.fitting import END, START, Probe, fitting, probe_problems
from scheduler_core import Options, simulate_document
from tests import factories

CONF = {
    "actions": "enqueue, allocate",
    "tiers": [
        {
            "plugins": [
                {"name": name} for name in ("priority", "gang", "proportion", "predicates", "nodeorder")
            ]
        }
    ],
}


def document(**changed: Any) -> dict[str, Any]:
    """Return three nodes of 8 cores, the first of them full, and four pending pods of one core."""
    cluster = {**factories.cluster(nodes=1, waiting=4), "scheduler_conf": CONF}
    nodes = [factories.node(name) for name in ("n0", "n1", "n2")]
    nodes[2]["spec"]["taints"] = [{"key": "gpu", "effect": "NoSchedule"}]
    return {**cluster, "nodes": nodes, **changed}


def names(actual: dict[str, Any]) -> set[str]:
    return {node["name"] for node in actual["nodes"] if node["fits"]}


def reasons(actual: dict[str, Any], name: str) -> list[str]:
    return next(node["reasons"] for node in actual["nodes"] if node["name"] == name)


def test_every_node_is_listed_with_the_reasons_of_the_scheduler() -> None:
    result = fitting(document(), Probe("waits", {"cpu": "2"}, at=START), Options())
    assert names(result) == {"n1"}
    assert result["chosen"] == "n1"
    assert reasons(result, "n0") == ["Insufficient cpu"]
    assert reasons(result, "n2") == ["node(s) had untolerated taint(s)"]


def test_a_pod_that_tolerates_every_taint_fits_on_tainted_nodes() -> None:
    result = fitting(document(), Probe("waits", {"cpu": "2"}, tolerates=True, at=START), Options())
    assert names(result) == {"n1", "n2"}


def test_a_node_selector_restricts_the_nodes() -> None:
    probe = Probe("waits", {"cpu": "1"}, {"kubernetes.io/hostname": "n0"}, at=START)
    assert names(fitting(document(), probe, Options())) == set()


@pytest.mark.parametrize(
    ("cpu", "at", "fits"), [("8", START, True), ("8", END, False), ("4", END, True), ("5", END, False)]
)
def test_pods_placed_by_the_run_use_resources_at_its_end(cpu: str, at: str, fits: bool) -> None:
    assert ("n1" in names(fitting(document(), Probe("waits", {"cpu": cpu}, at=at), Options()))) is fits


def test_pods_evicted_by_the_run_free_resources_at_its_end() -> None:
    conf = {**CONF, "actions": "enqueue, allocate, reclaim"}
    full = {**factories.cluster(nodes=1, waiting=4), "scheduler_conf": conf}
    result = simulate_document(full)
    evicted = [step for step in result["cycles"][-1]["decisions"] if step["op"] == "evict"]
    assert evicted
    actual = fitting(full, Probe("waits", {"cpu": "1"}, at=END), Options())
    assert names(actual) == {"n0"}
    assert names(fitting(full, Probe("waits", {"cpu": "1"}, at=START), Options())) == set()


@pytest.mark.parametrize("cpu", ["1", "3", "8", "9"])
def test_the_chosen_node_is_the_one_the_scheduler_binds_a_lone_pod_to(cpu: str) -> None:
    alone = document(pods=[], podgroups=[])
    actual = fitting(alone, Probe("waits", {"cpu": cpu}, at=START), Options())
    group = {**factories.podgroup("one", "waits"), "status": {"phase": "Inqueue"}}
    result = simulate_document(
        {**alone, "podgroups": [group], "pods": [factories.pod("one-0", "one", cpu=cpu)]}
    )
    placed = [step["node"] for step in result["cycles"][-1]["decisions"] if step["op"] == "bind"]
    assert placed == ([actual["chosen"]] if actual["chosen"] else [])
    assert (actual["chosen"] is None) == (not names(actual))


def test_all_problems_of_a_pod_are_reported_at_once() -> None:
    found = probe_problems(Probe("nowhere", {"cpu": "many"}, at="later"), {"waits"})
    assert [problem.path for problem in found] == ["queue", "requests.cpu", "at"]
    assert [problem.path for problem in probe_problems(Probe("waits", {}), {"waits"})] == ["requests"]
