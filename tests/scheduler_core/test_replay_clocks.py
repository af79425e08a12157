"""Skipped sessions resume in time for plugins that read the clock."""

from __future__ import annotations

import json

import pytest

from scheduler_core.replay import Replay, replay_document
from scheduler_core.validate import Inspection
from tests.builders import NOW, Object, conf, node, pod, podgroup, queue, scenario
from tests.scheduler_core.replays import clocked_replay
from tests.trials import trials


def test_job_without_an_sla_deadline_waits_forever() -> None:
    result = replay_document(waiting("sla"))
    assert result["jobs"]["default/late"]["enqueued"] is None
    assert (result["sessions"], result["end_seconds"]) == (1, 0)


def test_job_is_enqueued_at_its_sla_deadline_without_other_events() -> None:
    document = waiting("sla")
    document["podgroups"][0]["metadata"]["annotations"] = {"volcano.sh/sla-waiting-time": "10m"}
    replay = Replay(document, Inspection(document))
    times = [step.time for step in replay.steps()]
    assert times == [0, 600, 601], "the first session, one at the deadline, and one that changes nothing"
    assert replay.records.jobs["default/late"].enqueued == 600


def waiting(*plugins: str) -> Object:
    """Return a 15-minute replay with a job that waits for resources, and no other events."""
    late = podgroup("late", min_member=1, min_resources={"cpu": 8}, phase="Pending", created=12 * 3600)
    return scenario(
        nodes=[node("n", cpu=4, memory="8Gi")],
        podgroups=[late],
        pods=[pod("late-0", group="late", cpu=8)],
        conf=conf("enqueue, allocate", ["gang", *plugins], ["overcommit", "predicates", "proportion"]),
        now=NOW,
        replay={"period_seconds": 1, "horizon_seconds": 900},
    )


def test_pod_is_evicted_when_its_cooldown_ends() -> None:
    running = pod("old-0", group="old", node="n", cpu=4, annotations={"volcano.sh/cooldown-time": "5m"})
    running["status"]["conditions"] = [{"type": "PodScheduled", "status": "True", "lastTransitionTime": NOW}]
    document = scenario(
        nodes=[node("n", cpu=4, memory="8Gi")],
        queues=[queue("a", deserved={"cpu": 0}), queue("b", deserved={"cpu": 4})],
        podgroups=[podgroup("old", queue="a", phase="Running"), podgroup("new", queue="b", phase="Inqueue")],
        pods=[running, pod("new-0", group="new", cpu=4)],
        conf=conf("allocate, reclaim", ["cdp", "predicates", "capacity"], ["gang"]),
        replay={"period_seconds": 1, "horizon_seconds": 400},
    )
    result = replay_document(document)
    evicted = [entry["t"] for entry in result["log"] if entry["decisions"][0]["op"] == "evict"]
    assert evicted[0] == 300
    assert json.dumps(result) == json.dumps(replay_document(document, skips=False))


@pytest.mark.parametrize("seed", trials(range(6), always=3))
def test_skipping_sessions_does_not_change_replays_with_clock_plugins(seed: int) -> None:
    document = clocked_replay(seed)
    assert json.dumps(replay_document(document)) == json.dumps(replay_document(document, skips=False))


def test_most_sessions_are_skipped_with_clock_plugins() -> None:
    document = clocked_replay(1, period_seconds=1, evicted="delete")
    replay = Replay(document, Inspection(document))
    replay.run()
    assert replay.computed < replay.sessions / 2
