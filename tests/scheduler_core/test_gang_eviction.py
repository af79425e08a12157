"""Victims of gangpreempt and gangreclaim, which place whole gangs."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from scheduler_core.actions.bundles import Bundle, allowed_part, bundles_of, in_order_of_loss
from scheduler_core.resource import Resource
from tests.builders import (
    conf,
    decided,
    last_cycle,
    node,
    pod,
    podgroup,
    pods,
    priority_class,
    queue,
    scenario,
    session_of,
)

PRIORITIES = [priority_class("low", 10), priority_class("mid", 50), priority_class("high", 100)]


class Case(NamedTuple):
    """A running job, and which of its pods are safe to evict and which would break it."""

    minimum: int
    running: int
    safe: list[str]
    rest: list[str]
    roles: dict[str, int] | None = None
    role_of: dict[int, str] | None = None
    priorities: dict[int, int] | None = None


CASES = {
    "above its minimum": Case(2, 4, safe=["g-0", "g-1"], rest=["g-2", "g-3"]),
    "at its minimum": Case(3, 3, safe=[], rest=["g-0", "g-1", "g-2"]),
    "below its minimum nothing is safe": Case(5, 3, safe=["g-0", "g-1", "g-2"], rest=[]),
    "without a minimum": Case(0, 2, safe=["g-0", "g-1"], rest=[]),
    "pods of lower priority are safe": Case(
        2, 3, safe=["g-2"], rest=["g-1", "g-0"], priorities={0: 9, 1: 8, 2: 1}
    ),
    "a role at its minimum is not safe": Case(
        2, 4, safe=["g-1", "g-2"], rest=["g-0", "g-3"], roles={"ps": 1}, role_of={0: "ps"}
    ),
    "role minimums above the job's minimum are ignored": Case(
        1, 2, safe=["g-0"], rest=["g-1"], roles={"ps": 1, "w": 5}, role_of={0: "ps"}
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_bundles_separate_pods_that_are_safe_to_evict(case: Case) -> None:
    running = [
        pod(
            f"g-{number}",
            group="g",
            node="n0",
            cpu=1,
            role=(case.role_of or {}).get(number),
            priority=(case.priorities or {}).get(number),
        )
        for number in range(case.running)
    ]
    group = podgroup("g", min_member=case.minimum, min_task_member=case.roles)
    job = session_of(scenario(nodes=[node("n0", cpu=9)], podgroups=[group], pods=running)).jobs["default/g"]
    bundles = {
        bundle.safe: [task.name for task in bundle.tasks] for bundle in bundles_of(job, job.tasks.values())
    }
    assert bundles == {safe: names for safe, names in ((True, case.safe), (False, case.rest)) if names}


def bundles(**jobs: tuple[int, int]) -> list[Bundle]:
    """Return the bundles of running jobs, given as (minimum, pods of one core)."""
    session = session_of(
        scenario(
            nodes=[node("n0", cpu=99)],
            podgroups=[podgroup(name, min_member=minimum) for name, (minimum, _) in jobs.items()],
            pods=[
                entry for name, (_, count) in jobs.items() for entry in pods(name, count, node="n0", cpu=1)
            ],
        )
    )
    return [bundle for job in session.jobs.values() for bundle in bundles_of(job, job.tasks.values())]


def names(found: list[Bundle]) -> list[tuple[str, bool, int]]:
    return [(bundle.job.name, bundle.safe, len(bundle.tasks)) for bundle in found]


def test_safe_bundles_come_first_then_bundles_by_return_on_cost() -> None:
    need = Resource(2000.0, 0.0, {"pods": 2.0})
    found = in_order_of_loss(bundles(a=(4, 4), b=(2, 2), c=(2, 3)), need, lambda _left, _right: False)
    # c can lose one pod; b frees the demand with its two pods, the rest of c at a cost of three, a of four
    assert names(found) == [("c", True, 1), ("b", False, 2), ("c", False, 2), ("a", False, 4)]
    assert [round(bundle.return_on(need), 2) for bundle in found[1:]] == [1.0, 0.67, 0.5]


def test_only_safe_bundles_may_shrink() -> None:
    allowed = {"default-a-0", "default-b-0", "default-c-0", "default-c-1"}
    assert names(allowed_part(bundles(a=(0, 2), b=(2, 2), c=(2, 2)), allowed)) == [
        ("a", True, 1),
        ("c", False, 2),
    ]


def evicting(action: str, *, waiting: int = 2, **fields: Any) -> dict[str, Any]:
    """Return a full cluster of 4 cores and a gang of `waiting` one-core pods."""
    victims = "a" if action == "gangpreempt" else "b"
    return scenario(
        nodes=[node("n0", cpu=2), node("n1", cpu=2)],
        queues=[queue("a"), queue("b")],
        podgroups=[
            podgroup("elastic", queue=victims, min_member=1, priority_class="low"),
            podgroup("whole", queue=victims, min_member=2, priority_class="low"),
            podgroup("gang", queue="a", min_member=waiting, priority_class="high"),
        ],
        pods=[
            *pods("elastic", 2, node="n0", cpu=1),
            *pods("whole", 2, node="n1", cpu=1),
            *pods("gang", waiting, cpu=1),
        ],
        priorityclasses=PRIORITIES,
        conf=conf(
            action, fields.pop("tier", ["priority", "gang", "conformance"]), **fields.pop("arguments", {})
        ),
        **fields,
    )


@pytest.mark.parametrize("action", ["gangpreempt", "gangreclaim"])
def test_gang_of_one_evicts_a_safe_pod(action: str) -> None:
    cycle = last_cycle(evicting(action, waiting=1))
    assert decided(cycle, "evict") == ["default/elastic-0"]
    assert decided(cycle, "pipeline") == ["default/gang-0"]


@pytest.mark.parametrize("action", ["gangpreempt", "gangreclaim"])
def test_gang_is_pipelined_as_a_whole_after_evictions(action: str) -> None:
    cycle = last_cycle(evicting(action))
    # the safe pod alone is not enough; the job with the best return on its cost is evicted as a whole
    assert decided(cycle, "evict") == ["default/elastic-0", "default/whole-0", "default/whole-1"]
    assert decided(cycle, "pipeline") == ["default/gang-0", "default/gang-1"]
    assert {d["state"] for d in cycle["decisions"]} == {"committed"}
    (first, *_) = cycle["explain"]["victims"]
    assert (first["for"], first["for_job"], first["needed"]["cpu"]) == ("", "default/gang", 2000)


@pytest.mark.parametrize("action", ["gangpreempt", "gangreclaim"])
def test_allow_whole_bundle_off_breaks_no_job(action: str) -> None:
    document = evicting(action, arguments={action: {"allowWholeBundle": False}})
    assert last_cycle(document)["decisions"] == []


@pytest.mark.parametrize("action", ["gangpreempt", "gangreclaim"])
def test_gang_that_cannot_be_placed_evicts_nothing(action: str) -> None:
    cycle = last_cycle(evicting(action, waiting=5))
    assert cycle["decisions"] == []
    assert all(entry["releasing"]["cpu"] == 0 for entry in cycle["nodes"])
    statuses = {task["pod"]: task["status"] for group in cycle["podgroups"] for task in group["tasks"]}
    assert statuses["default/whole-0"] == "Running"


FLAGS = {
    "annotation false": ({"volcano.sh/preemptable": "false"}, False),
    "annotation true": ({"volcano.sh/preemptable": "true"}, True),
    "no annotation": ({}, True),
    "unparsable annotation": ({"volcano.sh/preemptable": "maybe"}, False),
}


@pytest.mark.parametrize("action", ["gangpreempt", "gangreclaim"])
@pytest.mark.parametrize(("annotations", "may_go"), FLAGS.values(), ids=FLAGS.keys())
def test_preemptable_annotation_protects_a_job(
    annotations: dict[str, str], may_go: bool, action: str
) -> None:
    document = evicting(action, waiting=1)
    for group in document["podgroups"][:2]:
        group["metadata"]["annotations"] = annotations
    assert bool(decided(last_cycle(document), "evict")) is may_go


def test_gangpreempt_evicts_only_lower_priority_jobs_of_its_queue() -> None:
    for field, value in (("priorityClassName", "high"), ("queue", "b")):
        document = evicting("gangpreempt", waiting=1)
        for group in document["podgroups"][:2]:
            group["spec"][field] = value
        assert last_cycle(document)["decisions"] == []


def test_gangreclaim_ignores_priority_but_respects_reclaimable() -> None:
    document = evicting("gangreclaim", waiting=1)
    document["podgroups"][0]["spec"]["priorityClassName"] = "high"
    assert decided(last_cycle(document), "evict") == ["default/elastic-0"]
    document["queues"][1]["spec"]["reclaimable"] = False
    assert last_cycle(document)["decisions"] == []


def test_cdp_does_not_protect_against_gang_actions() -> None:
    cooling = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T11:59:59Z"}
    document = evicting("gangpreempt", waiting=1, tier=["priority", "gang", "conformance", "cdp"])
    for entry in document["pods"][:4]:
        entry["metadata"]["labels"]["volcano.sh/cooldown-time"] = "1h"
        entry["status"]["conditions"] = [cooling]
    assert decided(last_cycle(document), "evict") == ["default/elastic-0"]


def test_gang_actions_do_not_evict_system_pods() -> None:
    document = evicting("gangpreempt", waiting=1)
    for entry in document["pods"][:2]:
        entry["spec"]["priorityClassName"] = "system-node-critical"
    assert decided(last_cycle(document), "evict") == ["default/whole-0", "default/whole-1"]


def test_gang_uses_idle_resources_and_evicts_at_least_one_pod() -> None:
    document = evicting("gangpreempt", waiting=2)
    document["nodes"].append(node("n2", cpu=1))
    cycle = last_cycle(document)
    assert decided(cycle, "evict") == ["default/elastic-0"]
    assert [d["node"] for d in cycle["decisions"] if d["op"] == "pipeline"] == ["n2", "n0"]


def test_discarded_attempt_leaves_a_nominated_node() -> None:
    document = evicting("gangpreempt", waiting=2, tier=["priority", "gang", "conformance"])
    document["pods"][-1]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "nowhere"}
    document["scheduler_conf"]["tiers"].append({"plugins": [{"name": "predicates"}]})
    cycle = last_cycle(document)
    assert cycle["decisions"] == []
    nominated = {
        task["pod"]: task.get("nominatedNodeName") for group in cycle["podgroups"] for task in group["tasks"]
    }
    assert nominated["default/gang-0"] in ("n0", "n1")
    assert nominated["default/gang-1"] is None


# twice in one session


def served(actions: str) -> Any:
    """Return a session in which a waiting pod of two cores gets a place; old ones hold six cores of eight."""
    return last_cycle(
        scenario(
            nodes=[node("n0", cpu=4), node("n1", cpu=4)],
            queues=[queue("a"), queue("b")],
            podgroups=[
                podgroup("old", queue="a", phase="Running"),
                podgroup("new", queue="b"),
                podgroup("gated", queue="b"),
            ],
            pods=[
                *pods("old", 2, node="n0", cpu=2),
                *pods("old", 1, first=2, node="n1", cpu=2),
                *pods("new", 1, cpu=2),
                *pods("gated", 1, cpu=2, spec={"schedulingGates": [{"name": "x"}]}),
            ],
            conf=conf(actions, ["gang"], ["predicates", "proportion"]),
        )
    )


def test_allocate_places_a_gang_again_after_a_gang_action() -> None:
    """Volcano does not update a sub job's pending tasks when a gang action places them."""
    cycle = served("gangreclaim, allocate")
    placed = [
        (step["action"], step["node"], step["state"]) for step in cycle["decisions"] if step["op"] != "evict"
    ]
    assert placed == [("gangreclaim", "n1", "committed"), ("allocate", "n0", "kept")]
    assert {entry["name"]: entry["pipelined"]["cpu"] for entry in cycle["nodes"]} == {"n0": 2000, "n1": 2000}
    allocated = {entry["name"]: entry["allocated"]["cpu"] for entry in cycle["at_end"]["queues"]}
    assert allocated["b"] == 4000, "one pod of two cores, counted twice"


def test_gang_action_after_allocate_places_a_gang_once() -> None:
    cycle = served("allocate, gangreclaim")
    assert len(decided(cycle, "bind") + decided(cycle, "pipeline")) == 1
