"""Traces as workloads of a scenario, with timed changes and run times of known origin."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from planning.forecasts.backtest import real_jobs
from planning.forecasts.changes import timed_changes
from planning.forecasts.document import Times, arrivals_of, forecast_of, late_problems
from planning.forecasts.parts import summary_of
from planning.forecasts.past_jobs import past_jobs
from planning.forecasts.preview import preview
from planning.forecasts.record import record_of
from planning.forecasts.run_times import run_times, sources_of, with_run_times
from planning.forecasts.shared import Shared
from planning.forecasts.typed_changes import MOST_TICKS, TypedChange, change_of, timeline
from planning.forecasts.verdict import verdict
from planning.forecasts.workload import Fitting, drawn_from, fitted_to, leaf_queues, more_of, own_trace
from planning.search import conf_text
from scheduler_core.replay import replay_document
from tests.builders import Object, conf, job, node, podgroup, pods, queue, scenario
from tests.traces.builders import trace_job
from traces import Trace

HOUR = 3600.0
UUID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
SCENARIO: Any = scenario(
    nodes=[
        node(f"gpu-{n}", cpu=8, memory="32Gi", labels={"node.kubernetes.io/instance-type": "gpu"})
        for n in range(4)
    ],
    queues=[queue("root"), queue("team"), queue("a", parent="team"), queue("batch", weight=1)],
    conf=conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates", "proportion"]),
    now="2026-11-22T12:00:00Z",
)


def trace(*jobs: tuple[str, float, float | None, int]) -> Trace:
    return Trace(
        tuple(
            trace_job(
                f"j{n}", name, at, run, pods=count, min_member=count, requests={"cpu": "1", "memory": "1Gi"}
            )
            for n, (name, at, run, count) in enumerate(jobs)
        )
    )


WORK = trace(("a", 0, 60, 1), ("vc1", 10, 100, 2), ("vc2", 7200, None, 1), ("vc1", 9000, 300, 4))


# queues


def test_jobs_are_mapped_by_the_table_then_by_queue_name_then_to_the_rest() -> None:
    there, problems = fitted_to(WORK, leaf_queues(SCENARIO), Fitting(queues={"vc1": "batch"}, rest="default"))
    assert problems == []
    assert [job.queue for job in there.jobs] == ["a", "batch", "default", "batch"]
    assert there.notes == ("Assumed: queue default for 1 job of other queues in the trace.",)


def test_jobs_that_run_when_the_window_begins_are_counted() -> None:
    work = trace(("a", 0, 9000.0, 1), ("a", 10, 60.0, 1), ("a", 20, None, 1), ("a", 7000, 9.0, 1))
    fitted, _ = fitted_to(work, ["a"], Fitting(rest="a", begin=3600.0))
    assert [job.name for job in fitted.jobs] == ["j3"]
    assert [note for note in fitted.notes if note.startswith("Left out")] == [
        "Left out: 1 job submitted before the window of the trace that would still run when it begins. "
        "Only jobs of the scenario run at the beginning, unless running jobs are placed first."
    ]


@pytest.mark.parametrize(
    ("begin", "offset", "says"),
    [
        ("2017-10-09T00:00:00Z", 0.0, "on Monday 00:00 (UTC) in the trace arrives on Sunday 12:00"),
        ("2017-10-09T00:00:00Z", 6.5 * 86400, None),  # Sunday 12:00, like the scenario's clock
        ("2017-10-08T12:59:00Z", 0.0, None),
        ("", 0.0, None),
    ],
)
def test_the_time_of_the_week_of_a_trace_is_compared_with_the_clock(
    begin: str, offset: float, says: str | None
) -> None:
    work = replace(trace(*((f"j{day}", day * 86400, 60.0, 1) for day in range(10))), begin=begin)
    fitted, _ = fitted_to(work, ["a"], Fitting(rest="a", begin=offset))
    made, _ = forecast_of(SCENARIO, fitted, Times(horizon=86400))
    clock = [note for note in made.notes if "(UTC) in the trace" in note]
    assert len(clock) == (says is not None)
    if says is not None:
        assert says in clock[0]
        assert clock[0].endswith("coincide if the window begins 156h0m later.")


@pytest.mark.parametrize(("last", "begin", "is_noted"), [
    (86400.0, "", True), (3600.0, "", False), (86400.0, "2017-10-08T12:00:00Z", False),
])  # fmt: skip
def test_a_long_trace_without_a_time_of_day_is_noted(last: float, begin: str, is_noted: bool) -> None:
    work = replace(trace(("first", 0, 60.0, 1), ("last", last, 60.0, 1)), begin=begin)
    made, _ = forecast_of(SCENARIO, work, Times(horizon=100_000))
    note = (
        "Assumed: the window of the trace begins on Sunday 12:00 (UTC), with the forecast, as the trace does"
        " not say when it begins. If its work varies by hour or weekday, choose a window that begins at this"
        " time of its own day and week."
    )
    assert (note in made.notes) is is_noted


def test_a_forecast_says_that_it_begins_with_an_empty_cluster() -> None:
    empty, busy = snapshot(waiting("one")), snapshot(waiting("one"), started("two", "2026-11-22T11:00:00Z"))
    for document, is_noted in ((empty, True), (busy, False)):
        made, _ = forecast_of(document, trace(("job", 0, 60.0, 1)), Times(horizon=60))
        assert any("no job runs at the beginning" in note for note in made.notes) == is_noted
    made, _ = forecast_of(empty, Trace(()), Times(horizon=60))
    assert not any("no job runs" in note for note in made.notes), "no work of a trace"


def test_a_queue_with_children_takes_no_jobs() -> None:
    assert leaf_queues(SCENARIO) == ["a", "batch", "default"]


def test_all_missing_queues_are_reported_at_once() -> None:
    _, problems = fitted_to(WORK, ["a", "batch"], Fitting(queues={"vc1": "team", "vc2": "x"}, rest="y"))
    assert [problem.path for problem in problems] == ["queues.vc1", "queues.vc2", "rest"]
    assert all(problem.fix == "name one of a, batch" for problem in problems)


def test_rates_of_queues_that_the_trace_lacks_are_reported_and_drawn_jobs_may_lack_them() -> None:
    fitting = Fitting(rest="batch", rates={"nobody": 2.0, "a": 2.0})
    _, problems = fitted_to(WORK, ["a", "batch"], fitting)
    assert [problem.path for problem in problems] == ["rates.nobody"]
    made, drawn = drawn_from(WORK, replace(fitting, rates={"a": 2.0, "vc2": 3.0}), 3600.0, 1)
    assert set(drawn.rates) == {"a", "vc2"} & set(made.queues())
    assert fitted_to(made, ["a", "batch"], drawn)[1] == []


def test_jobs_without_a_queue_are_an_error_unless_the_rest_has_one() -> None:
    _, problems = fitted_to(WORK, ["a", "batch"], Fitting())
    assert [problem.message for problem in problems] == [
        "the scenario has no queue for vc1, vc2 of the trace"
    ]


def test_arrivals_are_shared_only_for_equal_queues_and_fittings() -> None:
    shared, times = Shared(), Times(horizon=8000)
    fittings = [
        Fitting(rest="batch"),
        Fitting(rest="batch", rate=2.0),
        Fitting(rest="batch", rates={"a": 2.0}),
        Fitting(rest="batch", size=3.0),
        Fitting(rest="batch", run_time=0.5),
        Fitting(rest="batch", begin=5.0),
        Fitting(rest="batch", end=100.0),
        Fitting(queues={"vc1": "batch"}, rest="a"),
        Fitting(),
        Fitting(queues={"vc1": "nobody"}, rest="a"),
    ]
    arguments = [
        (work, {"queues": [queue(name) for name in queues]}, fitting, clock)
        for work in (WORK, trace(("a", 5, None, 2)))
        for queues in (["a", "batch"], ["a", "batch", "vc1"])
        for fitting in fittings
        for clock in (times, replace(times, horizon=50), replace(times, default_run=7))
    ]
    first = [shared.arrivals(*one) for one in arguments]
    for (work, document, fitting, clock), (arrivals, problems) in zip(arguments, first, strict=True):
        alone, expected = fitted_to(work, leaf_queues(document), fitting)
        assert problems == expected
        assert problems or arrivals == arrivals_of(alone, clock)
    again = [shared.arrivals(*one) for one in arguments]
    assert all(
        problems or one[0] is other[0]
        for one, other, problems in zip(first, again, [found for _, found in first], strict=True)
    )


def test_a_window_is_cut_before_rate_and_size_scale_it() -> None:
    fitting = Fitting(rest="batch", begin=5, end=8000, rate=2, size=3, run_time=0.5)
    there, _ = fitted_to(WORK, ["batch"], fitting)
    assert [(job.submitted, job.pods, job.run_seconds) for job in there.jobs] == [
        (5, 6, 50), (3600, 6, 50), (7195, 3, None), (7195, 3, None),
    ]  # fmt: skip


# preview


def test_the_preview_counts_arrivals() -> None:
    seen = preview(WORK)
    assert (seen.jobs, seen.span, seen.bar_seconds) == (4, 9000, 300)
    assert {name: sum(bars) for name, bars in seen.arrivals.items()} == {"a": 1, "vc1": 2, "vc2": 1}
    assert seen.arrivals["vc1"][0] == 1 == seen.arrivals["vc1"][30]
    assert seen.sizes == {1: 2, 2: 1, 4: 1}
    assert {limit: count for limit, count in seen.run_times.items() if count} == {60: 1, 600: 2}
    assert seen.sources == {"trace": 3, "default": 1}
    work = {row.queue: row for row in seen.queues}
    assert (work["vc1"].jobs, work["vc1"].pods, work["vc1"].run_median) == (2, 6, 200)
    assert work["vc1"].pod_hours == (2 * 100 + 4 * 300) / HOUR


def test_the_preview_sums_the_hours_of_devices() -> None:
    sizes = (("a", 3600.0, 2, "4"), ("a", None, 1, "8"), ("b", 1800.0, 1, "0"))
    jobs = [
        trace_job(f"j{n}", of_queue, 0.0, run, pods=count, requests={"nvidia.com/gpu": gpus, "cpu": "1"})
        for n, (of_queue, run, count, gpus) in enumerate(sizes)
    ]
    seen = preview(Trace(tuple(jobs)))
    assert {row.queue: row.device_hours for row in seen.queues} == {
        "a": {"nvidia.com/gpu": 2 * 4 + 8.0},
        "b": {"nvidia.com/gpu": 0.0},
    }
    assert seen.devices == ["nvidia.com/gpu"]


def test_an_empty_trace_has_a_preview() -> None:
    assert preview(Trace(())).arrivals == {}


# run times


def finished(name: str, run: int, to: str = "a", **more: Any) -> list[Object]:
    group = podgroup(name, queue=to, min_member=1, phase="Completed")
    done = pods(name, 1, cpu=1, **more)
    ended = {"terminated": {"finishedAt": f"2026-11-22T10:{run // 60:02d}:{run % 60:02d}Z"}}
    done[0]["status"] = {
        "phase": "Succeeded",
        "startTime": "2026-11-22T10:00:00Z",
        "containerStatuses": [{"name": "main", "state": ended}],
    }
    return [group, *done]


def snapshot(*jobs: list[Object], **more: Any) -> Any:
    groups = [objects[0] for objects in jobs]
    return {**SCENARIO, "podgroups": groups, "pods": [pod for objects in jobs for pod in objects[1:]], **more}


def waiting(name: str, to: str = "a", owner: str = "", **more: Any) -> list[Object]:
    members = pods(name, 1, cpu=1)
    if owner:
        members[0]["metadata"]["ownerReferences"] = [{"kind": owner, "name": "x", "uid": "u"}]
    return [podgroup(name, queue=to, min_member=1, **more), *members]


def test_run_times_come_from_the_job_then_similar_jobs_then_the_queue_then_the_default() -> None:
    document = snapshot(
        finished("train-1", 100), finished("train-2", 200), finished("train-3", 1000), finished("etl", 30),
        waiting("said", annotations={"queuecast/run-seconds": "77"}), waiting("train-4"), waiting("other"),
        waiting("lone", to="batch"), waiting("web", owner="ReplicaSet"),
    )  # fmt: skip
    found = {entry.job: (entry.seconds, entry.source, entry.samples) for entry in run_times(document, 3600)}
    assert found == {
        "default/said": (77, "annotation", 0),
        "default/train-4": (200, "similar_jobs", 3),
        "default/other": (200, "queue", 4),
        "default/lone": (3600, "default", 0),
        "default/web": (None, "endless", 0),
    }


def test_jobs_run_as_long_as_the_finished_jobs_like_them_did() -> None:
    ended = [finished(f"train-{number}", run) for number, run in enumerate((10, 20, 30, 1000))]
    document = snapshot(*ended, *[waiting(f"train-{number}") for number in range(100, 500)])
    found = run_times(document, 3600)
    times = Counter(entry.seconds for entry in found)
    assert times.keys() == {10, 20, 30, 1000}
    assert all(70 < count < 130 for count in times.values())
    more = snapshot(*ended, *[waiting(f"train-{number}") for number in range(99, 501)])
    assert [entry for entry in run_times(more, 3600) if entry.job[-3:] not in {"-99", "500"}] == found
    assert run_times(document, 3600, seed=1) != found


def test_without_finished_jobs_the_trace_says_how_long_jobs_run() -> None:
    document = snapshot(waiting("first"), waiting("lone", to="batch"), started("old", "2026-11-22T11:00:00Z"))
    jobs = (trace_job("x", "a", 5, 40.0), trace_job("y", "a", 6, 7200.0), trace_job("z", "a", 7, None))
    made, problems = forecast_of(document, Trace(jobs), Times(horizon=60))
    assert not problems
    found = {entry.job: (entry.seconds, entry.source, entry.samples) for entry in made.run_times}
    assert found == {
        "default/first": (7200, "trace", 2),
        "default/lone": (3600, "default", 0),
        "default/old": (7200, "trace", 1),
    }
    jobs = "Assumed for 2 jobs of the snapshot"
    assert f"{jobs}: run times drawn from those of the trace's jobs in the same queue." in made.notes


def started(name: str, at: str) -> list[Object]:
    group, member = waiting(name)
    member["spec"]["nodeName"] = "gpu-0"
    member["status"] = {"phase": "Running", "startTime": at}
    return [{**group, "status": {"phase": "Running"}}, member]


@pytest.mark.parametrize(
    ("name", "at", "expected"),
    [
        ("train-9", "2026-11-22T11:58:20Z", (1000, "similar_jobs", 3)),  # it has run for 100 s
        ("train-9", "2026-11-22T11:50:00Z", (1000, "similar_jobs", 1)),  # for 10 min
        ("train-9", "2026-11-20T12:00:00Z", (4 * 86400, "twice", 0)),
        ("other", "2026-11-22T11:50:00Z", (1000, "queue", 1)),
        ("other", "2026-11-22T11:30:00Z", (3600, "twice", 0)),
    ],
)
def test_a_running_job_runs_longer_than_it_has(name: str, at: str, expected: object) -> None:
    document = snapshot(
        finished("train-1", 50), finished("train-2", 150), finished("train-3", 200),
        finished("train-4", 1000), started(name, at),
    )  # fmt: skip
    [found] = run_times(document, 3600)
    assert (found.seconds, found.source, found.samples) == expected


def test_a_job_that_has_run_for_days_does_not_end_at_the_beginning() -> None:
    document = snapshot(started("old", "2026-11-20T12:00:00Z"), started("new", "2026-11-22T11:59:00Z"))
    made, _ = forecast_of(document, Trace(()), Times(horizon=3 * 86400))
    ended = {job: entry["finished"] for job, entry in replay_document(made.document)["jobs"].items()}
    assert ended == {"default/old": 2 * 86400, "default/new": 3540}
    job = "Assumed for 1 job of the snapshot"
    assert f"{job}: twice what the job has run so far." in made.notes


def test_pods_that_an_operator_creates_later_are_noted() -> None:
    driver, its_pod = waiting("spark")
    driver["spec"]["minResources"] = {"cpu": "41", "count/pods": "11"}
    whole, all_of_it = waiting("whole")
    whole["spec"]["minResources"] = {"cpu": "1050m"}
    made, _ = forecast_of(snapshot([driver, its_pod], [whole, all_of_it]), Trace(()), Times(horizon=60))
    [note] = [note for note in made.notes if "create later" in note]
    assert note.endswith("The minResources of PodGroup default/spark request 40 cores more than its pods.")


def test_pods_that_always_restart_have_no_end() -> None:
    group, member = waiting("ray-head", owner="RayCluster")
    member["spec"]["restartPolicy"] = "Always"
    [found] = run_times(snapshot([group, member]), 3600)
    assert (found.seconds, found.source) == (None, "endless")


def test_run_times_are_written_where_the_replay_reads_them() -> None:
    document = snapshot(finished("train-1", 100), waiting("train-2"))
    written = with_run_times(document, run_times(document, 3600))
    annotations = {
        one["metadata"]["name"]: one["metadata"].get("annotations") for one in written["podgroups"]
    }
    assert annotations["train-2"]["queuecast/run-seconds"] == "100"
    assert "queuecast/run-seconds" not in (annotations["train-1"] or {})
    assert "queuecast/run-seconds" not in str(document)


def test_a_job_that_waits_for_its_podgroup_gets_a_run_time() -> None:
    task = {"name": "main", "replicas": 2, "template": {"spec": {"containers": [
        {"name": "main", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}}  # fmt: skip
    document = snapshot(jobs=[job("fresh", tasks=[task], queue="a")])
    found = run_times(document, 500)
    assert [(entry.job, entry.seconds) for entry in found] == [("default/fresh", 500)]
    made, problems = forecast_of(document, Trace(()), Times(horizon=2000, default_run=500))
    assert problems == []
    result = replay_document(made.document)
    (record,) = result["jobs"].values()
    assert record["finished"] - record["started"] == 500


def test_origins_of_run_times_are_counted_and_noted() -> None:
    document = snapshot(finished("train-1", 100), waiting("train-2"), waiting("lone", to="batch"))
    assert sources_of(run_times(document, 3600)) == {"similar_jobs": 1, "default": 1}
    made, _ = forecast_of(document, Trace(()), Times(horizon=60))
    assert "Assumed for 1 job of the snapshot: a run time of 1 h." in made.notes


def test_running_pods_without_a_start_time_are_noted() -> None:
    running = pods("runs", 3, node="n", phase="Running", cpu=1)
    running[0]["status"]["startTime"] = "2026-01-01T11:00:00Z"
    document = snapshot(waiting("one")) | {"pods": running}
    made, _ = forecast_of(document, Trace(()), Times(horizon=60))
    [note] = [note for note in made.notes if "status.startTime" in note]
    assert note.startswith("Assumed: 2 running pods of the snapshot without status.startTime started at")
    running[1]["status"]["startTime"] = running[2]["status"]["startTime"] = "2026-01-01T11:00:00Z"
    assert not any(
        "startTime" in note for note in forecast_of(document, Trace(()), Times(horizon=60))[0].notes
    )


def test_jobs_that_were_over_before_are_no_jobs_of_the_forecast() -> None:
    over, failed, gone = finished("over", 100), finished("failed", 50), finished("gone", 70)[:1]
    over[0]["status"]["phase"], failed[0]["status"]["phase"] = "Running", "Inqueue"
    failed[1]["status"] = {"phase": "Failed"}
    document = snapshot(over, failed, gone, waiting("next"))
    assert past_jobs(document) == {"default/over", "default/failed", "default/gone"}
    assert [one.job for one in run_times(document, 3600.0)] == ["default/next"]
    made, _ = forecast_of(document, Trace(()), Times(horizon=60))
    result = replay_document(made.document)
    record = record_of(made.document, result)
    assert record.jobs.names == ("default/next",)
    assert [one for one in verdict(record, {}) if one.kind == "unstarted"] == []
    assert summary_of(result, record)["jobs"] == 1


def test_jobs_whose_controller_creates_their_pods_again_are_not_over() -> None:
    (group, member) = finished("train-u", 100)
    group["metadata"]["ownerReferences"] = [{"kind": "Job", "name": "train", "controller": True}]
    going = job("train", tasks=[{"name": "w", "replicas": 1}])
    assert past_jobs(snapshot([group, member], jobs=[going])) == frozenset()
    ended = {**going, "status": {"state": {"phase": "Completed"}}}
    assert past_jobs(snapshot([group, member], jobs=[ended])) == {"default/train-u"}


def test_finished_jobs_of_a_snapshot_are_a_trace_from_which_more_is_generated() -> None:
    document = snapshot(finished("train-1", 100), finished("train-2", 200), waiting("other"))
    own = own_trace(document)
    assert [(one.queue, one.run_seconds) for one in own.jobs] == [("a", 100), ("a", 200)]
    more = more_of(own, seconds=24 * HOUR, seed=7)
    assert more == more_of(own, seconds=24 * HOUR, seed=7) != more_of(own, seconds=24 * HOUR, seed=8)
    assert {one.run_seconds for one in more.jobs} == {100, 200}


def ended_vcjob(name: str, run: int) -> tuple[Object, Object]:
    """Return a finished vcjob and its pod; Volcano has deleted its PodGroup."""
    _, member = finished(name, run)
    named = {"volcano.sh/job-name": name, "scheduling.k8s.io/group-name": f"{name}-{UUID}"}
    member["metadata"]["annotations"] = named
    member["metadata"]["ownerReferences"] = [{"kind": "Job", "name": name, "uid": UUID}]
    ended = job(name, tasks=[], queue="a") | {"status": {"state": {"phase": "Completed"}}}
    ended["metadata"]["creationTimestamp"] = "2026-11-22T09:30:00Z"
    return ended, member


def test_finished_vcjobs_are_found_although_their_podgroups_are_gone() -> None:
    (first, its_pod), (second, another) = ended_vcjob("train-1", 100), ended_vcjob("train-2", 300)
    document = snapshot(jobs=[first, second]) | {"pods": [its_pod, another]}
    own = own_trace(document)
    assert [(one.queue, one.submitted, one.run_seconds) for one in own.jobs] == [("a", 0, 100), ("a", 0, 300)]
    real = real_jobs(document, "2026-11-22T09:00:00Z")
    assert [(one.submitted, one.started, one.finished) for one in real.values()] == [
        (1800, 3600, 3700),
        (1800, 3600, 3900),
    ]
    group, member = waiting(f"train-3-{UUID}", owner="Job")
    [like] = run_times({**document, "podgroups": [group], "pods": [its_pod, another, member]}, 3600)
    assert (like.seconds, like.source, like.samples) == (300, "similar_jobs", 2)


# changes


def test_changes_become_events_in_order_of_time() -> None:
    changes = [
        {"at": "Tuesday 08:00", "pool": "gpu", "remove": 3},
        {"at": "18:00", "queue": "batch", "set": {"weight": 5}},
        {"at": "19:00", "queue": "batch", "set": {"reclaimable": False}},
        {"at": "1h", "queue": "a", "state": "closed"},
    ]
    timed, problems = timed_changes(SCENARIO, changes, SCENARIO["now"], 1e6)
    assert problems == []
    assert [(change.at, change.says) for change in timed] == [
        (3600, "Queue a is closed."),
        (6 * 3600, "Queue batch gets weight 5."),
        (7 * 3600, "Queue batch gets reclaimable false."),
        (44 * 3600, "Of pool gpu 3 nodes are deleted with their pods: gpu-1, gpu-2, gpu-3."),
    ]
    kept = timed[2].event["replace"]["queues"][0]["spec"]
    assert (kept["weight"], kept["reclaimable"]) == (5, False)
    assert timed[3].event == {"at": 44 * 3600, "delete": {"nodes": ["gpu-1", "gpu-2", "gpu-3"]}}


def test_a_change_repeats_until_the_end() -> None:
    changes = [
        {"at": "18:00", "every": "1d", "queue": "batch", "set": {"weight": 5}},
        {"at": "06:00", "every": 86400, "queue": "batch", "set": {"weight": 1}},
        {"at": "1d", "queue": "a", "state": "closed"},
    ]
    timed, problems = timed_changes(SCENARIO, changes, SCENARIO["now"], 66 * HOUR)
    assert problems == []
    assert [(change.at / HOUR, change.place) for change in timed] == [
        (6, 0), (18, 1), (24, 2), (30, 0), (42, 1), (54, 0), (66, 1),
    ]  # fmt: skip
    weights = [change.event["replace"]["queues"][0]["spec"]["weight"] for change in timed if change.place < 2]
    assert weights == [5, 1, 5, 1, 5, 1]
    line = timeline(timed, 66 * HOUR)
    assert [(change.at / HOUR, change.times, change.every) for change in line.changes] == [
        (6, 3, "1 d"), (18, 3, "1 d"), (24, 1, ""),
    ]  # fmt: skip
    assert [mark.label for mark in line.marks] == ["1", "2", "3", "1", "2", "1", "2"]


@pytest.mark.parametrize("every", ["0s", "soon", "", None, True, [], -1, "1m"])
def test_an_interval_is_a_time_above_zero_and_not_too_short(every: Any) -> None:
    change = {"at": 0, "every": every, "queue": "a", "state": "closed"}
    timed, (problem,) = timed_changes(SCENARIO, [change], "", 1e6)
    assert (timed, problem.path) == ([], "changes[0].every")
    assert problem.fix


def test_the_shortest_interval_that_is_named_is_accepted() -> None:
    change = {"at": 98289, "every": "1m", "queue": "a", "state": "closed"}
    _, (problem,) = timed_changes(SCENARIO, [change], "", 604_800)
    assert problem.fix == "choose an interval of at least 508s"
    timed, problems = timed_changes(SCENARIO, [{**change, "every": "508s"}], "", 604_800)
    assert (len(timed), problems) == (998, [])


@pytest.mark.parametrize(("at", "every", "horizon"), [(0.2, 0.1, 57.6), (0, 0.7, 2.1), (0.1, 0.3, 1.0)])
def test_a_change_repeats_until_the_end_despite_rounding(at: float, every: float, horizon: float) -> None:
    change = {"at": at, "every": every, "queue": "a", "state": "closed"}
    timed, problems = timed_changes(SCENARIO, [change], "", horizon)
    assert (problems, late_problems(timed, horizon)) == ([], [])
    assert timed[-1].at == pytest.approx(horizon)


def test_a_change_of_the_configuration_names_the_actions_and_plugins_that_differ() -> None:
    texts = [
        "actions: enqueue, allocate\ntiers: [{plugins: [{name: gang}, {name: capacity}]}]",
        "actions: enqueue, allocate\ntiers: [{plugins: [{name: gang}, {name: capacity}]}, {plugins: []}]",
        "actions: allocate\ntiers: [{plugins: [{name: drf}]}]",
    ]
    document = scenario(conf=conf("enqueue, allocate", ["gang", "proportion"]))
    changes = [{"at": hour, "scheduler_conf": text} for hour, text in enumerate(texts)]
    timed, problems = timed_changes(document, changes, "", 1e5)
    assert problems == []
    assert [change.says.removeprefix("The scheduler gets another configuration") for change in timed] == [
        ": with plugin capacity; without plugin proportion.",
        ".",
        ": actions allocate; with plugin drf; without plugins capacity, gang.",
    ]


def test_root_stays_open_and_a_queue_closed_while_its_parent_is() -> None:
    changes = [
        {"at": 1, "queue": "root", "state": "closed"},
        {"at": 2, "queue": "above", "state": "closed"},
        {"at": 3, "queue": "below", "state": "open"},
    ]
    tree = {**SCENARIO, "queues": [queue("root"), queue("above"), queue("below", parent="above")]}
    timed, problems = timed_changes(tree, changes, "", 1e5)
    assert [change.says for change in timed] == ["Queue above is closed."]
    assert [(problem.path, problem.message) for problem in problems] == [
        ("changes[0].state", "root cannot be closed"),
        ("changes[2].state", "below stays closed while its parent above is closed"),
    ]


def test_a_change_of_a_queue_that_its_parent_has_closed_lets_it_open_with_the_parent() -> None:
    changes = [
        {"at": 10, "queue": "above", "state": "closed"},
        {"at": 20, "queue": "below", "set": {"weight": 5}},
        {"at": 30, "queue": "above", "state": "open"},
    ]
    document = scenario(
        nodes=[node("n", cpu=2)],
        queues=[queue("above"), queue("below", parent="above")],
        conf=conf("enqueue, allocate", ["gang"], [("capacity", {"enableHierarchy": True})]),
    )
    timed, problems = timed_changes(document, changes, "", 100)
    assert problems == []
    work = {
        "podgroups": [podgroup("late", queue="below", min_member=1)],
        "pods": pods("late", 1, cpu=1),
    }
    events = [*(change.event for change in timed), {"at": 15, "create": work}]
    replay = {"period_seconds": 1, "horizon_seconds": 100, "events": events}
    assert replay_document({**document, "replay": replay})["jobs"]["default/late"]["started"] == 30


def test_a_repeated_change_that_becomes_impossible_is_one_problem() -> None:
    change = {"at": 0, "every": "1h", "pool": "gpu", "remove": 3}
    timed, (problem,) = timed_changes(SCENARIO, [change], "", 1e5)
    assert (len(timed), problem.path) == (1, "changes[0].remove")


def test_nodes_that_are_lost_or_drained_are_not_chosen_again() -> None:
    changes = [{"at": hour * HOUR, "pool": "gpu", "remove": 2, "how": "drain"} for hour in (1, 2, 3)]
    timed, problems = timed_changes(SCENARIO, changes, "", 1e6)
    assert [change.event["drain"]["nodes"] for change in timed] == [["gpu-2", "gpu-3"], ["gpu-0", "gpu-1"]]
    assert [problem.message for problem in problems] == ["there is no pool 'gpu' at that time"]


def test_a_pool_grows_by_copies_of_its_nodes() -> None:
    (change,), _ = timed_changes(SCENARIO, [{"at": 60, "pool": "gpu", "add": 2}], "", 1e6)
    first, second = change.event["create"]["nodes"]
    assert (first["metadata"]["name"], second["metadata"]["name"]) == ("gpu-0-more-1", "gpu-0-more-2")
    assert first["status"]["allocatable"]["cpu"] == "8"


def test_every_problem_of_the_changes_is_reported_with_its_place() -> None:
    changes: list[Any] = [
        {"at": "yesterday", "queue": "a", "set": {"weight": 1}},
        {"at": 1, "queue": "nope", "set": {"weight": 1}},
        {"at": 1, "pool": "gpu", "remove": 9},
        {"at": 1, "pool": "gpu", "remove": 1, "how": "explode", "extra": 1},
        {"at": 1},
        {"at": 1, "queue": "a", "set": {"weight": 1}, "state": "open"},
        {"at": 1, "nodes": ["gone"]},
        {"at": 1, "scheduler_conf": "actions: ["},
        "at 18:00",
    ]
    timed, problems = timed_changes(SCENARIO, changes, "", 1e6)
    assert timed == []
    assert {problem.path for problem in problems} >= {
        "changes[0].at", "changes[1].queue", "changes[2].remove", "changes[3].how", "changes[3].extra",
        "changes[4]", "changes[8]", "changes[5].queue", "changes[6].nodes", "changes[7].scheduler_conf",
    }  # fmt: skip
    assert all(problem.fix for problem in problems)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"queue": ["a"], "set": {"weight": 1}}, "queue"),
        ({"queue": "a", "set": {}}, "set"),
        ({"queue": "a", "set": {"name": "b"}}, "set"),
        ({"pool": [], "add": 1}, "pool"),
        ({"pool": "gpu", "add": 10**9}, "add"),
        ({"pool": "gpu", "remove": 1, "how": ["drain"]}, "how"),
        ({"nodes": [{}]}, "nodes"),
        ({"nodes": ["gpu-0"], "how": {}}, "how"),
        ({"scheduler_conf": None}, "scheduler_conf"),
        ({"scheduler_conf": 5}, "scheduler_conf"),
        ({"scheduler_conf": 'actions: "dance"'}, "scheduler_conf"),
        ({"at": 10**400, "queue": "a", "state": "open"}, "at"),
        ({"at": "9" * 5000, "queue": "a", "state": "open"}, "at"),
    ],
)
def test_a_change_of_the_wrong_form_is_refused_at_its_part(change: dict[str, Any], part: str) -> None:
    _, problems = timed_changes(SCENARIO, [{"at": 1, **change}], "", 1e6)
    assert [(problem.path, bool(problem.fix)) for problem in problems] == [(f"changes[0].{part}", True)]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("weight=--5", None),
        (f"weight={'9' * 5000}", None),
        ("deserved=5 deserved.cpu=1", "deserved is written twice"),
        ("guarantee=5 guarantee.cpu=1", "guarantee is written twice"),
        ("weight=1 weight=2", "weight is written twice"),
    ],
)
def test_odd_fields_of_a_form_row_are_problems(value: str, says: str | None) -> None:
    change, unread = change_of(TypedChange("18:00", "queue", "a", value), 0)
    _, refused = timed_changes(SCENARIO, [{**change, "at": 1}], "", 1e6)
    assert [problem.message for problem in unread] == ([says] if says else [])
    assert unread or [problem.path for problem in refused] == ["changes[0].set"]


@pytest.mark.parametrize("count", ["9" * 5000, "0", "-1", "\u0663", "3.5"])
def test_a_pool_changes_by_a_count_of_nodes(count: str) -> None:
    _, problems = change_of(TypedChange("18:00", "add", "gpu", count), 0)
    assert [problem.path for problem in problems] == ["changes[0].value"]
    assert len(problems[0].message) < 100


@pytest.mark.parametrize("horizon", [60.0, 1e9, 1e18, 1e300])
def test_a_time_axis_of_any_length_has_few_ticks(horizon: float) -> None:
    assert len(timeline([], horizon).ticks) <= MOST_TICKS + 1


def test_a_change_after_the_end_is_a_problem() -> None:
    late = {"at": "2d", "queue": "a", "state": "closed"}
    _, problems = forecast_of(SCENARIO, WORK, Times(horizon=86400), [late])
    assert [problem.fix for problem in problems] == ["choose a moment within 1 d"]


# whole forecasts


def test_a_timed_change_of_weight_changes_the_deserved_amounts_of_a_replay() -> None:
    work, _ = fitted_to(trace(*[(name, 10, 5000, 20) for name in ("a", "batch")]), ["a", "batch"], Fitting())
    heavier = {"at": 600, "queue": "batch", "set": {"weight": 4}}
    flat = {**SCENARIO, "queues": [queue("a", weight=1), queue("batch", weight=1)]}
    made, problems = forecast_of(flat, work, Times(horizon=1200, period=10), [heavier])
    assert problems == []
    result = replay_document(made.document)
    assert "error" not in result
    deserved = {row["t"]: row["deserved"]["cpu"] for row in result["queues"] if row["queue"] == "batch"}
    assert deserved[10] == 16_000 < deserved[600]


def test_jobs_submitted_after_the_horizon_are_left_out_and_noted() -> None:
    work, _ = fitted_to(WORK, ["batch"], Fitting(rest="batch"))
    made, _ = forecast_of(SCENARIO, work, Times(horizon=60))
    assert len(made.document["replay"]["events"]) == 2
    assert "Left out: 2 jobs submitted after the end of the forecast." in made.notes


def test_what_becomes_of_gangs_that_lose_pods_is_noted_where_pods_may_be_evicted() -> None:
    reclaims = {**SCENARIO, "scheduler_conf": {**SCENARIO["scheduler_conf"], "actions": "allocate, reclaim"}}
    work, _ = fitted_to(trace(("a", 0, 60, 4), ("a", 5, 60, 2), ("a", 9, 60, 1)), ["a"], Fitting())
    later = [{"at": 5, "scheduler_conf": conf_text(reclaims["scheduler_conf"])}]
    for document, evicted, changes, is_noted in (
        (SCENARIO, "restart", [], False),
        (SCENARIO, "restart", later, True),
        (reclaims, "restart", [], True),
        (reclaims, "resume", [], True),
        (reclaims, "restart-job", [], False),
    ):
        made, problems = forecast_of(document, work, Times(horizon=60, evicted=evicted), changes)
        assert problems == []
        found = [note for note in made.notes if "gangs is evicted" in note]
        assert [note.partition(" is evicted")[0] for note in found] == (
            ["Assumed: if a pod of one of 2 gangs"] if is_noted else []
        )


@pytest.mark.parametrize(
    ("times", "annotated", "says"),
    [
        ({}, False, "pods make no checkpoints."),
        ({"evicted": "restart-job"}, False, "pods make no checkpoints."),
        ({}, True, "pods make no checkpoints except those with an annotation."),
        ({"evicted": "resume"}, False, ""),
        ({"checkpoint": 600.0}, False, ""),
    ],
)
def test_that_pods_make_no_checkpoints_is_noted_where_pods_may_be_evicted(
    times: dict[str, Any], annotated: bool, says: str
) -> None:
    annotations = {"queuecast/checkpoint-seconds": "60"} if annotated else {}
    document = snapshot(waiting("one", annotations=annotations))
    reclaims = {**document, "scheduler_conf": {**SCENARIO["scheduler_conf"], "actions": "allocate, reclaim"}}
    for one, expected in ((document, ""), (reclaims, says)):
        made, _ = forecast_of(one, Trace(()), Times(60, **times))
        found = [note for note in made.notes if "checkpoints" in note]
        assert [note.partition(" Evicted")[0] for note in found] == (
            [f"Assumed: {expected}"] if expected else []
        )


def test_a_change_that_volcano_would_reject_is_a_problem() -> None:
    changes = [
        {"at": 60, "queue": "a", "set": spec} for spec in ({"weight": "heavy"}, {"weight": 0}, {"wieght": 2})
    ]
    _, problems = forecast_of(SCENARIO, WORK, Times(horizon=100), changes)
    assert [problem.path for problem in problems] == ["changes[0].set", "changes[1].set", "changes[2].set"]


def test_finished_gangs_lose_no_pods_and_need_no_run_time() -> None:
    reclaims = conf("allocate, reclaim", ["gang"], ["predicates", "proportion"])
    over = podgroup("over", queue="a", min_member=3, phase="Completed")
    ended = [{**one, "status": {"phase": "Succeeded"}} for one in pods("over", 3, cpu=1)]
    for there in ([], ended):
        document = scenario(
            nodes=[node("n", cpu=8)], queues=[queue("a")], podgroups=[over], pods=there, conf=reclaims
        )
        made, problems = forecast_of(document, Trace(()), Times(horizon=60.0))
        assert (made.notes, problems) == ((), [])
