"""Forecasts are compared job by job, and a backtest measures the injected error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from planning.forecasts.backtest import backtest, known, real_jobs, real_work
from planning.forecasts.comparison import compared, cost_against_benefit
from planning.forecasts.costs import Costs
from planning.forecasts.divergence import RealJob
from planning.forecasts.document import Times, forecast_of
from planning.forecasts.record import Record, record_of
from scheduler_core.replay import Replay, replay_document
from scheduler_core.validate import Inspection
from tests.builders import conf, node, podgroup, pods, queue, scenario
from tests.planning.forecasts import forecast
from tests.scheduler_core.test_replay_properties import reclaiming_in_turns
from tests.traces.builders import trace_job
from traces import Trace

PLAIN = conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates", "capacity"])


def sequential_jobs(run: float, *, count: int = 10, cores: int = 1, to: str = "a", **timeline: Any) -> Any:
    """Return a document in which jobs of one core arrive together and run one after the other."""
    events = []
    for number in range(count):
        group = podgroup(f"j{number}", queue=to, min_member=1, phase="Pending",
                         annotations={"queuecast/run-seconds": str(run)})  # fmt: skip
        members = pods(f"j{number}", 1, cpu=1)
        for thing in (group, *members):
            del thing["metadata"]["creationTimestamp"]
        events.append({"at": number * 0.01, "create": {"podgroups": [group], "pods": members}})
    return scenario(
        nodes=[node("n", cpu=cores)],
        queues=[queue("a", deserved={"cpu": cores})],
        conf=PLAIN,
        now="2026-01-01T12:00:00Z",
        replay={"period_seconds": 1, "horizon_seconds": 5000, "events": events, **timeline},
    )


def replayed(document: Any) -> Record:
    return record_of(document, replay_document(document))


def real_of(record: Record) -> dict[str, RealJob]:
    """Return the jobs of a forecast as if they had happened."""
    jobs = record.jobs
    return {
        name: RealJob(jobs.queues[row], float(jobs.submitted[row]), known(jobs.started[row]))
        for row, name in enumerate(jobs.names)
    }


# comparison


def test_a_longer_forecast_is_compared_until_the_end_of_the_shorter_one() -> None:
    document = reclaiming_in_turns(1 / 6)
    longer = {**document, "replay": {**document["replay"], "horizon_seconds": 1200}}
    found = compared(replayed(document), replayed(longer))
    assert (found.evictions, found.lost) == ((20, 20), (19, 19))
    paid = Costs((), 10.0, {}, "USD"), Costs((), 20.0, {}, "USD")
    assert cost_against_benefit(found, paid) == "This change leaves all waits unchanged."


def test_jobs_that_had_started_before_the_forecasts_are_not_compared() -> None:
    document = sequential_jobs(100, count=2, cores=2)
    runs = podgroup("runs", queue="a", min_member=1, phase="Running")
    runs["metadata"]["creationTimestamp"] = "2026-01-01T10:00:00Z"
    (member,) = pods("runs", 1, node="n", phase="Running", cpu=1)
    member["status"]["startTime"] = "2026-01-01T11:00:00Z"
    record = replayed({**document, "podgroups": [runs], "pods": [member]})
    found = compared(record, record)
    assert [pair.job for pair in found.pairs] == ["default/j0", "default/j1"]
    assert [(queue.queue, queue.jobs) for queue in found.queues] == [("a", 2)]


def test_waits_that_move_between_jobs_are_a_change() -> None:
    found = compared(replayed(sequential_jobs(100)), replayed(sequential_jobs(100)))
    first, second, *others = found.pairs
    swapped = (replace(first, after=second.before), replace(second, after=first.before), *others)
    says = cost_against_benefit(replace(found, pairs=swapped))
    assert says == "This change changes waits, but not their sum."


def test_a_forecast_compared_with_itself_changes_nothing() -> None:
    record = forecast(0)[2]
    same = compared(record, record)
    assert all(pair.longer == 0 for pair in same.pairs)
    assert same.hours == 0
    assert cost_against_benefit(same) == "This change leaves all waits unchanged."


def test_more_cores_shorten_the_waits_of_the_same_jobs() -> None:
    # ten jobs of 100 s on one core wait 0, 100, … 900 s; on two cores 0, 0, 100, 100, … 400 s
    found = compared(replayed(sequential_jobs(100)), replayed(sequential_jobs(100, cores=2)))
    (of_queue,) = found.queues
    assert (of_queue.jobs, of_queue.longer) == (10, 0)
    assert of_queue.shorter >= 8
    assert of_queue.p95 == pytest.approx((900, 400), abs=15)
    assert found.hours == pytest.approx(-(4500 - 2000) / 3600, abs=0.05)


def test_a_job_that_never_starts_waits_until_the_end() -> None:
    found = compared(replayed(sequential_jobs(100, horizon_seconds=500)), replayed(sequential_jobs(100)))
    by_job = {pair.job: pair for pair in found.pairs}
    assert not by_job["default/j9"].started_before
    assert by_job["default/j9"].longer == 0


def test_jobs_of_only_one_forecast_are_named() -> None:
    found = compared(replayed(sequential_jobs(10, count=2)), replayed(sequential_jobs(10, count=3)))
    assert (found.only_before, found.only_after) == ((), ("default/j2",))


def test_the_sentence_states_the_cost_and_the_benefit() -> None:
    found = compared(replayed(sequential_jobs(100)), replayed(sequential_jobs(100, cores=2)))
    cheap, dear = (Costs((), nodes, {}, "EUR") for nodes in (10.0, 20.0))
    says = cost_against_benefit(found, (cheap, dear))
    assert says.startswith("This change costs 10.00 EUR, saves 41 min")
    assert cost_against_benefit(
        compared(replayed(sequential_jobs(100, cores=2)), replayed(sequential_jobs(100)))
    ).startswith("This change adds 41 min")


# backtest


def test_a_forecast_equal_to_reality_has_no_error() -> None:
    record = replayed(sequential_jobs(100))
    found = backtest(record, real_of(record))
    assert found.jobs == 10
    assert found.within == {60.0: 1.0, 600.0: 1.0}
    assert found.parts_at is None
    assert found.queues[0].mean_error == found.queues[0].bias == 0


def test_differing_run_times_give_the_expected_error() -> None:
    # predicted 100 s each, really 150 s: the start of job k is 50 k s later, that of job 0 is right
    predicted, real = replayed(sequential_jobs(100)), replayed(sequential_jobs(150))
    found = backtest(predicted, real_of(real))
    errors = [50 * number for number in range(10)]
    assert found.jobs == 10
    assert found.within[60.0] == sum(error <= 60 for error in errors) / 10 == 0.2
    assert found.within[600.0] == 1.0
    (of_queue,) = found.queues
    assert of_queue.mean_error == pytest.approx(sum(errors) / 10)
    assert of_queue.bias == pytest.approx(-225)
    assert (of_queue.predicted_p95, of_queue.real_p95) == pytest.approx((900, 1350), abs=15)


def test_the_forecast_diverges_at_the_first_job_that_is_off_by_ten_minutes() -> None:
    found = backtest(replayed(sequential_jobs(100)), real_of(replayed(sequential_jobs(300))))
    assert found.parts_at is not None
    # job 3 is off by 600 s, job 4 by 800 s
    assert found.parts_at.job == "default/j4"
    assert found.says.endswith("which really started 13 min 20 s later than predicted.")


def test_jobs_started_in_only_one_of_the_two_count_as_errors() -> None:
    predicted, real = replayed(sequential_jobs(100)), replayed(sequential_jobs(100, horizon_seconds=450))
    found = backtest(predicted, real_of(real))
    assert len(found.only_predicted) == 5
    assert found.within[600.0] == 0.5
    assert backtest(predicted, real_of(real), until=450).only_predicted == ()


def test_real_jobs_whose_names_are_equal_in_a_trace_are_all_forecast_and_compared() -> None:
    keys = [("team", "a-b"), ("team-a", "b"), ("team", "c")]
    later: Any = {"podgroups": [], "pods": []}
    for number, (namespace, name) in enumerate(keys):
        group, [pod] = podgroup(name, queue="a"), pods(name, 1, cpu=1)
        for thing in (group, pod):
            thing["metadata"] |= {
                "namespace": namespace, "creationTimestamp": f"2026-01-01T12:00:0{number}Z",
            }  # fmt: skip
        pod["status"] = {"phase": "Running", "startTime": f"2026-01-01T12:00:1{number}Z"}
        later["podgroups"].append(group)
        later["pods"].append(pod)
    begun = scenario(
        nodes=[node("n", cpu=8)], queues=[queue("a")], conf=PLAIN, now="2026-01-01T12:00:00Z",
        podgroups=[podgroup("c", namespace="trace")],
    )  # fmt: skip
    work, _ = forecast_of(begun, real_work(later, begun["now"]), Times(horizon=60.0))
    record = record_of(work.document, replay_document(work.document))
    assert set(record.jobs.names) == {"trace/c", "trace/team-a-b", "trace/team-a-b-2", "trace/team-c"}
    assert record.jobs.pods[1:].tolist() == [1, 1, 1]
    found = backtest(record, real_jobs(later, begun["now"]), 60.0, later, begun)
    assert (found.jobs, found.within[60.0], found.unknown) == (3, 1.0, ("trace/c",))


def test_a_moment_is_forecast_under_the_same_trace_without_mixing_up_jobs() -> None:
    start = scenario(nodes=[node("n", cpu=2)], queues=[queue("a")], conf=PLAIN, now="2026-01-01T12:00:00Z")
    requests = {"cpu": "1", "memory": "1Gi"}
    jobs = [trace_job(f"j{number}", "a", 60.0 * number, 500.0, 2, 2, requests) for number in range(3)]
    trace, times = Trace(tuple(jobs)), Times(horizon=3600.0)
    first, _ = forecast_of(start, trace, times)
    moment = cluster_at_of(first.document, 100.0)
    again, _ = forecast_of(moment, trace, times)
    record = record_of(again.document, replay_document(again.document))
    submitted = dict(zip(record.jobs.names, record.jobs.submitted.tolist(), strict=True))
    assert submitted == {
        "trace/j0": -100.0, "trace/j1": -40.0, "trace/j0-2": 0.0, "trace/j1-2": 60.0, "trace/j2": 120.0,
    }  # fmt: skip
    assert record.jobs.pods.tolist() == [2] * 5


def test_a_forecast_of_a_moment_continues_the_forecast() -> None:
    start = scenario(
        nodes=[node("n", cpu=2)], queues=[queue("a")], conf=PLAIN, now="2026-01-01T12:00:00Z",
        podgroups=[podgroup("runs", queue="a"), podgroup("waits", queue="a", phase="Pending")],
        pods=[*pods("runs", 1, cpu=2, node="n"), *pods("waits", 1, cpu=2)],
    )  # fmt: skip
    times = Times(horizon=4000.0, default_run=1000.0)
    whole, _ = forecast_of(start, Trace(()), times)
    moment = cluster_at_of(whole.document, 400.0)
    rest, _ = forecast_of(moment, Trace(()), replace(times, horizon=3600.0))
    first, second = (record_of(one.document, replay_document(one.document)) for one in (whole, rest))
    assert first.jobs.finished.tolist() == [1000.0, 2000.0]
    assert (second.jobs.finished + 400.0).tolist() == [1000.0, 2000.0]


def cluster_at_of(document: Any, time: float) -> Any:
    """Return the cluster of a replay at a time as a scenario."""
    until = {**document, "replay": {**document["replay"], "horizon_seconds": time - 1.0}}
    replay = Replay(until, Inspection(until))
    for _ in replay.steps():
        pass
    return replay.moment(time)


def test_real_times_are_read_from_a_later_snapshot() -> None:
    document = sequential_jobs(100)
    record = replayed(document)
    replay = Replay(document, Inspection(document))
    for step in replay.steps():
        if step.time >= 350:
            break
    later = replay.moment()
    real = real_jobs(later, document["now"])
    # the moment is the next session: finished jobs are gone, one job runs or has just been bound
    running = [job for job in real.values() if job.started is not None]
    assert 0 < len(real) < 10
    assert len(running) == 1
    found = backtest(record, real, until=replay.end)
    assert (found.jobs, found.within[60.0]) == (1, 1.0)
