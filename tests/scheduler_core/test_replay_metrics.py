"""Are the figures of a replay those that a hand computes?"""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.replay import metrics, replay_document
from tests.scheduler_core.replays import small_replay


def job(queue: str, submitted: float, started: float | None, finished: float | None) -> Any:
    return {"queue": queue, "submitted": submitted, "started": started, "finished": finished}


def row(t: float, queue: str) -> Any:
    return {"t": t, "queue": queue}


@pytest.mark.parametrize(
    ("part", "value"), [(0.0, 1), (0.25, 1), (0.5, 2), (0.51, 3), (0.75, 3), (0.95, 4), (1.0, 4)]
)
def test_a_quantile_is_a_value_that_occurs(part: float, value: float) -> None:
    assert metrics.quantile([3, 1, 4, 2], part) == value


def test_a_row_of_a_queue_holds_until_the_next_one_or_its_last_job_is_gone() -> None:
    result = {
        "end_seconds": 100,
        "jobs": {"n/a": job("x", 0, 10, 60), "n/b": job("x", 0, 30, 34), "n/c": job("y", 0, 0, None)},
        "queues": [row(0, "x"), row(0, "y"), row(10, "x"), row(50, "x"), row(50, "y")],
    }
    held = metrics.spans(result)
    assert [span[:2] for span in held["x"]] == [(0, 10), (10, 50), (50, 60)]
    assert [span[:2] for span in held["y"]] == [(0, 50), (50, 100)]


def test_a_queue_has_no_row_while_it_has_no_job() -> None:
    lone = {
        "end_seconds": 100,
        "jobs": {"n/a": job("x", 0, 0, 20), "n/b": job("x", 60, 60, 70), "n/c": job("y", 0, 0, 100)},
        "queues": [row(0, "x"), row(0, "y")],
    }
    held = metrics.spans(lone)
    assert [span[:2] for span in held["x"]] == [(0, 20), (60, 70)]
    assert [span[:2] for span in held["y"]] == [(0, 100)]


def test_a_failed_job_has_no_podgroup_any_more() -> None:
    failed = {
        "jobs": {"n/a-1": job("x", 0, 5, None)},
        "vcjobs": {"n/a": {"podgroup": "n/a-1", "phases": [[0, "Pending"], [5, "Running"], [30, "Failed"]]}},
    }
    assert metrics.presence(failed) == {"x": [(0.0, 30)]}


@pytest.mark.parametrize("seed", range(6))
def test_what_queues_have_allocated_never_outlives_their_jobs(seed: int) -> None:
    result = replay_document(small_replay(seed, jobs=4))
    for name, held in metrics.spans(result).items():
        ends = [job["finished"] for job in result["jobs"].values() if job["queue"] == name]
        if None not in ends:
            assert max(span.end for span in held) <= max(ends)


@pytest.mark.parametrize("seed", range(4))
def test_the_rows_of_a_queue_follow_each_other(seed: int) -> None:
    result = replay_document(small_replay(seed))
    for held in metrics.spans(result).values():
        edges = [edge for span in held for edge in span[:2]]
        assert edges == sorted(edges)
        assert edges[-1] <= result["end_seconds"]
