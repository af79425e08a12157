"""Explanations of a job, a queue, a pod, a node and a victim, number by number."""

from __future__ import annotations

import gzip
import json
from itertools import islice
from pathlib import Path

import pytest

from scheduler_core import explain, simulate_document
from scheduler_core.explain.standing import PodOutcome, job_standing, pod_standing
from tests.builders import Object, conf, node, pod, podgroup, pods, priority_class, queue, scenario
from tests.fidelity.recorded import picked
from tests.trials import trials

GI = 2**30

CASES = Path(__file__).parents[1] / "fidelity" / "cases"


@pytest.fixture(scope="module")
def document() -> Object:
    """Queue `b` holds six cores and deserves half a core; a job of `a` requests two."""
    return scenario(
        nodes=[node("n1", cpu=6, memory="12Gi"), node("n2", cpu=1, memory="12Gi")],
        queues=[queue("a", deserved={"cpu": 4}), queue("b", deserved={"cpu": "500m"})],
        podgroups=[
            podgroup("old", queue="b", phase="Running", min_member=2),
            podgroup("safe", queue="b", phase="Running", min_member=1),
            podgroup("new", queue="a", min_member=1),
        ],
        pods=[
            *pods("old", 3, node="n1", cpu=1, memory="1Gi"),
            pod("safe-0", group="safe", node="n1", cpu=3, memory="1Gi"),
            *pods("new", 2, cpu=1, memory="2Gi"),
        ],
        conf=conf("allocate, reclaim", ["gang", "capacity"], ["predicates"]),
    )


@pytest.fixture(scope="module")
def result(document: Object) -> Object:
    return simulate_document(document)


def test_victim_story_lists_votes_spared_pods_and_freed_resources(document: Object, result: Object) -> None:
    full = {**document, "nodes": document["nodes"][:1]}
    actual = explain.victim_story(full, simulate_document(full), "default/old-0")
    assert actual["for"] == {"pod": "default/new-0", "job": "default/new", "queue": "a"}
    assert [(vote["plugin"], vote["verdict"]) for vote in actual["votes"]] == [
        ("gang", "permit"),
        ("capacity", "permit"),
    ]
    assert actual["votes"][0]["reason"]["numbers"] == {"ready": 3, "minAvailable": 2}
    spared = {entry["pod"]: entry["reason"]["id"] for entry in actual["spared"]}
    assert spared == {
        "default/old-1": "vote.gang.refuse",
        "default/old-2": "vote.gang.refuse",
        "default/safe-0": "vote.gang.refuse",
    }
    assert actual["order"]["reason"]["id"] == "order.last"
    assert actual["freed"] == {"cpu": 1000, "memory": GI, "pods": 1}
    assert actual["surplus"] == {"cpu": 0, "memory": GI, "pods": 1}
    assert actual["left"] == {
        name: actual["room"][name] + actual["freed_together"][name] - actual["needed"].get(name, 0)
        for name in actual["room"]
    }
    assert actual["left"]["cpu"] == 0
    assert (actual["smallest"]["count"], actual["smallest"]["exact"]) == (1, True)


def test_victim_order_names_the_next_candidate_and_the_deciding_key() -> None:
    document = scenario(
        nodes=[node("n1", cpu=2, memory="12Gi")],
        queues=[queue("q")],
        podgroups=[
            podgroup("low", queue="q", phase="Running", priority_class="c10"),
            podgroup("mid", queue="q", phase="Running", priority_class="c20"),
            podgroup("top", queue="q", priority_class="c30"),
        ],
        pods=[
            pod("low-0", group="low", node="n1", cpu=1, spec={"priorityClassName": "c10"}),
            pod("mid-0", group="mid", node="n1", cpu=1, spec={"priorityClassName": "c20"}),
            pod("top-0", group="top", cpu=1, spec={"priorityClassName": "c30"}),
        ],
        priorityclasses=[priority_class(f"c{value}", value) for value in (10, 20, 30)],
        conf=conf("allocate, preempt", ["priority"], ["predicates", "capacity"]),
    )
    actual = explain.victim_story(document, simulate_document(document), "low-0")
    assert actual["order"]["reason"]["sentence"] == (
        "Its job loses pods before the job of default/mid-0: priority decides (priority 10 before 20)."
    )


