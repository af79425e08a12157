"""Cases where real Volcano breaks plausible expectations; each justifies a condition of a property."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import simulate_document
from tests.builders import (
    Object,
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
)

PRIORITIES = [priority_class("low", 10), priority_class("high", 100)]


def statuses(cycle: Object, group: str) -> list[str]:
    return [
        task["status"]
        for shown in cycle["podgroups"]
        if shown["name"] == f"default/{group}"
        for task in shown["tasks"]
    ]


def queue_figures(cycle: Object, name: str, moment: str = "at_end") -> Object:
    return next(shown for shown in cycle[moment]["queues"] if shown["name"] == name)


# protection


def crowded(*tiers: Any) -> Object:
    """Return a full node: an elastic job, a low-priority job at its minMember, and a possible preemptor."""
    return scenario(
        nodes=[node("n0", cpu=3)],
        podgroups=[
            podgroup("elastic", min_member=1, priority_class="high", phase="Running"),
            podgroup("small", min_member=1, priority_class="low", phase="Running"),
            podgroup("next", min_member=1, priority_class="high"),
        ],
        pods=[
            *pods("elastic", 2, node="n0", cpu=1),
            *pods("small", 1, node="n0", cpu=1),
            *pods("next", 1, cpu=1),
        ],
        priorityclasses=PRIORITIES,
        conf=conf("preempt", *tiers),
    )


def test_empty_intersection_breaks_a_gang() -> None:
    agreed = last_cycle(crowded(["gang", "priority"]))
    assert decided(agreed, "evict") == [], (
        "gang accepts the elastic job, priority the small one: the intersection is empty"
    )
    third = last_cycle(crowded(["gang", "priority", "conformance"]))
    assert decided(third, "evict") == ["default/small-0"], "the third plugin's candidates become the victims"
    assert statuses(third, "small") == ["Releasing"], "below its minMember of 1"


def test_lower_tier_may_evict_pods_that_a_higher_tier_protects() -> None:
    at_minimum = scenario(
        nodes=[node("n0", cpu=2)],
        podgroups=[podgroup("whole", min_member=2, phase="Running"), podgroup("next", priority_class="high")],
        pods=[*pods("whole", 2, node="n0", cpu=1), *pods("next", 1, cpu=1)],
        priorityclasses=PRIORITIES,
    )
    alone = conf("preempt", ["gang"], ["nodeorder"])
    assert decided(last_cycle({**at_minimum, "scheduler_conf": alone}), "evict") == []
    asked_after = conf("preempt", ["gang"], ["priority"])
    cycle = last_cycle({**at_minimum, "scheduler_conf": asked_after})
    assert decided(cycle, "evict") == ["default/whole-1"]
    assert cycle["explain"]["victims"][0]["tier"] == 2


def test_system_pod_is_evicted_by_a_tier_below_conformance() -> None:
    document = scenario(
        nodes=[node("n0", cpu=1)],
        podgroups=[
            podgroup("dns", namespace="kube-system", min_member=0, priority_class="low", phase="Running"),
            podgroup("next", priority_class="high"),
        ],
        pods=[
            pod("dns-0", group="dns", namespace="kube-system", node="n0", cpu=1),
            *pods("next", 1, cpu=1),
        ],
        priorityclasses=PRIORITIES,
        conf=conf("preempt", ["conformance"], ["priority"]),
    )
    assert decided(last_cycle(document), "evict") == ["kube-system/dns-0"]


def test_preempt_does_nothing_without_a_plugin_that_votes_on_starving() -> None:
    assert decided(last_cycle(crowded(["conformance"])), "evict") == []


# reclaim


def two_queues(*tiers: Any, size: int = 1, held: int = 6) -> Object:
    """Return 8 cores for two queues of weight 1; `a` holds `held` pods of `size` cores, `b` waits."""
    return scenario(
        nodes=[node("n0", cpu=8)],
        queues=[queue("a"), queue("b")],
        podgroups=[
            podgroup("held", queue="a", min_member=0, phase="Running"),
            podgroup("wants", queue="b", min_member=1),
        ],
        pods=[*pods("held", held, node="n0", cpu=size), *pods("wants", 4, cpu=3)],
        conf=conf("reclaim", *tiers),
    )


def test_last_victim_takes_its_queue_below_deserved() -> None:
    document = two_queues(["gang", "proportion"], size=5, held=1)
    document["pods"][1]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "4"
    cycle = last_cycle(document)
    assert decided(cycle, "evict") == ["default/held-0"]
    before, after = (queue_figures(cycle, "a", moment) for moment in ("at_open", "at_end"))
    assert before["deserved"]["cpu"] == 4000
    assert (before["allocated"]["cpu"], after["allocated"]["cpu"]) == (5000, 0)


def test_proportion_in_a_lower_tier_does_not_protect_its_queue() -> None:
    within = two_queues(["gang", "conformance"], ["proportion"], size=1, held=4)
    within["nodes"] = [node("n0", cpu=4), node("n1", cpu=4, unschedulable=True)]
    cycle = last_cycle(within)
    held = queue_figures(cycle, "a", "at_open")
    assert held["allocated"]["cpu"] <= held["deserved"]["cpu"], "queue a is within its deserved amount"
    assert len(decided(cycle, "evict")) == 3, "yet it loses pods, because the tier of gang chooses victims"
    asked_first = {**within, "scheduler_conf": conf("reclaim", ["gang", "proportion"])}
    assert decided(last_cycle(asked_first), "evict") == []


def test_reclaim_exceeds_deserved_when_enable_preemptive_is_off() -> None:
    tier = ["gang", ("proportion", {"enablePreemptive": False, "enableReclaimable": False})]
    document = two_queues(tier, held=8)
    document["podgroups"][1]["spec"]["minMember"] = 2
    figures = queue_figures(last_cycle(document), "b")
    assert figures["deserved"]["cpu"] == 4000
    assert figures["allocated"]["cpu"] == 6000, (
        "reclaim does not check whether the queue may allocate the task"
    )


# bounds


def test_queue_is_not_overused_while_one_resource_is_below_deserved() -> None:
    document = scenario(
        nodes=[node("n0", cpu=4)],
        queues=[queue("a")],
        podgroups=[podgroup("held", queue="a", phase="Running"), podgroup("wants", queue="a")],
        pods=[*pods("held", 4, node="n0", cpu=1), *pods("wants", 4, cpu=1)],
        conf=conf("allocate", ["gang", "proportion"]),
    )
    figures = queue_figures(last_cycle(document), "a")
    assert figures["allocated"]["cpu"] == figures["deserved"]["cpu"] == 4000
    assert figures["deserved"]["pods"] == 8, "the queue deserves four more pods"
    assert not figures["overused"]


@pytest.mark.parametrize("plugin", ["proportion", "capacity"])
def test_capability_in_pods_is_not_enforced(plugin: str) -> None:
    document = scenario(
        nodes=[node("n0", cpu=4)],
        queues=[queue("a", capability={"cpu": 4, "memory": "8Gi", "pods": 1})],
        podgroups=[podgroup("many", queue="a", min_member=3)],
        pods=pods("many", 3, cpu=1),
        conf=conf("allocate", ["gang"], [plugin]),
    )
    cycle = last_cycle(document)
    assert len(decided(cycle, "bind")) == 3
    assert queue_figures(cycle, "a")["realCapability"]["pods"] == 1


def test_parent_shares_are_stale_in_a_capacity_tree() -> None:
    def placed(*, tree: bool) -> list[int]:
        parents = [queue("a"), queue("b")] if tree else []
        document = scenario(
            nodes=[node("n0", cpu=12, memory="48Gi")],
            queues=[
                *parents,
                queue("a-jobs", parent="a" if tree else None),
                queue("b-jobs", parent="b" if tree else None),
            ],
            podgroups=[
                podgroup(f"{name}{number}", queue=f"{name}-jobs") for name in "ab" for number in range(12)
            ],
            pods=[
                pod(f"{name}{number}", group=f"{name}{number}", cpu=1)
                for name in "ab"
                for number in range(12)
            ],
            conf=conf("allocate", ["gang"], [("capacity", {"enableHierarchy": tree})]),
        )
        for entry in document["queues"]:
            entry["spec"]["deserved"] = {"cpu": "6", "memory": "24Gi"}
        bound = decided(last_cycle(document), "bind")
        return [sum(name.startswith(f"default/{queue}") for name in bound) for queue in "ab"]

    assert placed(tree=False) == [6, 6]
    assert placed(tree=True) == [12, 0], "the parents keep the shares of the session's start"


# binding


def overcommitted() -> Object:
    return scenario(
        nodes=[node("n0", cpu=1)],
        podgroups=[podgroup("idle", min_member=2)],
        pods=[pod("big", node="n0", cpu=2), *pods("idle", 2)],
        conf=conf("backfill", ["gang"]),
    )


def test_overcommitted_node_rejects_a_bind() -> None:
    cycle = last_cycle(overcommitted())
    assert [(d["op"], d["state"]) for d in cycle["decisions"]] == [("allocate", "kept"), ("allocate", "kept")]
    assert statuses(cycle, "idle") == ["Allocated", "Allocated"]
    assert cycle["nodes"][0]["idle"]["cpu"] == -1000


def test_incomplete_gang_with_pipelined_pods_keeps_its_idle_resources() -> None:
    document = scenario(
        nodes=[node("n0", cpu=2)],
        podgroups=[
            podgroup("old", phase="Running"),
            podgroup("gang", min_member=2, created=1),
            podgroup("late", min_member=1, created=2),
        ],
        pods=[
            pod("old-0", group="old", node="n0", cpu=1, deleting=True),
            *pods("gang", 2, cpu=1),
            *pods("late", 1, cpu=1),
        ],
        conf=conf("allocate", ["gang"]),
    )
    cycle = last_cycle(document)
    assert [(d["op"], d["pod"], d["state"]) for d in cycle["decisions"]] == [
        ("allocate", "default/gang-0", "kept"),
        ("pipeline", "default/gang-1", "kept"),
    ]
    assert statuses(cycle, "late") == ["Pending"], (
        "the core is idle, but allocated to a gang that cannot start"
    )


def test_only_backfill_places_pods_when_predicates_are_disabled() -> None:
    document = scenario(
        nodes=[node("n0", cpu=2)],
        podgroups=[podgroup("asks"), podgroup("idle")],
        pods=[*pods("asks", 1, cpu=1), *pods("idle", 1)],
        conf=conf("allocate, backfill", ["gang", ("predicates", {"enablePredicate": False})]),
    )
    cycle = last_cycle(document)
    assert decided(cycle, "bind") == ["default/idle-0"]
    assert cycle["nodes"][0]["used"]["cpu"] == 0


# enqueue


def entering(*tier: str) -> list[str]:
    """Return the jobs enqueued in a cluster of 10 cores, of which another scheduler's pod uses 8."""
    document = scenario(
        nodes=[node("n0", cpu=10, memory="10Gi")],
        queues=[queue("a")],
        podgroups=[
            podgroup("large", queue="a", phase="Pending", min_resources={"cpu": 9}, created=1),
            podgroup("small", queue="a", phase="Pending", min_resources={"cpu": 2}, created=2),
        ],
        pods=[
            pod("theirs", node="n0", cpu=8, spec={"schedulerName": "default-scheduler"}),
            *pods("large", 1, cpu=9),
            *pods("small", 1, cpu=2),
        ],
        conf=conf("enqueue", [(name, _factor(name)) for name in tier]),
    )
    return decided(last_cycle(document), "enqueue")


