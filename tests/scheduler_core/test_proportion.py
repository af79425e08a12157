"""Plugin proportion: every queue gets its weighted share and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core import simulate_document
from scheduler_core.framework.session import Session
from scheduler_core.plugins.proportion.deserved import Turn, final_deserved, rounds_of_deserved
from tests.builders import (
    Object,
    conf,
    decided,
    last_cycle,
    node,
    pod,
    podgroup,
    pods,
    queue,
    scenario,
    session_of,
)
from tests.scheduler_core.clusters import SEARCH
from tests.scheduler_core.pages import table
from tests.scheduler_core.queues import (
    GI,
    derivation,
    is_allocatable,
    is_preemptive,
    reclaimed,
    reported,
    tasks_of,
)

PROPORTION = conf("enqueue", ["proportion"])


def divided(nodes: list[Object], queues: list[Object], **jobs: list[Object]) -> Session:
    """Return a session with one PodGroup per queue, named after it."""
    return session_of(
        scenario(
            nodes=nodes,
            queues=queues,
            podgroups=[podgroup(name, queue=name) for name in jobs],
            pods=[one for group in jobs.values() for one in group],
            conf=PROPORTION,
        ),
        explain=True,
    )


def rounds(session: Session, queue: str, resource: str, part: str = "deserved") -> list[float]:
    """Return one resource over the rounds in which a queue took part."""
    return [entry[part].get(resource) for entry in derivation(session, queue)]


# the worked examples


@pytest.fixture
def weights() -> Session:
    """Total 100 cores; weights 2, 3 and 5."""
    return divided(
        [node("n0", cpu=100, pods=1000)],
        [queue("a", weight=2), queue("b", weight=3), queue("c", weight=5)],
        a=pods("a", 1, cpu=80),
        b=pods("b", 1, cpu=15),
        c=pods("c", 1, cpu=200),
    )


def test_remainder_of_a_small_request_is_divided_in_the_next_round(weights: Session) -> None:
    assert rounds(weights, "a", "cpu") == [20000, 24285.714285714286]
    assert rounds(weights, "b", "cpu") == [15000]
    assert rounds(weights, "c", "cpu") == [50000, 60714.28571428571]
    assert rounds(weights, "c", "cpu", "remaining") == [100000, 15000]
    assert [entry["weight_sum"] for entry in derivation(weights, "a")] == [10, 7]
    assert all(entry["deserved"]["pods"] == 1 for entry in reported(weights).values())


def test_plugin_page_shows_the_rounds(weights: Session) -> None:
    def cell(queue: str, turn: int) -> str:
        amounts = rounds(weights, queue, "cpu")
        return f"{amounts[turn]:.17g}" if turn < len(amounts) else ""

    left = rounds(weights, "c", "cpu", "remaining")
    sums = [entry["weight_sum"] for entry in derivation(weights, "c")]
    assert table("proportion", "Worked example") == [
        [str(turn + 1), f"{left[turn]:g}", f"{sums[turn]:g}", *(cell(queue, turn) for queue in "abc")]
        for turn in range(2)
    ]


def test_each_round_records_met_queues_and_clipping_limits(weights: Session) -> None:
    (only,) = derivation(weights, "b")
    assert only["met"]
    assert only["offered"].cpu == 30000
    assert only["clipped_by"] == {"cpu": "request", "pods": "request"}
    assert [entry["met"] for entry in derivation(weights, "a")] == [False, False]


@pytest.fixture
def dimensions() -> Session:
    """Several dimensions, a capability, and a queue with a guarantee but no job."""
    return divided(
        [node("n0", cpu=32, memory="128Gi", gpu=8)],
        [
            queue("a", guarantee={"cpu": 2, "memory": "4Gi"}),
            queue("b", weight=3, capability={"cpu": 12}),
            queue("idle", weight=4, guarantee={"cpu": 4}),
        ],
        a=[*pods("a", 1, node="n0", cpu=4, memory="8Gi"), *pods("a", 3, first=1, cpu=4, memory="8Gi")],
        b=[
            *pods("b", 2, node="n0", cpu=2, memory="16Gi", gpu=2),
            *pods("b", 6, first=2, cpu=2, memory="16Gi", gpu=2),
        ],
    )


def test_rounds_continue_until_nothing_changes(dimensions: Session) -> None:
    assert rounds(dimensions, "a", "cpu") == [8000, 11000, 13250, 14937.5, 16000]
    assert rounds(dimensions, "b", "cpu") == [12000] * 7
    gpu = [6000, 7500, 7875, 7968.75, 7992.1875, 8000, 8000]
    assert rounds(dimensions, "b", "nvidia.com/gpu") == gpu
    left = rounds(dimensions, "b", "cpu", "remaining")
    assert left == [32000, 12000, 9000, 6750, 5062.5, 4000, 4000]
    assert [entry["weight_sum"] for entry in derivation(dimensions, "b")] == [4, 4, 4, 4, 4, 3, 3]


def test_guarantees_of_idle_queues_lower_the_real_capability_of_others(dimensions: Session) -> None:
    queues = reported(dimensions)
    assert list(queues) == ["a", "b"]
    everything = {"nvidia.com/gpu": 8000, "pods": 110}
    assert queues["a"]["realCapability"] == {"cpu": 28000, "memory": 128 * GI, **everything}
    assert queues["b"]["realCapability"] == {"cpu": 12000, "memory": 124 * GI, **everything}
    assert queues["a"]["deserved"] == {"cpu": 16000, "memory": 32 * GI, "nvidia.com/gpu": 0, "pods": 4}
    assert queues["b"]["deserved"] == {"cpu": 12000, "memory": 96 * GI, "nvidia.com/gpu": 8000, "pods": 8}
    assert (queues["a"]["share"], queues["b"]["share"]) == (0.25, 0.5)


def test_guarantee_exceeds_request_and_fully_guaranteed_scalars_are_unlimited() -> None:
    session = divided(
        [node("n0", cpu=20, memory="40Gi", gpu=4, pods=50)],
        [queue("g", guarantee={"cpu": 6, "gpu": 4}), queue("h")],
        g=pods("g", 1, cpu=1, memory="1Gi"),
        h=pods("h", 4, cpu=5, memory="2Gi", gpu=1),
    )
    queues = reported(session)
    assert queues["g"]["deserved"] == {"cpu": 6000, "memory": GI, "nvidia.com/gpu": 4000, "pods": 1}
    assert queues["h"]["realCapability"] == {"cpu": 14000, "memory": 40 * GI, "pods": 50}
    assert queues["h"]["deserved"] == {"cpu": 14000, "memory": 8 * GI, "nvidia.com/gpu": 2000, "pods": 4}
    assert rounds(session, "h", "cpu", "remaining") == [20000, 4000, 0]
    assert rounds(session, "h", "memory", "remaining")[1:] == [33285996544, 33285996544]
    assert derivation(session, "g")[0]["clipped_by"]["nvidia.com/gpu"] == "guarantee"


@pytest.fixture
def memory_only() -> Session:
    """Only memory changes between rounds; six pods of x and two of y run."""
    return divided(
        [node("n0", cpu=10, memory="10Gi", pods=10)],
        [queue("x"), queue("y"), queue("z", weight=2, capability={"memory": "2Gi"})],
        x=[*pods("x", 6, node="n0", cpu=1, memory="1Gi"), *pods("x", 4, first=6, cpu=1, memory="1Gi")],
        y=[*pods("y", 2, node="n0", cpu=1, memory="1Gi"), *pods("y", 1, first=2, cpu=1, memory="1Gi")],
        z=pods("z", 5, cpu=1, memory="1Gi"),
    )


def test_queue_unchanged_by_a_round_counts_as_met(memory_only: Session) -> None:
    assert [amount / GI for amount in rounds(memory_only, "x", "memory")] == [2.5, 3.25, 4.125, 5]
    assert [amount / GI for amount in rounds(memory_only, "y", "memory")] == [2.5, 3, 3]
    assert [amount / GI for amount in rounds(memory_only, "z", "memory")] == [2, 2]
    assert rounds(memory_only, "y", "pods") == [2.5] * 3
    assert [entry["weight_sum"] for entry in derivation(memory_only, "x")] == [4, 4, 2, 1]


def test_overused_requires_all_resources_and_allocatable_fails_on_one(memory_only: Session) -> None:
    queues = reported(memory_only)
    assert {name: (entry["share"], entry["overused"]) for name, entry in queues.items()} == {
        "x": (2.4, True),
        "y": (0.8, False),
        "z": (0, False),
    }
    refusal = memory_only.plugins.allocatable(
        memory_only.queues["y"], tasks_of(memory_only, "y", running=False)[0]
    )
    assert refusal == {
        "plugin": "proportion",
        "queue": "y",
        "resource": "cpu",
        "required": 1000,
        "available": 500,
        "missing": 500,
        "short": {"cpu": {"required": 1000, "available": 500, "missing": 500}},
        "message": "queue y deserves no more cpu",
        "bound": "deserved",
        "limit": {"cpu": 2500},
    }


def test_pipelined_tasks_count_against_the_deserved_amount(memory_only: Session) -> None:
    first, second, third = tasks_of(memory_only, "z", running=False)[:3]
    shares = []
    for task in (first, second):
        assert is_allocatable(memory_only, task.name)
        memory_only.events.fire_allocate(task)
        shares.append(reported(memory_only)["z"]["share"])
    assert shares == [0.5, 1]
    assert not is_allocatable(memory_only, third.name)
    memory_only.events.fire_deallocate(second)
    assert is_allocatable(memory_only, third.name)


def test_last_victim_may_take_its_queue_below_deserved(memory_only: Session) -> None:
    assert reclaimed(memory_only, "z-0", "x", "y") == ["x-0", "x-1", "x-2", "x-3"]


VOTES = {
    "above real capability: rejected": ("j3", "enqueue_reject", {"cpu": 4}),
    "exactly real capability: permitted and reserved": ("j4", "enqueue", {"cpu": 3}),
    "nothing left beside reservations: rejected": ("j5", "enqueue_reject", {"cpu": 1}),
    "only requested dimensions are compared": ("j6", "enqueue", {"memory": "1Gi"}),
}


@pytest.fixture(scope="module")
def enqueued() -> Object:
    """One running and one enqueued job, and four more to enqueue one after the other."""
    return last_cycle(
        scenario(
            nodes=[node("n0", cpu=20, memory="100Gi")],
            queues=[queue("q", capability={"cpu": 10})],
            podgroups=[
                podgroup("j1", queue="q", min_member=2, min_resources={"cpu": 4}, phase="Running"),
                podgroup("j2", queue="q", min_member=3, min_resources={"cpu": 3, "ephemeral-storage": "3Gi"}),
                *(
                    podgroup(name, queue="q", min_resources=minimum, phase="Pending", created=turn)
                    for turn, (name, _, minimum) in enumerate(VOTES.values(), start=1)
                ),
            ],
            pods=[
                *pods("j1", 3, node="n0", cpu=2),
                pod("j2-0", group="j2", node="n0", phase="Pending", cpu=1),
                *(pod(f"{name}-0", group=name, cpu=1) for name, _, _ in VOTES.values()),
            ],
            conf=PROPORTION,
        )
    )


@pytest.mark.parametrize(("name", "op", "_minimum"), VOTES.values(), ids=VOTES.keys())
def test_enqueue_votes(enqueued: Object, name: str, op: str, _minimum: Any) -> None:
    assert f"default/{name}" in decided(enqueued, op)


def test_inqueue_and_elastic_amounts(enqueued: Object) -> None:
    (at_open,), (at_end,) = enqueued["at_open"]["queues"], enqueued["at_end"]["queues"]
    assert at_open["allocated"] == {"cpu": 7000, "memory": 0, "pods": 4}
    assert at_open["inqueue"] == {"cpu": 2000, "memory": 0}
    assert at_open["elastic"] == {"cpu": 2000, "memory": 0, "pods": 4}
    assert at_end["inqueue"] == {"cpu": 5000, "memory": GI}


def test_enqueue_rejection_names_the_missing_amount(enqueued: Object) -> None:
    explanation = enqueued["explain"]["pending"]["default/j3"]
    assert (explanation["gate"], explanation["plugin"], explanation["queue"], explanation["resource"]) == (
        "enqueue",
        "proportion",
        "q",
        "cpu",
    )
    assert (explanation["required"], explanation["available"], explanation["missing"]) == (4000, 3000, 1000)
    (reason,) = {entry["reason"] for entry in enqueued["decisions"] if entry["op"] == "enqueue_reject"}
    assert reason == "queue resource quota insufficient: insufficient cpu"


# quirks


def test_queue_priority_is_compared_before_share() -> None:
    session = divided(
        [node("n0", cpu=4)],
        [queue("high", priority=1), queue("low")],
        high=[*pods("high", 2, node="n0", cpu=1), *pods("high", 1, first=2, cpu=1)],
        low=pods("low", 1, cpu=1),
    )
    assert session.orders.queue_before(session.queues["high"], session.queues["low"])


@pytest.mark.parametrize("state", ["Closed", "Closing", "Unknown"])
def test_queue_that_is_not_open_keeps_its_deserved_but_accepts_no_tasks(state: str) -> None:
    session = divided([node("n0", cpu=4)], [queue("a", state=state)], a=pods("a", 1, cpu=1))
    assert reported(session)["a"]["deserved"]["cpu"] == 1000
    assert not is_allocatable(session, "a-0")
    assert not is_preemptive(session, "a-0")


def test_queue_with_deserved_zero_is_overused_with_share_zero() -> None:
    session = divided([node("n0", cpu=4)], [queue("a")], a=pods("a", 1, node="n0", phase="Succeeded", cpu=1))
    assert (reported(session)["a"]["share"], reported(session)["a"]["overused"]) == (0, True)


def test_reservation_remains_when_a_later_plugin_rejects_the_job() -> None:
    def cycle(*plugins: str) -> Object:
        groups = [
            podgroup(name, min_resources={"cpu": cpu}, phase="Pending", created=turn)
            for turn, (name, cpu) in enumerate((("large", 6), ("small", 3)))
        ]
        nodes = [node("n0", cpu=8)]
        running = [pod("other", node="n0", spec={"schedulerName": "other"}, cpu=4)]
        return last_cycle(
            scenario(nodes=nodes, podgroups=groups, pods=running, conf=conf("enqueue", list(plugins)))
        )

    assert decided(cycle("overcommit", "proportion"), "enqueue") == ["default/small"]
    assert decided(cycle("proportion", "overcommit"), "enqueue") == []


def test_enqueue_after_evictions_may_crash_volcano() -> None:
    result = simulate_document(
        scenario(
            nodes=[node("n0", cpu=4)],
            queues=[queue("a", guarantee={"cpu": 3}), queue("b")],
            podgroups=[
                podgroup("rich", queue="b", min_member=0),
                podgroup("poor", queue="a", min_member=3),
                podgroup("late", queue="b", min_resources={"cpu": 1}, phase="Pending"),
            ],
            pods=[*pods("rich", 4, node="n0", cpu=1), *pods("poor", 3, cpu=1)],
            conf=conf("reclaim, enqueue", ["gang", "proportion"]),
        )
    )
    assert result["error"].startswith("Volcano would crash here: resource is not sufficient")


# the kernel


def deserved(weight: list[int], request: np.ndarray, total: np.ndarray) -> np.ndarray:
    *_, last = rounds_of_deserved(
        total,
        weight=np.array(weight, dtype=float),
        request=request,
        guarantee=np.zeros_like(request),
        real_capability=np.full_like(request, np.inf),
        ignored=np.zeros(len(total), dtype=np.bool_),
        gains_scalars=np.ones(len(weight), dtype=np.bool_),
        loses_scalars=False,
    )
    return last.deserved


AMOUNTS = st.lists(st.integers(0, 50_000), min_size=8, max_size=8)


@given(
    weight=st.lists(st.integers(1, 9), min_size=4, max_size=4),
    request=AMOUNTS,
    order=st.permutations(range(4)),
)
def test_deserved_without_guarantees_is_bounded_by_request_and_total(
    weight: list[int], request: list[int], order: list[int]
) -> None:
    total = np.array([100_000.0, 20_000.0])
    wanted = np.array(request, dtype=float).reshape(4, 2)
    got = deserved(weight, wanted, total)
    assert (got <= wanted).all()
    assert (got.sum(axis=0) <= total + 1e-6).all()
    shuffled = deserved([weight[row] for row in order], wanted[order], total)
    np.testing.assert_allclose(shuffled, got[order], atol=0.2)


FEW = st.sampled_from([0.0, 0.1, 1.0, 333.3, 1000.0, 4000.0, 1e12])


@st.composite
def divisions(draw: st.DrawFn) -> Object:
    """Draw the input of a division: even and uneven amounts, ceilings, guarantees, names."""
    queues, resources = draw(st.integers(1, 6)), draw(st.integers(1, 4))

    def rows(amounts: st.SearchStrategy[float]) -> list[list[float]]:
        return [[draw(amounts) for _ in range(resources)] for _ in range(queues)]

    return {
        "total": [draw(FEW) for _ in range(resources)],
        "weight": [float(draw(st.integers(0, 3))) for _ in range(queues)],
        "request": rows(FEW),
        "guarantee": rows(st.sampled_from([0.0, 0.0, 0.0, 250.5, 1000.0])),
        "real_capability": rows(st.sampled_from([np.inf, np.inf, 500.0, 1e9])),
        "ignored": [draw(st.booleans()) for _ in range(resources)],
        "gains_scalars": [draw(st.booleans()) for _ in range(queues)],
        "loses_scalars": draw(st.booleans()),
    }


@settings(max_examples=10 * SEARCH.max_examples)
@given(division=divisions())
def test_final_deserved_equals_the_last_round(division: Object) -> None:
    arrays = {name: part if isinstance(part, bool) else np.array(part) for name, part in division.items()}
    rounds = list(rounds_of_deserved(arrays.pop("total"), **arrays))
    plain = final_deserved(division.pop("total"), **division)
    assert plain == (rounds[-1].deserved.tolist() if rounds else [])


@settings(max_examples=5 * SEARCH.max_examples)
@given(division=divisions(), amounts=st.lists(FEW, min_size=1, max_size=4), row=st.integers(0, 3))
def test_cached_first_turns_do_not_change_final_deserved(
    division: Object, amounts: list[float], row: int
) -> None:
    turns: dict[int, Turn] = {}
    total, row = division.pop("total"), row % len(division["weight"])
    assert final_deserved(total, **division, first_turns=turns) == final_deserved(total, **division)
    division["request"][row] = [amounts[column % len(amounts)] for column in range(len(total))]
    turns.pop(row, None)
    assert final_deserved(total, **division, first_turns=turns) == final_deserved(total, **division)
