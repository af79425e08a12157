"""What the lint says of queues is what a session does with them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import simulate_document
from scheduler_core.lint import review
from scheduler_core.problem import Problem
from tests.builders import Object, amounts, conf, node, podgroup, pods, queue, scenario

FIRST = ["priority", "gang"]


def cluster(
    *plugins: Any, actions: str = "enqueue, allocate, reclaim", waiting: int = 1, **spec: Any
) -> Object:
    """Return a cluster whose queue `a` has these fields, a running pod and waiting jobs; `b` has neither."""
    return scenario(
        nodes=[node("n0", cpu=8, memory="32Gi")],
        queues=[queue("a", **spec), queue("b", deserved=amounts(cpu=4))],
        podgroups=[
            podgroup("run", queue="a", phase="Running"),
            *(podgroup(f"wait{number}", queue="a", phase="Pending") for number in range(waiting)),
        ],
        pods=[
            *pods("run", 1, node="n0", phase="Running", cpu=1),
            *(one for number in range(waiting) for one in pods(f"wait{number}", 1, cpu=1)),
        ],
        conf=conf(actions, FIRST, ["predicates", *plugins]),
    )


def found(document: Object, rule: str) -> list[Problem]:
    return [problem for problem in review(document) if problem.rule == rule]


def placed(document: Object) -> list[str]:
    steps = simulate_document(document)["cycles"][0]["decisions"]
    return [step["pod"] for step in steps if step["op"] == "bind"]


@pytest.mark.parametrize(
    ("waiting", "jobs"), [(1, "the job that has not started"), (2, "the 2 jobs that have not started")]
)
@pytest.mark.parametrize("plugin", ["proportion", "capacity"])
def test_a_closed_queue_gets_no_nodes_from_allocate(plugin: str, waiting: int, jobs: str) -> None:
    document = cluster(plugin, waiting=waiting, deserved=amounts(cpu=4), state="Closed")
    [problem] = found(document, "queue.closed_with_jobs")
    assert problem.message == f"queue a: status.state: is Closed: allocate places no pod of {jobs}"
    assert placed(document) == []


def test_a_closed_root_is_reported() -> None:
    document = cluster("proportion")
    document["queues"].append(queue("root", state="Closed"))
    [problem] = found(document, "queue.root_closed")
    assert problem.message == "queue root: status.state: is Closed: Volcano does not close root"


def test_a_closed_queue_is_not_reported_if_no_plugin_reads_its_state() -> None:
    document = cluster("drf", state="Closed")
    assert found(document, "queue.closed_with_jobs") == []
    assert placed(document) == ["default/wait0-0"]


def test_a_vcjob_with_a_podgroup_counts_once() -> None:
    document = cluster("proportion", state="Closed")
    owner = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "train", "uid": "u"}
    document["podgroups"][1]["metadata"]["ownerReferences"] = [owner]
    job = {"metadata": {"name": "train", "namespace": "default"}, "spec": {"queue": "a", "tasks": []}}
    [problem] = found({**document, "jobs": [job]}, "queue.closed_with_jobs")
    assert problem.actual == 1
    [other] = found({**document, "jobs": [{**job, "metadata": {"name": "more"}}]}, "queue.closed_with_jobs")
    assert other.actual == 2


def test_sums_of_memory_are_written_in_binary_units_that_tell_them_apart() -> None:
    document = cluster("capacity", deserved={"cpu": "1", "memory": "40Gi"})
    document["nodes"][0]["status"]["allocatable"]["memory"] = "50Gi"
    document["queues"][1]["spec"]["deserved"] = {"memory": "24Gi"}
    [problem] = found(document, "total.deserved")
    assert problem.message == "the queues deserve 64 GiB in total, but the cluster has 50 GiB"
    document["queues"][1]["spec"]["deserved"] = {"memory": f"{10 * 2**30 + 1024}"}
    [problem] = found(document, "total.deserved")
    assert problem.message == ("the queues deserve 52,428,801 KiB in total, but the cluster has 50 GiB")


def test_a_queue_that_deserves_nothing_has_share_1() -> None:
    document = cluster("capacity")
    [problem] = found(document, "queue.deserves_nothing")
    assert problem.message.endswith("its share is always 1, and everything allocated to it may be reclaimed")
    assert share(document) == 1
    protected = cluster("capacity", reclaimable=False)
    assert found(protected, "queue.deserves_nothing")[0].message.endswith("its share is always 1")


def test_a_queue_with_a_guarantee_deserves_it() -> None:
    document = cluster("capacity", guarantee=amounts(cpu=4))
    assert found(document, "queue.deserves_nothing") == []
    assert share(document) == 0.25


def share(document: Object) -> float:
    opened = simulate_document(document)["cycles"][0]["at_open"]["queues"]
    actual: float = next(one["share"] for one in opened if one["name"] == "a")
    return actual


def test_queues_that_deserve_more_than_the_cluster_do_not_reclaim_it_from_each_other() -> None:
    document = cluster("capacity", actions="allocate, reclaim", deserved=amounts(cpu=8)) | {"cycles": 4}
    document["podgroups"].append(podgroup("other", queue="b", phase="Inqueue"))
    document["pods"] += pods("other", 8, cpu=1)
    [problem] = found(document, "total.deserved")
    assert problem.message == "the queues deserve 12 cores in total, but the cluster has 8 cores"
    ops = [step["op"] for cycle in simulate_document(document)["cycles"] for step in cycle["decisions"]]
    assert "evict" not in ops


@pytest.mark.parametrize("amount", ["0", "-3"])
def test_a_capability_of_nothing_or_less_is_named_as_written_and_limits_nothing(amount: str) -> None:
    document = cluster("proportion", capability=amounts(cpu=amount))
    [problem] = found(document, "queue.zero_is_unlimited")
    assert f": {amount} means no limit here" in problem.message
    assert placed(document) == ["default/wait0-0"]
