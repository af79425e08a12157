"""The verdict agrees with the figures and names the moment of each finding."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from planning.forecasts.comparison import compared, cost_against_benefit
from planning.forecasts.costs import Prices, costs
from planning.forecasts.figures import eviction_rows, waiting
from planning.forecasts.loops import eviction_loops, evictions_outside_loops
from planning.forecasts.losses import gpu_hours, losses, lost_before, lost_by_eviction
from planning.forecasts.moment import cluster_now
from planning.forecasts.record import Evictions, Record, record_of
from planning.forecasts.service import churn
from planning.forecasts.starvation import starvations
from planning.forecasts.targets import target_verdicts, waits_of
from planning.forecasts.usage import use_rows
from planning.forecasts.verdict import utilisations, verdict
from scheduler_core.replay import metrics, replay_document
from scheduler_core.replay.spans import spans
from tests.builders import at, conf, node, podgroup, pods, queue, scenario
from tests.planning.forecasts import forecast
from tests.scheduler_core.replays import storm_replay
from tests.scheduler_core.test_replay_properties import reclaiming_in_turns
from tests.scheduler_core.test_situations import cluster, submit, task
from tests.trials import trials

SEEDS = range(12)
PLAIN = conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates", "capacity"])


def sequential_jobs(*runs: float, horizon: float = 1000, **timeline: Any) -> Record:
    """Return a forecast of jobs of one pod that follow each other on one node."""
    names = [f"j{number}" for number in range(len(runs))]
    document = scenario(
        nodes=[node("n", cpu=1)],
        queues=[queue("a", deserved={"cpu": 1})],
        podgroups=[
            podgroup(
                name, queue="a", min_member=1, annotations={"queuecast/run-seconds": str(run)}, created=number
            )
            for number, (name, run) in enumerate(zip(names, runs, strict=True))
        ],
        pods=[pod for name in names for pod in pods(name, 1, cpu=1)],
        conf=PLAIN,
        replay={"period_seconds": 1, "horizon_seconds": horizon, **timeline},
    )
    return record_of(document, replay_document(document))


def test_a_job_of_the_snapshot_without_a_creation_time_waits_from_the_beginning() -> None:
    groups = [podgroup("runs", queue="a"), podgroup("waits", queue="a", phase="Pending")]
    for group in groups:
        del group["metadata"]["creationTimestamp"]
    document = scenario(
        nodes=[node("n", cpu=1)],
        queues=[queue("a", deserved={"cpu": 1})],
        podgroups=groups,
        pods=[*pods("runs", 1, cpu=1, node="n"), *pods("waits", 1, cpu=1)],
        conf=PLAIN,
        now="2026-01-01T12:00:00Z",
        replay={"horizon_seconds": 60.0},
    )
    record = record_of(document, replay_document(document))
    [says] = [finding.says for finding in verdict(record, {}) if finding.kind == "unstarted"]
    assert says == "1 job still waits at the end: 1 of a. default/waits has waited longest, at least 1 min."
    assert waiting(record, "a").pairs() == [(0.0, 1.0)]
    assert [row.job for row in cluster_now(record, 30.0).waiting] == ["default/waits"]
    pairs = compared(record, record)
    assert (pairs.pairs, pairs.hours) == ((), 0.0)
    assert cost_against_benefit(pairs) == "This change leaves all waits unchanged."


@pytest.mark.parametrize("seed", trials(SEEDS, always=6))
def test_starvation_equals_that_of_the_metrics(seed: int) -> None:
    _, result, record = forecast(seed)
    known = {one.queue: (one.begin, one.seconds) for one in starvations(record)}
    for name, held in spans(result).items():
        begin, seconds = metrics.longest_starvation(held)
        assert known.get(name, (0.0, 0.0)) == pytest.approx((begin, seconds))


@pytest.mark.parametrize("seed", trials(SEEDS, always=8))
def test_a_queue_never_lacks_more_than_at_worst(seed: int) -> None:
    _, _, record = forecast(seed)
    for found in starvations(record):
        held = record.queues[found.queue].values()
        times = np.unique([time for figure in held for steps in figure.values() for time in steps.times])
        within = times[(times >= found.begin) & (times < found.begin + found.seconds)]
        deserved, request, allocated = (
            record.steps(found.queue, figure, found.resource).at(within)
            for figure in ("deserved", "request", "allocated")
        )
        lacking = np.minimum(deserved, request) - allocated
        assert found.lacking == lacking.max() == lacking[within == found.at]


@pytest.mark.parametrize("seed", trials(SEEDS, always=6))
def test_utilisation_equals_that_of_the_metrics(seed: int) -> None:
    _, result, record = forecast(seed)
    capacity = record.capacity("cpu").integral(0, record.end) / record.end
    assert utilisations(record)["cpu"] == pytest.approx(metrics.utilisation(result, "cpu", capacity))


def test_no_queue_holds_what_it_had_before_its_podgroups_were_gone() -> None:
    # queue b has no PodGroup while its Job is Aborting
    record = forecast(2, of_vcjobs=True)[2]
    assert all(row.most_allocated <= 1 for row in use_rows(record))


@pytest.mark.parametrize("of_vcjobs", [False, True])
@pytest.mark.parametrize("seed", trials(SEEDS, always=6))
def test_all_lost_run_time_has_one_cause(seed: int, of_vcjobs: bool) -> None:
    _, _, record = forecast(seed, of_vcjobs=of_vcjobs)
    found = losses(record)
    assert sum(loss.pod_seconds for loss in found) == pytest.approx(record.jobs.lost.sum())
    assert sum(loss.evictions for loss in found) == len(record.evictions.times)
    assert lost_by_eviction(record).sum() <= record.jobs.lost.sum() + 1e-6
    cpu = float(np.dot(record.jobs.lost, record.jobs.sizes["cpu"]))
    assert sum(loss.resource_seconds.get("cpu", 0.0) for loss in found) == pytest.approx(cpu)
    gpus = np.arange(len(record.jobs.names), 0, -1) * 1000.0
    with_gpus = replace(record, jobs=replace(record.jobs, sizes={"nvidia.com/gpu": gpus}))
    order = [(gpu_hours(loss.resource_seconds), loss.pod_seconds) for loss in losses(with_gpus)]
    assert order == sorted(order, reverse=True)


def one_eviction(*, submitted: int = 0, ran: int = 3600, delay: int = 0, checkpoint: int = 0) -> Record:
    """Return a forecast that evicts a pod which had run for so long before, for a job that is submitted."""
    runs = {"queuecast/run-seconds": "100000"}
    groups = [
        podgroup("old", queue="a", annotations=runs, phase="Running"),
        podgroup("first", queue="b", annotations=runs),
    ]
    later = podgroup("later", queue="b", annotations=runs, phase="Pending")
    members = [pod for name in ("old", "first") for pod in pods(name, 1, cpu=2)]
    for pod, seconds in zip(members, (ran, 60), strict=True):
        pod["spec"]["nodeName"] = "n"
        pod["status"] = {"phase": "Running", "startTime": at(7200 - seconds)}
    document = scenario(
        nodes=[node("n", cpu=4)],
        queues=[queue("a", deserved={"cpu": 0}), queue("b", deserved={"cpu": 4})],
        podgroups=groups,
        pods=members,
        conf=conf("enqueue, allocate, reclaim, backfill", ["priority", "gang"], ["predicates", "capacity"]),
        now=at(7200),
        replay={
            "period_seconds": 1,
            "horizon_seconds": submitted + 60,
            "start_delay_seconds": delay,
            "checkpoint_seconds": checkpoint,
            "events": [{"at": submitted, "create": {"podgroups": [later], "pods": pods("later", 1, cpu=2)}}],
        },
    )
    return record_of(document, replay_document(document))


@pytest.mark.parametrize("delay", [0, 7])
def test_evictions_cause_the_loss_of_what_pods_had_run_before_the_forecast(delay: int) -> None:
    record = one_eviction(delay=delay)
    assert record.evictions.pods == ("default/old-0",)
    assert record.evictions.ran.tolist() == [3600.0]
    (loss,) = losses(record)
    assert (loss.queue, loss.by, loss.evictions, loss.pod_seconds, loss.worst_at) == (
        "a",
        "b",
        1,
        3600.0,
        0.0,
    )
    assert churn(record).lost_part == 0, "nothing during the forecast"
    assert not any(row.lost for row in costs(record, Prices(resources={"cpu": 1.0})).queues)


@pytest.mark.parametrize(
    ("checkpoint", "lost", "before"), [(0, 3900.0, 3600.0), (600, 300.0, 0.0), (1000, 900.0, 600.0)]
)
def test_a_pod_loses_what_it_ran_since_its_last_checkpoint(
    checkpoint: int, lost: float, before: float
) -> None:
    record = one_eviction(submitted=300, checkpoint=checkpoint)
    assert record.evictions.ran.tolist() == [3900.0]
    assert (lost_by_eviction(record).tolist(), lost_before(record).tolist()) == ([lost], [before])


def test_a_pod_that_starts_later_than_the_clock_runs_since_the_beginning() -> None:
    record = one_eviction(submitted=300, ran=-30)
    assert record.evictions.ran.tolist() == record.jobs.lost[record.evictions.victims].tolist() == [300.0]


@pytest.mark.parametrize("seed", trials(SEEDS, always=3))
@pytest.mark.parametrize("delay", [0, 7])
def test_evicted_pods_lose_what_they_had_run(seed: int, delay: int) -> None:
    document = storm_replay(seed)
    document["replay"] |= {"start_delay_seconds": delay, "evicted": "restart"}
    record = record_of(document, replay_document(document))
    ran = np.bincount(
        record.evictions.victims, weights=record.evictions.ran, minlength=len(record.jobs.names)
    )
    assert ran == pytest.approx(record.jobs.lost)


@pytest.mark.parametrize("seed", trials(SEEDS, always=6))
def test_every_finding_has_its_moment_within_the_forecast(seed: int) -> None:
    _, _, record = forecast(seed)
    found = verdict(record, {"a": 20, "b": 60}, starves_after=30)
    assert [finding.tone == "harm" for finding in found] == sorted(
        (finding.tone == "harm" for finding in found), reverse=True
    )
    for finding in found:
        assert finding.at is None or 0 <= finding.at <= record.end
        assert finding.says.endswith(".")
        assert finding.at is not None or finding.tone != "harm" or finding.kind == "lost"


def test_starvation_says_how_long_the_queue_was_closed() -> None:
    def closed_from(begin: float, *, until: float) -> list[dict[str, Any]]:
        return [{"at": begin, "close": {"queues": ["a"]}}, {"at": until, "open": {"queues": ["a"]}}]

    def says(record: Record) -> list[str]:
        return [finding.says for finding in verdict(record, {}) if finding.kind == "starvation"]

    # the second job could start at 310
    record = sequential_jobs(310, 50, horizon=1000, events=closed_from(200, until=2000))
    assert says(record) == [
        "Queue a gets less than it deserves and requests for 11 min 30 s without interruption, at worst 1"
        " core less. The queue is closed for all of this time. It lasts beyond the end."
    ]
    document = scenario(
        nodes=[node("n", cpu=1)],
        queues=[queue("a", deserved={"cpu": 1}), queue("b")],
        podgroups=[
            podgroup("first", queue="b", min_member=1, annotations={"queuecast/run-seconds": "700"}),
            podgroup("second", queue="a", min_member=1, created=1),
        ],
        pods=[*pods("first", 1, cpu=1, node="n"), *pods("second", 1, cpu=1)],
        conf=PLAIN,
        replay={"period_seconds": 1, "horizon_seconds": 1000, "events": closed_from(300, until=500)},
    )
    assert says(record_of(document, replay_document(document))) == [
        "Queue a gets less than it deserves and requests for 11 min 41 s without interruption, at worst 1"
        " core less. The queue is closed for 3 min 20 s of this time."
    ]


def test_a_queue_that_requests_less_than_it_deserves_is_limited_by_nothing() -> None:
    """Nearly all of its requests are allocated, but its other job waits while the queue is closed."""
    document = scenario(
        nodes=[node("n", cpu=100)],
        queues=[queue("a", deserved={"cpu": 100})],
        podgroups=[podgroup("most", queue="a", phase="Running"), podgroup("late", queue="a", min_member=1)],
        pods=[*pods("most", 1, cpu=50, node="n"), *pods("late", 1, cpu=1)],
        conf=PLAIN,
        replay={
            "period_seconds": 1, "horizon_seconds": 1000, "default_run_seconds": 2000,
            "events": [{"at": 0, "close": {"queues": ["a"]}}],
        },
    )  # fmt: skip
    record = record_of(document, replay_document(document))
    (found,) = [one for one in verdict(record, {}) if one.kind == "starvation"]
    assert (found.tone, found.figures["held"]) == ("harm", 0.0)
    assert "The queue is closed for all of this time." in found.says


@pytest.mark.parametrize(("gpus", "tone"), [(1, "neutral"), (2, "harm")])
def test_less_of_one_resource_is_no_problem_while_another_one_limits_the_queue(gpus: int, tone: str) -> None:
    """The first job has one GPU, queue b any other one, so that the second job can use none of the cores."""
    gpu = {"nvidia.com/gpu": "1"}
    document = scenario(
        nodes=[node(f"n{number}", cpu=8, **gpu) for number in range(gpus)],
        queues=[queue("a", deserved={"cpu": 4, "nvidia.com/gpu": gpus}), queue("b")],
        podgroups=[
            podgroup("first", queue="a", phase="Running", annotations={"queuecast/run-seconds": "900"}),
            podgroup("other", queue="b", phase="Running", annotations={"queuecast/run-seconds": "900"}),
            podgroup("second", queue="a", min_member=1, created=1),
        ],
        pods=[
            *pods("first", 1, cpu=1, node="n0", **gpu),
            *(pods("other", 1, cpu=1, node="n1", **gpu) if gpus > 1 else []),
            *pods("second", 1, cpu=1, **gpu),
        ],
        conf=PLAIN,
        replay={"period_seconds": 1, "horizon_seconds": 1000},
    )
    record = record_of(document, replay_document(document))
    (found,) = [one for one in verdict(record, {}) if one.kind == "starvation"]
    assert found.tone == tone
    if tone == "neutral":
        lacks = "1 core less. Meanwhile it has 99.9 % of the nvidia.com/gpu that it deserves."
    else:
        lacks = "1 GPU less."
    assert found.says.endswith(f"without interruption, at worst {lacks}"), found.says


# wait targets


def test_the_95th_percentile_decides_whether_a_target_is_met() -> None:
    record = forecast(1)[2]
    waits = waits_of(record, "a")
    assert waits.p95 is not None
    met, missed = (
        target_verdicts(record, {"a": target})[0].status for target in (waits.p95, waits.p95 - 0.001)
    )
    assert (met, missed) == ("met", "missed")


def test_jobs_submitted_before_the_forecast_do_not_count() -> None:
    assert waits_of(sequential_jobs(10, 10, 10), "a").jobs == 0


def test_a_target_is_missed_once_a_job_has_waited_that_long() -> None:
    document, _, record = forecast(0)
    (found,) = target_verdicts(record, {"a": 20})
    jobs = record.jobs
    row = jobs.names.index(found.job)
    assert found.at == jobs.submitted[row] + 20
    assert found.late == sum(
        wait > 20
        for name, wait in zip(jobs.queues, jobs.waits_at_least(record.end), strict=True)
        if name == "a"
    )
    assert document


def test_a_target_stays_open_while_jobs_may_still_miss_it() -> None:
    record = forecast(0)[2]
    waits = waits_of(record, "a")
    assert waits.started < waits.jobs
    assert target_verdicts(record, {"a": 10_000.0})[0].status == "open"
    assert target_verdicts(record, {"nobody": 1.0})[0].status == "no_jobs"


def test_a_job_aborted_before_its_start_stops_waiting() -> None:
    large = submit(10, "large", task("main", 1, cpu=99))
    waits = cluster(large, horizon=300)
    aborted = cluster(large, {"at": 50, "abort": {"jobs": ["default/large"]}}, horizon=300)
    still, gone = (record_of(document, replay_document(document)) for document in (waits, aborted))
    assert [one.kind for one in verdict(still, {}) if one.kind == "unstarted"] == ["unstarted"]
    assert [one.kind for one in verdict(gone, {}) if one.kind == "unstarted"] == []
    assert (waits_of(still, "default").jobs, waits_of(gone, "default").jobs) == (1, 0)
    assert gone.jobs.waits_at_least(gone.end).tolist() == [pytest.approx(40, abs=1)]
    waiting = [[row.job for row in cluster_now(record, 200).waiting] for record in (still, gone)]
    assert waiting == [[still.jobs.names[0]], []]


# loops


def test_a_repeatedly_evicted_pod_is_a_loop_with_an_interval_and_a_cost() -> None:
    document = reclaiming_in_turns(1 / 6)
    record = record_of(document, replay_document(document))
    (loop,) = eviction_loops(record)
    assert (loop.pods, loop.interval, loop.evictions) == (("default/big-0",), 31.0, 20)
    assert (loop.queue, loop.by, loop.lasts) == ("q1", "q2", True)
    # the pod runs for a second in each turn except the first
    assert loop.lost == 19
    assert loop.lost_per_hour == pytest.approx(3600 / 31)
    (finding,) = [one for one in verdict(record, {}) if one.kind == "loop"]
    assert (finding.tone, finding.at, finding.queue) == ("harm", loop.begin, loop.queue)


def test_a_cluster_that_evicts_the_same_jobs_again_and_again_thrashes() -> None:
    record = record_of(document := storm_replay(0), replay_document(document))
    rows, seen, again = eviction_rows(record), Counter[str](), 0
    for row in rows:
        again += seen[row.job] >= record.jobs.pods[record.jobs.names.index(row.job)]
        seen[row.job] += 1
    by_minute = Counter(row.t // 60 for row in rows)
    (finding,) = [one for one in verdict(record, {}) if one.kind == "thrashing"]
    figures = finding.figures
    assert (figures["evictions"], figures["again"]) == (len(rows), again)
    assert figures["at_most"] == max(by_minute.values()) == by_minute[figures["at"] // 60]
    assert finding.says.startswith(f"The cluster thrashes: {again:,} of {len(rows):,} evictions are of jobs")


def test_few_evictions_are_no_thrashing() -> None:
    record = record_of(document := reclaiming_in_turns(1 / 6), replay_document(document))
    assert record.jobs.evictions.sum() == 20
    assert [one for one in verdict(record, {}) if one.kind == "thrashing"] == []


def test_a_loop_that_was_interrupted_says_so() -> None:
    record = record_of(document := storm_replay(0), replay_document(document))
    for loop in eviction_loops(record):
        gaps = {
            round(after.t - before.t, 6)
            for pod in loop.pods
            for before, after in pairwise(
                row
                for row in eviction_rows(record)
                if (row.pod, row.for_queue) == (pod, loop.by) and loop.begin <= row.t <= loop.end
            )
        }
        assert loop.interrupted or gaps == {loop.interval}
    said = [finding.says for finding in verdict(record, {}) if finding.kind == "loop"]
    assert any("every 12 s with interruptions, 20 evictions at this interval" in one for one in said)


@pytest.mark.parametrize("seed", trials(SEEDS, always=4))
def test_each_eviction_is_in_loops_or_outside(seed: int) -> None:
    record = record_of(document := storm_replay(seed), replay_document(document))
    loops = eviction_loops(record)
    outside = evictions_outside_loops(record)
    assert 0 <= outside <= len(record.evictions.times)
    # two loops of a pod share the eviction between their intervals
    assert outside >= len(record.evictions.times) - sum(loop.evictions for loop in loops)
    assert (outside == len(record.evictions.times)) == (not loops)


def test_an_eviction_between_two_intervals_is_counted_once() -> None:
    record = record_of(document := reclaiming_in_turns(1 / 6), replay_document(document))
    times = np.array([0.0, 10.0, 20.0, 50.0, 80.0])
    record = replace(
        record,
        jobs=replace(record.jobs, evictions=np.where(np.arange(len(record.jobs.names)) == 0, 5, 0)),
        evictions=Evictions(times, np.zeros(5, np.int64), ("p",) * 5, np.full(5, -1), np.ones(5)),
    )
    assert [loop.evictions for loop in eviction_loops(record)] == [3, 3]
    assert evictions_outside_loops(record) == 0


def test_evictions_at_unequal_intervals_are_no_loop() -> None:
    _, _, record = forecast(7)
    for loop in eviction_loops(record):
        for pod in loop.pods:
            rows = [row for row, name in enumerate(record.evictions.pods) if name == pod]
            gaps = np.diff(record.evictions.times[rows])
            assert sum(abs(gaps - loop.interval) < 1e-6) >= 2


def test_a_quiet_forecast_has_only_neutral_findings() -> None:
    found = verdict(sequential_jobs(10, 10), {})
    assert {finding.tone for finding in found} == {"neutral"}
    assert [finding.kind for finding in found] == ["backlog", "utilisation"]
    assert "% of CPU" in found[1].says


def test_the_sentence_about_a_loop_states_its_cost_per_hour() -> None:
    document = reclaiming_in_turns(1 / 6)
    record = record_of(document, replay_document(document))
    (says,) = [one.says for one in verdict(record, {}) if one.kind == "loop"]
    assert says == (
        "default/big-0 of queue q1 is evicted for queue q2 every 31 s, 20 evictions in all, and"
        " this goes on at the end. An hour of this loop loses 1 min 56 s of run time."
    )
