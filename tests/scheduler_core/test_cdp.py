"""Plugin cdp: how long a pod is protected after it was placed."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from scheduler_core.model.job import TaskInfo
from scheduler_core.plugins.cdp import COOLDOWN_TIME, seconds_protected
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

NOON = "2026-01-01T12:00:00Z"
TEN_SECONDS_AGO = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T11:59:50Z"}
A_WHILE_AGO = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T11:58:20Z"}


class Case(NamedTuple):
    """A running pod, and for how many seconds it is protected from eviction."""

    want: float
    label: str | None = None
    annotation: str | None = None
    conditions: tuple[dict[str, str], ...] = (TEN_SECONDS_AGO,)
    phase: str = "Running"


CASES = {
    "scheduled 10 s ago": Case(50.0, label="60s"),
    "scheduled 100 s ago": Case(0.0, label="60s", conditions=(A_WHILE_AGO,)),
    "annotation without a label": Case(50.0, annotation="60s"),
    "the label overrides the annotation": Case(0.0, label="1s", annotation="1h"),
    "an unparsable label overrides the annotation, too": Case(0.0, label="60", annotation="1h"),
    "fractional hours": Case(5390.0, label="1.5h"),
    "negative cooldown": Case(0.0, label="-60s"),
    "cooldown just over": Case(0.0, label="10s"),
    "no cooldown set": Case(0.0),
    "not scheduled yet": Case(0.0, label="60s", conditions=({**TEN_SECONDS_AGO, "status": "False"},)),
    "no conditions": Case(0.0, label="60s", conditions=()),
    "other condition": Case(0.0, label="60s", conditions=({**TEN_SECONDS_AGO, "type": "Ready"},)),
    "false condition before the true one": Case(
        50.0, label="60s", conditions=({**TEN_SECONDS_AGO, "status": "False"}, TEN_SECONDS_AGO)
    ),
    "first true condition counts": Case(0.0, label="60s", conditions=(A_WHILE_AGO, TEN_SECONDS_AGO)),
    "pod that is not running yet": Case(0.0, label="60s", phase="Pending"),
}


def cooling(name: str, case: Case, **facts: Any) -> dict[str, Any]:
    entry = pod(name, node="n0", cpu=1, phase=case.phase, **facts)
    if case.label is not None:
        entry["metadata"]["labels"][COOLDOWN_TIME] = case.label
    if case.annotation is not None:
        entry["metadata"]["annotations"][COOLDOWN_TIME] = case.annotation
    entry["status"]["conditions"] = list(case.conditions)
    return entry


def task_of(case: Case) -> tuple[TaskInfo, float]:
    session = session_of(
        scenario(
            nodes=[node("n0", cpu=9)],
            podgroups=[podgroup("g")],
            pods=[cooling("x", case, group="g")],
            now=NOON,
        )
    )
    return session.jobs["default/g"].tasks["default-x"], session.now


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_cooldown_protects_a_pod_for_its_configured_seconds(case: Case) -> None:
    task, now = task_of(case)
    assert max(seconds_protected(task, now), 0.0) == case.want


@pytest.mark.parametrize("action", ["preempt", "reclaim"])
def test_pod_in_cooldown_is_not_evicted(action: str) -> None:
    """The worked example of the plugin's page: of two equal pods the one placed 10 s ago stays."""
    queue = "default" if action == "preempt" else "other"
    document = scenario(
        nodes=[node("n0", cpu=2)],
        queues=[{"metadata": {"name": "other"}, "spec": {"weight": 1}}],
        podgroups=[
            podgroup("low", queue=queue, min_member=0, priority_class="low"),
            podgroup("high", priority_class="high"),
        ],
        pods=[
            cooling("low-0", Case(0.0, label="60s", conditions=(A_WHILE_AGO,)), group="low"),
            cooling("low-1", Case(0.0, label="60s"), group="low"),
            *pods("high", 1, cpu=2),
        ],
        priorityclasses=[priority_class("low", 1), priority_class("high", 2)],
        conf=conf(action, [("priority", {"enablePreemptable": False}), "cdp"]),
        now=NOON,
    )
    assert decided(last_cycle(document), "evict") == []
    document["pods"][2] = pod("high-0", group="high", cpu=1)
    cycle = last_cycle(document)
    assert decided(cycle, "evict") == ["default/low-0"]
    assert cycle["explain"]["spared"] == [
        {
            "pod": "default/low-1",
            "for": "default/high-0",
            "action": action,
            "tier": 1,
            "plugin": "cdp",
            "why": "cool-down for another 50 s",
            "numbers": {"cooldown_seconds_left": 50},
        }
    ]


def test_pod_may_be_evicted_after_its_cooldown() -> None:
    document = scenario(
        nodes=[node("n0", cpu=1)],
        podgroups=[
            podgroup("low", min_member=0, priority_class="low"),
            podgroup("high", priority_class="high"),
        ],
        pods=[cooling("low-0", Case(0.0, label="60s"), group="low"), *pods("high", 1, cpu=1)],
        priorityclasses=[priority_class("low", 1), priority_class("high", 2)],
        conf=conf("preempt", ["priority", "cdp"]),
        now=NOON,
        cycles=2,
        cycle_seconds=60,
    )
    assert decided(last_cycle(document, cycles=1), "evict") == []
    assert decided(last_cycle(document), "evict") == ["default/low-0"]
