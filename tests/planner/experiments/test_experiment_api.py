"""Creating and following experiments through the API, and opening a cell as a scenario."""

import csv
import io
from typing import Any

import pyarrow.parquet
import pytest
from rest_framework.test import APIClient

import manifests
from planner.accounts.models import Role
from planner.experiments.models import Experiment
from planner.runs.services.runs import run_create
from planner.scenarios.models import Scenario
from planner.scenarios.services.queues import queue_update
from planning.experiments.figures import figure_of
from planning.nodes import pool_name
from scheduler_core import simulate_document
from tests import factories
from tests.planner.recorded import experiment_done

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> APIClient:
    client = APIClient()
    client.force_authenticate(factories.user())
    return client


def created(api: APIClient, written: Any, status: int = 202, **body: Any) -> Any:
    answer = api.post("/api/v1/experiments/", {**written, **body}, format="json")
    assert answer.status_code == status, answer.data
    return answer.data


def finished(api: APIClient, written: Any, of: Scenario | None = None) -> Any:
    actual = created(api, written, scenario=str((of or factories.scenario()).pk))
    experiment_done(Experiment.objects.get(pk=actual["id"]))
    return api.get(f"/api/v1/experiments/{actual['id']}/").data


def test_a_sweep_is_created_by_the_name_of_its_scenario(api: APIClient) -> None:
    scenario = factories.scenario()
    actual = created(api, factories.SWEEP, scenario=scenario.name)
    assert (actual["state"], actual["kind"], actual["planned"]) == ("running", "sweep", 12)
    assert (actual["scenario"], actual["verdict"]) == (scenario.pk, None)
    assert actual["progress"]["measured"] == 0
    assert [figure["name"] for figure in actual["figures"]] == [
        "waiting_pods",
        "evictions",
        "allocated cpu of waits",
    ]


def test_values_that_no_cell_can_have_are_refused_each_at_its_place(api: APIClient) -> None:
    settings = [
        {"queue": "waits", "field": "weight", "values": [1, "x", 70000]},
        {"queue": "waits", "field": "deserved", "resource": "cpu", "values": ["2", "-1", "much"]},
        {"like": "n0", "range": {"from": 1, "to": 2, "step": 0.5}},
        {"actions": True, "values": ["enqueue, allocate", "allocate, dance"]},
    ]
    written = {**factories.SWEEP, "settings": settings}
    answer = created(api, written, 422, scenario=str(factories.scenario().pk))
    assert [problem["path"] for problem in answer["problems"]] == [
        "settings[0].values[1]",
        "settings[0].values[2]",
        "settings[1].values[1]",
        "settings[1].values[2]",
        "settings[2].range",
        "settings[3].values[1]",
    ]
    assert all(problem["fix"] for problem in answer["problems"])
    assert not Experiment.objects.exists()


def test_an_experiment_on_a_snapshot_creates_a_scenario(api: APIClient) -> None:
    snapshot = factories.scenario().snapshot
    actual = created(api, factories.SWEEP, snapshot=snapshot.name)
    assert Scenario.objects.get(pk=actual["scenario"]).name == factories.SWEEP["name"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, None),
        ({"scenario": "nowhere"}, "scenario"),
        ({"scenario": "what if", "settings": []}, "settings"),
        ({"scenario": "what if", "figures": [{"figure": "luck"}]}, "figures[0].figure"),
        ({"scenario": "what if", "surprise": 1}, "surprise"),
    ],
)
def test_an_invalid_experiment_is_refused_with_the_field(api: APIClient, body: Any, path: str | None) -> None:
    factories.scenario()
    actual = created(api, factories.SWEEP, 422, **body)
    assert path in [problem["path"] for problem in actual["problems"]]


def test_a_dry_run_validates_and_creates_nothing(api: APIClient) -> None:
    scenario = factories.scenario()
    answer = api.post(
        "/api/v1/experiments/?dry_run=1", {**factories.SWEEP, "scenario": scenario.name}, format="json"
    )
    assert (answer.status_code, answer.data["id"]) == (200, None)
    assert not Experiment.objects.exists()


