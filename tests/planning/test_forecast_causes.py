"""The causes of waits equal those counted moment by moment, and calculations by hand."""

from collections.abc import Iterator, Mapping
from dataclasses import astuple
from io import BytesIO
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
import pytest

from planning.documents import items
from planning.forecasts.causes import CauseRow, cause_rows
from planning.forecasts.record import Record, record_of
from planning.forecasts.storage import packed, unpacked
from scheduler_core.replay import replay_document
from scheduler_core.resource import MIN_RESOURCE
from tests.builders import Object, conf, node, podgroup, pods, queue, scenario
from tests.planning.forecasts import forecast
from tests.trials import trials

SEEDS = range(12)
PLAIN = conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates", "capacity"])
RECLAIMS = conf("enqueue, allocate, reclaim, backfill", ["priority", "gang"], ["predicates", "capacity"])
PROPORTION = conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates", "proportion"])


def arriving(
    at: float, name: str, of_queue: str, cpu: int, members: int = 1, least: int | None = None
) -> Object:
    """Return the event of a job that runs for 100 s."""
    group = podgroup(
        name, queue=of_queue, min_member=least or members, phase="Pending",
        annotations={"queuecast/run-seconds": "100"},
    )  # fmt: skip
    made = pods(name, members, cpu=cpu)
    for thing in (group, *made):
        del thing["metadata"]["creationTimestamp"]
    return {"at": at, "create": {"podgroups": [group], "pods": made}}


def waits_of(
    nodes: Mapping[str, int],
    deserved: Mapping[str, int],
    *events: Object,
    of_conf: Object = PLAIN,
    **timeline: Any,
) -> dict[str, CauseRow]:
    """Return the causes by queue in a cluster with so many cores a node, and so many deserved by a queue."""
    document = scenario(
        nodes=[node(name, cpu=cpu) for name, cpu in nodes.items()],
        queues=[queue(name, deserved={"cpu": cpu}) for name, cpu in deserved.items()],
        conf=of_conf,
        replay={"period_seconds": 1, "horizon_seconds": 400, "events": list(events), **timeline},
    )
    return {row.queue: row for row in cause_rows(record_of(document, replay_document(document)))}


def causes(row: CauseRow) -> tuple[float, ...]:
    """Return the seconds at capability, above deserved, without room, not placed, and of delays."""
    found: tuple[float, ...] = astuple(row)[4:9]
    return found


@pytest.mark.parametrize("of_conf", [RECLAIMS, PROPORTION], ids=["reclaim", "proportion"])
def test_a_job_waits_while_its_queue_has_what_it_deserves(of_conf: Object) -> None:
    jobs = arriving(0, "first", "a", 3), arriving(10, "second", "a", 3)
    rows = waits_of({"n": 4}, {"a": 4}, *jobs, of_conf=of_conf)
    # the first job runs from 0 to 100, and the session at 100 finds its place free
    assert causes(rows["a"]) == (0, 90, 0, 0, 0)
    assert (rows["a"].jobs, rows["a"].waited) == (2, 90)


def test_deserved_is_no_cause_while_nothing_follows_from_it() -> None:
    jobs = arriving(0, "first", "a", 3), arriving(10, "second", "a", 3)
    assert causes(waits_of({"n": 4}, {"a": 4}, *jobs)["a"]) == (0, 0, 90, 0, 0)
    # more deserved would not have helped the second job either
    assert causes(waits_of({"n": 4}, {"a": 40}, *jobs)["a"]) == (0, 0, 90, 0, 0)
    later = {"at": 60, "scheduler_conf": RECLAIMS}
    assert causes(waits_of({"n": 4}, {"a": 4}, *jobs, later)["a"]) == (0, 40, 50, 0, 0)


def test_a_job_waits_while_its_queue_is_at_its_capability() -> None:
    document = scenario(
        nodes=[node("n", cpu=9)],
        queues=[queue("a", deserved={"cpu": 4}, capability={"cpu": 4})],
        conf=PLAIN,
        replay={
            "period_seconds": 1,
            "horizon_seconds": 400,
            "events": [
                arriving(0, "first", "a", 3),
                arriving(10, "second", "a", 3),
                {"at": 60, "replace": {"queues": [queue("a", deserved={"cpu": 4})]}},
            ],
        },
    )
    (row,) = cause_rows(record_of(document, replay_document(document)))
    # without a capability the second job borrows what no other queue uses
    assert causes(row) == (50, 0, 0, 0, 0)
    assert row.resources == {"at_capability": "cpu"}


