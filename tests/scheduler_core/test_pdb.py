"""Plugin pdb: how many pods of a disruption budget are evicted at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from scheduler_core.plugins.pdb import budgets_of, tasks_within
from tests.builders import (
    conf,
    decided,
    last_cycle,
    node,
    pod,
    podgroup,
    pods,
    priority_class,
    scenario,
    session_of,
)

APP_A = {"matchLabels": {"app": "a"}}


def budget(allowed: int | None, selector: Any = APP_A, **fields: Any) -> dict[str, Any]:
    status: dict[str, Any] = {} if allowed is None else {"disruptionsAllowed": allowed}
    if "disrupted" in fields:
        status["disruptedPods"] = dict.fromkeys(fields.pop("disrupted"), "2026-01-01T00:00:00Z")
    spec = {} if selector is None else {"selector": selector}
    return {"metadata": {"name": "b", "namespace": "default", **fields}, "spec": spec, "status": status}


class Case(NamedTuple):
    """Budgets, and which of three pods with label app=a may be evicted."""

    budgets: tuple[dict[str, Any], ...]
    want: list[str]


CASES = {
    "one disruption allowed": Case((budget(1),), ["x-0"]),
    "no disruptions allowed": Case((budget(0),), []),
    "all disruptions allowed": Case((budget(3),), ["x-0", "x-1", "x-2"]),
    "pod already counted as disrupted": Case((budget(0, disrupted=["x-1"]),), ["x-1"]),
    "empty selector restricts nothing": Case((budget(0, {}),), ["x-0", "x-1", "x-2"]),
    "absent selector restricts nothing": Case((budget(0, None),), ["x-0", "x-1", "x-2"]),
    "malformed selector restricts nothing": Case(
        (budget(0, {"matchExpressions": [{"key": "app", "operator": "Is", "values": ["a"]}]}),),
        ["x-0", "x-1", "x-2"],
    ),
    "non-matching selector restricts nothing": Case(
        (budget(0, {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}),),
        ["x-0", "x-1", "x-2"],
    ),
    "two overlapping budgets": Case((budget(2), budget(1, name="c")), ["x-0"]),
    "budget of another namespace": Case((budget(0, namespace="elsewhere"),), ["x-0", "x-1", "x-2"]),
    "no status allows nothing": Case((budget(None),), []),
    "no budget": Case((), ["x-0", "x-1", "x-2"]),
}


def tasks(*entries: dict[str, Any]) -> list[Any]:
    session = session_of(
        scenario(nodes=[node("n0", cpu=9)], podgroups=[podgroup("x"), podgroup("y")], pods=list(entries))
    )
    return session.nodes.tasks.in_order(0)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_budget_limits_the_evictable_pods(case: Case) -> None:
    running = tasks(*pods("x", 3, node="n0", cpu=1, labels={"app": "a"}))
    assert [task.name for task in tasks_within(budgets_of(case.budgets), running, None)] == case.want


def test_pod_without_labels_is_never_evicted() -> None:
    bare, labelled = tasks(
        pod("x-0", group="x", node="n0"), pod("y-0", group="y", node="n0", labels={"app": "b"})
    )
    assert tasks_within([], [bare, labelled], None) == [labelled]


def test_every_call_counts_disruptions_from_zero() -> None:
    running = tasks(*pods("x", 3, node="n0", cpu=1, labels={"app": "a"}))
    budgets = budgets_of([budget(1)])
    assert [tasks_within(budgets, running, None) for _ in range(2)] == [running[:1], running[:1]]


def test_vote_names_the_disruption_budget() -> None:
    running = tasks(*pods("x", 2, node="n0", cpu=1, labels={"app": "a"}))
    why: dict[str, Any] = {}
    tasks_within(budgets_of([budget(1)]), running, why)
    assert why["default-x-0"] == ("no disruption budget would be violated", {})
    assert why["default-x-1"] == ("disruption budget default/b would be violated", {"disruptionsAllowed": 1})


def test_budget_of_one_permits_one_eviction_per_preemptor() -> None:
    """The worked example of the plugin's page: nothing is remembered from one preemptor to the next."""
    document = scenario(
        nodes=[node("n0", cpu=2)],
        podgroups=[
            podgroup("x", min_member=0, priority_class="low"),
            podgroup("high", min_member=2, priority_class="high"),
        ],
        pods=[*pods("x", 2, node="n0", cpu=1, labels={"app": "a"}), *pods("high", 2, cpu=1)],
        priorityclasses=[priority_class("low", 1), priority_class("high", 2)],
        poddisruptionbudgets=[budget(1)],
        conf=conf("preempt", ["priority", "gang", "pdb"]),
    )
    cycle = last_cycle(document)
    assert decided(cycle, "evict") == ["default/x-0", "default/x-1"]
    assert [victim["for"] for victim in cycle["explain"]["victims"]] == ["default/high-0", "default/high-1"]
    document["pods"] = [*document["pods"][:2], *pods("high", 1, cpu=2)]
    document["podgroups"][1]["spec"]["minMember"] = 1
    assert decided(last_cycle(document), "evict") == []


def test_shuffle_evicts_as_many_pods_as_the_budgets_allow() -> None:
    document = scenario(
        nodes=[node("n0", cpu=4)],
        podgroups=[podgroup("x")],
        pods=[*pods("x", 3, node="n0", cpu=1, labels={"app": "a"}), pod("x-9", group="x", node="n0", cpu=1)],
        poddisruptionbudgets=[budget(2)],
        conf=conf("shuffle", ["pdb"]),
    )
    cycle = last_cycle(document)
    assert decided(cycle, "evict") == ["default/x-0", "default/x-1"]
    assert [victim["votes"][0]["plugin"] for victim in cycle["explain"]["victims"]] == ["pdb", "pdb"]
