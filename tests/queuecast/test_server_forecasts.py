"""Forecast commands on a server: traces, targets, verdict, jobs, comparison, cost, by names."""

import csv
import json
import threading
from io import StringIO
from pathlib import Path

import pytest

from planner.forecasts.models import Forecast, WaitTarget, WorkloadTrace
from planner.forecasts.selectors.forecasts import record_of
from planner.scenarios.models import Scenario
from planner.scenarios.services.branches import scenario_branch
from planner.scenarios.services.scenarios import scenario_create
from planning.forecasts.costs import Prices, costs
from planning.forecasts.figures import job_rows
from queuecast.__main__ import main
from tests import factories
from tests.queuecast.test_server import json_output, plan, text_output
from tests.worker import do_all_work

__all__ = ["plan"]

pytestmark = pytest.mark.django_db(transaction=True)

WORK = ("--trace", "today", "--horizon", "1h", "--period", "10s", "--rest", "waits")


@pytest.fixture
def today(plan: Scenario) -> WorkloadTrace:
    """A trace named `today` on the server."""
    Path("today.csv").write_text(factories.TRACE)
    assert main(["trace", "upload", "today.csv", "--name", "today"]) == 0
    return WorkloadTrace.objects.get()


def execute_queued_work() -> None:
    """Execute the queued work as a worker would."""
    do_all_work()


def forecast_of(
    capsys: pytest.CaptureFixture[str], *scenarios: str, options: tuple[str, ...] = ()
) -> list[str]:
    """Forecast scenarios as a worker would; return the ids."""
    begun = json_output(capsys, "forecast", *scenarios, *WORK, *options, "--no-wait")
    execute_queued_work()
    return [one["id"] for one in begun]


