"""Asking for some fields only, of lists and of single things."""

import pytest
from rest_framework.test import APIClient

from tests import factories

pytestmark = pytest.mark.django_db


def test_a_list_gives_the_fields_asked_for(api: APIClient) -> None:
    factories.scenario()
    page = api.get("/api/v1/scenarios/?fields=name,revision").json()
    assert page["count"] == 1
    assert page["results"] == [{"name": "what if", "revision": 1}]


def test_a_single_thing_gives_the_fields_asked_for(api: APIClient) -> None:
    run = factories.run()
    assert api.get(f"/api/v1/runs/{run.pk}/?fields=state").json() == {"state": "queued"}


@pytest.mark.parametrize("empty", [True, False])
def test_a_field_that_is_not_there_is_an_error(api: APIClient, empty: bool) -> None:
    if not empty:
        factories.scenario()
    answer = api.get("/api/v1/scenarios/?fields=name,colour")
    assert answer.status_code == 422
    (problem,) = answer.json()["problems"]
    assert (problem["rule"], problem["path"]) == ("request.unknown_field", "fields")
    assert "colour" in problem["message"]


def test_nodes_and_workloads_come_in_the_order_asked_for(api: APIClient) -> None:
    at = f"/api/v1/scenarios/{factories.scenario().pk}"
    names = [row["metadata"]["name"] for row in api.get(f"{at}/nodes/?ordering=-name").json()["results"]]
    assert names == ["n1", "n0"]
    rows = api.get(f"{at}/workloads/?ordering=-pending,name").json()["results"]
    assert [row["pending"] for row in rows] == sorted((row["pending"] for row in rows), reverse=True)
    assert rows[0]["name"] == "wait"


@pytest.mark.parametrize(
    "asked",
    [
        "nodes/?ordering=colour",
        "nodes/?unschedulable=maybe",
        "workloads/?pending=2",
        "workloads/?kind=job",
        "workloads/?origin=new",
    ],
)
def test_what_a_list_cannot_be_asked_is_refused(api: APIClient, asked: str) -> None:
    answer = api.get(f"/api/v1/scenarios/{factories.scenario().pk}/{asked}")
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["path"] == asked.partition("?")[2].partition("=")[0]