def test_job_story_names_gate_short_resources_and_closest_node(document: Object, result: Object) -> None:
    wide = {
        **document,
        "pods": [*document["pods"][:-2], *pods("new", 2, cpu=2, memory="2Gi")],
        "podgroups": [*document["podgroups"][:-1], podgroup("new", queue="a", min_member=2)],
    }
    actual = explain.job_story(wide, simulate_document(wide), "new")
    assert actual["pending"]["gate"] == "node"
    assert actual["pending"]["closest"] == {"node": "n2", "lacks": {"cpu": 1000}, "free": {"cpu": 1000}}
    assert [entry["reason"]["id"] for entry in actual["pending"]["nodes"]] == ["node.insufficient"]
    assert actual["pending"]["members"] == {"minimum": 2, "placed": 0, "promised": 0, "pending": 2}


def test_pod_story_and_node_story_agree_on_a_placement(document: Object, result: Object) -> None:
    explanation = explain.pod_story(document, result, "new-0")
    assert (explanation["status"], explanation["node"]) == ("Binding", "n2")
    assert explanation["reason"]["sentence"] == "Pod default/new-0 was bound to node n2 by allocate."
    (step,) = explanation["steps"]
    node_told = explain.node_story(document, result, "n2")
    assert node_told["steps"] == [step]
    assert {entry["pod"] for entry in node_told["pods"]} == {"default/new-0"}


def test_queue_story_shows_quota_jobs_and_evicted_pods(document: Object, result: Object) -> None:
    full = {**document, "nodes": document["nodes"][:1]}
    actual = explain.queue_story(full, simulate_document(full), "b")
    assert actual["deserved"]["summary"]["id"] == "deserved.capacity"
    assert actual["at_open"]["allocated"]["cpu"] - actual["at_end"]["allocated"]["cpu"] == 1000
    assert [(link["to"], link["pods"]) for link in actual["taken"]] == [("a", 1)]
    assert actual["given"] == []
    assert {entry["job"]: entry["reason"]["id"] for entry in actual["jobs"]} == {
        "default/old": "job.losing",
        "default/safe": "job.placed",
    }


def test_state_at_a_step_shows_queues_and_nodes_of_that_moment(document: Object, result: Object) -> None:
    opened, later = (explain.state_at(document, result, step) for step in (0, 1))
    assert opened["decision"] is None
    assert later["decision"]["op"] == "bind"
    held = {entry["name"]: entry["allocated"].get("cpu") for entry in later["queues"]}
    assert held == {"a": 1000, "b": 6000}
    free = {entry["name"]: entry["free"]["cpu"] for entry in opened["nodes"]}
    assert free == {"n1": 0, "n2": 1000}
    assert explain.state_at(document, result, 99)["step"] == opened["steps"]


@pytest.mark.parametrize(
    ("story", "name"),
    [
        (explain.job_story, "none"),
        (explain.queue_story, "none"),
        (explain.pod_story, "none"),
        (explain.node_story, "none"),
        (explain.victim_story, "new-0"),
    ],
)
def test_unknown_name_raises_unknown(document: Object, result: Object, story: object, name: str) -> None:
    with pytest.raises(explain.Unknown):
        story(document, result, name)  # type: ignore[operator]


def test_unknown_cycle_raises_unknown(document: Object, result: Object) -> None:
    with pytest.raises(explain.Unknown):
        explain.state_at(document, result, 0, cycle=2)


def step(
    op: str, *, pod: str = "default/p-0", state: str = "committed", cycle: int = 1, **facts: str
) -> Object:
    return {"op": op, "pod": pod, "node": "n1", "action": "preempt", "state": state, "cycle": cycle, **facts}


