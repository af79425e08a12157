"""The stored record of a forecast equals the replay's result."""

from __future__ import annotations

import time

import numpy as np
import pytest

from planning.forecasts.jobs import NO_JOB, Jobs
from planning.forecasts.moment import session_at
from planning.forecasts.record import FIGURES, Evictions, Record, record_of
from planning.forecasts.steps import Floats, Steps, moments, total
from planning.forecasts.storage import packed, unpacked
from planning.forecasts.verdict import verdict
from scheduler_core import prepare
from scheduler_core.replay import Replay, metrics, replay_document
from scheduler_core.replay.spans import spans
from scheduler_core.validate import Inspection
from tests.builders import conf, node, pod, podgroup, scenario
from tests.planning.forecasts import forecast
from tests.scheduler_core.replays import storm_replay
from tests.trials import trials

SEEDS = range(12)


@pytest.mark.parametrize("seed", trials(SEEDS, always=3))
def test_amounts_over_time_equal_those_of_the_result(seed: int) -> None:
    _, result, record = forecast(seed)
    for name, held in spans(result).items():
        for figure in ("deserved", "allocated", "request"):
            steps = record.steps(name, figure, "cpu")
            assert steps.integral(0, record.end) == pytest.approx(metrics.integral(held, figure, "cpu"))
            for span in held:
                assert steps.at(span.begin) == span.row[figure]["cpu"]


@pytest.mark.parametrize("seed", trials(SEEDS, always=3))
def test_amounts_at_a_moment_are_those_that_its_session_finds(seed: int) -> None:
    # the queues of seed 2 are in a tree, and counted without jobs
    document = storm_replay(seed)
    record = record_of(document, replay_document(document))
    for at in (0.0, 70.0, record.end):
        replay = Replay(document, Inspection(document))
        steps = replay.steps()
        while replay.next_time is not None and replay.next_time < at:
            next(steps)
        found = prepare(replay.moment(at)).figures()["at_open"].get("queues", ())
        for entry in found:
            for figure in FIGURES:
                for resource, amount in entry[figure].items():
                    assert record.steps(entry["name"], figure, resource).at(at) == pytest.approx(amount)


@pytest.mark.parametrize("period", [0.1, 0.3, 0.7, 1.0, 10.0])
def test_the_session_of_a_moment_is_found_by_its_rounded_time(period: float) -> None:
    # 3 * 0.1 / 0.1 is more than 3
    for number in range(1000):
        at = number * period
        assert session_at(at, period) == session_at(float(f"{at:.3f}"), period) == number
        assert session_at(at + period / 2, period) == number + 1


@pytest.mark.parametrize("seed", trials(SEEDS, always=3))
def test_allocated_amounts_do_not_exceed_the_capacity(seed: int) -> None:
    _, _, record = forecast(seed)
    edges = moments([record.allocated("cpu"), record.capacity("cpu")], record.end)
    assert (record.allocated("cpu").at(edges) <= record.capacity("cpu").at(edges)).all()


@pytest.mark.parametrize("of_vcjobs", [False, True])
@pytest.mark.parametrize("seed", trials(SEEDS, always=3))
def test_jobs_and_evictions_equal_those_of_the_result(seed: int, of_vcjobs: bool) -> None:
    _, result, record = forecast(seed, of_vcjobs=of_vcjobs)
    jobs = record.jobs
    for row, name in enumerate(jobs.names):
        actual = result["jobs"][name]
        assert (jobs.queues[row], jobs.evictions[row], jobs.lost[row]) == (
            actual["queue"],
            actual["evictions"],
            actual["lost_seconds"],
        )
        waited = metrics.wait(actual)
        assert np.isnan(jobs.waits[row]) if waited is None else jobs.waits[row] == waited
        assert jobs.pods[row] > 0
    counted = np.bincount(record.evictions.victims, minlength=len(jobs.names))
    assert counted.tolist() == jobs.evictions.tolist()
    between = metrics.evictions_between_queues(result)
    for (victim, preemptor), count in between.items():
        rows = [
            row
            for row in range(len(record.evictions.times))
            if jobs.queues[record.evictions.victims[row]] == victim
            and _queue(jobs, int(record.evictions.preemptors[row])) == preemptor
        ]
        assert len(rows) >= count if preemptor else len(rows) <= count


