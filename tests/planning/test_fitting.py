"""A pod fits where the scheduler would place it, and nowhere else."""

from typing import Any

import pytest

from planning.fitting import END, START, Probe, fitting, probe_problems
from planning.heat import heat
from scheduler_core import Options, simulate_document
from tests import factories
from tests.builders import conf, node, podgroup, pods, queue, scenario

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


def evicting(**changed: Any) -> dict[str, Any]:
    """Return a full node of 8 cores; a pod of 4 cores is evicted for one of 1 core."""
    return scenario(
        nodes=[node("n0", cpu=8, memory="32Gi")],
        queues=[queue("busy"), queue("waits")],
        podgroups=[
            podgroup("run", queue="busy", phase="Running"),
            podgroup("wait", queue="waits", phase="Inqueue"),
        ],
        pods=[*pods("run", 2, node="n0", phase="Running", cpu=4), *pods("wait", 1, cpu=1)],
        conf=conf("allocate, reclaim", ["priority", "gang"], ["predicates", "proportion"]),
        **changed,
    )


@pytest.mark.parametrize(
    "changed",
    [{}, {"cycles": 3}, {"cycles": 3, "evicted": "delete"}, {"cycles": 3, "termination_cycles": 2}],
)
def test_evicted_pods_have_left_at_the_end_of_a_run_and_pipelined_ones_run(changed: dict[str, Any]) -> None:
    full = evicting(**changed)
    result = simulate_document(full)
    decided = [step["op"] for cycle in result["cycles"] for step in cycle["decisions"]]
    assert decided[:2] == ["evict", "pipeline"]
    assert names(fitting(full, Probe("waits", {"cpu": "1"}, at=START), Options())) == set()
    [after] = [row for pool in heat(result["cycles"][-1]["nodes"], {}, {}) for row in pool.nodes]
    assert after.free["cpu"] == 3000
    assert names(fitting(full, Probe("waits", {"cpu": "3"}, at=END), Options())) == {"n0"}
    assert names(fitting(full, Probe("waits", {"cpu": "3100m"}, at=END), Options())) == set()


def test_pods_that_a_controller_created_run_at_the_end() -> None:
    container = {"name": "c", "resources": {"requests": {"cpu": "5"}}}
    task = {"name": "t", "replicas": 1, "template": {"spec": {"containers": [container]}}}
    job = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "made", "namespace": "default"},
        "spec": {"queue": "waits", "minAvailable": 1, "tasks": [task]},
    }
    run = {**document(pods=[], podgroups=[]), "jobs": [job], "cycles": 3}
    placed = [step for cycle in simulate_document(run)["cycles"] for step in cycle["decisions"]]
    assert "bind" in {step["op"] for step in placed}
    fits = [names(fitting(run, Probe("waits", {"cpu": "5"}, at=at), Options())) for at in (START, END)]
    assert [len(found) for found in fits] == [2, 1]


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
