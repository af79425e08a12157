"""Experiments whose cells are forecasts: cells equal the same forecast on its own, in every interface."""

import csv
import io
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from planner.errors import Invalid
from planner.experiments.models import Experiment, ExperimentGroup
from planner.experiments.selectors.cells import Cells
from planner.experiments.selectors.experiments import VERIFYING
from planner.experiments.services import cells
from planner.experiments.services.settling import experiment_settle
from planner.forecasts.models import Forecast, WorkloadTrace
from planner.forecasts.selectors.forecasts import record_of
from planner.forecasts.services.prices import prices_set
from planner.forecasts.services.traces import trace_create, trace_of_text
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import document_of_scenario
from planner.work.lifecycle import work_claim, work_end
from planning.experiments.cells import Cell
from planning.experiments.forecast_figures import figure_of_forecast
from planning.experiments.verification import verified
from planning.experiments.work import prices_of
from tests import factories
from tests.planner.recorded import experiment_done, forecast_done

pytestmark = pytest.mark.django_db


@pytest.fixture
def scenario() -> Scenario:
    """A scenario in a workspace with the trace `morning`."""
    there = factories.scenario()
    trace_create(workspace=there.workspace, name="morning", read=trace_of_text(text=factories.TRACE))
    return there


@pytest.fixture
def api() -> APIClient:
    client = APIClient()
    client.force_authenticate(factories.user())
    return client


@pytest.fixture
def browser(client: Client) -> Client:
    client.force_login(factories.user())
    return client


def without(written: Any, *keys: str, **forecast: Any) -> dict[str, Any]:
    kept = {key: value for key, value in written["forecast"].items() if key not in keys}
    return {**written, "forecast": {**kept, **forecast}}


def test_a_cell_opens_as_a_forecast_whose_record_has_its_figures(api: APIClient, scenario: Scenario) -> None:
    experiment = experiment_done(factories.experiment(scenario, factories.FORECAST_SWEEP))
    assert experiment.state == "succeeded"
    rows = Cells(experiment).rows
    assert len(rows) == experiment.planned == 6
    assert not any(row.error for row in rows)
    for row in (rows[0], rows[-1]):
        answer = api.post(f"/api/v1/experiments/{experiment.pk}/cells/{row.number}/forecast/")
        assert answer.status_code == 201, answer.data
        forecast = forecast_done(Forecast.objects.get(pk=answer.data["forecast"]))
        assert forecast.scenario.parent_id == scenario.pk
        assert forecast.input.content() == document_of_scenario(forecast.scenario)
        assert forecast.scenario_revision == forecast.scenario.revision
        prices = prices_of(experiment.written["forecast"]["prices"])
        record = record_of(forecast)
        alone = {str(one): figure_of_forecast(one, record, prices) for one in Cells(experiment).figures}
        assert alone == dict(row.figures)
    assert WorkloadTrace.objects.count() == 1


