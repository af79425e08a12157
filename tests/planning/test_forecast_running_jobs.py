"""Jobs of a trace that run when its window begins, placed first for what remains of their run time."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from planning.experiments.forecast_problems import forecast_problems
from planning.experiments.work import Work
from planning.forecasts.backlog import backlog_of
from planning.forecasts.document import Times, forecast_of
from planning.forecasts.record import Record, record_of
from planning.forecasts.targets import submitted_in_time
from planning.forecasts.trace_texts import csv_of
from planning.forecasts.workload import Fitting, drawn_from, fitted_to
from scheduler_core.replay import replay_document
from tests.builders import Object, conf, node, queue, scenario
from tests.traces.builders import trace_job
from tests.trials import trials
from traces import Trace

REQUESTS = {"cpu": "1", "memory": "1Gi"}


def cluster(cores: int) -> Object:
    return scenario(
        nodes=[node("n", cpu=cores, memory="512Gi")],
        queues=[queue("a")],
        conf=conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates", "proportion"]),
        now="2026-11-22T12:00:00Z",
    )


def trace(*jobs: tuple[str, float, float, int]) -> Trace:
    """Return gangs of pods of one core, each given as name, submission, run time and pods."""
    made = (trace_job(name, "a", at, run, pods, pods, REQUESTS) for name, at, run, pods in jobs)
    return Trace(tuple(sorted(made, key=lambda job: job.submitted)))


def forecast(
    document: Object, work: Trace, fitting: Fitting, horizon: float
) -> tuple[Record, tuple[str, ...]]:
    fitted, problems = fitted_to(work, ["a"], fitting)
    assert problems == []
    made, more = forecast_of(document, fitted, Times(horizon))
    assert more == []
    return record_of(made.document, replay_document(made.document)), made.notes


def starts(record: Record, since: float = 0.0) -> dict[str, float]:
    """Return when the jobs submitted from a time on started, in seconds after it."""
    jobs = record.jobs
    return {
        jobs.names[row]: float(jobs.started[row]) - since
        for row in submitted_in_time(record, "a").tolist()
        if jobs.submitted[row] >= since
    }


def test_a_job_waits_for_what_remains_of_one_that_runs_when_the_window_begins() -> None:
    work = trace(("long", 0, 1000, 4), ("over", 0, 500, 4), ("next", 700, 60, 4))
    window = Fitting(begin=600.0)
    empty, _ = forecast(cluster(4), work, window, 3600)
    warm, notes = forecast(cluster(4), work, replace(window, running=True), 3600)
    assert (starts(empty), starts(warm)) == ({"trace/next": 100.0}, {"trace/next": 400.0})
    assert notes[0] == (
        "Assumed: placed first, for what remains of the run time: 1 job submitted before the window of the"
        " trace that would still run when it begins if none had waited."
    )
    assert not any("no job runs at the beginning" in note for note in notes)


@pytest.mark.parametrize("seed", trials(range(60), always=8))
def test_a_window_in_which_nobody_had_waited_continues_the_trace(seed: int) -> None:
    """Before the window begins there is room for every job, so that the whole trace gives the same starts."""
    random = Random(seed)
    before = [
        (f"b{n}", random.randint(0, 999), random.randint(1, 3000), random.randint(1, 3)) for n in range(9)
    ]
    after = [
        (f"w{n}", random.randint(1000, 2000), random.randint(1, 900), random.randint(1, 9)) for n in range(12)
    ]
    document, work = cluster(27), trace(*before, *after)
    whole, _ = forecast(document, work, Fitting(), 20_000)
    window, _ = forecast(document, work, Fitting(begin=1000.0, running=True), 19_000)
    assert starts(window) == starts(whole, since=1000.0)


def test_running_jobs_are_scaled_like_the_others() -> None:
    work = trace(("long", 0, 1000, 2), ("next", 700, 60, 2))
    fitting = Fitting(begin=600.0, running=True)
    # 3 pods of "long" run until 0.7 * 1000 s
    record, _ = forecast(cluster(4), work, replace(fitting, size=1.5, run_time=0.7), 3600)
    assert starts(record) == {"trace/next": 100.0}
    record, _ = forecast(cluster(4), work, replace(fitting, size=1.5), 3600)
    assert starts(record) == {"trace/next": 400.0}
    # ended before the window begins
    record, _ = forecast(cluster(4), work, replace(fitting, run_time=0.5), 3600)
    assert record.jobs.names == ("trace/next",)
    # two of each, the second "long" from second 350 on
    record, _ = forecast(cluster(4), work, replace(fitting, rate=2.0), 3600)
    assert sorted(record.jobs.names) == ["trace/long", "trace/long-copy-1", "trace/next", "trace/next-copy-1"]


def test_they_are_no_jobs_of_the_forecast_and_need_a_queue() -> None:
    work = trace(("long", 0, 9000, 1), ("next", 700, 60, 1))
    record, _ = forecast(cluster(4), work, Fitting(begin=600.0, running=True), 3600)
    assert [str(at) for at in record.jobs.submitted.tolist()] == ["nan", "100.0"], "of long and next"
    assert backlog_of(record) is None
    assert starts(record).keys() == {"trace/next"}
    elsewhere = replace(work, jobs=(replace(work.jobs[0], queue="b"), *work.jobs[1:]))
    assert fitted_to(elsewhere, ["a"], Fitting(begin=600.0))[1] == []
    (problem,) = fitted_to(elsewhere, ["a"], Fitting(begin=600.0, running=True))[1]
    assert problem.message == "the scenario has no queue for b of the trace"


def test_workloads_drawn_like_the_trace_begin_with_the_same_running_jobs() -> None:
    work = trace(("long", 0, 9000, 1), *((f"j{n}", 600 + 60 * n, 30, 1) for n in range(60)))
    drawn, fitting = drawn_from(work, Fitting(begin=600.0, running=True), 3600.0, 1)
    record, _ = forecast(cluster(4), drawn, fitting, 3600)
    (row,) = [row for row, name in enumerate(record.jobs.names) if name == "trace/long"]
    assert (record.jobs.started[row], record.jobs.pods[row]) == (0.0, 1)


def test_experiments_refuse_them_with_seeds_that_draw_from_a_trace() -> None:
    work = csv_of(trace(("long", 0, 9000, 1), ("next", 700, 60, 1)))
    written = {"forecast": {"horizon_seconds": 600.0, "running_jobs": "place_first"}}
    assert not list(forecast_problems(cluster(4), (), written, Work.of(written["forecast"], work)))
    written["forecast"]["seeds"] = 3
    ((rule, path, _, _),) = forecast_problems(cluster(4), (), written, Work.of(written["forecast"], work))
    assert (rule, path) == ("running", "forecast.running_jobs")
