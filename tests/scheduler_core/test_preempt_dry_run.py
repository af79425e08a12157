"""The chosen node and victims of topology-aware preemption."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.actions.preempt_dry_run import DryRunArguments
from scheduler_core.conf import Arguments
from tests.builders import (
    conf,
    decided,
    last_cycle,
    node,
    pod,
    podgroup,
    priority_class,
    queue,
    scenario,
)

CLASSES = [priority_class("low", 10), priority_class("high", 100)]


def preempting(*victims: dict[str, Any], cpu: int = 1, **fields: Any) -> dict[str, Any]:
    """Return two-core nodes, and a pod of a high-priority job that fits none of them."""
    names = sorted({entry["spec"]["nodeName"] for entry in victims})
    return scenario(
        nodes=[node(name, cpu=2) for name in names],
        podgroups=[
            podgroup("low", min_member=0, priority_class="low"),
            podgroup("high", priority_class="high"),
        ],
        pods=[*victims, pod("high-0", group="high", cpu=cpu, priority=100)],
        priorityclasses=CLASSES,
        conf=conf(
            "preempt",
            fields.pop("tier", ["priority", "gang", "conformance"]),
            preempt={"enableTopologyAwarePreemption": True, **fields.pop("arguments", {})},
        ),
        **fields,
    )


def low(name: str, node: str, *, started: str | None = None, **facts: Any) -> dict[str, Any]:
    entry = pod(name, group="low", node=node, **{"cpu": 1, "priority": 10, **facts})
    if started is not None:
        entry["status"]["startTime"] = started
    return entry


WANTED = {
    "ten percent of many": (250, {}, 25),
    "at least one": (3, {}, 1),
    "at most a hundred": (5000, {}, 100),
    "at most all nodes": (3, {"minCandidateNodesAbsolute": 9}, 3),
    "all nodes": (40, {"minCandidateNodesPercentage": 100}, 40),
}


@pytest.mark.parametrize(("nodes", "arguments", "want"), WANTED.values(), ids=WANTED.keys())
def test_number_of_candidate_nodes_follows_the_arguments(
    nodes: int, arguments: dict[str, int], want: int
) -> None:
    assert DryRunArguments.read(Arguments(arguments)).wanted(nodes) == want


ALL = {"minCandidateNodesPercentage": 100}

CHOICES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "lower priority of the first victim": (
        [low("a", "n0", priority=20, cpu=2), low("b", "n1", priority=10, cpu=2)],
        "n1",
    ),
    "smaller sum of priorities": (
        [low("a", "n0", cpu=1), low("b", "n0", cpu=1), low("c", "n1", cpu=2)],
        "n1",
    ),
    "later start time": (
        [
            low("a", "n0", cpu=2, started="2026-01-01T01:00:00Z"),
            low("b", "n1", cpu=2, started="2026-01-01T02:00:00Z"),
        ],
        "n1",
    ),
    "pod without a start time counts as started now": (
        [low("a", "n0", cpu=2, started="2026-01-01T01:00:00Z"), low("b", "n1", cpu=2)],
        "n1",
    ),
    "first by name": ([low("a", "n0", cpu=2), low("b", "n1", cpu=2)], "n0"),
}


@pytest.mark.parametrize(("victims", "want"), CHOICES.values(), ids=CHOICES.keys())
def test_node_with_the_least_costly_victims_is_chosen(victims: list[dict[str, Any]], want: str) -> None:
    cycle = last_cycle(preempting(*victims, cpu=2, arguments=ALL))
    assert [d["node"] for d in cycle["decisions"] if d["op"] == "pipeline"] == [want]


def test_first_candidate_node_is_used_by_default() -> None:
    victims = [low("a", "n0", priority=20, cpu=2), low("b", "n1", priority=10, cpu=2)]
    assert decided(last_cycle(preempting(*victims, cpu=2)), "evict") == ["default/a"]


def test_unneeded_victims_are_reprieved() -> None:
    """The large pod is considered last; once it is evicted, the small one is reprieved."""
    victims = [low("small", "n0", cpu="500m", priority=5), low("large", "n0", cpu="1500m", priority=9)]
    assert decided(last_cycle(preempting(*victims)), "evict") == ["default/large"]


def test_node_without_potential_victims_is_no_candidate() -> None:
    document = preempting(low("a", "n0", cpu=1))
    assert last_cycle(document)["decisions"] == []


def test_no_pod_is_evicted_if_that_does_not_make_room() -> None:
    assert last_cycle(preempting(low("a", "n0", cpu=2), cpu=3))["decisions"] == []


def test_pods_with_conflicting_anti_affinity_are_evicted() -> None:
    repels = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    }
    victims = [low("a", "n0", cpu="500m", labels={"app": "a"}), low("b", "n0", cpu="1500m", priority=1)]
    document = preempting(*victims, tier=["priority", "gang", "conformance", "predicates"])
    document["pods"][-1]["spec"]["affinity"] = repels
    assert sorted(decided(last_cycle(document), "evict")) == ["default/a", "default/b"]


def test_dry_run_also_makes_room_in_the_queue() -> None:
    """Evicting one pod is enough for the node, but the queue needs two evictions."""
    victims = [low("a", "n0"), low("b", "n0"), low("c", "n1"), low("d", "n1")]
    document = preempting(*victims, tier=["priority", "gang", "conformance", "proportion"])
    document["queues"] = [queue("default", capability={"cpu": 3})]
    assert decided(last_cycle(document), "evict") == ["default/a", "default/b"]


def test_victims_of_a_dry_run_are_explained() -> None:
    (victim,) = last_cycle(preempting(low("a", "n0", cpu=2)))["explain"]["victims"]
    assert (victim["pod"], victim["for"], victim["for_job"]) == (
        "default/a",
        "default/high-0",
        "default/high",
    )
    assert [vote["plugin"] for vote in victim["votes"]] == ["priority", "gang", "conformance"]