def test_cells_are_paged_ordered_filtered_and_exported(api: APIClient) -> None:
    actual = finished(api, factories.SWEEP)
    assert (actual["state"], actual["progress"]["share"]) == ("succeeded", 1.0)
    cells = f"/api/v1/experiments/{actual['id']}/cells/"
    page = api.get(cells, {"page_size": 5}).data
    assert (page["count"], len(page["results"])) == (12, 5)
    first = page["results"][0]
    assert first["settings"] == {"waits.weight": 1, "nodes like n0": 0}
    assert (first["number"], first["price"], first["error"], first["refused"]) == (0, 0.0, "", "")
    best = api.get(cells, {"front": "1"}).data["results"]
    assert best
    assert all(row["front"] for row in best)
    dear = api.get(cells, {"ordering": "-price"}).data["results"]
    assert dear[0]["price"] == max(row["price"] for row in dear)
    text = b"".join(api.get(cells, {"format": "csv"}).streaming_content).decode()  # type: ignore[attr-defined]
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 12
    assert rows[0]["settings.waits.weight"] == "1"
    file = b"".join(api.get(cells, {"format": "parquet"}).streaming_content)  # type: ignore[attr-defined]
    table = pyarrow.parquet.read_table(io.BytesIO(file))
    assert table.column_names == list(rows[0])
    actual = api.get(cells).data["results"]
    assert table["settings.waits.weight"].to_pylist() == [row["settings"]["waits.weight"] for row in actual]
    assert table["figures.evictions"].to_pylist() == [row["figures"]["evictions"] for row in actual]
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["number"], types["front"], types["error"]) == ("int64", "bool", "string")
    assert (types["settings.waits.weight"], types["figures.evictions"]) == ("int64", "double")


def test_a_search_returns_its_verdict(api: APIClient) -> None:
    verdict = finished(api, factories.SEARCH)["verdict"]
    assert verdict["status"] == "found"
    figures = verdict["cell"]["figures"]
    assert figures == {"waiting_pods": 0.0, "evictions": 0.0}
    assert (verdict["missed"], verdict["grid_size"]) == ([], 12)


def test_a_cell_opens_as_a_scenario_whose_run_has_its_figures(api: APIClient) -> None:
    scenario = factories.scenario()
    actual = finished(api, factories.SWEEP, scenario)
    queue_update(scenario=scenario, name="busy", patch={"weight": 7}, expected_revision=scenario.revision)
    cells = api.get(f"/api/v1/experiments/{actual['id']}/cells/").data["results"]
    for cell in (cells[0], cells[4], cells[-1]):
        address = f"/api/v1/experiments/{actual['id']}/cells/{cell['number']}/scenario/"
        answer = api.post(address, {}, format="json")
        assert answer.status_code == 201, answer.data
        branch = Scenario.objects.get(pk=answer.data["id"])
        assert branch.parent == scenario
        run = run_create(scenario=branch, user=factories.user())
        alone = simulate_document(manifests.resolve(run.input.document()))
        figures = [figure_of(one) for one in actual["figures"]]
        assert [float(figure.of(alone)) for figure in figures] == list(cell["figures"].values())


def test_a_cell_with_fewer_nodes_opens_without_them(api: APIClient) -> None:
    document = factories.cluster()
    spare = factories.node("n9")
    scenario = factories.scenario(document={**document, "nodes": [*document["nodes"], spare]})
    sweep = {
        "name": "fewer nodes",
        "settings": [{"pool": pool_name(spare), "values": [2]}],
        "figures": [{"figure": "waiting_pods"}],
    }
    actual = finished(api, sweep, scenario)
    cell = api.get(f"/api/v1/experiments/{actual['id']}/cells/").data["results"][1]
    answer = api.post(f"/api/v1/experiments/{actual['id']}/cells/1/scenario/", {}, format="json")
    run = run_create(scenario=Scenario.objects.get(pk=answer.data["id"]), user=factories.user())
    alone = manifests.resolve(run.input.document())
    assert [node["metadata"]["name"] for node in alone["nodes"]] == ["n0", "n1"]
    waiting = figure_of({"figure": "waiting_pods"}).of(simulate_document(alone))
    assert waiting == cell["figures"]["waiting_pods"]


def test_an_unknown_cell_cannot_be_opened(api: APIClient) -> None:
    actual = finished(api, factories.SWEEP)
    answer = api.post(f"/api/v1/experiments/{actual['id']}/cells/99/scenario/", {}, format="json")
    assert answer.status_code == 422
    assert answer.data["problems"][0]["path"] == "cell"


def test_an_experiment_is_cancelled_and_deleted(api: APIClient) -> None:
    actual = created(api, factories.SWEEP, scenario=factories.scenario().name)
    address = f"/api/v1/experiments/{actual['id']}/"
    assert api.post(f"{address}cancel/").data["state"] == "cancelled"
    assert api.delete(address).status_code == 204
    assert not Experiment.objects.exists()


def test_a_viewer_reads_but_cannot_create_or_delete_experiments(api: APIClient) -> None:
    actual = finished(api, factories.SWEEP)
    viewer = APIClient()
    viewer.force_authenticate(factories.user("viewer", role=Role.VIEWER))
    assert viewer.get(f"/api/v1/experiments/{actual['id']}/cells/").status_code == 200
    created(viewer, factories.SWEEP, 403, scenario="what if")
    assert viewer.delete(f"/api/v1/experiments/{actual['id']}/").status_code == 403
