"""Counting pipelined pods instead of placing each one does not change decisions or results of a replay."""

from __future__ import annotations

import gc
import json

import pytest

from scheduler_core import Options, simulate_document
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.snapshot import take_snapshot
from scheduler_core.replay import Replay
from tests.builders import Object
from tests.scheduler_core.replays import storm_replay
from tests.scheduler_core.states import state_of
from tests.scheduler_core.test_calm import committed, compare, opened, report_of
from tests.trials import trials

LARGE = {"jobs": 140, "nodes": 44}
"""More nodes than are evaluated one at a time."""


def in_the_storm(document: Object, after: int) -> Replay:
    """Return a replay after the given number of sessions with counted pods."""
    replay, seen = opened(document), 0
    for step in replay.steps():
        seen += bool(step.session.snapshot.tasks.counted)
        if seen == after:
            break
    return replay


SEEDS = (7, 0, 1, 2)
"""One seed for each configuration."""


@pytest.mark.parametrize("seed", SEEDS)
def test_storm_replays_match_full_sessions(seed: int) -> None:
    compare(storm_replay(seed))


def test_storm_replays_match_full_sessions_on_many_nodes_and_count_most_pipelined_pods() -> None:
    document = storm_replay(0, **LARGE)
    storm, plain = opened(document), opened(document, anew=True)
    counted = pipelined = 0
    for step in storm.steps():
        counted += len(step.session.snapshot.tasks.counted)
        pipelined += sum(decision.op == "pipeline" for decision in step.session.decisions)
    assert report_of(storm) == report_of(plain)
    assert counted > 500
    assert counted > 0.6 * pipelined


@pytest.mark.long
@pytest.mark.parametrize("seed", [seed for seed in range(200) if seed not in SEEDS])
def test_storm_replays_match_full_sessions_for_hundreds_of_seeds(seed: int) -> None:
    compare(storm_replay(seed, **(LARGE if seed % 10 == 0 else {})))


@pytest.mark.parametrize("seed", trials([2, 4], always=1))
def test_kept_state_equals_a_new_snapshot_after_counted_pods(seed: int) -> None:
    replay = opened(storm_replay(seed))
    for _ in replay.steps():
        living = state_of(replay.simulation.open_session())
        anew = state_of(replay.simulation.open_new(take_snapshot(replay.simulation.cluster)))
        assert living == anew


def test_opened_session_that_did_not_run_does_not_count_as_unchanged() -> None:
    document = storm_replay(0)
    undisturbed, disturbed = opened(document), opened(document)
    for _ in disturbed.steps():
        disturbed.simulation.open_session()
    assert report_of(disturbed) == report_of(undisturbed)


@pytest.mark.parametrize("seed", trials([2, 1, 4], always=1))
def test_replay_frozen_in_a_storm_resumes_to_the_same_bytes(seed: int) -> None:
    document = storm_replay(seed)
    whole = report_of(opened(document))
    for after in (2, 15):
        frozen = json.loads(json.dumps(in_the_storm(document, after).freeze()))
        assert report_of(opened(document, frozen=frozen)) == whole


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_moment_of_a_storm_decides_the_same_as_a_scenario(seed: int) -> None:
    for after in (2, 15):
        replay = in_the_storm(storm_replay(seed), after)
        moment = replay.moment()
        step = next(replay.steps())
        alone = simulate_document(moment, Options(explain=False))["cycles"][0]["decisions"]
        assert committed(alone) == committed([decision.as_dict() for decision in step.session.decisions])


def jobs_and_tasks_in_memory() -> int:
    return sum(type(thing) in (JobInfo, TaskInfo) for thing in gc.get_objects())


@pytest.mark.parametrize("seed", SEEDS)
def test_replaced_jobs_and_tasks_are_freed_without_the_garbage_collector(seed: int) -> None:
    """It took a twelfth of the time of a storm to find them."""
    replay = opened(storm_replay(seed))
    gc.collect()
    gc.disable()
    try:
        for _ in replay.steps():
            pass
        found = jobs_and_tasks_in_memory()
        gc.collect()
        assert jobs_and_tasks_in_memory() == found
    finally:
        gc.enable()
