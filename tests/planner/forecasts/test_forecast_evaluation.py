"""Costs and backtests of forecasts: the pages, the API and the core agree."""

import copy
import csv
import re
from io import StringIO
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from planner.accounts.models import Role, User
from planner.accounts.services.workspaces import workspace_create
from planner.clusters.models import Snapshot
from planner.forecasts.models import Backtest, Forecast, NodePrices, WorkloadTrace
from planner.forecasts.selectors.forecasts import record_of
from planner.forecasts.services import backtests
from planner.scenarios.services.scenarios import scenario_create
from planning.forecasts.costs import Prices, costs
from tests import factories
from tests.planner.recorded import forecast_done

pytestmark = pytest.mark.django_db

BEGIN = "2026-01-01T00:00:00Z"
LATE_SECONDS = 300


@pytest.fixture
def done(db: None) -> Forecast:
    """A forecast of an initially idle cluster whose snapshot states its time."""
    document = {**factories.cluster(), "podgroups": [], "pods": [], "now": BEGIN}
    return forecast_done(factories.forecast(factories.scenario(document=document)))


def later_snapshot(forecast: Forecast, late: float = LATE_SECONDS, hours: int = 2) -> Snapshot:
    """Return a later snapshot in which each job started `late` seconds after its predicted start."""
    record = record_of(forecast)
    groups, pods = [], []
    for row, name in enumerate(record.jobs.names):
        short, started = name.partition("/")[2], float(record.jobs.started[row])
        group = factories.podgroup(short, record.jobs.queues[row], min_member=int(record.jobs.pods[row]))
        group["metadata"] |= {
            "namespace": "trace",
            "creationTimestamp": at(float(record.jobs.submitted[row])),
        }
        groups.append(group)
        for number in range(int(record.jobs.pods[row])):
            pod = factories.pod(f"{short}-{number}", short, node="n0")
            pod["metadata"]["namespace"] = "trace"
            pod["status"]["startTime"] = at(started + late)
            pods.append(pod)
    document = {**factories.cluster(), "podgroups": groups, "pods": pods, "now": at(hours * 3600.0)}
    return factories.snapshot(document, name="what happened")


def at(seconds: float) -> str:
    whole = int(seconds)
    return f"2026-01-01T{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}Z"


