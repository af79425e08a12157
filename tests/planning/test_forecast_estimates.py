"""The estimated computing time of a forecast has the right order of magnitude."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.bench_estimates import WINDOWS, window
from planning.forecasts.estimate import Pace, estimated
from scheduler_core.replay import Replay
from scheduler_core.validate import Inspection
from tests.fidelity.replay_evidence import PHILLY
from tests.scheduler_core.replays import small_replay


def test_more_jobs_take_longer_and_sessions_are_limited_to_those_due() -> None:
    few, many = (estimated(small_replay(1, jobs=count)) for count in (4, 18))
    assert few.seconds < many.seconds
    assert estimated(small_replay(1, jobs=400, horizon_seconds=60, period_seconds=1)).sessions == 61


def test_jobs_of_many_pods_take_longer() -> None:
    document: Any = small_replay(1)
    job = {"metadata": {"name": "large"}, "spec": {"tasks": [{"replicas": 20000}, {"name": "one"}]}}
    large = {**document, "jobs": [job]}
    assert estimated(large).seconds > estimated({**document, "jobs": []}).seconds + 1


def test_a_configuration_that_evicts_may_take_longer() -> None:
    document: Any = small_replay(1)
    evicts = {**document, "scheduler_conf": {"actions": "enqueue, allocate, reclaim", "tiers": []}}
    plugins = [{"name": name} for name in ("gang", "predicates", "capacity")]
    conf = {"actions": "enqueue, allocate", "tiers": [{"plugins": plugins}]}
    calm = {**document, "scheduler_conf": conf}
    assert (estimated(evicts).at_least, estimated(calm).at_least) == (True, False)
    assert estimated(evicts).says.startswith("At least 1 s of computing for ")
    assert estimated(calm).says.startswith("About 1 s of computing for ")


@pytest.mark.parametrize(
    "change",
    [
        {"scheduler_conf": {"actions": "enqueue, allocate", "tiers": [{"plugins": [{"name": "sla"}]}]}},
        {"controllers": True},
        {"start_delay_seconds": 3},
    ],
    ids=["plugin", "controllers", "start delay"],
)
def test_a_forecast_without_calm_sessions_takes_longer(change: dict[str, Any]) -> None:
    plugins = [{"name": name} for name in ("gang", "predicates", "capacity")]
    conf = {"actions": "enqueue, allocate", "tiers": [{"plugins": plugins}]}
    document: Any = {**small_replay(1), "scheduler_conf": conf}
    changed = {**document, **change}
    if "start_delay_seconds" in change:
        changed = {**document, "replay": {**document["replay"], **change}}
    assert estimated(changed).seconds > 1.5 * estimated(document).seconds
    assert (estimated(changed).at_least, estimated(document).at_least) == (True, False)


def test_the_time_left_follows_from_the_speed_since_the_first_report() -> None:
    pace = Pace()
    assert (pace.left(100.0, 0.2), pace.left(110.0, 0.2), pace.left(110.0, 0.4)) == (None, None, 30.0)


@pytest.mark.skipif(not PHILLY.is_file(), reason=f"no Philly at {PHILLY} (QUEUECAST_SHARED)")
@pytest.mark.parametrize("name", [name for name in WINDOWS if name.startswith("2 h")])
def test_the_sessions_of_a_window_of_philly_are_estimated_within_a_factor_of_two(name: str) -> None:
    document = window(name)
    replay = Replay(document, Inspection(document))
    replay.run()
    assert replay.computed / 2 <= estimated(document).sessions <= replay.computed * 2