def _factor(plugin: str) -> Object:
    return {"arguments": {"overcommit-factor": 1.0}} if plugin == "overcommit" else {}


def test_enqueue_vote_reserves_resources_even_if_a_later_plugin_rejects() -> None:
    assert entering("overcommit", "proportion") == ["default/small"]
    assert entering("proportion", "overcommit") == [], "proportion still counts the large job as enqueued"


def test_evictions_before_enqueue_may_crash_the_scheduler() -> None:
    document = scenario(
        nodes=[node("n0", cpu=4)],
        queues=[queue("a"), queue("b")],
        podgroups=[
            podgroup("held", queue="a", min_member=0, phase="Running"),
            podgroup("new", queue="a", phase="Pending", min_resources={"cpu": "500m"}),
            podgroup("wants", queue="b"),
        ],
        pods=[*pods("held", 4, node="n0", cpu=1), *pods("new", 1, cpu="500m"), *pods("wants", 1, cpu=2)],
    )
    tiers = (["gang"], ["proportion"])
    entered = last_cycle({**document, "scheduler_conf": conf("enqueue, reclaim", *tiers)})
    assert len(decided(entered, "evict")) == 2
    crashed = simulate_document({**document, "scheduler_conf": conf("reclaim, enqueue", *tiers)})
    assert "crash" in crashed["error"], (
        "elastic amounts are those of the session's start, allocated amounts are current"
    )


