"""One forecast from claim to end in this process, with a real child process."""

import json
import threading
from math import isnan
from typing import Any

import pytest
from django.test import override_settings

from planner.errors import Invalid
from planner.forecasts.models import Forecast, ForecastPart
from planner.forecasts.selectors.forecasts import drawn_waits, record_of
from planner.forecasts.services.replays import frozen_state
from planner.work.lifecycle import work_cancel
from planning.forecasts.estimate import estimated
from planning.forecasts.opening import opened
from tests import factories
from tests.processes.forks import killed_child
from tests.worker import do_work

pytestmark = pytest.mark.django_db(transaction=True)

MANY = 700
"""So many different jobs take a child process some seconds."""


def long_forecasts(count: int, *, seeds: int = 0) -> list[Forecast]:
    """Return equal forecasts that take some seconds, with the drawn workloads."""
    workload = "name,queue,submit_seconds,run_seconds,cpu,memory\n" + "".join(
        f"j{number},{('busy', 'waits')[number % 2]},{number * 7},{50 + number % 90},1,{1000 + number}Mi\n"
        for number in range(MANY)
    )
    empty = {**factories.cluster(nodes=4), "podgroups": [], "pods": []}
    scenario, trace = factories.scenario(document=empty), factories.workload(workload)
    options = {"horizon_seconds": 10.0 * MANY, "period_seconds": 1.0, "seeds": seeds}
    return [factories.forecast(scenario, under=trace, **options) for _ in range(count)]


def put_back_once_frozen(forecast: Forecast) -> None:
    """Replay a forecast with frequently saved states until one was saved, and put it back then."""
    with override_settings(FORECAST_FREEZE_SECONDS=0.1, RUN_HEARTBEAT_SECONDS=0.02):
        put_back = do_work(forecast, stopping=OnceFrozen(forecast))
    assert put_back.state == "queued", "it ended before a state was saved"


def result_of(forecast: Forecast) -> Any:
    """Return the result of replaying the same input in this process."""
    given = opened(forecast.input.document(), forecast.workload.content().decode(), forecast.options)
    return given.replay.run()


def test_a_forecast_succeeds_with_the_result_of_the_core() -> None:
    forecast = do_work(factories.forecast())
    assert (forecast.state, forecast.error, forecast.progress) == ("succeeded", "", 1.0)
    assert forecast.simulated_seconds == forecast.summary["end_seconds"]
    assert sorted(forecast.parts.values_list("part", flat=True)) == ["log", "record"]
    record = record_of(forecast)
    expected = result_of(forecast)
    assert list(record.jobs.names) == sorted(expected["jobs"])
    for row, name in enumerate(record.jobs.names):
        started = record.jobs.started[row]
        assert (None if isnan(started) else started) == expected["jobs"][name]["started"]
    assert forecast.jobs_done == sum(job["finished"] is not None for job in expected["jobs"].values())


def test_a_forecast_estimates_the_duration_of_all_its_replays() -> None:
    alone, drawn = do_work(factories.forecast()), do_work(factories.forecast(seeds=2))
    one = estimated(opened(alone.input.document(), alone.workload.content().decode(), alone.options).document)
    expected = {"seconds": round(one.seconds, 3), "sessions": one.sessions, "at_least": one.at_least}
    assert {name: alone.estimate[name] for name in expected} == expected
    assert drawn.estimate["sessions"] > one.sessions
    assert drawn.estimate["sessions"] % 3 == 0, "each drawn workload has the size of the first"
    assert drawn.summary == alone.summary, "drawn workloads do not change the forecast"
    assert factories.forecast().estimate == {}, "the input has not been read yet"


def test_equal_forecasts_give_equal_bytes() -> None:
    first, second = do_work(factories.forecast()), do_work(factories.forecast())
    assert first.summary["result_sha256"] == second.summary["result_sha256"]
    assert [bytes(part.packed) for part in first.parts.order_by("part")] == [
        bytes(part.packed) for part in second.parts.order_by("part")
    ]


def test_a_requeued_forecast_resumes_with_the_same_result() -> None:
    whole, forecast = long_forecasts(2)
    whole = do_work(whole)
    assert whole.state == "succeeded", whole.error
    put_back_once_frozen(forecast)
    resumed = do_work(forecast)
    assert resumed.state == "succeeded", resumed.error
    assert resumed.resumed_at is not None
    assert resumed.resumed_at > 0
    assert resumed.summary == whole.summary
    assert not resumed.parts.filter(part=ForecastPart.FROZEN).exists()


