"""Plugin capacity without a tree: queues stay within their quota and reclaim what they deserve."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from tests.builders import (
    Object,
    conf,
    decided,
    last_cycle,
    node,
    podgroup,
    pods,
    queue,
    scenario,
    session_of,
)
from tests.scheduler_core.pages import table
from tests.scheduler_core.queues import (
    GI,
    derivation,
    in_order,
    is_allocatable,
    is_preemptive,
    names,
    reclaimed,
    reported,
    tasks_of,
)
from tests.scheduler_core.states import task_of

CAPACITY = conf("enqueue, reclaim", ["capacity"])
CLUSTER = [node("n0", cpu=32, memory="64Gi", gpu=4)]


def held(queues: list[Object], groups: dict[str, list[Object]], **fields: Any) -> Session:
    """Return a session with one PodGroup per queue: ``job-a`` in queue ``a``; its pods are numbered."""
    return session_of(
        scenario(
            nodes=CLUSTER,
            queues=queues,
            podgroups=[podgroup(f"job-{name}", queue=name, **fields.get(name, {})) for name in groups],
            pods=[one for group in groups.values() for one in group],
            conf=CAPACITY,
        ),
        explain=True,
    )


# the worked examples


@pytest.fixture
def quotas() -> Session:
    return held(
        [
            queue("a", deserved={"cpu": 10, "memory": "20Gi"}, capability={"cpu": 12}, guarantee={"cpu": 4}),
            queue("b", deserved={"gpu": 6, "cpu": 40}),
            queue("c"),
            queue("idle", guarantee={"cpu": 2, "memory": "2Gi"}),
        ],
        {
            "a": [
                *pods("job-a", 3, node="n0", cpu=4, memory="1Gi"),
                *pods("job-a", 1, first=3, cpu=4, memory="1Gi"),
            ],
            "b": pods("job-b", 1, node="n0", cpu=2, memory="1Gi", gpu=1),
            "c": pods("job-c", 1, node="n0", cpu=2, memory="1Gi"),
        },
        b={"phase": "Running", "min_resources": {"cpu": 4, "memory": "2Gi", "gpu": 2}},
    )


def test_deserved_is_capped_by_real_capability(quotas: Session) -> None:
    queues = reported(quotas)
    assert list(queues) == ["a", "b", "c"]
    rest = {"memory": 62 * GI, "nvidia.com/gpu": 4000, "pods": 110}
    assert queues["a"]["realCapability"] == {"cpu": 12000, **rest}
    assert queues["b"]["realCapability"] == queues["c"]["realCapability"] == {"cpu": 26000, **rest}
    assert queues["a"]["deserved"] == {"cpu": 10000, "memory": 20 * GI}
    assert queues["b"]["deserved"] == {"cpu": 26000, "memory": 0, "nvidia.com/gpu": 4000}
    assert queues["c"]["deserved"] == {"cpu": 0, "memory": 0}
    assert {name: entry["share"] for name, entry in queues.items()} == {"a": 1.2, "b": 0.25, "c": 1}


def test_plugin_page_shows_the_computed_quotas(quotas: Session) -> None:
    queues = reported(quotas)
    actual = [
        [f"{entry[part]['cpu']:g}" for part in ("allocated", "realCapability", "deserved")]
        + [f"{entry['share']:g}"]
        for entry in queues.values()
    ]
    assert [row[4:] for row in table("capacity", "Worked example")] == actual


def test_explanation_names_the_limit_that_capped_deserved(quotas: Session) -> None:
    (level,) = derivation(quotas, "b")
    assert level["clipped_by"] == {"cpu": "realCapability", "nvidia.com/gpu": "realCapability"}


def test_queue_with_smaller_share_is_served_first(quotas: Session) -> None:
    assert in_order(quotas, "a", "b", "c") == ["b", "c", "a"]


def test_running_job_reserves_the_rest_of_its_min_resources(quotas: Session) -> None:
    assert reported(quotas)["b"]["inqueue"] == {"cpu": 2000, "memory": GI, "nvidia.com/gpu": 1000}


def test_capability_limits_allocation_and_preemption(quotas: Session) -> None:
    assert not is_preemptive(quotas, "job-a-3")
    refusal = quotas.plugins.allocatable(quotas.queues["a"], task_of(quotas, "default-job-a-3"))
    assert refusal == {
        "plugin": "capacity",
        "queue": "a",
        "resource": "cpu",
        "required": 4000,
        "available": 0,
        "missing": 4000,
        "short": {"cpu": {"required": 4000, "available": 0, "missing": 4000}},
        "message": "queue a may hold no more cpu",
        "bound": "realCapability",
        "limit": {"cpu": 12000},
    }


def test_reclaim_keeps_guarantees_and_takes_from_best_effort_queues() -> None:
    session = held(
        [
            queue("a", deserved={"cpu": 10}, guarantee={"cpu": 4}),
            queue("b", deserved={"cpu": 12}),
            queue("c"),
            queue("g", deserved={"cpu": 8}, guarantee={"cpu": 8}),
            queue("m", deserved={"memory": "1Gi"}),
        ],
        {
            "a": pods("job-a", 3, node="n0", cpu=4),
            "b": pods("job-b", 1, cpu=4),
            "c": pods("job-c", 2, node="n0", cpu=2),
            "g": pods("job-g", 5, node="n0", cpu=2),
            "m": pods("job-m", 1, node="n0", cpu=2, memory="1Gi"),
        },
    )
    victims = reclaimed(session, "job-b-0", "job-a", "job-c", "job-g", "job-m")
    assert victims == ["job-g-4", "job-a-2", "job-c-1", "job-c-0"]


def test_vote_explains_why_a_pod_may_or_may_not_be_evicted() -> None:
    session = held(
        [queue("a", deserved={"cpu": 2}), queue("b", deserved={"cpu": 8})],
        {"a": pods("job-a", 2, node="n0", cpu=2), "b": pods("job-b", 1, cpu=2)},
    )
    (answer,) = session.functions[Point.RECLAIMABLE]
    why: dict[str, Any] = {}
    accepted = answer(task_of(session, "default-job-b-0"), tasks_of(session, "job-a", running=True), why)
    assert names(accepted) == ["job-a-1"]
    assert why["default-job-a-1"][0] == "queue a holds more than it deserves"
    assert why["default-job-a-0"][0] == "queue a would then hold no more than it deserves"
    assert why["default-job-a-0"][1]["left"].cpu == 2000


def test_capacity_limits_victims_of_gangreclaim_but_not_of_gangpreempt() -> None:
    session = held(
        [queue("a", deserved={"cpu": 3}), queue("b", deserved={"cpu": 8}), queue("c", guarantee={"cpu": 2})],
        {
            "a": pods("job-a", 3, node="n0", cpu=2),
            "b": pods("job-b", 1, cpu=2),
            "c": pods("job-c", 1, node="n0", cpu=2),
        },
    )
    (answer,) = session.functions[Point.UNIFIED_EVICTABLE]
    initiator = task_of(session, "default-job-b-0")
    candidates = [task for group in ("job-a", "job-c") for task in tasks_of(session, group, running=True)]
    assert names(answer(initiator, candidates, "gangreclaim", None)) == ["job-a-0", "job-a-1"]
    assert answer(initiator, candidates, "gangpreempt", None) == candidates


# quirks


def test_queue_may_exceed_deserved_up_to_real_capability() -> None:
    session = held([queue("a", deserved={"cpu": 1}, capability={"cpu": 2})], {"a": pods("job-a", 2, cpu=2)})
    assert is_allocatable(session, "job-a-0")
    assert not is_preemptive(session, "job-a-0")


def test_queue_is_preemptive_if_one_resource_is_within_deserved() -> None:
    session = held(
        [queue("a", deserved={"cpu": 1, "memory": "8Gi"})], {"a": pods("job-a", 1, cpu=2, memory="1Gi")}
    )
    assert is_preemptive(session, "job-a-0")


def test_deserved_ignores_requests_and_is_raised_to_the_guarantee() -> None:
    session = held(
        [queue("a", deserved={"cpu": 20}, guarantee={"memory": "1Gi"})], {"a": pods("job-a", 1, cpu=1)}
    )
    assert reported(session)["a"]["deserved"] == {"cpu": 20000, "memory": GI}


def test_best_effort_queue_has_share_one_and_loses_ties() -> None:
    session = held(
        [queue("a", created=1), queue("b", deserved={"cpu": 2}, created=2)],
        {"a": pods("job-a", 1, cpu=1), "b": pods("job-b", 1, node="n0", cpu=2)},
    )
    assert {name: entry["share"] for name, entry in reported(session).items()} == {"a": 1, "b": 1}
    assert in_order(session, "a", "b") == ["b", "a"]


@pytest.mark.parametrize("state", ["Closed", "Closing", "Unknown"])
def test_queue_that_is_not_open_accepts_no_tasks(state: str) -> None:
    session = held([queue("a", state=state, deserved={"cpu": 4})], {"a": pods("job-a", 1, cpu=1)})
    assert not is_allocatable(session, "job-a-0")
    assert not is_preemptive(session, "job-a-0")


def test_enqueue_rejects_an_extended_resource_the_cluster_lacks() -> None:
    cycle = last_cycle(
        scenario(
            nodes=CLUSTER,
            queues=[queue("a")],
            podgroups=[
                podgroup("odd", queue="a", min_resources={"example.com/fpga": 1}, phase="Pending"),
                podgroup("plain", queue="a", min_resources={"cpu": 1}, phase="Pending"),
                podgroup("unset", queue="a", phase="Pending"),
            ],
            conf=CAPACITY,
        )
    )
    assert decided(cycle, "enqueue_reject") == ["default/odd"]
    assert decided(cycle, "enqueue") == ["default/plain", "default/unset"]
