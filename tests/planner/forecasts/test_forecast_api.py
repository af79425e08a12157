"""The API of traces, forecasts, wait targets and costs."""

import gzip

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from planner.accounts.models import Role, User
from planner.accounts.services.members import member_set
from planner.accounts.services.workspaces import workspace_create
from planner.forecasts.models import Forecast, WorkloadTrace
from planner.forecasts.selectors.forecasts import record_of
from planning.forecasts.costs import Prices, costs
from tests import factories
from tests.planner.recorded import forecast_done

pytestmark = pytest.mark.django_db


@pytest.fixture
def done(db: None) -> Forecast:
    return forecast_done(factories.forecast())


def test_a_trace_is_created_from_text_a_gzipped_file_or_patterns(api: APIClient) -> None:
    text = api.post("/api/v1/traces/", {"name": "text", "text": factories.TRACE}).json()
    file = SimpleUploadedFile("trace.csv.gz", gzip.compress(factories.TRACE.encode()))
    sent = api.post("/api/v1/traces/", {"name": "file", "file": file}, format="multipart").json()
    assert (text["jobs"], text["queues"]) == (sent["jobs"], sent["queues"])
    patterns = [{"queue": "waits", "jobs_per_hour": 5, "pods": {"1": 3, "4": 1}}]
    drawn = {"name": "drawn", "generate": {"patterns": patterns, "seconds": 86_400, "seed": 3}}
    assert api.post("/api/v1/traces/", drawn).json()["jobs"] > 60
    assert WorkloadTrace.objects.count() == 3


def test_a_dry_run_creates_no_trace(api: APIClient) -> None:
    answer = api.post("/api/v1/traces/?dry_run=1", {"name": "text", "text": factories.TRACE})
    assert answer.json()["id"] is None
    assert not WorkloadTrace.objects.exists()


def test_a_damaged_file_and_an_unreadable_text_are_refused_with_the_reason(api: APIClient) -> None:
    file = SimpleUploadedFile("trace.csv.gz", b"\x1f\x8bnothing")
    answer = api.post("/api/v1/traces/", {"name": "file", "file": file}, format="multipart")
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["rule"] == "trace.gzip"
    answer = api.post("/api/v1/traces/", {"name": "text", "text": "once upon a time"})
    assert answer.json()["problems"][0]["rule"] == "trace.unreadable"


def test_forecast_jobs_are_filtered_and_ordered(api: APIClient, done: Forecast) -> None:
    at = f"/api/v1/forecasts/{done.pk}/jobs/"
    jobs = api.get(f"{at}?queue=waits&job=trace&ordering=-submitted").json()["results"]
    assert [job["job"] for job in jobs] == ["trace/fourth", "trace/third", "trace/second"]
    lines = api.get(f"{at}?format=csv").getvalue().decode().splitlines()  # type: ignore[attr-defined]
    assert len(lines) == 1 + len(record_of(done).jobs.names)
    assert api.get(f"{at}?colour=red").status_code == 422


def test_wait_targets_belong_to_the_scenario_and_are_copied_to_branches(api: APIClient) -> None:
    scenario = factories.scenario()
    at = f"/api/v1/scenarios/{scenario.pk}/"
    assert api.patch(f"{at}targets/", {"targets": {"waits": 600}}).json() == {"targets": {"waits": 600}}
    branch = api.post(f"{at}branch/", {"name": "branch"}).json()["id"]
    assert api.get(f"/api/v1/scenarios/{branch}/targets/").json() == {"targets": {"waits": 600}}
    forecast = factories.forecast(scenario)
    assert forecast.options["targets"] == {"waits": 600}


def test_wait_targets_are_replaced_only_by_an_edit_of_the_present_ones(api: APIClient) -> None:
    at = f"/api/v1/scenarios/{factories.scenario().pk}/targets/"
    wanted = {"targets": {"waits": 600}}
    assert api.put(at, wanted).json()["code"] == "precondition_required"
    first = api.get(at)["ETag"]
    tried = api.put(f"{at}?dry_run=1", wanted, headers={"If-Match": first})
    assert (tried.json(), tried["ETag"]) == (wanted, first)
    saved = api.put(at, wanted, headers={"If-Match": first})
    assert (saved.status_code, saved.json()) == (200, wanted)
    stale = api.put(at, {"targets": {"busy": 5}}, headers={"If-Match": first})
    assert (stale.status_code, stale.json()["code"]) == (412, "stale_targets")
    assert api.get(at)["ETag"] == saved["ETag"] != first
    patched = api.patch(at, {"targets": {"busy": 7}})
    assert api.put(at, {"targets": {}}, headers={"If-Match": saved["ETag"]}).status_code == 412
    assert api.put(at, {"targets": {}}, headers={"If-Match": f"W/{patched['ETag']}"}).json() == {
        "targets": {}
    }


def test_the_history_has_changes_of_targets_prices_and_names(api: APIClient) -> None:
    scenario = factories.scenario()
    at, workspace = f"/api/v1/scenarios/{scenario.pk}/", f"/api/v1/workspaces/{scenario.workspace_id}/"
    for _ in range(2):
        api.patch(f"{at}targets/", {"targets": {"waits": 600}})
        api.put(f"{workspace}prices/", {"resources": {"cpu": 0.03}, "currency": "EUR"})
        api.patch(at, {"name": "renamed", "note": "why"})
    rows = api.get(f"{workspace}history/").json()["results"][:-1]  # the first is the token of the test
    parts = ("actor", "kind", "action", "subject", "before", "after")
    assert [tuple(row[part] for part in parts) for row in reversed(rows)] == [
        ("editor", "scenario", "changed", "wait targets of what if", "", "waits 600 s"),
        ("editor", "workspace", "changed", "prices per hour", "", "cpu 0.03 EUR"),
        ("editor", "scenario", "renamed", "renamed", "what if", "renamed"),
    ]


