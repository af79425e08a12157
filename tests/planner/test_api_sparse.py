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