def test_a_job_waits_while_its_queue_is_closed() -> None:
    closing, opening = {"at": 5, "close": {"queues": ["a"]}}, {"at": 60, "open": {"queues": ["a"]}}
    rows = waits_of({"n": 4}, {"a": 4, "b": 4}, closing, arriving(10, "first", "a", 3), opening)
    assert (rows["a"].closed, causes(rows["a"])) == (50, (0, 0, 0, 0, 0))
    # the other job of the queue starts when the first one ends, as if the queue had always been open
    jobs = arriving(0, "first", "a", 3), arriving(10, "second", "a", 3)
    rows = waits_of({"n": 4}, {"a": 4, "b": 4}, *jobs, closing, opening)
    assert (rows["a"].closed, causes(rows["a"])) == (50, (0, 0, 40, 0, 0))


def test_a_queue_is_closed_with_its_parent_keeps_that_when_replaced_and_opens_with_it() -> None:
    changed = queue("a", parent="above", weight=5, annotations={"volcano.sh/closed-by-parent": "true"})
    events = [
        {"at": 5, "close": {"queues": ["above"]}},
        arriving(10, "first", "a", 3),
        {"at": 20, "replace": {"queues": [changed]}},
        {"at": 30.5, "open": {"queues": ["above"]}},
    ]
    hierarchy = conf(
        "enqueue, allocate, backfill",
        ["priority", "gang"],
        ["predicates", ("capacity", {"enableHierarchy": True})],
    )
    tree = queue("above"), queue("a", parent="above")
    row = single(*tree, events=events, conf=hierarchy)
    assert (row.closed, causes(row)) == (21, (0, 0, 0, 0, 0))
    shut = {**queue("a"), "status": {"state": "Closed"}}
    row = single(shut, events=[arriving(10, "first", "a", 3)])
    assert (row.closed, row.waited) == (390, 390)


def test_a_closed_queue_is_no_cause_while_no_plugin_counts_queues() -> None:
    bare = conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates"])
    events = [{"at": 5, "close": {"queues": ["a"]}}, arriving(10, "first", "a", 3)]
    row = single(queue("a"), events=events, conf=bare)
    assert (row.closed, row.waited) == (0, 0)


def test_a_job_waits_for_room_that_another_queue_borrows() -> None:
    rows = waits_of({"n": 4}, {"a": 0, "b": 4}, arriving(0, "first", "a", 3), arriving(10, "second", "b", 3))
    assert causes(rows["b"]) == (0, 0, 90, 0, 0)


def test_a_job_waits_though_enough_is_free_on_several_nodes() -> None:
    rows = waits_of(
        {"n": 3, "m": 3}, {"a": 0, "b": 2},
        arriving(0, "one", "a", 2), arriving(0, "other", "a", 2), arriving(10, "large", "b", 2),
    )  # fmt: skip
    assert causes(rows["b"]) == (0, 0, 0, 90, 0)


def test_a_job_needs_only_min_member_of_its_pods() -> None:
    elastic = arriving(10, "second", "b", 2, members=3, least=1)
    rows = waits_of({"n": 4}, {"a": 2, "b": 2}, arriving(0, "first", "a", 2), elastic)
    assert causes(rows["b"]) == (0, 0, 0, 0, 0)


def test_the_time_until_the_next_session_and_the_start_of_pods_are_delays() -> None:
    rows = waits_of(
        {"n": 4}, {"a": 4}, arriving(3, "first", "a", 3), period_seconds=10, start_delay_seconds=5
    )
    assert causes(rows["a"]) == (0, 0, 0, 0, 12)
    assert rows["a"].waited == 12


def test_a_job_that_never_starts_waits_until_the_end() -> None:
    rows = waits_of({"n": 4, "m": 4}, {"a": 8}, arriving(100, "large", "a", 5))
    assert causes(rows["a"]) == (0, 0, 0, 300, 0)