STANDS = {
    "pending with a reason": (
        PodOutcome("Pending", "", "Queue a may hold no more cpu."),
        [step("evict")],
        "Pod default/p-0 waits: queue a may hold no more cpu.",
    ),
    "pending without a reason": (PodOutcome("Pending", "", ""), [], "Pod default/p-0 waits."),
    "no decision": (
        PodOutcome("Running", "n1", ""),
        [],
        "Nothing was decided about pod default/p-0, which is on node n1.",
    ),
    "pipelined after evictions in the same cycle": (
        PodOutcome("Pipelined", "n1", ""),
        [
            step("evict", pod="default/q-0", **{"for": "default/p-0"}),
            step("evict", pod="default/q-1", cycle=2, **{"for": "default/p-0"}),
            step("pipeline", cycle=2),
        ],
        "Pod default/p-0 is pipelined to node n1: it starts there once default/q-1 is gone.",
    ),
    "pipelined without evictions": (
        PodOutcome("Pipelined", "n1", ""),
        [step("pipeline")],
        "Pod default/p-0 is pipelined to node n1: it starts there once it has room.",
    ),
    "bound": (
        PodOutcome("Running", "n1", ""),
        [step("bind")],
        "Pod default/p-0 was bound to node n1 by preempt.",
    ),
    "allocated but not committed": (
        PodOutcome("Allocated", "n1", ""),
        [step("allocate", state="kept")],
        "Pod default/p-0 was assigned to node n1 by preempt, but that was not carried out.",
    ),
    "eviction not committed": (
        PodOutcome("Running", "n1", ""),
        [step("evict", state="kept", **{"for": "default/q-0"})],
        "Pod default/p-0 on node n1 was selected by preempt for default/q-0, but was not evicted.",
    ),
    "evicted repeatedly": (
        None,
        [
            step("evict", **{"for": "default/q-0"}),
            step("bind", cycle=2),
            step("evict", cycle=3, **{"for": "default/q-0"}),
        ],
        "Pod default/p-0 was evicted from node n1 by preempt for default/q-0, the last of 2 evictions.",
    ),
    "deleted": (
        None,
        [step("evict", **{"for": "default/q-0"})],
        "Pod default/p-0 was evicted from node n1 by preempt for default/q-0.",
    ),
    "pod without a job": (
        None,
        [],
        "Pod default/p-0 belongs to no job, so nothing is decided about it.",
    ),
}


@pytest.mark.parametrize(("stands", "steps", "expected"), STANDS.values(), ids=STANDS.keys())
def test_pod_standing_is_one_sentence(stands: PodOutcome | None, steps: list[Object], expected: str) -> None:
    assert pod_standing("default/p-0", stands, steps)["sentence"] == expected


def test_order_of_victims_is_stated_only_if_current_keys_give_it() -> None:
    """The heap of victims is not sorted again; here the older of two pods leaves it first."""
    path = Path(__file__).parents[1] / "fidelity" / "cases" / "capacity.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        recorded = (json.loads(line)["scenario"] for line in lines)
        case = next(one for one in recorded if one["name"] == "capacity-101-025")
    actual = explain.victim_story(case, simulate_document(case), "default/run14-1")
    assert actual["order"]["reason"] == {
        "id": "order.heap",
        "sentence": "It was ahead of default/run15-0 in the heap of victims, which is not sorted again after "
        "an eviction; their current keys would put it later.",
        "numbers": {"before": "default/run15-0"},
    }


@pytest.mark.parametrize("step", trials([12, 4], always=1))
def test_a_node_counts_the_pods_that_are_pipelined_to_it_at_the_end(step: int) -> None:
    recorded = picked(
        CASES / "targeted.jsonl.gz", lambda lines: islice(lines, 0, None, step), with_recorded=False
    )
    pipelined = 0
    for document, *_ in recorded:
        result = simulate_document(document)
        for place in result["cycles"][-1]["nodes"] if "error" not in result else ():
            story = explain.node_story(document, result, place["name"])
            there = sum(pod["status"] == "Pipelined" for pod in story["pods"])
            assert f"bound, {there} pipelined" in story["reason"]["sentence"]
            pipelined += there
    assert pipelined


def test_a_job_with_a_finished_pod_does_not_run_with_it() -> None:
    entry = {
        "name": "default/j", "task_status": {"Running": 3, "Succeeded": 1}, "minAvailable": 1,
        "session_job_pipelined": True, "session_job_ready": True,
    }  # fmt: skip
    assert job_standing(entry, None)["sentence"] == "3 pods of job default/j placed, 1 finished, none waits."
