"""Waits under drawn workloads are reproducible, and their intervals have the stated confidence."""

from __future__ import annotations

import random
from statistics import mean, stdev

import pytest

from planning.forecasts.seeds import (
    T_975,
    SeedRow,
    change_over_seeds,
    interval,
    over_seeds,
    seed_rows,
)
from planning.forecasts.workload import Fitting, drawn_from
from tests.planning.test_forecast_comparisons import replayed, sequential_jobs
from tests.traces.builders import trace_job
from traces import Trace


def test_intervals_over_seeds_follow_students_t() -> None:
    assert (interval([5.0]).low, interval([5.0]).seeds) == (None, 1)
    three = interval([1.0, 2.0, 3.0])
    assert three.high == pytest.approx(2 + T_975[1] / 3**0.5)
    assert interval([4.0] * 5).low == 4.0
    forty = interval(list(range(40)))
    assert forty.seeds == 40
    assert forty.high == pytest.approx(19.5 + 2.0227 * stdev(range(40)) / 40**0.5, rel=1e-5)
    assert interval([0.0, 1.0], 0.0).low == 0.0


def test_an_interval_of_95_percent_contains_the_mean_in_95_of_100_cases() -> None:
    dice = random.Random(7)
    held = 0
    for _ in range(2000):
        found = interval([dice.gauss(100, 15) for _ in range(6)])
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 100 <= found.high
    assert held / 2000 == pytest.approx(0.95, abs=0.015)


def test_the_waits_of_a_workload_equal_those_of_its_table() -> None:
    # ten jobs of 100 s on one core wait 0, 100, … 900 s
    (row,) = seed_rows(replayed(sequential_jobs(100)), 3)
    assert (row.seed, row.queue, row.jobs) == (3, "a", 10)
    assert (row.mean, row.p50, row.p95) == pytest.approx((450, 400, 900), abs=15)


def test_several_seeds_are_compared_in_pairs() -> None:
    runs = {1: 90, 2: 100, 3: 110}
    before, after = (
        [
            row
            for seed, run in runs.items()
            for row in seed_rows(replayed(sequential_jobs(run, cores=cores)), seed)
        ]
        for cores in (1, 2)
    )
    (found,) = change_over_seeds(before, after)
    assert found.p95.change.mean == pytest.approx(-500, abs=15)
    assert found.p95.change.is_clear
    assert found.p50.before.mean == pytest.approx(400, abs=15)
    # the mean change of the waits is the difference of their means
    assert found.mean.change.mean == pytest.approx(found.mean.after.mean - found.mean.before.mean)
    (alone,) = over_seeds(before)
    assert alone.p50 == found.p50.before


def test_a_change_within_chance_is_not_clear_and_a_seed_without_jobs_is_skipped() -> None:
    before = [SeedRow(seed, "a", 5, wait, wait, wait) for seed, wait in enumerate((10.0, 20.0, 30.0), 1)]
    after = [SeedRow(seed, "a", 5, wait, wait, wait) for seed, wait in ((1, 14.0), (2, 18.0), (3, 31.0))]
    (found,) = change_over_seeds(before, after)
    assert found.mean.change.mean == pytest.approx(1.0)
    assert not found.mean.change.is_clear
    (fewer,) = change_over_seeds(before, after[:2])
    assert fewer.mean.change.seeds == 2
    assert change_over_seeds(before, []) == []


def test_a_drawn_workload_has_the_rate_of_the_window_and_jobs_of_the_trace() -> None:
    jobs = [trace_job(f"j{n}", "a" if n % 2 else "b", n * 36.0, 60.0 + n, 1 + n % 3) for n in range(1000)]
    trace = Trace(tuple(jobs))
    fitting = Fitting(queues={"a": "x"}, rest="y", begin=7200.0, end=7200.0 + 14_400.0)
    counts = []
    for seed in range(1, 21):
        drawn, fitted = drawn_from(trace, fitting, 14_400.0, seed)
        assert (fitted.begin, fitted.end, fitted.rest) == (0.0, 14_400.0, "y")
        assert drawn == drawn_from(trace, fitting, 14_400.0, seed)[0]
        counts.append(len(drawn.jobs))
        known = {(job.queue, job.run_seconds, job.pods) for job in jobs}
        assert {(job.queue, job.run_seconds, job.pods) for job in drawn.jobs} <= known
    # 400 jobs are in the window; draws differ by about the square root of that
    assert mean(counts) == pytest.approx(400, abs=15)
    assert len(set(counts)) > 5