def single(*queues: Object, events: list[Object], conf: Object = PLAIN) -> CauseRow:
    """Return the causes of queue a in a cluster of one node of four cores."""
    document = scenario(
        nodes=[node("n", cpu=4, memory="64Gi")],
        queues=list(queues),
        conf=conf,
        replay={"period_seconds": 1, "horizon_seconds": 400, "events": events},
    )
    (row,) = [one for one in cause_rows(record_of(document, replay_document(document))) if one.queue == "a"]
    return row


def test_a_resource_of_which_a_queue_deserves_nothing_does_not_count_as_its_share() -> None:
    events = [arriving(0, "first", "b", 3), arriving(10, "second", "a", 3)]
    for event in events:
        for member in event["create"]["pods"]:
            member["spec"]["containers"][0]["resources"]["requests"]["memory"] = "1Gi"
    queues = (queue("a", deserved={"cpu": 4}), queue("b", deserved={"cpu": 3}))
    some = single(*queues, events=events, conf=RECLAIMS)
    assert (causes(some), some.resources) == ((0, 0, 90, 0, 0), {"no_room": "cpu"})
    none = single(queue("a"), queues[1], events=events, conf=RECLAIMS)
    assert (causes(none), none.resources) == ((0, 90, 0, 0, 0), {})


def test_a_capability_of_no_cpu_is_no_limit() -> None:
    queues = (queue("a", deserved={"cpu": 4}, capability={"cpu": 0}), queue("b"))
    row = single(*queues, events=[arriving(0, "first", "b", 3), arriving(10, "second", "a", 3)])
    assert causes(row) == (0, 0, 90, 0, 0)


def test_queues_have_no_limits_and_amounts_while_no_plugin_counts_them() -> None:
    bare = conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates"])
    queues = (queue("a", deserved={"cpu": 4}, capability={"cpu": 4}), queue("b"))
    arrivals = [arriving(0, "first", "a", 3), arriving(10, "second", "a", 3)]
    from_50 = [*arrivals, {"at": 50, "scheduler_conf": bare}]
    assert causes(single(*queues, events=from_50)) == (40, 0, 50, 0, 0)
    assert causes(single(*queues, events=arrivals, conf=bare)) == (0, 0, 90, 0, 0)


def test_a_pod_that_is_bound_while_the_others_start_delays_nothing() -> None:
    # the first pod of a, which is enough, is bound at 5 and starts until 15; the second one is bound at 11
    freed = arriving(0, "short", "b", 3)
    freed["create"]["podgroups"][0]["metadata"]["annotations"]["queuecast/run-seconds"] = "1"
    document = scenario(
        nodes=[node("n", cpu=4), node("m", cpu=2)],
        queues=[queue("a", deserved={"cpu": 4}), queue("b", deserved={"cpu": 4})],
        conf=PLAIN,
        replay={
            "period_seconds": 1,
            "horizon_seconds": 400,
            "start_delay_seconds": 10,
            "events": [freed, arriving(5, "first", "a", 2, members=2, least=1)],
        },
    )
    record = record_of(document, replay_document(document))
    (row,) = [one for one in cause_rows(record) if one.queue == "a"]
    assert causes(row) == (0, 0, 0, 0, 10)


def test_a_forecast_of_an_older_release_has_no_causes() -> None:
    record = forecast(1)[2]
    with np.load(BytesIO(packed(record))) as arrays:
        columns = {name: arrays[name] for name in arrays if name not in ("job_bound", "job_minimum")}
    columns["head"] = np.frombuffer(
        columns["head"].tobytes().replace(b'"format": 4', b'"format": 3'), dtype=np.uint8
    )
    file = BytesIO()
    np.savez_compressed(file, allow_pickle=False, **columns)
    old = unpacked(file.getvalue())
    assert (old.jobs.names, old.jobs.minimum.tolist()) == (record.jobs.names, record.jobs.pods.tolist())
    assert cause_rows(record)
    assert cause_rows(old) == []


