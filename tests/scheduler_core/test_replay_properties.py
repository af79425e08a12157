"""Properties of PodGroups and Jobs in every replay."""

from __future__ import annotations

from collections import Counter

import pytest

from scheduler_core.replay import Replay, replay_document
from scheduler_core.validate import Inspection
from tests.builders import Object, conf, node, pod, podgroup, queue, scenario
from tests.fidelity.replay_evidence import (
    KINDS,
    encoded,
    same_alone,
    same_in_another_order,
    same_when_frozen,
    same_without_skipping,
)
from tests.scheduler_core.replays import job_replay, small_replay
from tests.scheduler_core.test_situations import cluster, submit, task
from tests.trials import trials

SOME = [kind(seed) for kind in KINDS for seed in (101, 102)]


def test_replay_result_is_the_same_for_every_way_to_compute_it() -> None:
    for count, total in (
        same_without_skipping(iter(SOME)),
        same_alone(iter(SOME[4:5])),
        same_when_frozen(iter(SOME[4:5]), 3),
        same_in_another_order(iter(SOME[::3])),
    ):
        assert count == total > 0


@pytest.mark.parametrize("kind", [small_replay, job_replay])
@pytest.mark.parametrize("seed", range(2))
def test_only_pods_without_a_node_are_bound(kind: object, seed: int) -> None:
    replay = Replay(document := kind(seed), Inspection(document))  # type: ignore[operator]
    found = {entry["metadata"]["uid"]: entry for entry in replay.moment()["pods"]}
    for step in replay.steps():
        bound = [decision.pod for decision in step.session.decisions if decision.op == "bind"]
        assert len(bound) == len(set(bound))
        by_key = {
            f"{entry['metadata']['namespace']}/{entry['metadata']['name']}": entry for entry in found.values()
        }
        assert not [key for key in bound if by_key[key]["spec"].get("nodeName")]
        found = {entry["metadata"]["uid"]: entry for entry in replay.moment()["pods"]}
        assert len(found) == len(replay.moment()["pods"])


@pytest.mark.parametrize("seed", trials(range(3), always=2))
def test_pods_run_for_their_run_time_plus_the_lost_time(seed: int) -> None:
    """Every run begins and ends on a whole second, so counting once per second is exact."""
    evicted = ("restart", "resume", "restart-job")[seed % 3]
    document = small_replay(seed, period_seconds=1, evicted=evicted, horizon_seconds=600)
    document["replay"]["checkpoint_seconds"] = 4 * (seed % 2)
    replay = Replay(document, Inspection(document), skips=False)
    ran: Counter[str] = Counter()
    for _ in replay.steps():
        for member in replay.world.cluster.pods.values():
            if member["status"]["phase"] == "Running" and not member["metadata"].get("deletionTimestamp"):
                ran[f"default/{member['metadata']['annotations']['scheduling.k8s.io/group-name']}"] += 1
    done = 0
    for event in document["replay"]["events"]:
        for group in event.get("create", {}).get("podgroups", ()):
            key = f"default/{group['metadata']['name']}"
            life = replay.records.jobs[key]
            if life.finished is not None:
                done += 1
                seconds = float(group["metadata"]["annotations"]["queuecast/run-seconds"])
                assert ran[key] == len(event["create"]["pods"]) * seconds + life.lost_seconds
    assert done > 5


@pytest.mark.parametrize("seed", trials(range(3), always=2))
def test_no_job_starts_before_it_is_submitted_or_ends_before_its_run_time(seed: int) -> None:
    document = job_replay(seed)
    result = replay_document(document)
    given = {
        job["metadata"]["name"]: job
        for event in document["replay"]["events"]
        for job in event.get("create", {}).get("jobs", ())
    }
    for key, vcjob in result["vcjobs"].items():
        life = result["jobs"].get(vcjob["podgroup"])
        if life is None or life["started"] is None:
            continue
        assert life["started"] >= life["enqueued"] >= life["submitted"]
        assert life["lost_seconds"] >= 0
        job = given.get(key.partition("/")[2])
        policies = str(job["spec"]["policies"]) if job else "CompleteJob"
        if life["finished"] is not None and "CompleteJob" not in policies:
            runs = [
                entry["template"]["metadata"]["annotations"]["queuecast/run-seconds"]
                for entry in job["spec"]["tasks"]
            ]
            assert life["finished"] >= life["started"] + min(map(float, runs))


