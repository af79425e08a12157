"""The true cause of a wait: gates, roles, actions, reservations, nodes that can never fit the pod."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import Options, explain, simulate_document
from tests.builders import Object, conf, node, pod, podgroup, pods, queue, scenario

WAIT = {"spec": {"schedulingGates": [{"name": "wait"}]}}


def story(document: Object, job: str = "j", **options: Any) -> Object:
    result = simulate_document(document)
    assert "error" not in result, result["error"]
    return explain.job_story(document, result, job, **options)


def sentence_of(document: Object, job: str = "j") -> str:
    return str(story(document, job)["reason"]["sentence"])


def alone(pods: list[Object], *tiers: Any, actions: str = "enqueue, allocate", **changes: Any) -> Object:
    """Return a scenario with job `j` of `pods` on one node of eight cores."""
    parts: Object = {
        "nodes": [node("n1", cpu=8, memory="16Gi")],
        "queues": [queue("q")],
        "podgroups": [podgroup("j", queue="q", min_member=len(pods))],
        "pods": pods,
        "conf": conf(actions, *(tiers or (["gang"], ["predicates"]))),
        **changes,
    }
    return scenario(**parts)


# scheduling gates


def test_gated_pod_is_named_with_the_outcome_of_the_others() -> None:
    document = alone([*pods("j", 3, cpu=1), *pods("j", 1, first=3, cpu=1, **WAIT)])
    assert sentence_of(document) == (
        '1 of the 4 pods it needs (j-3) has scheduling gate "wait"; the other 3 were tried and undone.'
    )


def test_gated_pod_of_a_running_job_is_named() -> None:
    document = alone(
        [*pods("j", 2, cpu=1), *pods("j", 1, first=2, cpu=1, **WAIT)],
        podgroups=[podgroup("j", queue="q", min_member=2)],
    )
    assert sentence_of(document) == (
        "Job default/j runs with 2 of its 3 pods (it needs 2); 1 pod waits: "
        '1 of the 3 pods (j-2) has scheduling gate "wait".'
    )


def test_job_with_all_pods_gated() -> None:
    assert (
        sentence_of(alone(pods("j", 2, cpu=1, **WAIT)))
        == 'All 2 pods of job default/j have scheduling gate "wait".'
    )


# roles and members


def test_role_with_too_few_pods_is_named() -> None:
    document = alone(
        [pod(f"j-{number}", group="j", role="a", cpu=1) for number in range(2)],
        podgroups=[podgroup("j", queue="q", min_member=2, min_task_member={"a": 1, "b": 1})],
    )
    explanation = story(document)["pending"]
    assert explanation["reason"]["sentence"] == 'Job default/j cannot start: role "b" needs 1, has 0.'
    assert (explanation["required"], explanation["available"], explanation["missing"]) == (1, 0, 1)


def test_gang_with_fewer_pods_than_min_member_cannot_start() -> None:
    document = alone(pods("j", 2, cpu=1), podgroups=[podgroup("j", queue="q", min_member=5)])
    assert (
        sentence_of(document) == "Job default/j cannot start: minMember is 5, and it has 2 pods that can run."
    )


# actions


@pytest.mark.parametrize(
    ("actions", "phase", "sentence"),
    [
        (
            "enqueue, backfill",
            "Inqueue",
            "Action allocate is not configured, so the pods of job default/j get",
        ),
        (
            "backfill",
            "Pending",
            "Neither enqueue nor allocate is configured, so job default/j is not enqueued.",
        ),
        ("allocate, enqueue", "Pending", "Job default/j was enqueued after action allocate had run"),
    ],
)
def test_missing_or_late_action_is_the_cause(actions: str, phase: str, sentence: str) -> None:
    document = alone(pods("j", 1, cpu=1), actions=actions, podgroups=[podgroup("j", queue="q", phase=phase)])
    assert sentence_of(document).startswith(sentence)


def test_pods_without_requests_need_backfill() -> None:
    assert sentence_of(alone(pods("j", 1))) == (
        "Action backfill is not configured, and no other action places pods without requests (default/j-0)."
    )


def test_node_gate_is_reported_over_reclaim_if_allocate_found_no_node() -> None:
    document = alone(
        [*pods("old", 8, node="n1", cpu=1), *pods("j", 1, cpu=1)],
        ["gang"],
        ["predicates", "capacity"],
        actions="reclaim, allocate, preempt",
        queues=[queue("q"), queue("r")],
        podgroups=[podgroup("old", queue="r", phase="Running"), podgroup("j", queue="q")],
    )
    assert story(document)["pending"]["gate"] == "node"


# reservations


def reserved(**changes: Any) -> Object:
    """Return a scenario where a queue's resources are reserved for a job that fits no node."""
    parts: Object = {
        "nodes": [node(f"n{number}", cpu=50, memory="100Gi") for number in range(2)],
        "queues": [queue("q", capability={"cpu": 100})],
        "conf": conf("enqueue, allocate", ["gang"], ["predicates", "capacity"]),
        **changes,
    }
    return scenario(
        podgroups=[
            podgroup("big", queue="q", min_resources={"cpu": 70}),
            podgroup("old", queue="q", phase="Running", min_resources={"cpu": 10}),
            podgroup("j", queue="q", min_resources={"cpu": 30}, phase="Pending"),
        ],
        pods=[*pods("big", 1, cpu=70), *pods("old", 1, node="n0", cpu=10), *pods("j", 3, cpu=10)],
        **parts,
    )


