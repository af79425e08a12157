"""Properties of every replay, and equal bytes for every way to compute one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scheduler_core import Options, simulate_document
from scheduler_core.replay import Replay, replay_document
from scheduler_core.replay.records import LOGGED
from scheduler_core.validate import Inspection
from tests.builders import Object, conf, node, pod, podgroup, queue, scenario
from tests.scheduler_core.replays import small_replay
from tests.trials import trials

SEEDS = range(8)
ROOT = Path(__file__).resolve().parents[2]


def opened(document: Object, **how: object) -> Replay:
    return Replay(document, Inspection(document), **how)  # type: ignore[arg-type]


def bytes_of(result: Object) -> bytes:
    return json.dumps(result, sort_keys=True).encode()


def run_job(
    seconds: float,
    *,
    name: str = "j",
    at: float = 0.0,
    count: int = 1,
    queue: str = "default",
    **facts: object,
) -> Object:
    annotations = {"queuecast/run-seconds": str(seconds)}
    group = podgroup(name, queue=queue, min_member=count, phase="Pending", annotations=annotations)
    members = [pod(f"{name}-{number}", group=name, cpu=1, **facts) for number in range(count)]
    return {"at": at, "create": {"podgroups": [group], "pods": members}}


PLAIN = conf("enqueue, allocate", ["gang"], ["predicates", "proportion"])


def one_node(*events: Object, cpu: int = 1, horizon: float = 100, **timeline: object) -> Object:
    return scenario(
        nodes=[node("n", cpu=cpu, memory="8Gi")],
        conf=PLAIN,
        replay={"period_seconds": 1, "horizon_seconds": horizon, "events": list(events), **timeline},
    )


def test_two_jobs_on_one_core_run_one_after_the_other() -> None:
    result = replay_document(one_node(run_job(10, name="a"), run_job(10, name="b", at=2.5)))
    assert result["jobs"]["default/a"]["started"] == 0
    assert result["jobs"]["default/a"]["finished"] == 10
    assert result["jobs"]["default/b"]["submitted"] == 2.5
    assert result["jobs"]["default/b"]["started"] == 10
    assert result["jobs"]["default/b"]["finished"] == 20
    assert (result["sessions"], result["end_seconds"]) == (21, 20)


def test_start_delay_occupies_the_node_before_the_run_time() -> None:
    result = replay_document(one_node(run_job(10), start_delay_seconds=4))
    assert result["jobs"]["default/j"]["started"] == 4
    assert result["jobs"]["default/j"]["finished"] == 14


def test_empty_timeline_ends_after_one_session() -> None:
    result = replay_document(one_node())
    assert result["log"] == []
    assert (result["sessions"], result["end_seconds"]) == (1, 0)


def test_replay_ends_at_the_horizon() -> None:
    result = replay_document(one_node(run_job(1000), horizon=50))
    assert (result["sessions"], result["end_seconds"]) == (51, 50)
    assert result["jobs"]["default/j"]["finished"] is None


def test_jobs_wait_in_a_cluster_without_nodes() -> None:
    in_tree = ("capacity", {"enableHierarchy": True})
    document = scenario(
        queues=[
            queue("a", parent="root", capability={"cpu": 5}),
            queue("b", parent="root", capability={"cpu": 6}),
            queue("below", parent="b", capability={"cpu": 4}),
        ],
        conf=conf(
            "enqueue, allocate, reclaim, preempt, backfill",
            ["priority", "gang", "conformance"],
            ["drf", "predicates", in_tree, "nodeorder"],
        ),
        replay={
            "period_seconds": 5,
            "horizon_seconds": 600,
            "events": [
                run_job(1, name="first", at=0.5, queue="a"),
                run_job(1, name="second", at=0.7, queue="below"),
            ],
        },
    )
    result = opened(document).run()
    assert [job["started"] for job in result["jobs"].values()] == [None, None]
    assert bytes_of(result) == bytes_of(opened(document, anew=True).run())


def test_pod_of_a_deleted_node_restarts_and_loses_its_run_time() -> None:
    document = one_node(run_job(30), {"at": 12, "delete": {"nodes": ["n"]}})
    document["replay"]["events"].append({"at": 20, "create": {"nodes": [node("m", cpu=1, memory="8Gi")]}})
    job = replay_document(document)["jobs"]["default/j"]
    assert job["lost_seconds"] == 12
    assert job["finished"] == 50


@pytest.mark.parametrize(
    ("replay", "problem"),
    [
        ({}, "replay: horizon_seconds is missing"),
        ({"horizon_seconds": 10, "period_seconds": 0}, "replay: period_seconds is out of range"),
        ({"horizon_seconds": 10, "events": [{"create": {}}]}, "replay: events[0].at is missing"),
        ({"horizon_seconds": 10, "evicted": "gone"}, "replay: evicted is 'gone'"),
        ({"horizon_seconds": 10, "events": [{"at": 1, "create": {"podz": []}}]}, "events[0].create.podz"),
        ({"horizon_seconds": 10, "events": [{"at": 1, "delete": {"pods": []}}]}, "events[0].delete.pods"),
    ],
)
def test_timeline_errors_name_the_field(replay: Object, problem: str) -> None:
    assert problem in replay_document({"replay": replay})["error"]


def test_document_without_a_timeline_is_refused() -> None:
    assert replay_document({})["error"].startswith("replay is missing")


# properties


@pytest.mark.parametrize("seed", trials(SEEDS, always=4))
def test_skipping_sessions_does_not_change_the_result(seed: int) -> None:
    document = small_replay(seed)
    assert bytes_of(replay_document(document)) == bytes_of(replay_document(document, skips=False))


@pytest.mark.parametrize("seed", trials(range(4), always=2))
def test_frozen_replay_resumes_to_the_same_bytes(seed: int) -> None:
    document = small_replay(seed)
    whole = replay_document(document)
    for stop in (1, 3, 7, 15, 31):
        replay = opened(document)
        for number, _ in enumerate(replay.steps(), start=1):
            if number == stop:
                break
        frozen = json.loads(json.dumps(replay.freeze()))
        again = opened(document, frozen=frozen).run()
        assert bytes_of({"name": whole["name"], **again}) == bytes_of(whole)


def moments(document: Object) -> Iterator[tuple[Object, list[Object]]]:
    """Yield the state before each session as a scenario, with that session's committed decisions."""
    replay = opened(document)
    moment = replay.moment()
    for step in replay.steps():
        decisions = [
            {name: text for name, text in decision.as_dict().items() if name not in ("reason", "state")}
            for decision in step.session.decisions
            if decision.op in LOGGED and decision.state == "committed"
        ]
        yield moment, decisions
        moment = replay.moment()