def test_wait_targets_follow_a_renamed_queue_and_its_undo(api: APIClient) -> None:
    scenario = factories.scenario()
    at = f"/api/v1/scenarios/{scenario.pk}/"
    api.patch(f"{at}targets/", {"targets": {"waits": 600}})
    api.patch(f"{at}queues/waits/", {"name": "team"}, headers={"If-Match": "1"})
    assert api.get(f"{at}targets/").json() == {"targets": {"team": 600}}
    api.post(f"{at}undo/", headers={"If-Match": "2"})
    assert api.get(f"{at}targets/").json() == {"targets": {"waits": 600}}


def test_a_patch_of_the_wait_targets_keeps_those_of_other_queues(api: APIClient) -> None:
    at = f"/api/v1/scenarios/{factories.scenario().pk}/targets/"
    assert api.patch(at, {"targets": {"waits": 600}}).status_code == 200
    assert api.patch(at, {"targets": {"busy": 30}}).json() == {"targets": {"busy": 30, "waits": 600}}
    assert api.patch(at, {"targets": {"waits": None}}).json() == {"targets": {"busy": 30}}
    assert api.patch(f"{at}?dry_run=1", {"targets": {"busy": None}}).json() == {"targets": {}}
    refused = api.patch(at, {"targets": {"bsuy": 10, "nobody": 5, "waits": 20}})
    assert refused.status_code == 422
    problems = refused.json()["problems"]
    assert [(one["path"], one["fix"]) for one in problems] == [
        ("targets.bsuy", "Did you mean 'busy'?"),
        ("targets.nobody", "Choose one of busy, default, waits."),
    ]
    assert api.get(at).json() == {"targets": {"busy": 30}}


def test_queue_charges_add_up_to_the_cost_of_the_nodes(api: APIClient, done: Forecast) -> None:
    prices = {"resources": {"cpu": 0.03, "memory": 0.004}, "currency": "EUR"}
    body = api.post(f"/api/v1/forecasts/{done.pk}/cost/", prices).json()
    assert body["nodes"] == costs(record_of(done), Prices(**prices)).nodes
    assert sum(row["charged"] for row in body["queues"]) == pytest.approx(body["nodes"], rel=1e-9)


def test_a_comparison_lists_the_jobs_that_wait_longer(api: APIClient, done: Forecast) -> None:
    slower = forecast_done(factories.forecast(done.scenario, under=done.trace, run_time=3.0))
    body = api.get(f"/api/v1/forecasts/{done.pk}/comparison/?with={slower.pk}").json()
    assert {pair["job"] for pair in body["pairs"]} >= {"trace/first", "trace/second"}
    assert body["sentence"].startswith("This change")
    assert api.get(f"/api/v1/forecasts/{done.pk}/comparison/").status_code == 422


def test_an_unfinished_forecast_has_no_verdict(api: APIClient) -> None:
    answer = api.get(f"/api/v1/forecasts/{factories.forecast().pk}/verdict/")
    assert (answer.status_code, answer.json()["code"]) == (404, "no_result")


def test_a_trace_or_a_snapshot_of_another_workspace_is_refused_also_to_its_members(
    api: APIClient, done: Forecast
) -> None:
    membership = workspace_create(name="elsewhere", user=factories.user("admin", role=Role.ADMIN))
    member = User.objects.get(username="editor")
    member_set(workspace=membership.workspace, username=member.username, role=Role.EDITOR)
    trace = factories.workload()
    snapshot = factories.snapshot(name="theirs")
    for thing in (trace, snapshot):
        type(thing).objects.filter(pk=thing.pk).update(workspace=membership.workspace)
    here = str(factories.workspace().pk)
    for address, body, path in (
        (f"scenarios/{done.scenario_id}/forecasts/", {"trace": str(trace.pk)}, "trace"),
        (f"forecasts/{done.pk}/backtests/", {"snapshot": str(snapshot.pk)}, "snapshot"),
        (f"traces/?workspace={here}", {"name": "t", "jobs_of": {"snapshot": str(snapshot.pk)}}, "snapshot"),
    ):
        answer = api.post(f"/api/v1/{address}", body, format="json")
        assert answer.status_code == 422, address
        assert [problem["path"] for problem in answer.data["problems"]] == [path]
        assert "in another workspace" in answer.data["problems"][0]["message"]


def test_a_number_of_pods_with_thousands_of_digits_is_refused(api: APIClient) -> None:
    pattern = {"queue": "a", "jobs_per_hour": 1, "pods": {"9" * 5000: 1}}
    generate = {"patterns": [pattern], "seconds": 3600}
    answer = api.post("/api/v1/traces/", {"name": "t", "generate": generate}, format="json")
    assert answer.status_code == 422
    assert [problem["path"] for problem in answer.data["problems"]] == ["patterns[0].pods"]


def test_a_mapping_of_a_queue_that_the_trace_does_not_have_is_refused(api: APIClient) -> None:
    scenario, trace = factories.scenario(), factories.workload()
    queues = {"misspelt": "waits"}
    body = {"trace": str(trace.pk), "horizon_seconds": 60, "queues": queues, "rest": "waits"}
    answer = api.post(f"/api/v1/scenarios/{scenario.pk}/forecasts/", body, format="json")
    assert answer.status_code == 422
    (problem,) = answer.data["problems"]
    assert (problem["path"], problem["message"]) == (
        "queues.misspelt",
        "The trace has no queue 'misspelt'.",
    )
    assert next(iter(trace.queues)) in problem["fix"]
