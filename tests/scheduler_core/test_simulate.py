"""Transitions between cycles: bound pods run, evicted pods end and may be recreated; options and notes."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import Options, encode, simulate_document
from scheduler_core.admission import Admission
from scheduler_core.model.timestamps import parse_time
from tests.builders import NOW, at, conf, decided, node, pod, podgroup, pods, priority_class, queue, scenario

PRIORITIES = [priority_class("low", 10), priority_class("high", 100)]
PREEMPTING = conf("enqueue, allocate, preempt", ["priority", "conformance"])


def cycles(document: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    result = simulate_document(document, Options(**options))
    assert "error" not in result, result["error"]
    return result["cycles"]


def statuses(cycle: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {
        task["pod"].split("/")[1]: (task["status"], task.get("node", ""))
        for group in cycle["podgroups"]
        for task in group["tasks"]
    }


def phases(actual: list[dict[str, Any]], group: str) -> list[tuple[str, str]]:
    return [
        (entry["phase_before"], entry["phase_after"])
        for cycle in actual
        for entry in cycle["podgroups"]
        if entry["name"] == f"default/{group}"
    ]


def preempting(**fields: Any) -> dict[str, Any]:
    """Return a full node whose only pod is preempted by one of higher priority."""
    return scenario(
        nodes=[node("n0", cpu=1)],
        podgroups=[
            podgroup("low", priority_class="low", min_member=0),
            podgroup("high", priority_class="high"),
        ],
        pods=[*pods("low", 1, node="n0", cpu=1), *pods("high", 1, cpu=1)],
        priorityclasses=PRIORITIES,
        conf=PREEMPTING,
        **fields,
    )


def test_bound_pod_runs_in_the_next_cycle() -> None:
    result = cycles(
        scenario(
            nodes=[node("n0", cpu=4)],
            podgroups=[podgroup("a", min_member=2, phase="Pending")],
            pods=pods("a", 2, cpu=1),
            conf=conf("enqueue, allocate", ["gang"]),
            cycles=3,
        )
    )
    assert [entry[0] for entry in statuses(result[0]).values()] == ["Binding", "Binding"]
    assert [entry[0] for entry in statuses(result[1]).values()] == ["Running", "Running"]
    assert phases(result, "a") == [("Pending", "Inqueue"), ("Inqueue", "Running"), ("Running", "Running")]


def test_evicted_pod_is_recreated_with_a_new_uid() -> None:
    result = cycles(preempting(cycles=3, evicted="requeue"))
    assert decided(result[0], "evict") == ["default/low-0"]
    assert decided(result[0], "pipeline") == ["default/high-0"]
    assert decided(result[1], "bind") == ["default/high-0"]
    assert statuses(result[1])["low-0"] == ("Pending", "")
    assert statuses(result[2]) == {"low-0": ("Pending", ""), "high-0": ("Running", "n0")}


def test_evicted_pod_is_not_recreated_with_mode_delete() -> None:
    result = cycles(preempting(cycles=2, evicted="delete"))
    assert "low-0" not in statuses(result[1])


def test_terminating_pod_keeps_its_resources_for_termination_cycles() -> None:
    result = cycles(preempting(cycles=4, evicted="delete", termination_cycles=2))
    assert [statuses(cycle).get("low-0", ("gone",))[0] for cycle in result] == [
        "Releasing",
        "Releasing",
        "Releasing",
        "gone",
    ]
    assert result[1]["nodes"][0]["releasing"]["cpu"] == 1000
    assert decided(result[1], "evict") == []
    assert decided(result[3], "bind") == ["default/high-0"]


def test_nominated_node_of_a_pipelined_pod_is_kept() -> None:
    result = cycles(preempting(cycles=2, evicted="delete", termination_cycles=1))
    nominated = [
        task.get("nominatedNodeName")
        for cycle in result
        for group in cycle["podgroups"]
        for task in group["tasks"]
        if task["pod"] == "default/high-0"
    ]
    assert nominated[0] == "n0"


def test_clock_advances_by_cycle_seconds() -> None:
    result = cycles(
        scenario(
            nodes=[node("n0", cpu=4)],
            podgroups=[podgroup("a", phase="Pending", created=12 * 3600 - 90, min_resources={"cpu": 100})],
            pods=pods("a", 1, cpu=1),
            conf=conf("enqueue", [("sla", {"arguments": {"sla-waiting-time": "2m"}})], ["overcommit"]),
            cycles=3,
            cycle_seconds=30,
        )
    )
    ops = [[decision["op"] for decision in cycle["decisions"]] for cycle in result]
    assert ops == [["enqueue_reject"], ["enqueue"], []], "overdue after two minutes of waiting"


@pytest.mark.parametrize("newest", ["nodes", "queues", "podgroups", "pods", "priorityclasses", "namespaces"])
def test_clock_defaults_to_the_newest_object_of_any_kind(newest: str) -> None:
    document = scenario(
        nodes=[node("n0", cpu=1)],
        queues=[queue("later", created=50)],
        podgroups=[podgroup("a", created=70)],
        pods=pods("a", 1, created=90, cpu=1),
        priorityclasses=[priority_class("p", 1)],
        namespaces=[{"metadata": {"name": "default"}}],
    )
    del document["now"]
    document[newest][0]["metadata"]["creationTimestamp"] = at(5000)
    cluster = Admission(document).cluster()
    assert cluster.now == parse_time(at(5000))


def test_scenario_without_a_configuration_uses_the_default() -> None:
    result = simulate_document(scenario(nodes=[node("n0", cpu=4)]))
    assert result["actions"] == ["enqueue", "allocate", "backfill"]


def test_unknown_action_is_an_error() -> None:
    result = simulate_document(scenario(conf=conf("allocate, dance", ["gang"])))
    assert "dance" in result["error"]


@pytest.mark.parametrize(
    ("plugin", "expected"),
    [("usage", "Not modelled: "), ("usages", "does not exist")],
    ids=["unmodelled", "unknown"],
)
def test_plugin_that_is_not_modelled_is_named_in_the_notes(plugin: str, expected: str) -> None:
    result = simulate_document(scenario(conf=conf("allocate", ["gang", plugin])))
    assert [note for note in result["notes"] if f'"{plugin}"' in note and expected in note]


PATH, WEIGHTS = "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"
MUTATED = {
    "weight zero": ({"weight": 0}, {}, {"weight": 1, "reclaimable": True}, {}),
    "not reclaimable": (
        {"reclaimable": False},
        {},
        {"weight": 1, "reclaimable": False},
        {},
    ),
    "hierarchy path without root": (
        {},
        {PATH: "a/b", WEIGHTS: "2/3"},
        None,
        {PATH: "root/a/b", WEIGHTS: "1/2/3"},
    ),
    "hierarchy path from root": (
        {},
        {PATH: "root/b", WEIGHTS: "1/3"},
        None,
        {PATH: "root/b", WEIGHTS: "1/3"},
    ),
    "hierarchy path starting with the letters of root": (
        {},
        {PATH: "rootish/b", WEIGHTS: "2/3"},
        None,
        {PATH: "rootish/b", WEIGHTS: "2/3"},
    ),
    "hierarchy path without weights": ({}, {PATH: "a/b"}, None, {PATH: "a/b"}),
}


@pytest.mark.parametrize(("spec", "annotations", "want", "rooted"), MUTATED.values(), ids=MUTATED.keys())
def test_webhook_sets_defaults_of_a_new_queue(
    spec: dict[str, Any],
    annotations: dict[str, str],
    want: dict[str, Any] | None,
    rooted: dict[str, str],
) -> None:
    written = queue("a", annotations=annotations, **spec)
    made = Admission(scenario(queues=[written])).queue(written)
    assert made["spec"] == (want or {"weight": 1, "reclaimable": True})
    assert made["metadata"]["annotations"] == rooted


def test_admission_defaults_are_counted_in_the_notes() -> None:
    light = queue("a", weight=0)
    result = simulate_document(scenario(queues=[light]))
    assert "Assumed: 1 queue without spec.weight: weight 1." in result["notes"]


def test_default_queues_are_added_unless_disabled() -> None:
    with_defaults = simulate_document(scenario(queues=[queue("a")]))
    without = simulate_document(scenario(queues=[queue("a")], default_queues=False))
    assert sorted(with_defaults["cycles"][0]["queue_status_allocated"]) == ["a", "default", "root"]
    assert sorted(without["cycles"][0]["queue_status_allocated"]) == ["a"]


def test_pods_of_other_schedulers_count_only_on_their_node() -> None:
    theirs = pod("theirs", node="n0", cpu=1, spec={"schedulerName": "default-scheduler"})
    waiting = pod("waits", cpu=1, group="a", spec={"schedulerName": "default-scheduler"})
    cycle = simulate_document(
        scenario(nodes=[node("n0", cpu=4)], podgroups=[podgroup("a")], pods=[theirs, waiting])
    )["cycles"][0]
    assert cycle["nodes"][0]["used"]["cpu"] == 1000
    assert statuses(cycle) == {}


def test_progress_increases_to_one() -> None:
    received: list[float] = []
    simulate_document(preempting(cycles=2), Options(progress=lambda done, _what: received.append(done)))
    assert received == sorted(received)
    assert received[-1] == 1.0


def test_cycles_option_overrides_the_scenario() -> None:
    assert len(cycles(preempting(), cycles=3)) == 3


def test_simulation_does_not_modify_the_document() -> None:
    document = preempting(cycles=3)
    before = encode(document)
    simulate_document(document)
    assert encode(document) == before


def test_simulation_uses_the_scenarios_clock() -> None:
    first, second = preempting(now=NOW), preempting(now=NOW)
    assert encode(simulate_document(first)) == encode(simulate_document(second))