@pytest.mark.parametrize("seed", trials(range(4), always=2))
def test_every_moment_decides_the_same_as_a_scenario(seed: int) -> None:
    for moment, decisions in moments(small_replay(seed)):
        cycle = simulate_document(moment, Options(explain=False))["cycles"][0]
        alone = [
            {name: text for name, text in entry.items() if name not in ("reason", "state")}
            for entry in cycle["decisions"]
            if entry["op"] in LOGGED and entry["state"] == "committed"
        ]
        assert alone == decisions


@pytest.mark.parametrize("seed", trials(SEEDS, always=4))
def test_no_pod_runs_twice_and_work_is_conserved(seed: int) -> None:
    document = small_replay(seed)
    result = replay_document(document)
    running: set[str] = set()
    decisions = [decision for entry in result["log"] for decision in entry["decisions"]]
    bound = {decision["pod"] for decision in decisions if decision["op"] == "bind"}
    for decision in decisions:
        if decision["op"] == "evict":
            running.discard(decision["pod"])
        elif decision["op"] == "bind" and document["replay"]["evicted"] == "delete":
            assert decision["pod"] not in running
            running.add(decision["pod"])
    for key, job in result["jobs"].items():
        assert job["lost_seconds"] >= 0
        if job["started"] is not None:
            assert job["started"] >= job["submitted"]
            assert any(pod.startswith(f"{key}-") for pod in bound)
        if job["finished"] is not None:
            assert job["finished"] >= job["submitted"] + run_time_of(document, key)


def run_time_of(document: Object, key: str) -> float:
    """Return how long the pods of a job run."""
    for event in document["replay"]["events"]:
        for group in event.get("create", {}).get("podgroups", ()):
            if f"default/{group['metadata']['name']}" == key:
                return float(group["metadata"]["annotations"]["queuecast/run-seconds"])
    raise AssertionError(key)


@pytest.mark.parametrize("seed", trials(SEEDS, always=4))
def test_no_node_is_overcommitted_during_a_replay(seed: int) -> None:
    replay = opened(small_replay(seed))
    for step in replay.steps():
        assert (step.session.nodes.idle >= 0).all()


@pytest.mark.parametrize("seed", trials(range(6), always=3))
def test_replay_does_not_depend_on_the_order_of_objects(seed: int) -> None:
    document = small_replay(seed)
    turned = {
        name: value[::-1] if isinstance(value, list) and name != "priorityclasses" else value
        for name, value in document.items()
    }
    assert bytes_of(replay_document(turned)) == bytes_of(replay_document(document))


def test_replay_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    path = tmp_path / "replay.json"
    path.write_text(json.dumps(small_replay("hash")))
    answers = {
        subprocess.run(
            [sys.executable, "-m", "scheduler_core", "replay", str(path)],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(answers) == 1


def test_rows_share_equal_amounts() -> None:
    result = replay_document(one_node(run_job(10, name="a"), run_job(10, name="b", at=20)))
    rows = [row for row in result["queues"] if row["queue"] == "default"]
    deserved = {id(row["deserved"]) for row in rows}
    assert len(rows) > len(deserved) == len({json.dumps(row["deserved"]) for row in rows})
    free = [row["free"] for row in result["nodes"]]
    assert len(free) > len({id(amounts) for amounts in free}) == 2


def test_replay_does_not_modify_its_document() -> None:
    for document in map(small_replay, SEEDS):
        before = bytes_of(document)
        replay_document(document)
        assert bytes_of(document) == before


@pytest.mark.parametrize(
    ("phases", "minimum", "started"),
    [
        (("Running", "Running"), 2, -100),
        (("Succeeded", "Running"), 2, -300),  # the other one ran with it, and has ended
        (("Succeeded", "Succeeded", "Running"), 2, -300),
        (("Failed", "Running"), 2, None),
        (("Succeeded", "Pending"), 2, None),
    ],
)
def test_a_job_found_with_pods_that_have_succeeded_has_started(
    phases: tuple[str, ...], minimum: int, started: float | None
) -> None:
    since = {0: "2026-11-22T11:58:20Z", 1: "2026-11-22T11:55:00Z", 2: "2026-11-22T11:55:00Z"}
    found = [
        pod(f"j-{number}", group="j", node=None if phase == "Pending" else "n", phase=phase, cpu=3)
        for number, phase in enumerate(phases)
    ]
    for number, one in enumerate(found):
        one["status"]["startTime"] = since[number]
    document = scenario(
        nodes=[node("n", cpu=4)],
        podgroups=[podgroup("j", min_member=minimum)],
        pods=found,
        conf=conf("enqueue, allocate", ["gang"], ["predicates"]),
        now="2026-11-22T12:00:00Z",
        replay={"horizon_seconds": 5},
    )
    assert replay_document(document)["jobs"]["default/j"]["started"] == started