def test_negative_min_resources_make_an_idle_job_count_as_elastic() -> None:
    document = scenario(
        nodes=[node("n0", cpu=4)],
        queues=[queue("a")],
        podgroups=[
            podgroup("odd", queue="a", phase="Pending", min_resources={"cpu": -2}),
            podgroup("new", queue="a", phase="Pending", min_resources={"cpu": 1}, created=1),
        ],
        pods=[*pods("odd", 1, cpu=1), *pods("new", 1, cpu=1)],
        conf=conf("allocate", ["proportion"]),
    )
    assert queue_figures(last_cycle(document), "a", "at_open")["elastic"]["cpu"] == 2000
    crashed = simulate_document({**document, "scheduler_conf": conf("enqueue", ["proportion"])})
    assert "crash" in crashed["error"], "the queue counts 2 elastic cores, but holds none"


def test_discarded_eviction_crashes_the_scheduler_in_a_broken_tree() -> None:
    document = crowded(["priority"], [("capacity", {"enableHierarchy": True})])
    for group in document["podgroups"]:
        group["spec"]["queue"] = "inner"
    document["queues"] += [queue("inner"), queue("leaf", parent="inner")]
    crashed = simulate_document(document)
    assert "crash" in crashed["error"], "in a queue with children only the first job is counted"


