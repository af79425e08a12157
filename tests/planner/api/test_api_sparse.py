"""The `fields` parameter, ordering and filters of lists and single objects."""

import pytest
from rest_framework.test import APIClient

from tests import factories

pytestmark = pytest.mark.django_db


def test_a_list_returns_only_the_requested_fields(api: APIClient) -> None:
    factories.scenario()
    page = api.get("/api/v1/scenarios/?fields=name,revision").json()
    assert page["count"] == 1
    assert page["results"] == [{"name": "what if", "revision": 1}]


def test_a_single_object_returns_only_the_requested_fields(api: APIClient) -> None:
    run = factories.run()
    assert api.get(f"/api/v1/runs/{run.pk}/?fields=state").json() == {"state": "queued"}


@pytest.mark.parametrize("empty", [True, False])
def test_an_unknown_field_is_an_error(api: APIClient, empty: bool) -> None:
    if not empty:
        factories.scenario()
    answer = api.get("/api/v1/scenarios/?fields=name,colour")
    assert answer.status_code == 422
    (problem,) = answer.json()["problems"]
    assert (problem["rule"], problem["path"]) == ("request.unknown_field", "fields")
    assert "colour" in problem["message"]


def test_nodes_and_workloads_follow_the_requested_ordering(api: APIClient) -> None:
    at = f"/api/v1/scenarios/{factories.scenario().pk}"
    names = [row["metadata"]["name"] for row in api.get(f"{at}/nodes/?ordering=-name").json()["results"]]
    assert names == ["n1", "n0"]
    rows = api.get(f"{at}/workloads/?ordering=-pending,name").json()["results"]
    assert [row["pending"] for row in rows] == sorted((row["pending"] for row in rows), reverse=True)
    assert rows[0]["name"] == "wait"


@pytest.mark.parametrize(
    "query",
    [
        "nodes/?ordering=colour",
        "nodes/?unschedulable=maybe",
        "workloads/?pending=2",
        "workloads/?kind=job",
        "workloads/?origin=new",
    ],
)
def test_an_unsupported_ordering_or_filter_is_refused(api: APIClient, query: str) -> None:
    answer = api.get(f"/api/v1/scenarios/{factories.scenario().pk}/{query}")
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["path"] == query.partition("?")[2].partition("=")[0]
