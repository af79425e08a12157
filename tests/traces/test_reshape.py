"""Traces are cut, mapped, scaled, generated and turned into events."""

from __future__ import annotations

import pytest

from scheduler_core.replay import metrics, replay_document
from tests.builders import conf, node, queue, scenario
from tests.traces.builders import trace_job
from traces import Pattern, Trace, cut, events_of, fitted, generate, mapped, scaled
from traces.events import dns_name
from traces.generate import DAY, HOUR


def trace(*submitted: float, queue: str = "q") -> Trace:
    return Trace(
        tuple(trace_job(f"j{n}", queue, at, 60.0, pods=2, min_member=2) for n, at in enumerate(submitted))
    )


def test_a_window_keeps_its_jobs_with_times_relative_to_its_start() -> None:
    assert [job.submitted for job in cut(trace(0, 10, 20, 30), 10, 30).jobs] == [0, 10]


def test_queues_are_mapped_and_the_others_go_to_the_default() -> None:
    both = Trace((*trace(0).jobs, *trace(5, queue="other").jobs))
    assert [job.queue for job in mapped(both, {"q": "a"}, "default").jobs] == ["a", "default"]


@pytest.mark.parametrize(("rate", "count"), [(0.5, 4), (1, 8), (2, 16), (1.25, 10), (0, 0)])
def test_the_rate_scales_the_number_of_jobs(rate: float, count: int) -> None:
    more = scaled(trace(*range(0, 80, 10)), rate=rate)
    assert len(more.jobs) == count
    assert len({job.name for job in more.jobs}) == count


def test_copies_arrive_between_their_job_and_the_next() -> None:
    assert [job.submitted for job in scaled(trace(0, 10), rate=2).jobs] == [0, 5, 10, 10]


def test_sizes_and_run_times_scale() -> None:
    job = scaled(trace(0), size=1.5, run_time=0.5).jobs[0]
    assert (job.pods, job.min_member, job.run_seconds) == (3, 3, 30)
    assert scaled(trace(0), size=0.1).jobs[0].pods == 1


def test_generated_jobs_are_determined_by_the_seed() -> None:
    patterns = [Pattern("a", 6), Pattern("b", 3)]
    assert generate(patterns, seconds=DAY, seed=1) == generate(patterns, seconds=DAY, seed=1)
    assert generate(patterns, seconds=DAY, seed=1) != generate(patterns, seconds=DAY, seed=2)


def test_changing_one_pattern_does_not_change_the_jobs_of_other_queues() -> None:
    few = generate([Pattern("a", 6), Pattern("b", 3)], seconds=DAY, seed=1)
    many = generate([Pattern("a", 60), Pattern("b", 3)], seconds=DAY, seed=1)
    assert [job for job in few.jobs if job.queue == "b"] == [job for job in many.jobs if job.queue == "b"]


def test_arrivals_have_the_rate_of_their_pattern() -> None:
    jobs = generate([Pattern("a", 20)], seconds=30 * DAY, seed=3).jobs
    assert len(jobs) == pytest.approx(20 * 24 * 30, rel=0.05)


def test_hours_without_weight_have_no_arrivals() -> None:
    office = tuple(1.0 if 8 <= hour < 18 else 0.0 for hour in range(24))
    jobs = generate([Pattern("a", 10, by_hour=office)], seconds=7 * DAY, seed=4).jobs
    assert jobs
    assert all(8 <= job.submitted % DAY / HOUR < 18 for job in jobs)
    assert len(jobs) == pytest.approx(10 * 24 * 7, rel=0.15)