def test_the_workload_of_a_seed_is_saved_as_a_trace(
    api: APIClient, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = without(factories.FORECAST_SWEEP, seeds=2)
    experiment = experiment_done(factories.experiment(scenario, written))
    row = Cells(experiment).rows[0]
    path = f"/api/v1/experiments/{experiment.pk}/cells/{row.number}/forecast/"
    first = api.post(path).data
    monkeypatch.setattr(cells, "IN_PROCESS_BYTES", 0)
    apart = api.post(path).data
    assert first["trace"] == apart["trace"]
    one, other = (Forecast.objects.get(pk=data["forecast"]) for data in (first, apart))
    assert one.options == other.options
    assert WorkloadTrace.objects.get(pk=first["trace"]).name == "waits by nodes, seed 1"
    forecast = forecast_done(Forecast.objects.get(pk=first["forecast"]))
    figure = Cells(experiment).figures[0]
    alone = figure_of_forecast(figure, record_of(forecast), prices_of({}))
    group = experiment.groups.get(cells__0=[0, 0])
    assert group.measured[0]["over"][0][0] == alone


def test_a_proposal_is_verified_by_its_own_group(api: APIClient) -> None:
    experiment = factories.experiment(written=factories.FORECAST_SEARCH)
    experiment_done(experiment)
    assert experiment.groups.get(number=VERIFYING).state == "succeeded"
    response = api.get(f"/api/v1/experiments/{experiment.pk}/").data
    assert response["verdict"]["status"] == "found"
    verification = response["verdict"]["verification"]
    assert (verification["seeds"], verification["error"]) == (4, "")
    assert verification["holds"] == (not verification["missed"] and not verification["open"])
    low, high = response["verdict"]["cell"]["intervals"]["wait_p95 of waits"].values()
    assert low <= response["verdict"]["cell"]["figures"]["wait_p95 of waits"] <= high <= 600
    assert response["progress"]["measured"] <= response["progress"]["planned"] == 4


def proposed() -> tuple[Experiment, Any]:
    """Return a search whose first cell reaches every goal, and the claim of the group that verifies it."""
    experiment = factories.experiment(written=factories.FORECAST_SEARCH)
    measured = {"figures": [5.0], "over": [[5.0], [5.0], [5.0]]}
    for group in experiment.groups.all():
        claim = work_claim(kind=ExperimentGroup, id=group.pk, worker="test")
        assert claim is not None
        state = ExperimentGroup.State.SUCCEEDED
        work_end(claim=claim, state=state, measured=[measured for _ in group.cells])
    assert not experiment_settle(experiment_id=experiment.pk)
    claim = work_claim(kind=ExperimentGroup, id=experiment.groups.get(number=VERIFYING).pk, worker="test")
    assert claim is not None
    return experiment, claim


def test_a_failed_verification_is_reported_and_ends_the_search() -> None:
    experiment, claim = proposed()
    work_end(claim=claim, state=ExperimentGroup.State.FAILED, error="It needs too much memory.")
    assert experiment_settle(experiment_id=experiment.pk)
    experiment.refresh_from_db()
    kept = experiment.verdict["verification"]
    assert (kept["holds"], kept["error"]) == (False, "It needs too much memory.")


def test_the_page_states_first_that_a_proposal_does_not_hold(browser: Client) -> None:
    experiment, claim = proposed()
    definition = Cells(experiment).definition
    over = tuple((float(wait),) for wait in (700, 800, 900, 1000))
    kept = verified(Cell((0, 0), 0.0, (850.0,), over=over), definition.goals, definition.figures, 4)
    work_end(claim=claim, state=ExperimentGroup.State.SUCCEEDED, measured=[kept.to_keep(definition.figures)])
    assert experiment_settle(experiment_id=experiment.pk)
    page = browser.get(f"/experiments/{experiment.pk}/").content.decode()
    fails, proposal = (
        page.index(words) for words in ("The proposal does not hold", "under the workloads of the search")
    )
    assert fails < proposal
    assert "<strong>This is the smallest" not in page
    assert "(does not hold)" in browser.get("/experiments/").content.decode()


def test_equal_cells_under_one_trace_are_computed_once(scenario: Scenario) -> None:
    experiment_done(factories.experiment(scenario, factories.FORECAST_SWEEP))
    again = factories.experiment(scenario, factories.FORECAST_SWEEP)
    assert again.state == "succeeded"
    other = factories.experiment(scenario, without(factories.FORECAST_SWEEP, period_seconds=30))
    assert other.state == "running"


def test_an_experiment_freezes_the_prices_of_its_workspace(scenario: Scenario) -> None:
    prices_set(workspace=scenario.workspace, pools={}, resources={"cpu": 2.0}, currency="EUR")
    experiment = factories.experiment(scenario, without(factories.FORECAST_SWEEP, "prices"))
    assert experiment.written["forecast"]["prices"] == {
        "pools": {},
        "resources": {"cpu": 2.0},
        "currency": "EUR",
    }


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (without(factories.FORECAST_SWEEP, trace="evening"), "The workspace has no trace 'evening'"),
        (without(factories.FORECAST_SWEEP, trace={"file": "a.csv"}), "The server does not read files"),
        (without(factories.FORECAST_SWEEP, "prices"), "needs prices"),
        (without(factories.FORECAST_SWEEP, "rest"), "no queue for these queues"),
    ],
)
def test_an_invalid_forecast_experiment_is_refused(scenario: Scenario, written: Any, says: str) -> None:
    with pytest.raises(Invalid) as refused:
        factories.experiment(scenario, written)
    assert says in " ".join(problem.message for problem in refused.value.problems)


def test_the_page_the_api_and_the_csv_show_the_same_intervals(
    browser: Client, api: APIClient, scenario: Scenario
) -> None:
    experiment = experiment_done(factories.experiment(scenario, without(factories.FORECAST_SWEEP, seeds=2)))
    path = f"/api/v1/experiments/{experiment.pk}/cells/"
    cell = api.get(path, {"page_size": 100}).data["results"][0]
    low, high = cell["intervals"]["evictions"].values()
    assert low <= cell["figures"]["evictions"] <= high
    text = b"".join(api.get(path, {"format": "csv"}).streaming_content).decode()  # type: ignore[attr-defined]
    first = next(csv.DictReader(io.StringIO(text)))
    assert float(first["intervals.evictions.low"]) == low
    content = browser.get(f"/experiments/{experiment.pk}/", {"figure": "wait_p95"}).content.decode()
    assert " to " in content
    assert "wait p95 (" in content
    assert "error_y" in content
    assert ">Forecast</button>" in content


@pytest.mark.django_db(transaction=True)
def test_a_cell_opens_as_a_forecast_from_the_page(browser: Client) -> None:
    experiment = experiment_done(factories.experiment(written=factories.FORECAST_SEARCH))
    content = browser.get(f"/experiments/{experiment.pk}/").content.decode()
    assert "the search did not see" in content
    answer = browser.post(f"/experiments/{experiment.pk}/cells/0/", {"then": "forecast"})
    assert answer.status_code == 302
    assert f"/forecasts/{Forecast.objects.get().pk}/" in answer["Location"]
    assert Experiment.objects.get().is_of_forecasts


def test_a_run_cell_cannot_be_opened_as_a_forecast(api: APIClient) -> None:
    experiment = experiment_done(factories.experiment())
    answer = api.post(f"/api/v1/experiments/{experiment.pk}/cells/0/forecast/")
    assert answer.status_code == 422
