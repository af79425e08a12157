"""Figures of a replay equal calculations by hand."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.replay import metrics, replay_document
from scheduler_core.replay.spans import presence, spans
from tests.scheduler_core.replays import small_replay


def job(queue: str, submitted: float, started: float | None, finished: float | None, **more: Any) -> Any:
    return {
        "queue": queue,
        "submitted": submitted,
        "enqueued": submitted,
        "started": started,
        "finished": finished,
        "evictions": 0,
        "lost_seconds": 0,
        **more,
    }


def row(t: float, queue: str, deserved: float, allocated: float, request: float) -> Any:
    return {
        "t": t,
        "queue": queue,
        "deserved": {"cpu": deserved},
        "allocated": {"cpu": allocated, "pods": allocated / 1000},
        "request": {"cpu": request},
        "share": 0,
    }


RESULT: Any = {
    "end_seconds": 100,
    "jobs": {
        "default/a": job("x", 0, 10, 60),
        "default/b": job("x", 0, 30, 34, evictions=2, lost_seconds=20),
        "default/c": job("y", 0, 0, None),
        "default/d": job("y", 90, None, None),
    },
    "queues": [
        row(0, "x", 2000, 0, 4000),
        row(0, "y", 2000, 4000, 4000),
        row(10, "x", 2000, 1000, 4000),
        row(50, "x", 2000, 2000, 4000),
        row(50, "y", 2000, 2000, 4000),
    ],
    "log": [
        {
            "t": 10,
            "decisions": [
                {
                    "action": "reclaim",
                    "op": "evict",
                    "job": "default/c",
                    "pod": "default/c-0",
                    "for": "default/a-0",
                },
                {"action": "allocate", "op": "bind", "job": "default/a", "pod": "default/a-0", "node": "n"},
            ],
        },
    ],
}


def test_wait_turnaround_and_bounded_slowdown() -> None:
    jobs = RESULT["jobs"]
    assert [metrics.wait(entry) for entry in jobs.values()] == [10, 30, 0, None]
    assert [metrics.turnaround(entry) for entry in jobs.values()] == [60, 34, None, None]
    # a: 60 / 50; b ran 4 s, which count as 10: 34 / 10
    assert metrics.bounded_slowdown(jobs["default/a"]) == 1.2
    assert metrics.bounded_slowdown(jobs["default/b"]) == 3.4
    assert metrics.bounded_slowdown(jobs["default/c"]) is None


@pytest.mark.parametrize(
    ("part", "value"), [(0.0, 1), (0.25, 1), (0.5, 2), (0.51, 3), (0.75, 3), (0.95, 4), (1.0, 4)]
)
def test_quantile_is_one_of_the_values(part: float, value: float) -> None:
    assert metrics.quantile([3, 1, 4, 2], part) == value


def test_waits_by_queue() -> None:
    waits = metrics.waits_by_queue(RESULT)
    assert waits["x"] == metrics.QueueWaits(2, 2, 2, 10, 30, 30, 2, 20)
    assert waits["y"] == metrics.QueueWaits(2, 1, 0, 0, 0, 0, 0, 0)


def test_attainment_is_the_share_of_jobs_that_met_a_target() -> None:
    assert metrics.attainment(RESULT, "x", 10) == 0.5
    # d has waited 10 s at the end: late for a target of 5 s, still open for one of 20 s
    assert metrics.attainment(RESULT, "y", 5) == 0.5
    assert metrics.attainment(RESULT, "y", 20) == 1.0
    assert metrics.attainment(RESULT, "z", 5) is None


def test_integral_deficit_and_longest_starvation() -> None:
    held = spans(RESULT)
    assert metrics.integral(held["x"], "allocated", "cpu") == 40 * 1000 + 10 * 2000  # its last job ends at 60
    assert metrics.deficit(held["x"], "cpu") == 10 * 2000 + 40 * 1000
    assert metrics.longest_starvation(held["x"]) == (0, 50)
    assert metrics.longest_starvation(held["y"]) == (0.0, 0.0)


def test_queue_has_nothing_allocated_after_its_last_job_ends() -> None:
    lone = {
        "end_seconds": 100,
        "jobs": {"n/a": job("x", 0, 0, 20), "n/b": job("x", 60, 60, 70), "n/c": job("y", 0, 0, 100)},
        "queues": [row(0, "x", 1000, 1000, 1000), row(0, "y", 1000, 1000, 1000)],
        "log": [],
    }
    held = spans(lone)
    assert [span[:2] for span in held["x"]] == [(0, 20), (60, 70)]
    assert metrics.utilisation(lone, "cpu", 2000) == (20 + 10 + 100) / 200


def test_presence_of_a_failed_job_ends_with_its_podgroup() -> None:
    failed = {
        "jobs": {"n/a-1": job("x", 0, 5, None)},
        "vcjobs": {"n/a": {"podgroup": "n/a-1", "phases": [[0, "Pending"], [5, "Running"], [30, "Failed"]]}},
    }
    assert presence(failed) == {"x": [(0.0, 30)]}


@pytest.mark.parametrize("seed", range(6))
def test_allocated_spans_never_outlive_the_queues_jobs(seed: int) -> None:
    result = replay_document(small_replay(seed, jobs=4))
    for name, held in spans(result).items():
        ends = [job["finished"] for job in result["jobs"].values() if job["queue"] == name]
        if None not in ends:
            assert max(span.end for span in held) <= max(ends)


def test_jain_index_over_time() -> None:
    # 0 to 10 s: shares 0 and 2; 10 to 50 s: 0.5 and 2; to 60 s: 1 and 1; then only 1
    expected = (10 * 0.5 + 40 * (2.5**2 / (2 * 4.25)) + 50 * 1.0) / 100
    assert metrics.jain_index(RESULT, "cpu") == pytest.approx(expected)
    assert metrics.jain_index(RESULT, "nvidia.com/gpu") is None


def test_utilisation_churn_and_lost_goodput() -> None:
    allocated = 40 * 1000 + 10 * 2000 + 50 * 4000 + 50 * 2000
    assert metrics.utilisation(RESULT, "cpu", 8000) == allocated / (8000 * 100)
    assert metrics.churn(RESULT) == pytest.approx(1000 * 2 / (allocated / 1000 / 3600))
    assert metrics.goodput_lost(RESULT) == pytest.approx(20 / (allocated / 1000))


def test_evictions_are_counted_between_queues() -> None:
    assert metrics.evictions_between_queues(RESULT) == {("y", "x"): 1}


@pytest.mark.parametrize("seed", range(4))
def test_metrics_of_generated_replays_stay_within_bounds(seed: int) -> None:
    result = replay_document(small_replay(seed))
    for waits in metrics.waits_by_queue(result).values():
        assert waits.finished <= waits.started <= waits.jobs
        assert waits.p50 is None or 0 <= waits.p50 <= waits.p95 <= waits.longest
    index = metrics.jain_index(result, "cpu")
    assert index is None or 0 < index <= 1 + 1e-12
    for held in spans(result).values():
        assert sum(span.seconds for span in held) <= result["end_seconds"]
        assert metrics.deficit(held, "cpu") >= 0