def _queue(jobs: Jobs, row: int) -> str:
    return "" if row == NO_JOB else jobs.queues[row]


@pytest.mark.parametrize("seed", trials(SEEDS, always=3))
def test_storing_a_forecast_and_reading_it_back_preserves_its_bytes(seed: int) -> None:
    _, _, record = forecast(seed)
    content = packed(record)
    again = unpacked(content)
    assert packed(again) == content == packed(record)
    assert again.jobs.names == record.jobs.names
    assert again.evictions.pods == record.evictions.pods
    assert again.capacity("cpu").pairs() == record.capacity("cpu").pairs()
    for queue in record.queues:
        assert (
            again.steps(queue, "request", "memory").pairs()
            == record.steps(queue, "request", "memory").pairs()
        )


def test_an_empty_forecast_can_be_stored() -> None:
    _, _, record = forecast(0, jobs=0)
    again = unpacked(packed(record))
    assert again.jobs.names == again.evictions.pods == ()
    assert again.end == record.end


def test_stored_names_are_never_executed_as_code() -> None:
    _, _, record = forecast(0)
    assert b"pickle" not in packed(record)
    with pytest.raises(ValueError):
        unpacked(b"cos\nsystem\n(S'true'\ntR.")


def drawn(seed: int, count: int) -> Floats:
    """Return numbers from 0 to below 1 that depend on the seed only."""
    number = np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed * 7919 + 1)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        number = (number ^ (number >> np.uint64(shift))) * np.uint64(factor)
    return (number >> np.uint64(11)) / 2.0**53


# step functions


def test_only_changes_are_stored() -> None:
    assert Steps.of([(0, 0), (1, 2), (2, 2), (3, 5), (3, 2), (4, 0)]).pairs() == [(1, 2), (4, 0)]


def test_an_integral_covers_part_of_the_time() -> None:
    steps = Steps.of([(10, 4), (20, 1)])
    assert [steps.integral(*part) for part in [(0, 10), (5, 15), (15, 25), (30, 20)]] == [0, 20, 25, 0]


def test_a_sum_changes_where_any_part_changes() -> None:
    both = total([Steps.of([(0, 1), (9, 0)]), Steps.of([(4, 2), (9, 3)])])
    assert both.pairs() == [(0, 1), (4, 3)]


@pytest.mark.parametrize("seed", range(5))
def test_a_thinned_function_keeps_every_peak_of_every_interval(seed: int) -> None:
    times, values = np.sort(drawn(seed, 5000)) * 1000, (drawn(seed + 100, 5000) * 100).round()
    steps = Steps.from_changes(times, values)
    thin = steps.thinned(200, 800, 50)
    assert len(thin.times) <= 4 * 50 + 1
    assert thin.times[0] == 200
    for begin in np.arange(200, 800, 12):
        for lowest in (np.min, np.max):
            of_all = steps.values[(steps.times > begin) & (steps.times < begin + 12)]
            of_thin = thin.values[(thin.times > begin) & (thin.times < begin + 12)]
            assert lowest(of_thin) == lowest(of_all)
    assert (thin.values == steps.at(thin.times)).all()


def test_a_short_function_is_not_thinned() -> None:
    steps = Steps.of([(1, 1), (2, 2), (3, 3)])
    assert steps.thinned(1.5, 2.5, 10).pairs() == [(1.5, 1), (2, 2)]


# size