def test_a_trace_of_many_megabytes_is_uploaded(plan: Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    head = "name,queue,submit_seconds,run_seconds,cpu,memory,user\n"
    lines = (f"j{number},waits,{number},60,1,1Gi,{'u' * 30_000}\n" for number in range(100))
    Path("large.csv").write_text(head + "".join(lines))
    assert json_output(capsys, "trace", "upload", "large.csv")["jobs"] == 100


def test_a_trace_is_uploaded_listed_previewed_and_deleted(
    today: WorkloadTrace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [one["name"] for one in json_output(capsys, "trace", "list")] == ["today"]
    assert json_output(capsys, "trace", "preview", "today")["jobs"] == today.jobs == 4
    assert "Origin of run times" in text_output(capsys, "trace", "preview", "today")
    assert main(["trace", "preview", "yesterday"]) == 2
    assert "No trace 'yesterday'." in capsys.readouterr().err
    Path("broken.csv").write_text("name,queue\nj1,a\n")
    assert main(["trace", "upload", "broken.csv"]) == 2
    assert "the format cannot be recognized" in capsys.readouterr().err
    text_output(capsys, "trace", "delete", "today")
    assert not WorkloadTrace.objects.exists()


def test_wait_targets_are_set_one_by_one_and_evaluated(
    plan: Scenario, today: WorkloadTrace, capsys: pytest.CaptureFixture[str]
) -> None:
    json_output(capsys, "target", "set", "plan", "waits=10m", "busy=1h")
    assert json_output(capsys, "target", "set", "plan", "busy=")["targets"] == {"waits": 600.0}
    assert json_output(capsys, "target", "list", "plan")["targets"] == {"waits": 600.0}
    forecast_of(capsys, "plan")
    queues = {one["queue"]: one for one in json_output(capsys, "forecasts", "queues", "plan")}
    assert queues["waits"]["target_seconds"] == 600.0
    forecast_of(capsys, "plan", options=("--target", "busy=30s"))
    assert Forecast.objects.latest("created").options["targets"] == {"busy": 30.0}
    assert list(WaitTarget.objects.values_list("queue", flat=True)) == ["waits"]


def test_a_forecast_is_awaited_and_shows_its_verdict_jobs_and_costs(
    plan: Scenario, today: WorkloadTrace, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("prices.yaml").write_text("resources: {cpu: 0.04}\ncurrency: EUR\n")
    worker = threading.Thread(target=work_until_over)
    worker.start()
    [found] = json_output(capsys, "forecast", "plan", *WORK, "--prices", "prices.yaml")
    worker.join()
    record = record_of(Forecast.objects.get())
    kept = costs(record, Prices(resources={"cpu": 0.04}, currency="EUR"))
    assert found["costs"]["nodes"] == pytest.approx(kept.nodes, rel=1e-12)
    assert sum(one["charged"] for one in found["costs"]["queues"]) == pytest.approx(kept.nodes)
    assert {one["kind"] for one in found["verdict"]} >= {"utilisation"}
    jobs = json_output(capsys, "forecasts", "jobs", found["id"])
    assert {one["job"]: one["wait_seconds"] for one in jobs} == {
        row.job: row.wait_seconds for row in job_rows(record)
    }
    evictions = json_output(capsys, "forecasts", "evictions", "plan", "--queue", "busy")
    assert len(evictions) == len(record.evictions.times) > 0
    text_output(capsys, "forecasts", "cost", "plan", "--prices", "prices.yaml", "--chargeback", "bill.csv")
    rows = list(csv.DictReader(StringIO(Path("bill.csv").read_text())))
    assert sum(float(row["charged"]) for row in rows) == pytest.approx(kept.nodes)
    assert "Forecast of plan over 1 h" in text_output(capsys, "forecasts", "show", "plan")
    for part in ("causes", "service", "fairness"):
        assert json_output(capsys, "forecasts", part, "plan") == found[part]
        lines = text_output(capsys, "forecasts", part, "plan", "-o", "csv").splitlines()
        assert len(lines) == 1 + len(found[part])


def test_a_forecast_has_the_same_data_on_a_server_and_without(
    plan: Scenario, today: WorkloadTrace, capsys: pytest.CaptureFixture[str]
) -> None:
    timed = {**factories.cluster(), "now": "2026-01-01T00:00:30Z"}
    for name in ("first", "second"):
        scenario_create(snapshot=factories.snapshot(timed), name=name)
    Path("cluster.json").write_text(json.dumps({**timed, "scheduler_conf": factories.CONF}))
    Path("prices.yaml").write_text("resources: {cpu: 0.04}\ncurrency: EUR\n")
    text_output(capsys, "import", "cluster.json", "--name", "prod", "--local")
    for name in ("first", "second"):
        text_output(capsys, "scenario", "create", name, "--snapshot", "prod", "--local")
    for where in ((), ("--local",)):
        text_output(capsys, "node", "add", "second", "--like", "n0", *where)
    both = (
        "first",
        "second",
        "--horizon",
        "1h",
        "--period",
        "10s",
        "--rest",
        "waits",
        "--target",
        "waits=1m",
    )
    both = (*both, "--prices", "prices.yaml", "--seeds", "2")
    local = json_output(capsys, "forecast", *both, "--trace", "today.csv", "--local")
    worker = threading.Thread(target=work_until_over, args=(2,))
    worker.start()
    served = json_output(capsys, "forecast", *both, "--trace", "today")
    worker.join()
    assert "costs 0.32 EUR" in served[1]["compared"]["says"]
    assert [{name: one[name] for name in one if name != "id"} for one in served] == local


def work_until_over(forecasts: int = 1) -> None:
    from django.db import connection

    while Forecast.objects.filter(state__in=Forecast.OVER).count() < forecasts:
        execute_queued_work()
    connection.close()


def test_forecasts_are_compared_and_a_moment_becomes_a_scenario(
    plan: Scenario, today: WorkloadTrace, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario_branch(scenario=plan, name="other")
    first, second = forecast_of(capsys, "plan", "other")
    found = json_output(capsys, "forecasts", "compare", "plan", "other")
    assert found == json_output(capsys, "forecasts", "compare", first, second)
    assert found["sentence"] == "This change leaves all waits unchanged."
    assert len(json_output(capsys, "forecasts", "wait", first, second)) == 2
    made = json_output(capsys, "forecasts", "moment", "plan", "10m", "--name", "ten minutes in")
    assert Scenario.objects.get(pk=made["id"]).parent == plan


def test_drawn_workloads_give_intervals_on_a_server(
    plan: Scenario, today: WorkloadTrace, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario_branch(scenario=plan, name="other")
    first, second = forecast_of(capsys, "plan", "other", options=("--seeds", "3"))
    found = json_output(capsys, "forecasts", "compare", first, second)
    assert {one["queue"] for one in found["seeds"]} <= {"busy", "waits"}
    assert found["seeds"][0]["mean"]["change"]["mean"] == 0.0
    assert "over 3 drawn workloads" in text_output(capsys, "forecasts", "compare", first, second)
    shown = json_output(capsys, "forecasts", "show", first)
    assert {one["resource"] for one in shown["resources"]} >= {"cpu", "memory"}
    text = text_output(capsys, "forecasts", "show", first)
    assert "Use of the nodes" in text
    assert "Waits over drawn workloads" in text


def test_options_that_a_server_lacks_are_refused_with_an_alternative(
    plan: Scenario, today: WorkloadTrace, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, shown in (
        (("forecast", "plan", *WORK, "--real-until", "2h"), "--real-until: on a server use the pages"),
        (("forecast", "plan", *WORK, "--seeds", "1"), "Choose 0, or 2 to 30."),
        (("forecast", "plan"), "Name a workload with --trace"),
        (("forecasts", "show", "plan"), "Scenario 'plan' has no forecast yet"),
        (("forecast", "plan", "--trace", "today"), "Fix: Map them, or choose a queue for the rest."),
        (("forecasts", "list", "--local"), "forecasts requires a server"),
    ):
        assert main(words) == 2
        assert shown in capsys.readouterr().err
    waiting = json_output(capsys, "forecast", "plan", *WORK, "--no-wait")[0]["id"]
    assert json_output(capsys, "forecasts", "show", waiting, code=1)[0]["state"] == "queued"
    assert json_output(capsys, "forecasts", "cancel", waiting)[0]["state"] == "cancelled"
