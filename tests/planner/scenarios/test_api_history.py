"""Reading history, undoing, reverting and branching through the API."""

import pytest
from rest_framework.response import Response
from rest_framework.test import APIClient

from planner.scenarios.models import Scenario
from planner.scenarios.services.objects import objects_write
from planner.scenarios.services.queues import queue_update
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def scenario() -> Scenario:
    scenario = factories.scenario()
    queue_update(
        scenario=scenario, name="waits", patch={"weight": 3}, expected_revision=1, user=factories.user()
    )
    objects_write(scenario=scenario, wanted={("nodes", "n1"): None}, expected_revision=2)
    return scenario


@pytest.fixture
def at(scenario: Scenario) -> str:
    return f"/api/v1/scenarios/{scenario.pk}/"


def post(api: APIClient, address: str, body: object = None, *, seen: str = "3") -> Response:
    return api.post(address, body, headers={"If-Match": seen})


def test_changes_are_listed_newest_first_and_filtered(api: APIClient, at: str) -> None:
    listed = api.get(f"{at}changes/").json()["results"]
    assert [(change["revision"], change["kind"], change["key"]) for change in listed] == [
        (3, "nodes", "n1"),
        (2, "queues", "waits"),
    ]
    assert (listed[0]["user"], listed[1]["user"], listed[1]["path"]) == (
        None,
        "editor",
        "queues.waits.weight",
    )
    assert (listed[1]["before"], listed[1]["after"]) == (1, 3)
    for query, count in {
        "kind=queues": 1,
        "key=N1": 1,
        "since=2": 1,
        "user=editor": 1,
        "way=undo": 0,
    }.items():
        assert api.get(f"{at}changes/?{query}").json()["count"] == count


def test_undo_and_redo_create_revisions(api: APIClient, at: str) -> None:
    assert api.get(f"{at}diff/").json()["differences"][1]["after"] is None
    assert post(api, f"{at}undo/")["ETag"] == '"4"'
    assert post(api, f"{at}undo/", seen="4").status_code == 200
    assert api.get(f"{at}diff/").json()["differences"] == []
    assert post(api, f"{at}undo/", seen="5").json()["problems"][0]["rule"] == "history.nothing_to_undo"
    assert post(api, f"{at}redo/", seen="5")["ETag"] == '"6"'
    assert api.get(f"{at}queues/waits/").json()["weight"] == 3


def test_a_stale_undo_returns_the_changes_made_since(api: APIClient, at: str) -> None:
    answer = post(api, f"{at}undo/", seen="2")
    assert answer.status_code == 412
    assert [change["key"] for change in answer.json()["current"]["body"]["changes"]] == ["n1"]
    assert api.post(f"{at}undo/").status_code == 428


def test_a_single_change_is_reverted(api: APIClient, at: str) -> None:
    change = api.get(f"{at}changes/?kind=queues").json()["results"][0]
    assert post(api, f"{at}changes/{change['id']}/revert/").json()["revision"] == 4
    assert [left["key"] for left in api.get(f"{at}diff/").json()["differences"]] == ["n1"]
    again = post(api, f"{at}changes/{change['id']}/revert/", seen="4")
    assert (again.status_code, again.json()["problems"][0]["rule"]) == (422, "history.changed_since")


def test_a_single_difference_is_reverted(api: APIClient, at: str) -> None:
    assert post(api, f"{at}diff/revert/", {"kind": "nodes", "key": "n1"}).status_code == 200
    assert [left["field"] for left in api.get(f"{at}diff/").json()["differences"]] == ["weight"]
    gone = post(api, f"{at}diff/revert/", {"kind": "nodes", "key": "n1"}, seen="4")
    assert (gone.status_code, gone.json()["problems"][0]["rule"]) == (422, "request.unchanged")


def test_a_configuration_diff_lists_lines(api: APIClient, at: str) -> None:
    text = factories.CONF.replace("reclaim", "backfill")
    api.put(f"{at}conf/", {"text": text}, headers={"If-Match": "3"})
    (conf,) = (one for one in api.get(f"{at}diff/").json()["differences"] if one["kind"] == "conf")
    assert conf["lines"][1:3] == [
        '-actions: "enqueue, allocate, reclaim"',
        '+actions: "enqueue, allocate, backfill"',
    ]


def test_a_branch_is_compared_with_its_parent_or_its_start(
    api: APIClient, at: str, scenario: Scenario
) -> None:
    made = api.post(f"{at}branch/", {"name": "other", "revision": 2})
    assert made.status_code == 201
    body = made.json()
    assert (body["parent"], body["parent_revision"], body["revision"]) == (str(scenario.pk), 2, 1)
    branch = f"/api/v1/scenarios/{body['id']}/"
    assert api.get(f"{branch}diff/?base=start").json()["differences"] == []
    assert [one["key"] for one in api.get(f"{branch}diff/").json()["differences"]] == ["waits"]
    assert api.post(f"{at}branch/", {"name": "other", "revision": 9}).status_code == 422
    assert api.get(f"{branch}diff/?base=other").status_code == 422
