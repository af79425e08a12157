"""The divergence of forecast and reality, and its causes in the snapshots."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planning.forecasts.backtest import Backtest, backtest, known, plain, real_jobs
from planning.forecasts.divergence import CAUSES, QueueParting, RealJob
from planning.forecasts.record import Record
from tests.builders import conf, node, queue
from tests.planning.test_forecast_comparisons import replayed, sequential_jobs


def real_of(record: Record) -> dict[str, RealJob]:
    """Return the jobs of a forecast as if they had happened."""
    jobs = record.jobs
    return {
        name: RealJob(
            jobs.queues[row], float(jobs.submitted[row]), known(jobs.started[row]), known(jobs.finished[row])
        )
        for row, name in enumerate(jobs.names)
    }


def only_parting(found: Backtest) -> QueueParting:
    (parting,) = found.partings
    return parting


def kinds(parting: QueueParting) -> list[str]:
    return [cause.kind for cause in parting.causes]


def test_a_correct_forecast_diverges_nowhere() -> None:
    record = replayed(sequential_jobs(100))
    assert backtest(record, real_of(record)).partings == ()


def test_longer_run_times_are_reported_as_the_cause() -> None:
    # predicted 100 s each, really 150 s: job 1 starts 50 s late, job 2 is the first over a minute late
    predicted, real = replayed(sequential_jobs(100)), replayed(sequential_jobs(150))
    parting = only_parting(backtest(predicted, real_of(real)))
    assert (parting.job, parting.off) == ("default/j2", 8)
    assert parting.real is not None
    assert parting.predicted is not None
    assert 90 <= parting.real - parting.predicted <= 110
    # a run time that differs by 50 s is no cause by itself; 300 s instead of 100 s is
    assert kinds(parting) == ["unknown"]
    slow = only_parting(backtest(predicted, real_of(replayed(sequential_jobs(300)))))
    (cause,) = slow.causes
    assert (cause.kind, cause.count, cause.jobs) == ("run_time", 1, ("default/j0",))
    assert cause.says == (
        "1 job that had started before ran longer or shorter than assumed, 1 of them longer;"
        " the most default/j0: 5 min instead of 1 min 40 s."
    )


def test_a_running_job_has_run_at_least_until_the_later_snapshot() -> None:
    real = real_of(replayed(sequential_jobs(100)))
    real = {name: replace(job, started=None, finished=None) for name, job in real.items()}
    real["default/j0"] = RealJob("a", 0.0, 1.0)
    found = backtest(replayed(sequential_jobs(100)), real, until=800)
    parting = only_parting(found)
    assert (parting.job, parting.real, kinds(parting)) == ("default/j1", None, ["run_time"])
    assert "at least 13 min" in parting.causes[0].says


def test_differing_arrivals_and_queues_are_causes() -> None:
    predicted, real = replayed(sequential_jobs(100)), real_of(replayed(sequential_jobs(100)))
    started = real["default/j3"].started
    assert started is not None
    real["default/j3"] = replace(real["default/j3"], started=started + 700, submitted=500.0)
    real["default/x"] = RealJob("a", 10.0, 20.0)
    parting = only_parting(backtest(predicted, real))
    assert parting.job == "default/j3"
    causes = {cause.kind: cause for cause in parting.causes}
    assert causes["missing"].jobs == ("default/x",)
    assert "default/j3: 8 min 20 s later" in causes["submitted"].says
    real["default/j0"] = replace(real["default/j0"], queue="b")
    del real["default/x"], real["default/j1"]
    found = {cause.kind: cause for cause in only_parting(backtest(predicted, real)).causes}
    assert (found["queue"].jobs, found["extra"].jobs) == (("default/j0",), ("default/j1",))


def test_differing_nodes_queue_fields_and_configuration_are_causes() -> None:
    scenario: Any = sequential_jobs(100)
    predicted, real = replayed(scenario), real_of(replayed(sequential_jobs(100, cores=2)))
    later = {
        "nodes": [node("n", cpu=1), node("m", cpu=1)],
        "queues": [queue("a", deserved={"cpu": 2})],
        "scheduler_conf": conf("enqueue, allocate", ["gang"]),
    }
    parting = only_parting(backtest(predicted, real, None, later, scenario))
    assert kinds(parting) == ["nodes", "queue_spec", "configuration"]
    assert "2 instead of 1" in parting.causes[0].says
    assert "deserved" in parting.causes[1].says
    same = only_parting(backtest(predicted, real, None, scenario, scenario))
    assert kinds(same) == ["unknown"]


def test_unmodelled_features_of_the_jobs_are_causes() -> None:
    predicted, real = replayed(sequential_jobs(100)), real_of(replayed(sequential_jobs(100)))
    started = real["default/j4"].started
    assert started is not None
    real["default/j4"] = replace(real["default/j4"], started=started + 300, uses=("volumes",))
    parting = only_parting(backtest(predicted, real))
    assert [cause.says for cause in parting.causes] == [
        "1 job that diverged uses volumes. Volume binding, zones and limits rule out no node."
    ]


def test_an_earlier_divergence_of_another_queue_is_a_cause() -> None:
    predicted, real = replayed(sequential_jobs(100)), real_of(replayed(sequential_jobs(100)))
    for name, late in (("default/j2", 200.0), ("default/j5", 200.0)):
        started = real[name].started
        assert started is not None
        real[name] = replace(real[name], started=started + late)
    real["default/j5"] = replace(real["default/j5"], queue="b")
    first, second = backtest(predicted, real).partings
    assert (first.queue, second.queue) == ("a", "b")
    assert second.causes[-1].says == "Queue a had diverged 5 min earlier."
    actual = plain(backtest(predicted, real))["partings"]
    assert [one["job"] for one in actual] == ["default/j2", "default/j5"]
    assert {cause["kind"] for one in actual for cause in one["causes"]} <= set(CAUSES)


def test_ends_and_unmodelled_features_are_read_from_the_later_snapshot() -> None:
    group = {
        "metadata": {"name": "g", "namespace": "x", "creationTimestamp": "2026-01-01T00:01:00Z"},
        "spec": {"queue": "a", "minMember": 1, "networkTopology": {"mode": "hard"}},
    }
    ended = {"startedAt": "2026-01-01T00:02:00Z", "finishedAt": "2026-01-01T00:12:00Z"}
    pod = {
        "metadata": {"name": "p", "namespace": "x", "annotations": {"scheduling.k8s.io/group-name": "g"}},
        "spec": {"volumes": [{"persistentVolumeClaim": {"claimName": "c"}}]},
        "status": {
            "startTime": "2026-01-01T00:02:00Z",
            "containerStatuses": [{"state": {"terminated": ended}}],
        },
    }
    found = real_jobs({"podgroups": [group], "pods": [pod]}, "2026-01-01T00:00:00Z")["x/g"]
    assert found == RealJob("a", 60.0, 120.0, 720.0, ("volumes", "networkTopology"))


def test_a_pod_without_a_specification_uses_no_unmodelled_feature() -> None:
    created = {"namespace": "default", "creationTimestamp": "2026-01-01T12:00:00Z"}
    group = {"metadata": {"name": "j", **created}, "spec": {"queue": "a"}}
    annotations = {"scheduling.k8s.io/group-name": "j"}
    pod = {"metadata": {"name": "p", **created, "annotations": annotations}}
    [job] = real_jobs({"podgroups": [group], "pods": [pod]}, "2026-01-01T12:00:00Z").values()
    assert (job.submitted, job.started, job.uses) == (0.0, None, ())