def test_a_requeued_forecast_with_drawn_workloads_resumes_with_the_same_result() -> None:
    whole, forecast = long_forecasts(2, seeds=2)
    whole = do_work(whole)
    assert whole.state == "succeeded", whole.error
    put_back_once_frozen(forecast)
    resumed = do_work(forecast)
    assert (resumed.state, resumed.summary) == ("succeeded", whole.summary)
    assert drawn_waits(resumed) == drawn_waits(whole)
    assert {row.seed for row in drawn_waits(whole)} == {1, 2}


def test_kills_after_a_later_saved_state_do_not_add_up() -> None:
    whole, forecast = long_forecasts(2)
    whole = do_work(whole)
    ends = [0.0]
    with override_settings(FORECAST_FREEZE_SECONDS=0.1, RUN_HEARTBEAT_SECONDS=0.02):
        for _ in range(2):
            with killed_child(when=lambda: end_of_state(forecast) > ends[-1]):
                do_work(forecast)
            assert (forecast.state, forecast.kills) == ("queued", 1)
            ends.append(end_of_state(forecast))
    assert ends == sorted(set(ends))
    resumed = do_work(forecast)
    assert (resumed.state, resumed.summary) == ("succeeded", whole.summary)


def test_a_forecast_whose_child_is_killed_twice_without_progress_fails() -> None:
    forecast = factories.forecast()
    for _ in range(2):
        with killed_child(when=lambda: True):
            do_work(forecast)
    assert forecast.state == "failed"
    assert forecast.error.endswith("This happened twice.")


def end_of_state(forecast: Forecast) -> float:
    """Return the simulated second of the saved state; 0 if there is none."""
    frozen = frozen_state(forecast)
    return 0.0 if frozen is None else frozen["end"]


class OnceFrozen(threading.Event):
    """A stop event that is set once a state after the start is saved; checked between reports."""

    def __init__(self, forecast: Forecast) -> None:
        super().__init__()
        self._forecast = forecast

    def is_set(self) -> bool:
        return end_of_state(self._forecast) > 0


def test_a_scenario_that_cannot_be_replayed_fails_with_the_core_error() -> None:
    document = factories.cluster()
    document["nodes"][0]["status"]["allocatable"]["cpu"] = "many"
    forecast = do_work(factories.forecast(factories.scenario(document=document)))
    assert forecast.state == "failed"
    assert "many" in forecast.error


def test_a_scenario_in_which_volcano_would_hang_fails_with_the_error_of_a_run() -> None:
    document = factories.cluster()
    for queue, parent in zip(document["queues"], ("waits", "busy"), strict=True):
        queue["spec"]["parent"] = parent
    document["queues"].append(factories.queue("free"))
    scenario = factories.scenario(document=document)
    forecast = do_work(factories.forecast(scenario, rest="free"))
    run = do_work(factories.run(scenario))
    assert "Volcano would hang here: queue waits is its own ancestor" in run.error
    assert forecast.error == f"{run.error}."


@pytest.mark.parametrize("now", ["9999-12-31T23:59:00Z", "0001-01-01T00:00:00Z"])
def test_a_clock_at_the_end_of_the_calendar_fails_with_the_reason(now: str) -> None:
    document = {**factories.cluster(), "now": now}
    forecast = do_work(factories.forecast(factories.scenario(document=document)))
    year = int(now[:4])
    assert forecast.error == f"The clock of the scenario is in the year {year}, not 1900 to 9900."


def test_a_queued_forecast_is_cancelled_at_once() -> None:
    forecast = factories.forecast()
    assert work_cancel(work=forecast).state == "cancelled"


def test_every_invalid_option_is_reported_at_once() -> None:
    with pytest.raises(Invalid) as caught:
        factories.forecast(
            horizon_seconds=-1.0, evicted="vanish", rest="", queues={"busy": "nowhere"}, targets={"x": 1.0}
        )
    assert {problem.path for problem in caught.value.problems} == {
        "horizon_seconds", "evicted", "rest", "queues.busy", "targets.x",
    }  # fmt: skip
    assert Forecast.objects.count() == 0


def test_a_forecast_keeps_its_input_when_its_trace_is_deleted() -> None:
    under = factories.workload()
    forecast = factories.forecast(under=under)
    under.delete()
    ended = do_work(forecast)
    assert ended.state == "succeeded"
    assert ended.trace is None
    assert ended.trace_name == "four jobs"
    assert json.loads(ended.input.content())["name"] == "what if"