def test_backfill_requeues_pipelined_tasks_behind_pending_ones() -> None:
    never = {"preemptionPolicy": "Never"}
    document = scenario(
        nodes=[node("n0")],
        podgroups=[podgroup("g")],
        pods=[
            pod("g-0", group="g", created=2),
            pod("g-x-1", group="g", priority=100),
            pod("g-x-2", group="g", created=2, spec=never),
            pod("g-x-3", group="g", created=1, spec=never),
        ],
        conf=conf("preempt, backfill", ["priority", "gang", "predicates"]),
    )
    cycle = last_cycle(document)
    assert [(d["op"], d["pod"].removeprefix("default/")) for d in cycle["decisions"]] == [
        ("pipeline", "g-x-1"),
        ("unpipeline", "g-x-1"),
        *[("bind", name) for name in ("g-x-1", "g-x-2", "g-x-3", "g-0")],
    ], "a name without an index sorts before g-x-2 and after g-x-3, so the order of pushes matters"


# input order


def test_last_of_two_global_default_priority_classes_wins() -> None:
    first = priority_class("first", 1, globalDefault=True)
    second = priority_class("second", 2, globalDefault=True)

    def priority(classes: list[Object]) -> int:
        cycle = last_cycle(scenario(podgroups=[podgroup("a")], priorityclasses=classes))
        return int(cycle["podgroups"][0]["priority"])

    assert (priority([first, second]), priority([second, first])) == (2, 1)
