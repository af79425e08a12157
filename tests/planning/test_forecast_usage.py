"""Fragmented resources are counted as defined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planning.forecasts.curves import room_curves
from planning.forecasts.demand import Request
from planning.forecasts.fragmentation import rooms_of
from planning.forecasts.machines import pools_of
from planning.forecasts.record import Record, record_of
from planning.forecasts.storage import packed, unpacked
from planning.forecasts.usage import use_rows
from scheduler_core import simulate_document
from scheduler_core.replay import replay_document
from tests.builders import conf, node, podgroup, pods, queue, scenario
from tests.planning.forecasts import forecast

PLAIN = conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates", "capacity"])
GPU = "nvidia.com/gpu"


def free_row(time: float, name: str, **amounts: float) -> dict[str, Any]:
    """Return a row of the free amounts of a node from a time on, with free pod slots."""
    return {"t": time, "node": name, "free": {**amounts, "pods": 10}}


def pods_by_request(*requests: tuple[int, dict[str, float]]) -> dict[Request, int]:
    """Return the number of pods by request."""
    return {tuple(sorted({**request, "pods": 1.0}.items())): count for count, request in requests}


def test_free_resources_are_fragmented_for_pods_that_do_not_fit_there() -> None:
    # one pod of 3 cores and three of 1 core: a quarter of them do not fit on a node with 1 or 2 free cores
    kinds = pods_by_request((1, {"cpu": 3000.0}), (3, {"cpu": 1000.0}))
    rows = [
        free_row(0, "a", cpu=4000), free_row(0, "b", cpu=4000),
        free_row(10, "a", cpu=1000), free_row(20, "b", cpu=2000), free_row(30, "a", cpu=500),
    ]  # fmt: skip
    room = rooms_of(rows, kinds)["cpu"]
    assert room.free.pairs() == [(0, 8000), (10, 5000), (20, 3000), (30, 2500)]
    # from 30 s on no pod fits on a (500 free), and a quarter does not fit on b (2,000 free)
    assert room.fragmented.pairs() == [(10, 250), (20, 750), (30, 1000)]
    assert room.part.pairs() == [(10, 0.05), (20, 0.25), (30, 0.4)]


def test_only_pods_that_request_a_resource_count_with_their_whole_request() -> None:
    # pods of a GPU and 8 cores: GPUs are free only on a node with 4 cores, so all of them are fragmented
    kinds = pods_by_request((2, {"cpu": 8000.0, GPU: 1000.0}), (2, {"cpu": 1000.0}))
    rows = [{"t": 0, "node": "a", "free": {"cpu": 4000, GPU: 2000, "pods": 10}}]
    found = rooms_of(rows, kinds)
    assert found[GPU].part.at(0) == 1.0
    assert found["cpu"].part.at(0) == 0.5
    assert set(found) == {"cpu", GPU}


def test_the_capacity_is_what_a_session_finds_with_oversubscription_and_without_allocatable() -> None:
    more, none = node("more", cpu=2, memory="4Gi"), node("none", cpu=4, memory="4Gi")
    more["metadata"]["annotations"] = {
        "volcano.sh/oversubscription-cpu": "1500", "volcano.sh/oversubscription-memory": f"{2**30}"
    }  # fmt: skip
    none["status"] = {"capacity": none["status"]["allocatable"]}
    document = scenario(nodes=[more, none], queues=[queue("a")], conf=PLAIN)
    offered = {resource: sum(pool.capacity(resource).at(0.0) for pool in pools_of(document, 10.0))
               for resource in ("cpu", "memory")}  # fmt: skip
    idle = simulate_document(document)["cycles"][0]["nodes"]
    assert offered == {resource: sum(one["idle"].get(resource, 0) for one in idle) for resource in offered}
    assert offered == {"cpu": 7500.0, "memory": 9 * 2.0**30}


def test_a_removed_node_or_one_without_pod_slots_has_no_room() -> None:
    kinds = pods_by_request((1, {"cpu": 1000.0}))
    rows = [
        {"t": 0, "node": "a", "free": {"cpu": 4000}},
        {"t": 5, "node": "a", "free": {}},
    ]
    room = rooms_of(rows, kinds)["cpu"]
    assert room.fragmented.pairs() == [(0, 4000), (5, 0)]
    assert room.free.pairs() == [(0, 4000), (5, 0)]


def two_jobs_of_three_cores() -> Record:
    """Return the forecast of two jobs of 3 cores for 100 s each on one node of 4 cores."""
    events = []
    for number in range(2):
        group = podgroup(f"j{number}", queue="a", min_member=1, phase="Pending",
                         annotations={"queuecast/run-seconds": "100"})  # fmt: skip
        members = pods(f"j{number}", 1, cpu=3)
        for thing in (group, *members):
            del thing["metadata"]["creationTimestamp"]
        events.append({"at": 10.0 * number, "create": {"podgroups": [group], "pods": members}})
    document = scenario(
        nodes=[node("n", cpu=4)],
        queues=[queue("a", deserved={"cpu": 4})],
        conf=PLAIN,
        replay={"period_seconds": 1, "horizon_seconds": 400, "events": events},
    )
    return record_of(document, replay_document(document))


def test_a_replay_records_the_core_that_the_waiting_job_cannot_use() -> None:
    record = two_jobs_of_three_cores()
    room = record.rooms["cpu"]
    # each job uses 3 of 4 cores: 1 core is free, and no job of 3 cores fits there
    assert record.steps("a", "allocated", "cpu").integral(0, 400) == pytest.approx(3000 * 200, rel=0.02)
    assert room.free.integral(0, 400) == pytest.approx(1000 * 200 + 4000 * 200, rel=0.02)
    assert room.fragmented.integral(0, 400) == pytest.approx(1000 * 200, rel=0.02)
    assert set(room.part.values.tolist()) == {0.0, 1.0}
    row = next(row for row in use_rows(record) if row.resource == "cpu")
    assert (row.most_fragmented, row.most_allocated) == (1000.0, 0.75)
    assert row.fragmented == pytest.approx(0.2, rel=0.02)
    assert row.allocated == pytest.approx(3000 * 200 / (4000 * 400), rel=0.02)


@pytest.mark.parametrize("seed", range(6))
def test_allocated_and_free_amounts_add_up_to_the_capacity(seed: int) -> None:
    # in the sessions of generated replays; terminating pods use what is neither allocated nor free
    record = forecast(seed)[2]
    times = np.arange(0.0, record.end, record.period)
    for resource in ("cpu", "memory"):
        room = record.rooms[resource]
        there = record.allocated(resource).at(times) + room.free.at(times)
        assert (there <= record.capacity(resource).at(times) + 1e-6).all()
        assert (there == record.capacity(resource).at(times)).any()
        assert (room.fragmented.at(times) <= room.free.at(times) + 1e-9).all()


def test_fragmentation_is_stored_with_the_forecast() -> None:
    record = two_jobs_of_three_cores()
    again = unpacked(packed(record))
    assert use_rows(again) == use_rows(record)
    assert [curve.figure for curve in room_curves(again, "cpu", 0, 400)] == [
        "free", "fragmented", "fragmented_part",
    ]  # fmt: skip
    assert room_curves(again, "pods", 0, 400) == []
