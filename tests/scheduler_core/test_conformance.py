"""Plugin conformance: when it protects critical pods, and when it does not."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.framework.extension_points import Point
from scheduler_core.model.job import TaskInfo
from scheduler_core.plugins.conformance import non_critical_tasks
from scheduler_core.victims.selection import select_victims
from tests.builders import conf, node, pod, podgroup, scenario, session_of

NAMESPACES = ("default", "kube-system", "kube-public")


def victims(*tiers: Any, point: Point = Point.PREEMPTABLE, **pods: dict[str, Any]) -> list[str]:
    """Return the names of the pods that a preemptor may evict from one node."""
    running = [pod(name, group="g", node="n0", cpu=1, **facts) for name, facts in sorted(pods.items())]
    session = session_of(
        scenario(
            nodes=[node("n0", cpu=9)],
            podgroups=[*(podgroup("g", namespace=space) for space in NAMESPACES), podgroup("high")],
            pods=[*running, pod("high-0", group="high", cpu=1)],
            conf=conf("preempt, reclaim", *tiers),
            poddisruptionbudgets=[],
        )
    )
    (preemptor,) = session.jobs["default/high"].tasks.values()
    context = ["gangpreempt"] if point is Point.UNIFIED_EVICTABLE else []
    verdict = select_victims(session, point, preemptor, candidates(session.nodes.tasks.in_order(0)), *context)
    return [task.name for task in verdict.victims]


def candidates(tasks: list[TaskInfo]) -> list[TaskInfo]:
    return sorted(tasks, key=lambda task: task.name)


CASES = {
    "ordinary pod is evictable": ({}, ["x"]),
    "pod of kube-system is protected": ({"namespace": "kube-system"}, []),
    "namespace starting with kube is not protected": ({"namespace": "kube-public"}, ["x"]),
    "node-critical class is protected": ({"spec": {"priorityClassName": "system-node-critical"}}, []),
    "cluster-critical class is protected": ({"spec": {"priorityClassName": "system-cluster-critical"}}, []),
    "high priority value is not protected": ({"priority": 2_000_001_000}, ["x"]),
    "other priority class is not protected": ({"spec": {"priorityClassName": "system"}}, ["x"]),
}


@pytest.mark.parametrize("point", [Point.PREEMPTABLE, Point.RECLAIMABLE, Point.UNIFIED_EVICTABLE])
@pytest.mark.parametrize(("facts", "want"), CASES.values(), ids=CASES.keys())
def test_critical_pods_are_protected(facts: dict[str, Any], want: list[str], point: Point) -> None:
    assert victims(["conformance"], point=point, x=facts) == want


def test_remaining_victims_keep_their_order() -> None:
    system = {"namespace": "kube-system"}
    assert victims(["conformance"], a={}, b=system, c={}) == ["a", "c"]


def test_lower_tier_may_evict_pods_that_conformance_protects() -> None:
    system = {"namespace": "kube-system"}
    assert victims(["conformance"], ["cdp"], a=system, b=system) == ["a", "b"]


EMPTY_INTERSECTION = {
    "third plugin starts over": (["cdp", "conformance", "pdb"], ["a", "b"]),
    "plugin listed first does not start over": (["pdb", "cdp", "conformance"], []),
    "two plugins leave no victim": (["cdp", "conformance"], []),
}


@pytest.mark.parametrize(("tier", "want"), EMPTY_INTERSECTION.values(), ids=EMPTY_INTERSECTION.keys())
def test_empty_intersection_of_two_plugins(tier: list[str], want: list[str]) -> None:
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T11:59:50Z"}
    cooling = pod("b", group="g", node="n0", cpu=1, labels={"app": "b", "volcano.sh/cooldown-time": "60s"})
    cooling["status"]["conditions"] = [scheduled]
    system = pod("a", group="g", node="n0", cpu=1, namespace="kube-system", labels={"app": "a"})
    session = session_of(
        scenario(
            nodes=[node("n0", cpu=9)],
            podgroups=[podgroup("g"), podgroup("g", namespace="kube-system"), podgroup("high")],
            pods=[system, cooling, pod("high-0", group="high", cpu=1)],
            conf=conf("preempt", tier),
        )
    )
    (preemptor,) = session.jobs["default/high"].tasks.values()
    verdict = select_victims(
        session, Point.PREEMPTABLE, preemptor, candidates(session.nodes.tasks.in_order(0))
    )
    assert [task.name for task in verdict.victims] == want


def test_vote_explains_why_the_pod_is_protected() -> None:
    session = session_of(
        scenario(
            nodes=[node("n0", cpu=9)],
            podgroups=[podgroup("g", namespace="kube-system")],
            pods=[pod("a", group="g", namespace="kube-system", node="n0", cpu=1)],
            conf=conf("preempt", ["conformance"]),
        )
    )
    (task,) = session.nodes.tasks.in_order(0)
    why: dict[str, Any] = {}
    non_critical_tasks(task, [task], why)
    assert why[task.uid] == ("critical for the cluster: namespace kube-system", {})