def moment_by_moment(document: Object, result: Object, record: Record) -> Iterator[tuple[str, str, float]]:
    """Yield queue, cause and seconds of each waiting job between any two changes."""
    groups = {
        f"{group['metadata']['namespace']}/{group['metadata']['name']}": group
        for event in document["replay"]["events"]
        for group in items((event.get("create") or {}).get("podgroups"))
    }
    rooms = {name: room.free for name, room in record.rooms.items()}
    amounts = [
        steps for figures in record.queues.values() for of in figures.values() for steps in of.values()
    ]
    edges = {float(time) for steps in (*amounts, *rooms.values()) for time in steps.times}
    for row, name in enumerate(record.jobs.names):
        if name not in groups:
            continue
        job, queue_name = result["jobs"][name], record.jobs.queues[row]
        members = groups[name]["spec"]["minMember"]
        needs = {
            resource: float(sizes[row]) * members
            for resource, sizes in record.jobs.sizes.items()
            if resource != "pods" and sizes[row]
        }
        binds = [
            entry["t"]
            for entry in result["log"]
            for decision in entry["decisions"]
            if decision["op"] == "bind" and decision["job"] == name and job["started"] is not None
        ]
        begin = ceil(job["submitted"] / record.period) * record.period
        end = max([bind for bind in binds if bind <= job["started"]]) if binds else record.end
        times = sorted({begin, end, *(edge for edge in edges if begin < edge < end)})
        for time, after in pairwise(times):
            free = {resource: float(rooms[resource].at(time)) for resource in needs}
            figures = {
                figure: {
                    resource: float(record.steps(queue_name, figure, resource).at(time)) for resource in needs
                }
                for figure in ("deserved", "allocated")
            }
            above = [
                resource
                for resource in needs
                if resource in record.queues[queue_name]["deserved"]
                and figures["allocated"][resource] + needs[resource]
                > figures["deserved"][resource] + MIN_RESOURCE
            ]
            short = [resource for resource in needs if free[resource] + MIN_RESOURCE < needs[resource]]
            yield queue_name, "above" if above else "room" if short else "placed", after - time


@pytest.mark.parametrize("seed", trials(SEEDS, always=4))
def test_causes_equal_those_counted_moment_by_moment(seed: int) -> None:
    document, result, record = forecast(seed)
    expected: dict[tuple[str, str], float] = {}
    for queue_name, cause, seconds in moment_by_moment(document, result, record):
        expected[queue_name, cause] = expected.get((queue_name, cause), 0.0) + seconds
    for row in cause_rows(record):
        counted = [expected.get((row.queue, cause), 0.0) for cause in ("above", "room", "placed")]
        assert causes(row)[1:4] == pytest.approx(counted)


@pytest.mark.parametrize("seed", trials(SEEDS, always=4))
def test_no_pod_is_bound_in_a_queue_while_the_record_says_that_it_is_closed(seed: int) -> None:
    document = forecast(seed)[0]
    names = [one["metadata"]["name"] for one in document["queues"] if one["metadata"]["name"] != "root"]
    switches = [
        {"at": at, verb: {"queues": [names[(seed + at) % len(names)]]}}
        for at in range(20, 120, 20)
        for verb in (("close",) if at % 40 else ("close", "open"))
    ]
    replay = {**document["replay"], "events": [*document["replay"]["events"], *switches]}
    changed = {**document, "replay": replay}
    result = replay_document(changed)
    record = record_of(changed, result)
    assert record.closures
    queue_of = dict(zip(record.jobs.names, record.jobs.queues, strict=True))
    for entry in result["log"]:
        for decision in entry["decisions"]:
            if decision["op"] == "bind" and (closed := record.closures.get(queue_of[decision["job"]])):
                assert closed.at(entry["t"]) == 0, decision


@pytest.mark.parametrize("of_vcjobs", [False, True])
@pytest.mark.parametrize("seed", trials(SEEDS, always=4))
def test_causes_add_up_to_the_waits_and_are_stored(seed: int, of_vcjobs: bool) -> None:
    record = forecast(seed, of_vcjobs=of_vcjobs)[2]
    rows = cause_rows(record)
    for row in rows:
        assert row.closed + sum(causes(row)) == pytest.approx(row.waited)
        assert min(causes(row)) >= 0
    counted = (record.jobs.submitted >= 0) & ~(np.isnan(record.jobs.started) & ~np.isnan(record.jobs.ended))
    assert sum(row.waited for row in rows) == pytest.approx(
        record.jobs.waits_at_least(record.end)[counted].sum()
    )
    assert cause_rows(unpacked(packed(record))) == rows