def test_jobs_that_hold_a_queues_reservations_are_named() -> None:
    document = reserved()
    assert sentence_of(document) == (
        "Job default/j was not enqueued: queue q may hold 100 cores: 10 cores in use, 70 cores reserved for "
        "default/big, which was enqueued and fits no node, 20 cores left; its minResources are 30 cores."
    )
    numbers = story(document)["pending"]["reason"]["numbers"]
    assert numbers["limit"] == {"cpu": 100_000}
    assert numbers["reserved"] == {"cpu": 70_000}
    assert numbers["reserved_for"] == {
        "cpu": [{"job": "default/big", "reserved": 70_000, "waits": "fits no node"}]
    }


def test_jobs_that_hold_the_clusters_reservations_are_named() -> None:
    factor = ("overcommit", {"arguments": {"overcommit-factor": 1.0}})
    document = reserved(conf=conf("enqueue, allocate", ["gang"], ["predicates", factor]))
    assert sentence_of(document) == (
        "Job default/j was not enqueued: the overcommit limit of 100 cores (all of the cluster) leaves room "
        "for 20 cores (10 cores in use, 70 cores reserved for default/big, which was enqueued and fits no "
        "node); its minResources are 30 cores."
    )


def test_reservations_above_the_overcommit_limit_are_reported() -> None:
    factor = ("overcommit", {"arguments": {"overcommit-factor": 1.0}})
    document = reserved(conf=conf("enqueue, allocate", ["gang"], ["predicates", factor]))
    document["podgroups"][0]["spec"]["minResources"] = {"cpu": "95"}
    assert sentence_of(document) == (
        "Job default/j was not enqueued: what is in use and reserved exceeds the overcommit limit of "
        "100 cores (all of the cluster) by 5 cores (10 cores in use, 95 cores reserved for default/big, "
        "which was enqueued and fits no node); its minResources are 30 cores."
    )


def test_min_resources_that_no_node_offers_are_named() -> None:
    document = reserved()
    document["podgroups"][2]["spec"]["minResources"] = {"nvidia.com/gpu": "1"}
    assert sentence_of(document) == (
        "Job default/j was not enqueued: no node offers nvidia.com/gpu; its minResources are 1 GPU."
    )


def test_jobs_that_hold_an_ancestor_queues_reservations_are_named() -> None:
    document = reserved(
        queues=[
            queue("root", capability={"cpu": 100}),
            queue("p", parent="root", capability={"cpu": 90}),
            queue("q", parent="p"),
            queue("r", parent="p"),
        ],
        conf=conf("enqueue, allocate", ["gang"], ["predicates", ("capacity", {"enableHierarchy": True})]),
    )
    document["podgroups"][0]["spec"]["queue"] = "r"
    assert sentence_of(document) == (
        "Job default/j was not enqueued: queue p may hold 90 cores: 10 cores in use, 70 cores reserved for "
        "default/big, which was enqueued and fits no node, 10 cores left; its minResources are 30 cores."
    )


# nodes


