"""Queues below a missing parent, and in a cycle of parents."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import problems, simulate_document
from tests.builders import (
    Object,
    Plugin,
    conf,
    last_cycle,
    node,
    podgroup,
    pods,
    priority_class,
    queue,
    scenario,
)

HIERARCHY: Plugin = ("capacity", {"enableHierarchy": True})
PLUGINS: list[Plugin] = ["proportion", "capacity", HIERARCHY]


def preempting(
    parents: dict[str, str],
    group_queue: str,
    *,
    running: bool = True,
    plugin: Plugin,
    actions: str = "allocate, preempt",
) -> Object:
    """Return a full node where a high-priority job may preempt a low-priority one in the same queue."""
    old = podgroup("old", queue=group_queue, priority_class="low", phase="Running")
    new = podgroup("new", queue=group_queue, priority_class="high")
    return scenario(
        nodes=[node("n0", cpu=2)],
        queues=[queue("leaf"), *(queue(name, parent=parent) for name, parent in parents.items())],
        priorityclasses=[priority_class("low", 1), priority_class("high", 100)],
        podgroups=[old, new] if running else [new],
        pods=[*(pods("old", 2, node="n0", cpu=1, priority=1) if running else ()), *pods("new", 1, cpu=1)],
        conf=conf(actions, ["priority", "gang"], ["predicates", plugin]),
    )


def test_preempt_evicts_nothing_below_a_missing_parent() -> None:
    assert last_cycle(preempting({"a": "nowhere"}, "leaf", plugin=HIERARCHY))["decisions"] == []


CIRCLES = {
    "itself": {"a": "a"},
    "two": {"a": "b", "b": "a"},
    "a leaf below two": {"a": "b", "b": "c", "c": "b"},
}


@pytest.mark.parametrize("plugin", PLUGINS, ids=str)
@pytest.mark.parametrize("parents", CIRCLES.values(), ids=CIRCLES.keys())
def test_parent_cycle_above_allocated_pods_hangs_volcano(parents: dict[str, str], plugin: Plugin) -> None:
    document = preempting(parents, "a", plugin=plugin, actions="allocate")
    assert {(problem.rule, problem.severity) for problem in problems(document)} >= {
        ("queue.cycle", "warning")
    }
    assert simulate_document(document)["error"].startswith("Volcano would hang here: queue ")


@pytest.mark.parametrize("parents", [{"a": "a"}, {"a": "b", "b": "a"}], ids=str)
def test_preempt_crashes_volcano_before_a_parent_cycle_hangs_it(parents: dict[str, str]) -> None:
    document = preempting(parents, "a", plugin=HIERARCHY)
    assert simulate_document(document)["error"].startswith(
        "Volcano would crash here: resource is not sufficient"
    )


@pytest.mark.parametrize("plugin", PLUGINS, ids=str)
@pytest.mark.parametrize("parents", CIRCLES.values(), ids=CIRCLES.keys())
def test_parent_cycle_above_idle_queues_has_no_effect(parents: dict[str, str], plugin: Plugin) -> None:
    def decided(document: Object) -> list[Any]:
        return [(step["op"], step["pod"]) for step in last_cycle(document)["decisions"]]

    assert decided(preempting(parents, "leaf", plugin=plugin)) == decided(
        preempting({}, "leaf", plugin=plugin)
    )


@pytest.mark.parametrize("plugin", PLUGINS, ids=str)
def test_parent_cycle_through_root_has_no_effect(plugin: Plugin) -> None:
    document = preempting({"a": "root"}, "a", plugin=plugin)
    result = simulate_document(document)
    document["queues"].append(queue("root", parent="a", reclaimable=False))
    assert not [problem for problem in problems(document) if problem.rule == "queue.cycle"]
    assert simulate_document(document)["cycles"][0]["decisions"] == result["cycles"][0]["decisions"]


def opened(plugin: Plugin, **spec: Any) -> Object:
    """Return what the plugin computes for a queue with this spec."""
    document = preempting({}, "leaf", plugin=plugin)
    document["queues"][0]["spec"].update(spec)
    actual: Object = next(
        entry for entry in last_cycle(document)["at_open"]["queues"] if entry["name"] == "leaf"
    )
    return actual


@pytest.mark.parametrize("plugin", PLUGINS, ids=str)
def test_negative_queue_amounts_follow_volcanos_arithmetic(plugin: Plugin) -> None:
    assert opened(plugin, guarantee={"resource": {"cpu": "-3"}})["guarantee"]["cpu"] == -3000
    without_limit = opened(plugin, capability={"cpu": "0"})["realCapability"]
    assert opened(plugin, capability={"cpu": "-3"})["realCapability"] == without_limit
    assert opened(plugin, deserved={"cpu": "-3"})["deserved"]["cpu"] == (
        2000 if plugin == "proportion" else 0
    )
