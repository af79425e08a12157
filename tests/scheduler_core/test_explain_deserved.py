"""A request is reported as met only if it is covered, and a limit only where there is one."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import explain, simulate_document
from tests.builders import Object, conf, node, podgroup, pods, queue, scenario


def derivation(plugin: Any, name: str = "q", **changes: Any) -> Object:
    """Return how a queue's deserved amount is derived, by default for a ten-core job on a hundred cores."""
    parts: Object = {
        "nodes": [node("n1", cpu=100, memory="100Gi")],
        "queues": [queue("q")],
        "podgroups": [podgroup("j", queue="q")],
        "pods": pods("j", 10, cpu=1),
        "conf": conf("allocate", ["gang"], [plugin]),
        **changes,
    }
    document = scenario(**parts)
    result = simulate_document(document)
    assert "error" not in result, result["error"]
    explanation: Object = explain.derivation(document, result, name)
    return explanation


def test_covered_request_is_reported_as_covered() -> None:
    explanation = derivation("proportion")
    assert "; then its request is covered;" in explanation["summary"]["sentence"]
    assert (explanation["steps"][-1]["met"], explanation["steps"][-1]["covered"]) == (True, True)


def test_request_above_the_limit_is_not_reported_as_covered() -> None:
    explanation = derivation("proportion", pods=pods("j", 110, cpu=1))
    assert (
        "; then nothing more could be given (request 110 cores, limit 100 cores"
        in explanation["summary"]["sentence"]
    )
    assert (explanation["steps"][-1]["met"], explanation["steps"][-1]["covered"]) == (True, False)


def test_request_without_remaining_resources_is_not_reported_as_met() -> None:
    explanation = derivation(
        "proportion",
        queues=[queue("q"), queue("r")],
        podgroups=[podgroup("j", queue="q"), podgroup("k", queue="r")],
        pods=[*pods("j", 90, cpu=1), *pods("k", 90, cpu=1, memory="1Gi")],
    )
    assert "met" not in explanation["summary"]["sentence"]
    assert "request 90 cores, no more CPU left" in explanation["summary"]["sentence"]


def test_derivation_shows_no_capability_for_a_queue_without_one() -> None:
    assert derivation("capacity")["steps"][-1]["capability"] == {}
    limited = derivation("capacity", queues=[queue("q", capability={"cpu": 20})])
    assert limited["steps"][-1]["capability"]["cpu"] == 20_000


def test_derivation_names_no_limit_for_the_root_of_a_tree() -> None:
    explanation = derivation(
        ("capacity", {"enableHierarchy": True}),
        "root",
        queues=[queue("root", deserved={"cpu": 50}), queue("q", parent="root", deserved={"cpu": 80})],
    )
    assert explanation["steps"][-1]["deserved"]["cpu"] == 80_000
    assert explanation["steps"][-1]["clipped_by"] == {}


@pytest.mark.parametrize("phase", ["Inqueue", "Pending"])
def test_idle_node_of_the_hdrf_tree_is_reported_as_idle(phase: str) -> None:
    explanation = derivation(
        ("drf", {"enableHierarchy": True}),
        queues=[
            queue(
                "q",
                annotations={
                    "volcano.sh/hierarchy": "root/q",
                    "volcano.sh/hierarchy-weights": "1/1",
                },
            )
        ],
        podgroups=[podgroup("j", queue="q", phase=phase)],
    )
    assert "holds nothing yet" in explanation["tree_summary"]["sentence"]