def text_of(browser: Client, address: str) -> str:
    """Return the text of a page, without its markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", browser.get(address).content.decode()).split())


def test_a_forecast_without_prices_has_no_cost_and_prompts_for_prices(
    browser: Client, api: APIClient, done: Forecast
) -> None:
    assert "No prices yet" in text_of(browser, f"/forecasts/{done.pk}/")
    answer = api.get(f"/api/v1/forecasts/{done.pk}/cost/")
    assert (answer.status_code, answer.json()["code"]) == (404, "no_prices")
    prices = api.get(f"/api/v1/workspaces/{done.workspace_id}/prices/").json()
    assert prices == {"pools": {}, "resources": {}, "currency": "USD"}


def test_the_page_the_api_and_the_core_agree_on_the_cost(
    browser: Client, api: APIClient, done: Forecast
) -> None:
    typed = {"resources.cpu": "0.03", "resources.memory": "0.004", "currency": "EUR"}
    assert browser.post(f"/forecasts/{done.pk}/prices/", typed).status_code == 302
    found = costs(record_of(done), Prices(resources={"cpu": 0.03, "memory": 0.004}, currency="EUR"))
    body = api.get(f"/api/v1/forecasts/{done.pk}/cost/").json()
    assert {row["queue"]: row["charged"] for row in body["queues"]} == {
        row.queue: row.charged for row in found.queues
    }
    assert sum(row["charged"] for row in body["queues"]) == pytest.approx(body["nodes"], rel=1e-9)
    shown = text_of(browser, f"/forecasts/{done.pk}/")
    assert f"The nodes cost {found.nodes:,.2f} EUR over 1 h" in shown
    lines = api.get(f"/api/v1/forecasts/{done.pk}/cost/?format=csv").getvalue()  # type: ignore[attr-defined]
    rows = list(csv.DictReader(StringIO(lines.decode())))
    assert sum(float(row["charged"]) for row in rows) == pytest.approx(found.nodes, rel=1e-9)


def test_the_costs_of_many_queues_are_paged_by_their_charge(browser: Client) -> None:
    document = factories.cluster()
    document["queues"] += [factories.queue(f"q{number:02}") for number in range(30)]
    forecast = forecast_done(factories.forecast(factories.scenario(document=document)))
    NodePrices.objects.create(workspace=forecast.workspace, resources={"cpu": 0.04}, currency="EUR")
    panel = browser.get(f"/forecasts/{forecast.pk}/").content.decode().split('id="cost-title"')[1]
    panel = panel.split("</section>")[0]
    charged = [float(cell) for cell in re.findall(r'</th>\s*<td class="grid__number">([\d.]+)</td>', panel)]
    assert len(charged) == 25
    assert charged == sorted(charged, reverse=True)
    assert 'href="?costs=2"' in panel


def test_invalid_prices_are_all_reported_and_none_is_saved(browser: Client, done: Forecast) -> None:
    typed = {"resources.cpu": "cheap", "resources.memory": "-1"}
    answer = browser.post(f"/forecasts/{done.pk}/prices/", typed)
    content = answer.content.decode()
    assert answer.status_code == 422
    assert content.count("cannot be read") == 2
    assert 'value="cheap"' in content
    assert not NodePrices.objects.exists()


def test_pools_of_other_forecasts_keep_their_prices(browser: Client, api: APIClient, done: Forecast) -> None:
    body = {"pools": {"elsewhere": 3.5}, "resources": {}, "currency": "USD"}
    assert api.put(f"/api/v1/workspaces/{done.workspace_id}/prices/", body).json() == body
    pool = record_of(done).pools[0].name
    browser.post(f"/forecasts/{done.pk}/prices/", {f"pools.{pool}": "2"})
    assert NodePrices.objects.get().pools == {"elsewhere": 3.5, pool: 2.0}


def test_prices_that_are_shown_and_saved_again_are_unchanged(
    browser: Client, api: APIClient, done: Forecast
) -> None:
    body = {"pools": {}, "resources": {"cpu": 0.03161234567, "memory": 1234567.0}, "currency": "USD"}
    api.put(f"/api/v1/workspaces/{done.workspace_id}/prices/", body)
    page = browser.get(f"/forecasts/{done.pk}/").content.decode()
    shown = {name: re.search(rf'name="resources.{name}" value="([^"]*)"', page) for name in body["resources"]}
    sent = {f"resources.{name}": match[1] for name, match in shown.items() if match}
    browser.post(f"/forecasts/{done.pk}/prices/", {**sent, "currency": "USD"})
    assert api.get(f"/api/v1/workspaces/{done.workspace_id}/prices/").json() == body


def test_a_comparison_states_the_cost_of_its_benefit(browser: Client, api: APIClient, done: Forecast) -> None:
    document = {**done.input.document(), "nodes": [factories.node(f"n{number}") for number in range(3)]}
    larger = forecast_done(factories.forecast(factories.scenario(document=document), under=done.trace))
    pool = record_of(done).pools[0].name
    browser.post(f"/forecasts/{done.pk}/prices/", {f"pools.{pool}": "2"})
    says = api.get(f"/api/v1/forecasts/{done.pk}/comparison/?with={larger.pk}").json()["sentence"]
    assert says.startswith("This change costs 2.00 USD,")
    shown = text_of(browser, f"/forecasts/compare/?forecasts={done.pk}&forecasts={larger.pk}")
    assert says in shown
    assert "All nodes 4.00 6.00" in shown
    body = {"with": str(larger.pk), "prices": {"pools": {pool: 3}}}
    priced = api.post(f"/api/v1/forecasts/{done.pk}/comparison/", body)
    assert priced.json()["cost"] == {"currency": "USD", "before": 6.0, "after": 9.0, "change": 3.0}
    assert priced.json()["sentence"].startswith("This change costs 3.00 USD,")


def test_forecasts_of_two_workspaces_are_compared_by_the_prices_of_the_first(
    browser: Client, api: APIClient, done: Forecast
) -> None:
    later = forecast_done(factories.forecast(done.scenario, under=done.trace))
    other = workspace_create(
        name="other", user=User.objects.get(username="editor").acting(Role.ADMIN)
    ).workspace
    Forecast.objects.filter(pk=later.pk).update(workspace=other)
    for workspace, price, currency in ((done.workspace, 0.5, "USD"), (other, 7.0, "EUR")):
        NodePrices.objects.create(workspace=workspace, resources={"cpu": price}, currency=currency)
    cost = api.get(f"/api/v1/forecasts/{done.pk}/comparison/?with={later.pk}").json()["cost"]
    assert (cost["currency"], cost["change"]) == ("USD", 0.0)
    assert "costs the same" in text_of(
        browser, f"/forecasts/compare/?forecasts={done.pk}&forecasts={later.pk}"
    )


def test_a_backtest_measures_how_much_later_jobs_started(
    browser: Client, api: APIClient, done: Forecast
) -> None:
    later = later_snapshot(done)
    page = f"/forecasts/{done.pk}/"
    assert "Not compared yet" in text_of(browser, page)
    assert browser.post(f"{page}backtests/", {"snapshot": str(later.pk)}).status_code == 302
    [found] = api.get(f"/api/v1{page}backtests/").json()["results"]
    assert found["until_seconds"] == 7200
    within = {one["seconds"]: one["part"] for one in found["result"]["within"]}
    assert within == {60.0: 0.0, 600.0: 1.0}
    for queue in found["result"]["queues"]:
        assert queue["bias"] == pytest.approx(-LATE_SECONDS, abs=1)
        assert queue["mean_error"] == pytest.approx(LATE_SECONDS, abs=1)
    shown = text_of(browser, page)
    assert found["result"]["says"] in shown
    assert "compared with snapshot what happened, over 2 h" in shown


def test_a_backtest_shows_where_queues_diverge_and_the_causes(
    browser: Client, api: APIClient, done: Forecast
) -> None:
    later = later_snapshot(done)
    made = api.post(f"/api/v1/forecasts/{done.pk}/backtests/", {"snapshot": str(later.pk)}).json()["result"]
    shown = text_of(browser, f"/forecasts/{done.pk}/")
    assert {one["queue"] for one in made["partings"]} == {"busy", "waits"}
    for parting in made["partings"]:
        assert parting["real"] - parting["predicted"] == pytest.approx(LATE_SECONDS, abs=1)
        for cause in parting["causes"]:
            assert cause["says"].replace("'", "&#x27;") in shown
    # a backtest stored by an older release has no partings
    Backtest.objects.update(result={name: made[name] for name in made if name != "partings"})
    assert api.get(f"/api/v1/forecasts/{done.pk}/backtests/").json()["results"][0]["result"]["partings"] == []
    assert browser.get(f"/forecasts/{done.pk}/").status_code == 200


def test_a_backtest_is_shown_beside_each_forecast_of_the_cluster(
    browser: Client, api: APIClient, done: Forecast
) -> None:
    body = {"snapshot": str(later_snapshot(done).pk)}
    made = api.post(f"/api/v1/forecasts/{done.pk}/backtests/", body)
    assert made.status_code == 201
    again = scenario_create(snapshot=done.scenario.snapshot, name="another plan", owner=factories.user())
    other = forecast_done(factories.forecast(again, under=done.trace))
    assert made.json()["result"]["says"] in text_of(browser, f"/forecasts/{other.pk}/")
    assert api.get(f"/api/v1/forecasts/{other.pk}/backtests/").json()["count"] == 1


def test_a_backtest_against_a_snapshot_that_is_not_later_is_refused(
    browser: Client, api: APIClient, done: Forecast
) -> None:
    same = factories.snapshot({**factories.cluster(), "now": BEGIN})
    timeless = factories.snapshot()
    for snapshot, says in ((same, "is not later"), (timeless, "The snapshot does not say its time.")):
        answer = browser.post(f"/forecasts/{done.pk}/backtests/", {"snapshot": str(snapshot.pk)})
        assert answer.status_code == 422
        assert says in answer.content.decode()
    assert not Backtest.objects.exists()


def test_a_large_backtest_is_computed_in_a_child_process_with_the_same_result(
    api: APIClient, done: Forecast, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, body = f"/api/v1/forecasts/{done.pk}/backtests/", {"snapshot": str(later_snapshot(done).pk)}
    here = api.post(at, body).json()["result"]
    monkeypatch.setattr(backtests, "IN_PROCESS_BYTES", 0)
    assert api.post(at, body).json()["result"] == here
    Backtest.objects.all().delete()
    settings.IMPORT_SECONDS = 0
    refused = api.post(at, body)
    [problem] = refused.json()["problems"]
    assert (refused.status_code, problem["rule"]) == (422, "backtest.too_costly")
    assert problem["message"] == "The backtest took longer than the limit of 0 seconds."
    assert not Backtest.objects.exists()


def finished(document: dict[str, Any]) -> dict[str, Any]:
    """Return a cluster whose running pods have succeeded after ten minutes."""
    ended = copy.deepcopy(document)
    for pod in ended["pods"]:
        if pod["status"]["phase"] == "Running":
            times = {"startedAt": "2026-01-01T00:01:00Z", "finishedAt": "2026-01-01T00:11:00Z", "exitCode": 0}
            pod["status"] = {
                "phase": "Succeeded",
                "startTime": times["startedAt"],
                "containerStatuses": [{"name": "c", "state": {"terminated": times}}],
            }
    return ended


def test_finished_jobs_of_a_snapshot_become_a_trace(browser: Client, api: APIClient) -> None:
    snapshot = factories.snapshot({**finished(factories.cluster()), "now": "2026-01-01T01:00:00Z"})
    browser.post("/traces/", {"how": "snapshot", "snapshot": str(snapshot.pk), "name": "own"})
    trace = WorkloadTrace.objects.get()
    assert (trace.name, trace.jobs, trace.pods, trace.queues) == ("own", 1, 16, {"busy": 1})
    preview = api.get(f"/api/v1/traces/{trace.pk}/preview/").json()
    assert preview["queues"][0]["run_median"] == 600.0
    since = {"name": "all", "jobs_of": {"snapshot": str(snapshot.pk), "since": BEGIN}}
    assert api.post("/api/v1/traces/", since).json()["jobs"] == 2
    refused = api.post("/api/v1/traces/", {"name": "x", "jobs_of": {**since["jobs_of"], "since": "noon"}})  # type: ignore[dict-item]
    assert (refused.status_code, refused.json()["problems"][0]["rule"]) == (422, "trace.since")
    none = api.post("/api/v1/traces/", {"name": "x", "jobs_of": {"snapshot": str(factories.snapshot().pk)}})
    assert none.json()["problems"][0]["rule"] == "trace.empty"