def large_record(jobs: int = 82_000, queues: int = 15, days: int = 109) -> Record:
    """Return a record as large as the whole of Philly's trace: each job changes four amounts twice."""
    end = days * 86400.0
    submitted = np.sort((drawn(1, jobs) * end).round())
    started = submitted + (-np.log1p(-drawn(2, jobs)) * 3000).round()
    finished = started + (1000 / (1.001 - drawn(3, jobs))).round()
    of_queue = (drawn(4, jobs) * queues).astype(np.int64)
    functions = {}
    for queue in range(queues):
        mine = np.flatnonzero(of_queue == queue)
        gpus = (1 + (drawn(5, len(mine)) * 8).round()) * 1000.0
        figures: dict[str, dict[str, Steps]] = {"deserved": {}, "allocated": {}, "request": {}}
        for figure, begin in (("allocated", started), ("request", submitted)):
            for resource, factor in (
                ("cpu", 4.0),
                ("memory", 2.0**25),
                ("nvidia.com/gpu", 1.0),
                ("pods", 0.001),
            ):
                at = np.concatenate((begin[mine], finished[mine]))
                by = np.concatenate((gpus, -gpus)) * factor
                order = np.argsort(at, kind="stable")
                figures[figure][resource] = Steps.from_changes(at[order], np.cumsum(by[order]))
        functions[f"q{queue:02d}"] = figures
    names = tuple(f"trace/application-{1506638472019 + row}-{row}" for row in range(jobs))
    pods = np.ones(jobs, dtype=np.int64)
    held = Jobs(
        names, tuple(f"q{queue:02d}" for queue in of_queue), submitted, submitted, started, finished,
        finished * np.nan,
        pods * 0, pods * 0.0, pods, pods, started, {"nvidia.com/gpu": pods * 1000.0},
    )  # fmt: skip
    none = np.empty(0)
    evictions = Evictions(none, none.astype(np.int64), (), none.astype(np.int64), none)
    return Record("", end, 1.0, int(end), held, evictions, functions, tuple(functions), (), ())


def test_a_hundred_days_of_82000_jobs_take_at_most_50_megabytes_and_open_within_a_second() -> None:
    content = packed(large_record())
    assert len(content) <= 50e6
    began = time.process_time()
    record = unpacked(content)
    windows = [
        record.steps(queue, figure, "nvidia.com/gpu").thinned(0, record.end, 500)
        for queue in record.queues
        for figure in ("allocated", "request")
    ]
    assert time.process_time() - began < 1.0
    assert all(len(window.times) <= 2001 for window in windows)
    began = time.process_time()
    assert verdict(record, {"q00": 600.0})
    assert time.process_time() - began < 2.0


@pytest.mark.parametrize("unit", [1.0, 0.3], ids=["whole numbers", "fractions"])
def test_a_total_is_the_sum_at_every_time(unit: float) -> None:
    grid = np.arange(40.0)
    for shift in range(20):
        functions = [
            Steps.from_changes(
                np.arange(first, 30.0, first + 2),
                unit * ((first + shift) * np.arange(len(np.arange(first, 30.0, first + 2))) % 7),
            )
            for first in range(5)
        ]
        wanted = sum(function.at(grid) for function in functions)
        np.testing.assert_allclose(total(functions).at(grid), wanted, rtol=0, atol=1e-12 if unit % 1 else 0)


def test_a_queue_whose_only_job_ends_at_the_beginning_has_a_record() -> None:
    document = scenario(
        nodes=[node("n", cpu=4)],
        podgroups=[podgroup("ending", annotations={"queuecast/run-seconds": "0"})],
        pods=[pod("e", group="ending", cpu=1)],
        conf=conf("enqueue, allocate", ["gang"], ["predicates", "proportion"]),
        replay={"horizon_seconds": 10, "events": []},
    )
    record = record_of(document, replay_document(document))
    assert record.jobs.finished.tolist() == [0]
    assert record.steps("default", "allocated", "cpu").integral(0, record.end) == 0