def test_run_times_are_lognormal_around_their_median() -> None:
    runs = sorted(job.run_seconds or 0 for job in generate([Pattern("a", 60)], seconds=10 * DAY, seed=5).jobs)
    assert runs[len(runs) // 2] == pytest.approx(1200, rel=0.1)


def test_single_queues_are_scaled_apart_and_the_others_together() -> None:
    jobs = [trace_job(f"j{n}", "ab"[n % 2], 10.0 * n, 60.0) for n in range(8)]
    whole = Trace(tuple(jobs))
    assert scaled(whole, rate=0.5, rates={"a": 1.0}) == scaled(whole, rate=0.5)
    found = scaled(whole, rates={"a": 2.0})
    assert [job for job in found.jobs if job.queue == "b"] == [job for job in jobs if job.queue == "b"]
    assert [(job.name, job.submitted) for job in found.jobs if job.queue == "a"] == [
        ("j0", 0), ("j0-copy-1", 10), ("j2", 20), ("j2-copy-1", 30),
        ("j4", 40), ("j4-copy-1", 50), ("j6", 60), ("j6-copy-1", 65),
    ]  # fmt: skip
    found = scaled(whole, rate=2.0, rates={"b": 0.25})
    assert found.queues() == {"a": 8, "b": 2}


def test_a_pattern_is_fitted_to_a_trace() -> None:
    made = generate([Pattern("a", 12, pods={1: 0.5, 4: 0.5})], seconds=14 * DAY, seed=6)
    pattern = fitted(made, "a")
    assert pattern.jobs_per_hour == pytest.approx(12, rel=0.05)
    again = generate([pattern], seconds=14 * DAY, seed=7)
    assert {job.pods for job in again.jobs} == {1, 4}
    assert len(again.jobs) == pytest.approx(len(made.jobs), rel=0.1)


@pytest.mark.parametrize(("hours", "draws"), [(3, 20), (30, 10), (24 * 9, 3)])
def test_a_pattern_fitted_to_any_length_has_the_rate_of_its_trace(hours: int, draws: int) -> None:
    made = generate([Pattern("a", 40)], seconds=hours * HOUR, seed=8)
    pattern = fitted(made, "a", hours * HOUR)
    drawn = [len(generate([pattern], seconds=hours * HOUR, seed=seed).jobs) for seed in range(draws)]
    assert sum(drawn) / draws == pytest.approx(len(made.jobs), rel=0.1)
    # hours of the day that the trace does not cover have its mean rate
    longer = len(generate([pattern], seconds=10 * 24 * HOUR, seed=1).jobs)
    assert longer == pytest.approx(len(made.jobs) / hours * 240, rel=0.15)


def test_a_drawn_job_copies_a_job_of_the_trace() -> None:
    large = trace_job("l", "a", 0, 7200.0, 8, 4, {"nvidia.com/gpu": "8"}, "ann", "high")
    small = trace_job("s", "a", 60, 30.0, 1, 1, {"cpu": "1"})
    drawn = generate([fitted(Trace((large, small)), "a", 600.0)], seconds=3 * HOUR, seed=2).jobs
    kinds = {
        (job.pods, job.min_member, job.run_seconds, job.roles[0].requests.get("cpu", "")) for job in drawn
    }
    assert kinds == {(8, 4, 7200.0, ""), (1, 1, 30.0, "1")}
    assert len({job.name for job in drawn}) == len(drawn)


def test_an_empty_trace_stays_empty() -> None:
    assert scaled(Trace(()), rate=2.0).jobs == ()


def test_missing_run_times_are_those_of_jobs_of_the_queue_with_a_note() -> None:
    jobs = (
        trace_job("a", "q", 0, 100.0),
        trace_job("b", "q", 1, 300.0),
        trace_job("c", "q", 2, None),
        trace_job("d", "r", 3, None),
    )
    events, notes = events_of(Trace(jobs), default_run_seconds=50)
    runs = [
        event["create"]["podgroups"][0]["metadata"]["annotations"]["queuecast/run-seconds"]
        for event in events
    ]
    assert runs == ["100", "300", "100", "50"]
    assert notes == [
        "Assumed: 4 cores and 32 GiB for each pod of 4 jobs, of which neither is known.",
        "Assumed: jobs whose run time is unknown run as long as another job of their queue (1 job).",
        "Assumed: jobs whose run time is unknown run for 50 s (1 job).",
    ]


def test_a_generated_day_is_replayed() -> None:
    made = generate([Pattern("a", 4, requests={"cpu": "1", "memory": "1Gi"})], seconds=2 * HOUR, seed=8)
    events, _ = events_of(made)
    result = replay_document(
        scenario(
            nodes=[node("n", cpu=4, memory="16Gi")],
            queues=[queue("a")],
            conf=conf("enqueue, allocate", ["gang"], ["predicates", "proportion"]),
            replay={"period_seconds": 10, "horizon_seconds": DAY, "events": events},
        )
    )
    waits = metrics.waits_by_queue(result)["a"]
    assert waits.jobs == len(made.jobs)
    assert waits.finished == waits.jobs


def test_names_that_collide_in_kubernetes_get_suffixes() -> None:
    jobs = tuple(trace_job(name, "q", 0.0, 60.0) for name in ("job_1", "job-1", "Job.1"))
    events, _ = events_of(Trace(jobs))
    names = [event["create"]["podgroups"][0]["metadata"]["name"] for event in events]
    assert names == ["job-1", "job-1-2", "job-1-3"]
    assert events[1]["create"]["pods"][0]["metadata"]["name"] == "job-1-2-0"


def test_run_times_keep_every_digit() -> None:
    for seconds, text in ((1_234_567.0, "1234567"), (12_345.678, "12345.678"), (60.0, "60")):
        events, _ = events_of(Trace((trace_job("j", "q", 0.0, seconds),)))
        annotations = events[0]["create"]["podgroups"][0]["metadata"]["annotations"]
        assert annotations["queuecast/run-seconds"] == text


def test_a_name_that_is_taken_gets_a_suffix() -> None:
    events, _ = events_of(Trace((trace_job("a", "q", 0.0, 60.0),)), taken={"a", "a-2"})
    assert events[0]["create"]["podgroups"][0]["metadata"]["name"] == "a-3"


def test_a_name_that_is_cut_ends_with_a_letter_or_digit() -> None:
    assert dns_name("a" * 199 + "-b") == "a" * 199


def test_the_min_resources_of_a_gang_sum_its_min_member_pods() -> None:
    job = trace_job("j", "q", 0.0, 60.0, pods=4, min_member=3, requests={"cpu": "500m", "memory": "1.5Gi"})
    events, _ = events_of(Trace((job,)))
    spec = events[0]["create"]["podgroups"][0]["spec"]
    assert spec["minResources"] == {"cpu": "1500m", "memory": "4.5Gi"}


def test_copies_have_names_that_no_other_job_has() -> None:
    jobs = (trace_job("a", "q", 0.0, 1.0), trace_job("a-copy-1", "q", 10.0, 1.0))
    names = [job.name for job in scaled(Trace(jobs), rate=3.0).jobs]
    assert len(set(names)) == 6
    assert names[:3] == ["a", "a-copy-1-more", "a-copy-2"]
