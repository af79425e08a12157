"""Changes during a replay: closed queues, a replaced configuration."""

from __future__ import annotations

import json

from scheduler_core.replay import Replay, replay_document
from scheduler_core.validate import Inspection
from tests.builders import Object, conf, node, pod, podgroup, queue, scenario

ALLOCATES = conf("enqueue, allocate", ["gang"], ["predicates", "proportion"])


def arrival(name: str, at: float, *, queue: str = "a", seconds: float = 10, cpu: int = 1) -> Object:
    group = podgroup(
        name,
        queue=queue,
        min_resources={"cpu": 1},
        phase="Pending",
        annotations={"queuecast/run-seconds": str(seconds)},
    )
    return {"at": at, "create": {"podgroups": [group], "pods": [pod(f"{name}-0", group=name, cpu=cpu)]}}


def cluster(*events: Object, **fields: object) -> Object:
    return scenario(
        nodes=[node("n", cpu=4, memory="8Gi")],
        queues=[queue("a"), queue("b")],
        replay={"period_seconds": 1, "horizon_seconds": 200, "events": list(events)},
        **{"conf": ALLOCATES, **fields},  # type: ignore[arg-type]
    )


def test_closed_queue_starts_no_jobs_until_it_is_opened() -> None:
    result = replay_document(
        cluster(
            arrival("early", 0, seconds=30),
            {"at": 5, "close": {"queues": ["a"]}},
            arrival("late", 10),
            {"at": 60, "open": {"queues": ["a"]}},
        )
    )
    assert result["jobs"]["default/early"]["finished"] == 30, "running pods continue"
    assert result["jobs"]["default/late"]["enqueued"] == 60


def test_queue_is_closing_until_its_last_podgroup_is_deleted() -> None:
    document = cluster(arrival("j", 0, seconds=30), {"at": 5, "close": {"queues": ["a"]}})
    replay = Replay(document, Inspection(document))
    states = {}
    for step in replay.steps():
        (mine,) = [q for q in replay.world.cluster.queues if q["metadata"]["name"] == "a"]
        states[step.time] = mine["status"]["state"]
    assert (states[0], states[5], states[30]) == ("Open", "Closing", "Closed")


def test_children_are_closed_and_opened_with_their_parent() -> None:
    queues = [queue("p"), queue("child", parent="p"), queue("own", parent="p")]
    document = cluster(
        {"at": 1, "close": {"queues": ["own"]}},
        {"at": 2, "close": {"queues": ["p"]}},
        arrival("j", 3, queue="child"),
        {"at": 9, "open": {"queues": ["p"]}},
    )
    document["queues"] = queues
    replay = Replay(document, Inspection(document))
    seen = {}
    for step in replay.steps():
        seen[step.time] = {
            q["metadata"]["name"]: q["status"]["state"] for q in replay.world.cluster.queues if "p" in str(q)
        }
    assert [seen[2][name] for name in ("p", "child", "own")] == ["Closed"] * 3
    assert [seen[9][name] for name in ("p", "child", "own")] == ["Open", "Open", "Closed"]


def test_new_configuration_applies_from_the_next_session() -> None:
    idle = conf("enqueue", ["gang"], ["predicates", "proportion"])
    document = cluster(arrival("j", 0), {"at": 20.5, "scheduler_conf": ALLOCATES}, conf=idle)
    result = replay_document(document)
    assert result["jobs"]["default/j"]["enqueued"] == 0
    assert result["jobs"]["default/j"]["started"] == 21
    assert json.dumps(result) == json.dumps(replay_document(document, skips=False))


def test_replay_frozen_after_a_new_configuration_resumes_with_it() -> None:
    idle = conf("enqueue", ["gang"], ["predicates", "proportion"])
    document = cluster(arrival("j", 0), {"at": 20, "scheduler_conf": ALLOCATES}, arrival("k", 40), conf=idle)
    whole = Replay(document, Inspection(document)).run()
    replay = Replay(document, Inspection(document))
    for step in replay.steps():
        if step.time >= 30:
            break
    frozen = json.loads(json.dumps(replay.freeze()))
    assert Replay(document, Inspection(document), frozen=frozen).run() == whole


def test_a_configuration_that_an_older_release_rejects_is_an_error_before_the_replay() -> None:
    later = conf("enqueue, allocate, gangreclaim", ["gang"])
    document = cluster(arrival("j", 0), {"at": 20, "scheduler_conf": later})
    assert "error" not in replay_document(document)
    result = replay_document({**document, "release": "v1.14.4"})
    assert result["error"].startswith("replay: events[1].scheduler_conf is rejected as a whole by Volcano")
    assert "jobs" not in result


def test_invalid_configuration_event_is_reported_with_its_path() -> None:
    error = replay_document(cluster({"at": 1, "scheduler_conf": {"actions": "allocated", "tiers": []}}))[
        "error"
    ]
    assert "events[0].scheduler_conf" in error
    assert "allocated" in error


def test_deleting_the_node_of_a_terminating_pod_does_not_change_its_run_time() -> None:
    group = podgroup("j", queue="a", annotations={"queuecast/run-seconds": "50"})
    leaving = pod("j-0", group="j", node="n", phase="Running", deleting=True, cpu=1)
    for mode, finished in (("restart", 56), ("resume", 56), ("delete", None)):
        document = cluster(
            {"at": 5, "delete": {"nodes": ["n"]}},
            {"at": 6, "create": {"nodes": [node("m", cpu=4, memory="8Gi")]}},
            podgroups=[group],
            pods=[leaving],
        )
        document["replay"] |= {"evicted": mode, "termination_seconds": 30}
        job = replay_document(document)["jobs"]["default/j"]
        assert (job["lost_seconds"], job["finished"]) == (0, finished)


def test_deleted_node_ends_the_job_whose_other_pods_have_succeeded() -> None:
    pods = [
        pod(f"j-{number}", group="j", node="n", cpu=1, annotations={"queuecast/run-seconds": str(seconds)})
        for number, seconds in enumerate((50, 10))
    ]
    document = scenario(
        nodes=[node("n", cpu=4), node("m", cpu=4)],
        podgroups=[podgroup("j", phase="Running")],
        pods=pods,
        conf=ALLOCATES,
        replay={
            "period_seconds": 1,
            "horizon_seconds": 200,
            "evicted": "delete",
            "events": [{"at": 20, "delete": {"nodes": ["n"]}}],
        },
    )
    assert replay_document(document)["jobs"]["default/j"]["finished"] == 20
