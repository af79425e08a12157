"""What a forecast says of the jobs that waited when it began."""

from __future__ import annotations

from typing import Any

import pytest

from planning.forecasts.backlog import Backlog, backlog_of
from planning.forecasts.document import Times, forecast_of
from planning.forecasts.record import Record, record_of
from planning.forecasts.verdict import verdict
from scheduler_core.replay import replay_document
from tests.builders import Object, conf, node, pod, podgroup, queue, scenario
from traces import Trace

NOW = "2026-11-22T12:00:00Z"


def job(name: str, to: str, created: str, *, runs_since: str = "") -> tuple[Object, Object]:
    """Return a job of one pod of three cores that runs for an hour: waiting, or running since a time."""
    phase = "Running" if runs_since else "Pending"
    group = podgroup(name, queue=to, phase=phase, annotations={"queuecast/run-seconds": "3600"})
    member = pod(f"{name}-0", group=name, node="n" if runs_since else None, phase=phase, cpu=3)
    if runs_since:
        member["status"]["startTime"] = runs_since
    for thing in (group, member):
        thing["metadata"]["creationTimestamp"] = created
    return group, member


def forecast(*jobs: tuple[Object, Object], horizon: float, **times: Any) -> Record:
    document = scenario(
        nodes=[node("n", cpu=4)],
        queues=[queue("a"), queue("b")],
        podgroups=[group for group, _ in jobs],
        pods=[member for _, member in jobs],
        conf=conf("enqueue, allocate", ["gang"], ["predicates"]),
        now=NOW,
    )
    made, problems = forecast_of(document, Trace(()), Times(horizon, **times))
    assert problems == []
    return record_of(made.document, replay_document(made.document))


RUNS = job("runs", "a", "2026-11-22T11:00:00Z", runs_since="2026-11-22T11:30:00Z")
FIRST = job("first", "a", "2026-11-22T11:10:00Z")
SECOND = job("second", "b", "2026-11-22T11:50:00Z")


@pytest.mark.parametrize(
    ("horizon", "expected", "ends"),
    [
        # the running job ends after half an hour, the first one an hour later
        (900, Backlog(2, {"a": 1, "b": 1}, 0, "", 0.0), "1 of a, 1 of b. None of them starts."),
        (
            3600,
            Backlog(2, {"a": 1, "b": 1}, 1, "default/first", 1800.0),
            "1 starts, default/first, after 30 min; 1 does not.",
        ),
        (
            7200,
            Backlog(2, {"a": 1, "b": 1}, 2, "default/second", 5400.0),
            "All of them start, the last one, default/second, after 1 h 30 min.",
        ),
    ],
)
def test_the_verdict_says_when_jobs_start_that_waited_when_the_forecast_began(
    horizon: float, expected: Backlog, ends: str
) -> None:
    record = forecast(RUNS, FIRST, SECOND, horizon=horizon)
    assert backlog_of(record) == expected
    (finding,) = [one for one in verdict(record, {}) if one.kind == "backlog"]
    assert finding.says.startswith("2 jobs waited when the forecast began: ")
    assert finding.says.endswith(ends)
    assert (finding.tone, finding.at) == ("neutral", expected.last_started)


def test_no_job_waited_where_all_run() -> None:
    assert backlog_of(forecast(RUNS, horizon=60)) is None


@pytest.mark.parametrize(("created", "at_once"), [("2026-11-19T12:00:00Z", 1), ("2026-11-22T11:55:00Z", 0)])
@pytest.mark.parametrize("delay", [0.0, 30.0])
def test_a_job_that_waited_for_days_and_starts_at_once_is_doubtful(
    created: str, at_once: int, delay: float
) -> None:
    record = forecast(job("old", "a", created), horizon=60, start_delay=delay)
    found = backlog_of(record)
    assert found is not None
    assert (found.started, found.last_started, found.at_once) == (1, delay, at_once)
    starts = f"1 job of a waited when the forecast began. It starts {'after 30 s' if delay else 'at once'}."
    doubt = (
        " It had waited for 1 h or longer and starts within 1 min: what kept the real scheduler from"
        " starting it may be missing in the snapshot."
    )
    assert found.says == f"{starts}{doubt if at_once else ''}"


def test_the_only_waiting_job_does_not_start() -> None:
    found = backlog_of(forecast(RUNS, FIRST, horizon=60))
    assert found is not None
    assert found.says == "1 job of a waited when the forecast began. It does not start."


def test_several_jobs_that_waited_for_an_hour_and_start_at_once_are_doubtful() -> None:
    assert Backlog(3, {"a": 3}, 3, "default/old", 0.0, at_once=2).says == (
        "3 jobs of a waited when the forecast began. All of them start, the last one, default/old, at once."
        " 2 of them had waited for 1 h or longer and start within 1 min: what kept the real scheduler from"
        " starting them may be missing in the snapshot."
    )
