"""Service and fairness of a forecast equal the metrics of its replay, and calculations by hand."""

import numpy as np
import pytest

from planning.forecasts.comparison import compared
from planning.forecasts.jobs import Jobs
from planning.forecasts.record import Evictions, Record
from planning.forecasts.service import churn, fairness_rows, jain_index, mean_lacked, service_rows
from planning.forecasts.steps import Steps
from scheduler_core.replay import metrics
from scheduler_core.replay.spans import spans
from tests.planning.forecasts import forecast
from tests.trials import trials

SEEDS = range(12)
NO_EVICTIONS = Evictions(np.empty(0), np.empty(0, np.int64), (), np.empty(0, np.int64), np.empty(0))
NONE, NO_COUNTS = np.empty(0), np.empty(0, np.int64)
NO_JOBS = Jobs((), (), NONE, NONE, NONE, NONE, NONE, NO_COUNTS, NONE, NO_COUNTS, NO_COUNTS, NONE, {})


def two_queues(deserved: float, allocated: dict[str, float], request: float, end: float = 100.0) -> Record:
    """Return a record in which queues have constant amounts of cores from the beginning."""

    def constant(amount: float) -> dict[str, Steps]:
        return {"cpu": Steps.of([(0.0, amount * 1000)])}

    queues = {
        name: {
            "deserved": constant(deserved),
            "allocated": constant(amount),
            "request": constant(request),
        }
        for name, amount in allocated.items()
    }
    return Record("", end, 1.0, int(end), NO_JOBS, NO_EVICTIONS, queues, tuple(queues), (), ())


@pytest.mark.parametrize("of_vcjobs", [False, True])
@pytest.mark.parametrize("seed", trials(SEEDS, always=3))
def test_service_equals_the_metrics_of_the_result(seed: int, of_vcjobs: bool) -> None:
    _, result, record = forecast(seed, of_vcjobs=of_vcjobs)
    held = spans(result)
    for row in service_rows(record):
        own = [
            job
            for job in result["jobs"].values()
            if job["queue"] == row.queue and (job["submitted"] or 0.0) >= 0
        ]
        for part, whole, slow in (
            (0.5, row.turnaround_p50, row.slowdown_p50),
            (0.95, row.turnaround_p95, row.slowdown_p95),
        ):
            turnarounds = [found for job in own if (found := metrics.turnaround(job)) is not None]
            slowdowns = [found for job in own if (found := metrics.bounded_slowdown(job)) is not None]
            assert whole == metrics.quantile(turnarounds, part)
            assert slow == pytest.approx(metrics.quantile(slowdowns, part))
            assert row.finished == len(turnarounds)
        of_queue = held.get(row.queue, [])
        assert (row.starved_from or 0.0, row.starved_seconds) == metrics.longest_starvation(of_queue)
        for resource in ("cpu", "memory"):
            lacked = row.lacked.get(resource, 0.0) * record.end
            assert lacked == pytest.approx(metrics.deficit(of_queue, resource))


@pytest.mark.parametrize("of_vcjobs", [False, True])
@pytest.mark.parametrize("seed", trials(SEEDS, always=3))
def test_fairness_and_churn_equal_the_metrics_of_the_result(seed: int, of_vcjobs: bool) -> None:
    _, result, record = forecast(seed, of_vcjobs=of_vcjobs)
    for row in fairness_rows(record):
        expected = metrics.jain_index(result, row.resource, record.leaves)
        assert row.jain_index == (None if expected is None else pytest.approx(expected, abs=1e-9))
    found = churn(record)
    assert found.per_1000_pod_hours == pytest.approx(metrics.churn(result, record.leaves))
    assert found.lost_part == pytest.approx(metrics.goodput_lost(result, record.leaves))


def test_a_queue_with_half_the_share_of_another() -> None:
    record = two_queues(10, {"a": 10, "b": 5}, request=20)
    assert jain_index(record, "cpu") == pytest.approx(1.5**2 / (2 * 1.25))
    assert (mean_lacked(record, "a", "cpu"), mean_lacked(record, "b", "cpu")) == (0.0, 5000.0)
    assert churn(record).per_1000_pod_hours is None


def test_one_of_four_queues_has_all() -> None:
    assert jain_index(two_queues(10, {"a": 10, "b": 0, "c": 0, "d": 0}, request=20), "cpu") == 0.25


def test_queues_that_all_have_nothing_are_served_evenly() -> None:
    assert jain_index(two_queues(10, {"a": 0, "b": 0}, request=20), "cpu") == 1.0


def test_there_is_no_index_where_no_queue_requests_what_it_deserves() -> None:
    assert jain_index(two_queues(10, {"a": 0, "b": 0}, request=0), "cpu") is None
    assert jain_index(two_queues(0, {"a": 5, "b": 5}, request=9), "cpu") is None
    assert jain_index(two_queues(10, {"a": 5}, request=9), "memory") is None


def test_a_share_that_returns_to_nothing_leaves_no_rounding_error() -> None:
    record = two_queues(3, {"a": 0, "b": 0}, request=9)
    times = np.arange(0.0, 90.0)
    noisy = Steps.from_changes(np.append(times, 90.0), np.append(100.0 + (times * 700) % 1900, 0.0))
    for queue in ("a", "b"):
        record.queues[queue]["allocated"]["cpu"] = noisy  # type: ignore[index]
    assert jain_index(record, "cpu") == pytest.approx(1.0, abs=1e-9)


def test_fairness_of_forecasts_of_unequal_length_is_not_compared() -> None:
    record = forecast(0)[2]
    same = compared(record, record)
    assert [pair.resource for pair in same.fairness] == [row.resource for row in fairness_rows(record)]
    assert all(pair.jain_index[0] == pair.jain_index[1] for pair in same.fairness)
    shorter = forecast(0, jobs=0)[2]
    assert (compared(record, shorter).fairness == ()) == (record.end != shorter.end)
