"""Every gate occurs, and its numbers are exact: the job passes with the missing amount, but not with less."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from scheduler_core import explain, simulate_document
from scheduler_core.explain.reasons import REASONS
from tests.builders import Object, conf, node, podgroup, pods, queue, scenario

Grant = Callable[[Object, float], Object]


class Gate(NamedTuple):
    """A situation in which job `j` waits at a gate.

    Attributes
    ----------
    reason : str
        The gate.
    document : dict
        The scenario.
    grant : callable or None
        ``grant(document, amount)``: the scenario with that much more of what the gate requires, in the
        scheduler's units; None for a gate without numbers.

    """

    reason: str
    document: Object
    grant: Grant | None = None


def waiting(*tiers: Any, actions: str = "enqueue, allocate", **changes: Any) -> Object:
    """Return a scenario with job `j` of three pods of two cores in queue `q`; `changes` replace parts."""
    parts: Object = {
        "nodes": [node("n1", cpu=64, memory="64Gi")],
        "queues": [queue("q", deserved={"cpu": 64, "memory": "64Gi"})],
        "podgroups": [podgroup("j", queue="q", min_member=3)],
        "pods": pods("j", 3, cpu=2, memory="1Gi"),
        "conf": conf(actions, *tiers),
        **changes,
    }
    return scenario(**parts)


def limited(**amounts: Any) -> dict[str, Any]:
    return {"queues": [queue("q", capability=amounts, deserved=amounts)]}


def new(**facts: Any) -> dict[str, Any]:
    return {"podgroups": [podgroup("j", queue="q", min_member=3, phase="Pending", **facts)]}


def in_queue(field: str) -> Grant:
    """Grant cores in a field of the queue."""

    def grant(document: Object, amount: float) -> Object:
        (entry,) = [entry for entry in document["queues"] if entry["metadata"]["name"] == "q"]
        stated = entry["spec"][field]
        after = {**stated, "cpu": f"{milli(stated['cpu']) + round(amount)}m"}
        changed = {**entry, "spec": {**entry["spec"], field: after}}
        return {**document, "queues": [changed if other is entry else other for other in document["queues"]]}

    return grant


def on_node(document: Object, amount: float) -> Object:
    """Grant cores on the only node."""
    (entry,) = document["nodes"]
    cpu = f"{milli(entry['status']['allocatable']['cpu']) + round(amount)}m"
    offered = {**entry["status"]["allocatable"], "cpu": cpu}
    status = {**entry["status"], "allocatable": offered, "capacity": offered}
    return {**document, "nodes": [{**entry, "status": status}]}


def members(document: Object, amount: float) -> Object:
    """Grant pods to the job."""
    more = pods("j", round(amount), first=len(document["pods"]), cpu=2, memory="1Gi")
    return {**document, "pods": [*document["pods"], *more]}


def milli(quantity: str) -> int:
    return int(quantity[:-1]) if quantity.endswith("m") else int(quantity) * 1000


ASKED = {"cpu": 6, "memory": "1Gi"}
NO_FACTOR = ("overcommit", {"arguments": {"overcommit-factor": 1.0}})
GATES = {
    "overcommit limit reached": Gate(
        "gate.enqueue",
        waiting(["gang"], [NO_FACTOR], nodes=[node("n1", cpu=4, memory="64Gi")], **new(min_resources=ASKED)),
        on_node,
    ),
    "queue's enqueue limit reached, capacity": Gate(
        "gate.enqueue",
        waiting(["gang"], ["capacity"], **limited(cpu=4, memory="64Gi"), **new(min_resources=ASKED)),
        in_queue("capability"),
    ),
    "queue's enqueue limit reached, proportion": Gate(
        "gate.enqueue",
        waiting(["gang"], ["proportion"], **limited(cpu=4, memory="64Gi"), **new(min_resources=ASKED)),
        in_queue("capability"),
    ),
    "queue is full, capacity": Gate(
        "gate.queue",
        waiting(["gang"], ["capacity"], **limited(cpu=5, memory="64Gi")),
        in_queue("capability"),
    ),
    "queue is full, proportion": Gate(
        "gate.queue",
        waiting(["gang"], ["proportion"], **limited(cpu=5, memory="64Gi")),
        in_queue("capability"),
    ),
    "no node has room": Gate(
        "gate.node",
        waiting(["gang"], ["predicates"], nodes=[node("n1", cpu=5, memory="64Gi")]),
        on_node,
    ),
    "gang has too few pods": Gate(
        "gate.gang", waiting(["gang"], podgroups=[podgroup("j", queue="q", min_member=5)]), members
    ),
    "queue may not reclaim, proportion": Gate(
        "gate.reclaim",
        waiting(["gang"], ["proportion"], actions="reclaim", **limited(cpu=1, memory="64Gi")),
        in_queue("capability"),
    ),
    "queue may not reclaim, capacity": Gate(
        "gate.reclaim",
        waiting(
            ["gang"],
            ["capacity"],
            actions="reclaim",
            queues=[queue("q", deserved={"cpu": 1, "memory": "1Ki"})],
        ),
        in_queue("deserved"),
    ),
    "the queue is overused": Gate(
        "gate.overused",
        waiting(
            ["gang"],
            ["proportion"],
            actions="allocate",
            nodes=[node("n1", cpu=8, memory="64Gi", pods=4)],
            queues=[queue("q"), queue("r", weight=3)],
            podgroups=[
                podgroup("old", queue="q", phase="Running"),
                podgroup("other", queue="r"),
                podgroup("j", queue="q", min_member=3),
            ],
            pods=[
                *pods("old", 3, node="n1", cpu=2, memory="8Gi"),
                *pods("other", 8, cpu=1, memory="8Gi"),
                *pods("j", 3, cpu=2, memory="1Gi"),
            ],
        ),
    ),
    "the queue is closed": Gate(
        "gate.closed", waiting(["gang"], ["proportion"], queues=[queue("q", state="Closed")], **new())
    ),
    "controller has not created the pods": Gate(
        "gate.no-pods", waiting(["gang"], podgroups=[podgroup("j", queue="q", min_member=3)], pods=[])
    ),
    "pods of a job that ran are gone": Gate(
        "gate.no-pods",
        waiting(["gang"], podgroups=[podgroup("j", queue="q", min_member=3, phase="Running")], pods=[]),
    ),
    "foreign scheduling gate": Gate(
        "gate.scheduling-gate",
        waiting(["gang"], pods=pods("j", 3, cpu=2, spec={"schedulingGates": [{"name": "quota"}]})),
    ),
    "the queue does not exist": Gate(
        "gate.unknown-queue", waiting(["gang"], podgroups=[podgroup("j", queue="nowhere", min_member=3)])
    ),
    "no placing action": Gate("gate.no-action", waiting(["gang"], actions="enqueue")),
    "event handler rejects the placement": Gate(
        "gate.refused", waiting(["gang"], [("predicates", {"enablePredicate": False})])
    ),
    "enqueued after allocate ran": Gate("gate.turn", waiting(["gang"], actions="allocate, enqueue", **new())),
}


@pytest.mark.parametrize("gate", GATES.values(), ids=GATES.keys())
def test_each_gate_is_reported(gate: Gate) -> None:
    assert gate_of(gate.document) == gate.reason


def test_situations_cover_every_gate_of_the_vocabulary() -> None:
    assert {gate.reason for gate in GATES.values()} == {name for name in REASONS if name.startswith("gate.")}


COUNTED = {name: (gate, gate.grant) for name, gate in GATES.items() if gate.grant is not None}


@pytest.mark.parametrize(("gate", "grant"), COUNTED.values(), ids=COUNTED.keys())
def test_missing_amount_at_a_gate_is_exact(gate: Gate, grant: Grant) -> None:
    missing = missing_at(gate)
    assert missing > 0
    assert gate_of(grant(gate.document, missing - 1)) == gate.reason
    after = simulate_document(grant(gate.document, missing))
    reached = explain.job_story(gate.document, after, "j")["pending"]
    before = explain.job_story(gate.document, simulate_document(gate.document), "j")["pending"]
    assert reached is None or (reached["reason"]["id"], reached["pod"]) != (gate.reason, before["pod"])


def gate_of(document: Object) -> str:
    """Return the gate at which job `j` waits."""
    result = explain.job_story(document, simulate_document(document), "j")
    reason: str = result["pending"]["reason"]["id"] if "pending" in result else result["reason"]["id"]
    return reason


def missing_at(gate: Gate) -> float:
    """Return the reported missing amount: of cores, or of members."""
    pending = explain.job_story(gate.document, simulate_document(gate.document), "j")["pending"]
    if pending["closest"] is not None:
        return float(pending["closest"]["lacks"]["cpu"])
    if "cpu" in pending["short"]:
        return float(pending["short"]["cpu"]["missing"])
    return float(pending["missing"])
