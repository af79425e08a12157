"""Malformed replay documents are refused with the place of each mistake, and never make a replay fail."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.problem import Problem
from scheduler_core.replay import replay_document
from scheduler_core.validate import problems
from tests.builders import Object, conf, job, node, pod, podgroup, queue
from tests.scheduler_core.malformed_replays import malformed

EVERY_TIME, MANY = 64, 6000
SLICES = 8


def part_of(count: int, part: int) -> range:
    return range(count * part // SLICES, count * (part + 1) // SLICES)


def faults(numbers: range) -> list[str]:
    results = {number: replay_document(malformed(number)) for number in numbers}
    return [f"{number}: {result['fault']}" for number, result in results.items() if "fault" in result]


@pytest.mark.parametrize("part", range(SLICES))
def test_a_malformed_replay_does_not_fail(part: int) -> None:
    assert faults(part_of(EVERY_TIME, part)) == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(SLICES))
def test_thousands_of_malformed_replays_do_not_fail(part: int) -> None:
    assert faults(part_of(MANY, part)) == []


def replay_of(**created: list[Object]) -> Object:
    """Return a replay of one node in which objects are created by one event."""
    tiers = ["priority", "gang"], ["predicates", "proportion"]
    return {
        "nodes": [node("n", cpu=4, memory="8Gi")],
        "queues": [queue("default")],
        "scheduler_conf": conf("enqueue, allocate, backfill", *tiers),
        "replay": {"horizon_seconds": 100, "events": [{"at": 1, "create": created}]},
    }


def errors(document: Object) -> list[Problem]:
    return [problem for problem in problems(document) if problem.severity == "error"]


def annotated(thing: Object, **annotations: str) -> Object:
    named = {f"queuecast/{name.replace('_', '-')}": text for name, text in annotations.items()}
    thing["metadata"]["annotations"] = {**(thing["metadata"].get("annotations") or {}), **named}
    return thing


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        ("run_seconds", "ten"), ("run_seconds", "-1"), ("run_seconds", "nan"), ("run_seconds", "inf"),
        ("checkpoint_seconds", ""), ("restore_seconds", "5s"), ("exit_code", "1,,0"), ("exit_code", "OOM"),
    ],
)  # fmt: skip
def test_an_annotation_that_replays_cannot_read_is_an_error_at_its_place(annotation: str, text: str) -> None:
    changed = annotated(pod("p", group="j", cpu=1), **{annotation: text})
    present = {"podgroups": [podgroup("j")], "pods": [pod("q", group="j", cpu=1), changed]}
    for document, place in (
        (replay_of(podgroups=[podgroup("j")], pods=[changed]), "replay.events[0].create.pods[0]"),
        ({**replay_of(), **present}, "pods[1]"),
        (replay_of(podgroups=[annotated(podgroup("j"), **{annotation: text})]), "podgroups[0]"),
        (replay_of(jobs=[job("j", tasks=[task("main", changed["metadata"])])]), "tasks[0].template"),
    ):
        [problem] = errors(document)
        assert problem.rule == "annotation.unreadable"
        name = annotation.replace("_", "-")
        assert problem.path.endswith(f'{place}.metadata.annotations["queuecast/{name}"]')
        assert repr(text) in problem.message
        assert problem.fix.startswith("write a number")


def task(name: str, metadata: Object) -> Object:
    containers = [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]
    return {
        "name": name,
        "replicas": 1,
        "template": {"metadata": metadata, "spec": {"containers": containers}},
    }


def test_a_grace_period_is_a_whole_number() -> None:
    changed = pod("p", group="j", cpu=1)
    changed["spec"]["terminationGracePeriodSeconds"] = "30s"
    [problem] = errors(replay_of(podgroups=[podgroup("j")], pods=[changed]))
    assert problem.path.endswith("pods[0].spec.terminationGracePeriodSeconds")


@pytest.mark.parametrize("namespace", [None, ""])
def test_objects_of_events_without_a_namespace_are_in_the_default_one(namespace: Any) -> None:
    group, member = annotated(podgroup("j"), run_seconds="10"), pod("p", group="j", cpu=1)
    named = replay_document(replay_of(podgroups=[group], pods=[member]))
    for thing in (group, member):
        thing["metadata"]["namespace"] = namespace
    unnamed = replay_document(replay_of(podgroups=[group], pods=[member]))
    assert unnamed == named
    assert unnamed["jobs"]["default/j"]["finished"] == 11


def test_a_pod_without_spec_and_a_pod_that_is_created_twice_are_replayed() -> None:
    group, member = annotated(podgroup("j"), run_seconds="10"), pod("p", group="j", cpu=1)
    twice = replay_document(replay_of(podgroups=[group], pods=[member, member]))
    assert twice["jobs"]["default/j"]["finished"] == 11
    del member["spec"]
    assert replay_document(replay_of(podgroups=[group], pods=[member]))["jobs"]["default/j"]["finished"] == 11