@pytest.mark.parametrize("seed", range(2))
def test_no_node_is_overcommitted_while_jobs_are_added_and_deleted(seed: int) -> None:
    replay = Replay(document := job_replay(seed), Inspection(document))
    for step in replay.steps():
        assert (step.session.nodes.idle >= 0).all()


def test_jobs_of_the_document_run_without_events() -> None:
    document = cluster()
    assert replay_document(document)["log"] == []
    document["jobs"] = [submit(0, "j", task("w", 2, seconds=9))["create"]["jobs"][0]]
    result = replay_document(document)
    assert result["vcjobs"]["default/j"]["phases"] == [[0, "Pending"], [1, "Running"], [10, "Completed"]]
    assert encoded(result) == encoded(replay_document(document, skips=False))


def test_running_job_of_the_document_continues_from_its_status() -> None:
    job = submit(0, "j", task("w", 2, seconds=100))["create"]["jobs"][0]
    job["status"] = {"state": {"phase": "Running"}, "version": 1, "retryCount": 1}
    annotations = {
        "volcano.sh/job-name": "j",
        "volcano.sh/task-spec": "w",
        "volcano.sh/job-version": "1",
        "queuecast/run-seconds": "100",
    }
    document = cluster(jobs=[job], podgroups=[podgroup("j-default-j", min_member=2, phase="Running")])
    document["pods"] = [
        pod(f"j-w-{number}", group="j-default-j", node="n", cpu=1, annotations=annotations)
        for number in range(2)
    ]
    result = replay_document(document)
    assert result["vcjobs"]["default/j"]["phases"] == [[0, "Running"], [100, "Completed"]]
    assert not result["log"]


def reclaiming_in_turns(hours: float) -> Object:
    """Return two queues whose jobs reclaim from each other endlessly, as users report (volcano #4947)."""
    return scenario(
        nodes=[node("n", cpu=8, memory="64Gi")],
        queues=[queue("q1", deserved={"cpu": 3}), queue("q2", deserved={"cpu": 5})],
        podgroups=[
            podgroup("big", queue="q1", min_resources={"cpu": 4}, phase="Running"),
            *(
                podgroup(f"small-{number}", queue="q2", min_resources={"cpu": 1}, phase="Inqueue")
                for number in range(5)
            ),
        ],
        pods=[
            pod("big-0", group="big", node="n", cpu=4),
            pod("small-0-0", group="small-0", node="n", cpu=1),
            *(pod(f"small-{number}-0", group=f"small-{number}", cpu=1) for number in range(1, 5)),
        ],
        conf=conf(
            "enqueue, allocate, reclaim", ["priority", "conformance", "predicates", "capacity"], ["gang"]
        ),
        replay={
            "period_seconds": 1,
            "horizon_seconds": 3600 * hours,
            "termination_seconds": 30,
            "evicted": "restart",
        },
    )


def evictions(result: Object) -> list[tuple[float, str, str]]:
    return [
        (entry["t"], decision["pod"], decision["for"])
        for entry in result["log"]
        for decision in entry["decisions"]
        if decision["op"] == "evict"
    ]


@pytest.mark.parametrize(
    ("hours", "turns"),
    [(1 / 6, 20), pytest.param(24, 2788, marks=pytest.mark.long)],
    ids=["ten minutes", "a day"],
)
def test_four_core_pod_is_evicted_every_31_seconds_for_a_one_core_pod(hours: float, turns: int) -> None:
    """It is recreated 30 s later, bound before the pod it was evicted for, and reclaimed again."""
    result = replay_document(reclaiming_in_turns(hours))
    found = evictions(result)
    assert [time for time, _, _ in found] == [31 * turn for turn in range(turns)]
    assert {(victim, heir) for _, victim, heir in found} == {("default/big-0", "default/small-4-0")}
    assert result["jobs"]["default/small-4"]["started"] is None
    assert result["jobs"]["default/big"]["lost_seconds"] == turns - 1, "one second in each turn"