def test_pod_larger_than_every_node_names_the_largest_and_closest_node() -> None:
    document = alone(pods("j", 1, cpu=70), nodes=[node("n1", cpu=50), node("n2", cpu=40)])
    assert sentence_of(document).endswith(
        "no node that admits it is large enough even when empty: it requests 70 cores, the largest has "
        "50 cores; the closest is n1, which lacks 20 cores."
    )


def test_resource_that_no_node_offers_is_named() -> None:
    explanation = story(alone(pods("j", 1, cpu=1, gpu=1)))["pending"]
    assert explanation["reason"]["sentence"].endswith("no node offers nvidia.com/gpu.")
    assert explanation["reason"]["numbers"]["not_offered"] == ["nvidia.com/gpu"]


def test_resources_that_no_node_offers_together_are_named() -> None:
    document = alone(
        pods("j", 1, cpu=8, memory="32Gi"),
        nodes=[node("n1", cpu=8, memory="16Gi"), node("n2", cpu=4, memory="64Gi")],
    )
    assert "no node that admits it is large enough even when empty: none has 8 cores, 32 GiB together" in (
        sentence_of(document)
    )


TAINT = {"key": "pool", "value": "batch", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("nearer", "spec"),
    [
        (node("n0", cpu=8, unschedulable=True), {}),
        (node("n0", cpu=8, taints=[TAINT]), {}),
        (node("n0", cpu=8, labels={"zone": "b"}), {"nodeSelector": {"zone": "a"}}),
    ],
    ids=["cordoned", "tainted", "excluded by a node selector"],
)
def test_closest_node_is_one_that_admits_the_pod(nearer: Object, spec: Object) -> None:
    farther = node("n1", cpu=2, labels={"zone": "a"})
    document = alone(pods("j", 1, cpu=10, spec=spec), nodes=[nearer, farther])
    assert story(document)["pending"]["closest"]["node"] == "n1"


def test_reasons_are_listed_if_no_node_admits_the_pod() -> None:
    document = alone(
        pods("j", 1, cpu=10),
        nodes=[node("n0", cpu=8, unschedulable=True), node("n1", cpu=8, taints=[TAINT])],
    )
    explanation = story(document)["pending"]
    assert explanation["closest"] is None
    assert explanation["reason"]["sentence"].endswith(
        "more room would not help, as every node refuses it anyway: 1 node(s) had untolerated taint(s) and "
        "1 node(s) were unschedulable."
    )


def test_closest_node_search_does_not_touch_the_predicate_cache() -> None:
    """The cached result of a template may only come from the scheduler's own predicate calls."""
    note = {"annotations": {"volcano.sh/template-uid": "t"}}
    cached = ("predicates", {"arguments": {"predicate.CacheEnable": True}})
    document = alone(
        [pod("j-0", group="j", cpu=10, **note), pod("j-1", group="j", cpu=1, **note, created=1)],
        ["gang"],
        [cached],
        nodes=[node("n0", cpu=8), node("n1", cpu=8, taints=[TAINT])],
        podgroups=[podgroup("j", queue="q", min_member=1)],
    )
    silent = simulate_document(document, Options(explain=False))
    explained = simulate_document(document)
    assert explained["cycles"][0]["decisions"] == silent["cycles"][0]["decisions"]
    assert explained["cycles"][0]["podgroups"] == silent["cycles"][0]["podgroups"]


def test_what_is_in_use_above_minmember_does_not_count_for_enqueue() -> None:
    document = scenario(
        nodes=[node("n1", cpu=16, memory="64Gi")],
        queues=[queue("q", capability={"cpu": 8}, deserved={"cpu": 8})],
        podgroups=[
            podgroup("old", queue="q", min_member=4, min_resources={"cpu": 4}, phase="Running"),
            podgroup("j", queue="q", min_member=4, min_resources={"cpu": 5}, phase="Pending"),
        ],
        pods=[*pods("old", 6, node="n1", phase="Running", cpu=1), *pods("j", 5, cpu=1)],
        conf=conf("enqueue, allocate", ["gang"], ["predicates", "proportion"]),
    )
    assert sentence_of(document) == (
        "Job default/j was not enqueued: queue q may hold 8 cores: 6 cores in use less 2 cores above "
        "minMember, 4 cores left; its minResources are 5 cores."
    )
