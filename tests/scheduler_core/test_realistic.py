"""Replays of clusters as they are run decide, on the living state, as on new snapshots for each session."""

from __future__ import annotations

import pytest

from tests.scheduler_core.realistic import disturbed_replay, realistic_replay
from tests.scheduler_core.test_calm import compare, is_calm, opened
from tests.trials import trials


@pytest.mark.parametrize("number", trials(range(300), always=1))
def test_replays_of_pools_trees_and_different_jobs_match_full_sessions(number: int) -> None:
    compare(realistic_replay(number))


@pytest.mark.parametrize("number", trials(range(300), always=1))
def test_replays_of_pools_with_gangs_of_equal_pods_match_full_sessions(number: int) -> None:
    compare(realistic_replay(number, simple=True))


@pytest.mark.parametrize("number", trials(range(300), always=1))
def test_replays_with_lost_nodes_other_configurations_and_closed_queues_match_full_sessions(
    number: int,
) -> None:
    compare(disturbed_replay(number))


def test_some_sessions_on_pools_are_calm() -> None:
    calm = 0
    for number in range(6):
        replay = opened(realistic_replay(number, simple=True))
        calm += sum(is_calm(replay) for _ in replay.steps())
    assert calm > 50
