"""Starting, following and reading runs through the API."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from planner.runs.models import Outcome, Run
from planner.scenarios.models import Scenario
from planner.work.lifecycle import work_cancel, work_claim
from planning.amounts import UNLIMITED
from tests import factories
from tests.worker import do_work

pytestmark = pytest.mark.django_db
UNITS = {"cpu": "millicores", "memory": "bytes", "pods": "pods"}


def address(run: Run) -> str:
    return f"/api/v1/runs/{run.pk}/"


def rows(api: APIClient, path: str) -> list[dict[str, Any]]:
    """Return a whole list, page by page."""
    page = api.get(path).json()
    found = page["results"]
    while page["next"]:
        page = api.get(page["next"]).json()
        found += page["results"]
    assert len(found) == page["count"]
    return found


def test_a_run_is_accepted_and_queued(api: APIClient) -> None:
    scenario = factories.scenario()
    response = api.post(f"/api/v1/scenarios/{scenario.pk}/runs/")
    assert response.status_code == 202
    requested = response.json()
    assert (requested["state"], requested["scenario_revision"], requested["owner"]) == ("queued", 1, "editor")
    assert requested["options"]["cycles"] == 1
    assert api.get(f"/api/v1/runs/{requested['id']}/").json() == requested
    assert api.get(f"/api/v1/scenarios/{scenario.pk}/runs/").json()["results"] == [requested]


def test_the_number_of_cycles_is_an_option(api: APIClient) -> None:
    start = f"/api/v1/scenarios/{factories.scenario().pk}/runs/"
    run = Run.objects.get(pk=api.post(start, {"cycles": 3}).json()["id"])
    assert run.input.document()["cycles"] == 3
    refused = api.post(start, {"cycles": 0})
    assert (refused.status_code, refused.json()["problems"][0]["path"]) == (422, "cycles")


def test_a_dry_run_queues_no_run(api: APIClient) -> None:
    response = api.post(f"/api/v1/scenarios/{factories.scenario().pk}/runs/?dry_run=1")
    assert (response.status_code, response.json()["id"]) == (200, None)
    assert not Run.objects.exists()


def test_runs_are_filtered_and_ordered(api: APIClient) -> None:
    first, second = factories.run(), factories.run(factories.scenario("another"))
    work_cancel(work=second)
    assert [row["id"] for row in rows(api, "/api/v1/runs/")] == [str(second.pk), str(first.pk)]
    assert [row["id"] for row in rows(api, "/api/v1/runs/?ordering=created&page_size=1")] == [
        str(first.pk),
        str(second.pk),
    ]
    assert [row["id"] for row in rows(api, "/api/v1/runs/?state=cancelled")] == [str(second.pk)]
    assert [row["id"] for row in rows(api, f"/api/v1/runs/?scenario={first.scenario_id}")] == [str(first.pk)]


def test_a_queued_run_is_cancelled_at_once(api: APIClient) -> None:
    run = factories.run()
    response = api.post(f"{address(run)}cancel/")
    assert (response.status_code, response.json()["state"]) == (200, "cancelled")
    assert api.post(f"{address(run)}cancel/").json() == response.json()


def test_cancelling_a_running_run_requests_a_stop(api: APIClient) -> None:
    run = factories.run()
    work_claim(kind=Run, id=run.pk, worker="test")
    assert api.post(f"{address(run)}cancel/").json()["cancel_requested"] is True
    assert Run.objects.get(pk=run.pk).state == "running"


def test_an_unfinished_run_has_no_result_and_no_rows(api: APIClient) -> None:
    run = factories.run()
    response = api.get(f"{address(run)}result/")
    assert (response.status_code, response.json()["code"]) == (404, "no_result")
    for outcome in ("queues", "jobs", "victims", "decisions"):
        assert api.get(f"{address(run)}{outcome}/").json()["count"] == 0


def test_the_frozen_input_is_a_scenario(api: APIClient) -> None:
    run = factories.run()
    response = api.get(f"{address(run)}input/")
    assert response.content == run.input.content()
    assert response["Content-Type"] == "application/json"
    assert json.loads(response.content)["scheduler_conf"] == factories.CONF


def test_an_unchanged_input_returns_304(api: APIClient) -> None:
    run = factories.run()
    tag = api.get(f"{address(run)}input/")["ETag"]
    again = api.get(f"{address(run)}input/", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")


def test_the_result_is_returned_byte_for_byte_as_stored(api: APIClient, finished_run: Run) -> None:
    assert api.get(f"{address(finished_run)}result/").content == finished_run.result.content()


def test_the_result_equals_the_output_of_the_core_command(
    api: APIClient, finished_run: Run, tmp_path: Path
) -> None:
    frozen = tmp_path / "input.json"
    frozen.write_bytes(api.get(f"{address(finished_run)}input/").content)
    printed = subprocess.run(
        [sys.executable, "-m", "scheduler_core", "simulate", str(frozen)],
        cwd=Path(__file__).parents[3], capture_output=True, check=True,
    )  # fmt: skip
    assert api.get(f"{address(finished_run)}result/").content == printed.stdout


def test_a_finished_run_reports_its_times(transactional_db: None, api: APIClient) -> None:
    queued = factories.run()
    do_work(queued)
    run = api.get(address(queued)).json()
    assert (run["state"], run["progress"], run["error"]) == ("succeeded", 1.0, "")
    assert run["engine_version"]
    assert run["started"] <= run["finished"]
    assert {"queued_ms", "simulate_ms"} <= set(run["timings"])


def test_queue_figures_equal_those_of_the_result(api: APIClient, finished_run: Run) -> None:
    cycle = api.get(f"{address(finished_run)}result/").json()["cycles"][-1]
    actual = {row["queue"]: row for row in rows(api, f"{address(finished_run)}queues/?page_size=1")}
    assert set(actual) >= {"busy", "waits"}
    for queue in cycle["at_end"]["queues"]:
        row = actual[queue["name"]]
        assert row["in_session"]
        assert row["share"] == queue["share"]
        for field, key in (
            ("deserved",) * 2,
            ("allocated",) * 2,
            ("request",) * 2,
            ("real_capability", "realCapability"),
        ):
            assert {name: amount["value"] for name, amount in row[field].items()} == {
                name: None if value >= UNLIMITED else value for name, value in queue.get(key, {}).items()
            }


def test_every_amount_has_a_unit_and_an_unlimited_flag(api: APIClient, finished_run: Run) -> None:
    amounts = [
        (resource, amount)
        for row in rows(api, f"{address(finished_run)}queues/")
        for field in ("deserved", "allocated", "request", "capability", "real_capability", "guarantee")
        for resource, amount in row[field].items()
    ]
    assert amounts
    for resource, amount in amounts:
        assert amount["unit"] == UNITS.get(resource, "milliunits")
        assert amount["unlimited"] == (amount["value"] is None)


def test_decisions_equal_those_of_the_result_in_order(api: APIClient, finished_run: Run) -> None:
    cycle = api.get(f"{address(finished_run)}result/").json()["cycles"][-1]
    actual = rows(api, f"{address(finished_run)}decisions/?page_size=3")
    keys = ("action", "op", "job", "pod", "node", "state")
    assert [[row[key] for key in keys] for row in actual] == [
        [decision.get(key, "") for key in keys] for decision in cycle["decisions"]
    ]
    assert [row["seq"] for row in actual] == list(range(1, len(actual) + 1))
    evictions = rows(api, f"{address(finished_run)}decisions/?op=evict")
    assert evictions == [row for row in actual if row["op"] == "evict"]


def test_victims_name_their_preemptor(api: APIClient, finished_run: Run) -> None:
    cycle = api.get(f"{address(finished_run)}result/").json()["cycles"][-1]
    chosen = [decision for decision in cycle["decisions"] if decision["op"] == "evict"]
    actual = rows(api, f"{address(finished_run)}victims/")
    assert [(row["pod"], row["node"], row["for_pod"], row["state"]) for row in actual] == [
        (victim["pod"], victim["node"], victim["for"], victim["state"]) for victim in chosen
    ]
    assert actual
    assert {(row["queue"], row["for_queue"], row["action"]) for row in actual} == {
        ("busy", "waits", "reclaim")
    }
    assert rows(api, f"{address(finished_run)}victims/?queue=waits") == []
    first = actual[0]["for_pod"]
    assert rows(api, f"{address(finished_run)}victims/?for_pod={first}") == [
        row for row in actual if row["for_pod"] == first
    ]
    backwards = rows(api, f"{address(finished_run)}victims/?ordering=-order")
    assert backwards == actual[::-1]


def test_jobs_equal_those_of_the_result_and_are_filtered_by_outcome(
    api: APIClient, finished_run: Run
) -> None:
    cycle = api.get(f"{address(finished_run)}result/").json()["cycles"][-1]
    actual = rows(api, f"{address(finished_run)}jobs/")
    assert [(row["job"], row["queue"], row["phase_after"], row["task_status"]) for row in actual] == [
        (job["name"], job["queue"], job["phase_after"], job["task_status"]) for job in cycle["podgroups"]
    ]
    waiting = rows(api, f"{address(finished_run)}jobs/?pending=true")
    assert waiting == [row for row in actual if row["pending"]]
    assert rows(api, f"{address(finished_run)}jobs/?pending=false&queue=busy&job=RUN") == [
        row for row in actual if row["queue"] == "busy"
    ]


def test_a_waiting_job_reports_its_shortfall_with_units(api: APIClient) -> None:
    why = {"gate": "queue", "plugin": "capacity", "queue": "waits", "resource": "cpu"}
    numbers = {"required": 4000, "available": -1000, "missing": 5000}
    run = factories.run()
    run.outcome = Outcome.objects.create()
    run.save(update_fields=["outcome"])
    run.outcome.job_outcomes.create(
        job="default/a", queue="waits", position=0, pending_explain={**why, **numbers}
    )
    run.outcome.job_outcomes.create(job="default/b", queue="waits", position=1)
    stopped, running = rows(api, f"{address(run)}jobs/")
    assert running["pending_explain"] is None
    assert stopped["pending_explain"] == {
        **why,
        **{key: {"value": value, "unit": "millicores", "unlimited": False} for key, value in numbers.items()},
        "pod": None,
        "message": None,
        "nodes": {},
    }


def test_an_edited_weight_changes_the_deserved_amount_of_the_next_run(
    api: APIClient, transactional_db: None
) -> None:
    scenario = Scenario.objects.get(pk=factories.scenario().pk)

    def deserved() -> float:
        run = Run.objects.get(pk=api.post(f"/api/v1/scenarios/{scenario.pk}/runs/").json()["id"])
        do_work(run)
        (queue,) = rows(api, f"{address(run)}queues/?queue=busy")
        return queue["deserved"]["cpu"]["value"]

    before = deserved()
    edit = f"/api/v1/scenarios/{scenario.pk}/queues/busy/"
    assert api.patch(edit, {"weight": 20}, headers={"If-Match": "1"}).status_code == 200
    assert deserved() > before
