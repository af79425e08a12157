"""Sessions that are skipped although the previous session changed something."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from scheduler_core.replay import Replay, replay_document
from scheduler_core.replay.fixpoint import Change
from scheduler_core.validate import Inspection
from tests.builders import Object, conf, node, pod, podgroup, scenario
from tests.scheduler_core.replays import crowded_replay, job_replay, small_replay
from tests.trials import trials


def opened(document: Object) -> Replay:
    return Replay(document, Inspection(document))


def one_node(*jobs: Object, plugins: tuple[str, ...] = ("predicates", "proportion"), cpu: int = 2) -> Object:
    return scenario(
        nodes=[node("n", cpu=cpu, memory="8Gi")],
        conf=conf("enqueue, allocate", ["gang"], list(plugins)),
        replay={"period_seconds": 1, "horizon_seconds": 100, "events": list(jobs)},
    )


def job(name: str, *, at: float = 0.0, cpu: int = 1, seconds: int = 10) -> Object:
    group = podgroup(
        name,
        phase="Pending",
        annotations={"queuecast/run-seconds": str(seconds)},
        min_resources={"cpu": str(cpu)},
    )
    return {"at": at, "create": {"podgroups": [group], "pods": [pod(f"{name}-0", group=name, cpu=cpu)]}}


def computed(document: Object) -> list[tuple[float, Change]]:
    return [(step.time, step.change) for step in opened(document).steps()]


def test_job_phase_change_to_running_needs_no_further_session() -> None:
    assert computed(one_node(job("a"))) == [
        (0, Change.STATE),  # enqueued and bound
        (1, Change.PHASES),  # runs
        (10, Change.NOTHING),  # is over
    ]


def test_replay_ends_with_an_unchanged_session_if_nothing_is_due() -> None:
    endless = one_node(job("a"))
    del endless["replay"]["events"][0]["create"]["podgroups"][0]["metadata"]["annotations"]
    assert computed(endless)[-1] == (2, Change.NOTHING)
    answer = replay_document(endless)
    assert (answer["sessions"], answer["end_seconds"]) == (3, 2)


def test_reservation_released_by_a_phase_change_reaches_waiting_jobs() -> None:
    crowd = [job("a"), job("b", cpu=2, at=1)]
    waits = one_node(*crowd, plugins=("predicates", "proportion", "overcommit"))
    assert (1, Change.STATE) in computed(waits)
    assert json.dumps(replay_document(waits)) == json.dumps(replay_document(waits, skips=False))


@pytest.mark.parametrize("make", [small_replay, crowded_replay, job_replay])
@pytest.mark.parametrize("seed", trials(range(4), always=1))
def test_skipped_sessions_do_not_change_the_replay(make: Callable[[str], Object], seed: int) -> None:
    document = make(f"words {seed}")
    assert json.dumps(replay_document(document)) == json.dumps(replay_document(document, skips=False))
