"""Editing the queue tree of a scenario through the API."""

import pytest
from rest_framework.test import APIClient

from planner.errors import StaleRevision
from planner.scenarios.models import Scenario
from planner.scenarios.services.queues import queue_update
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def scenario() -> Scenario:
    document = factories.cluster()
    document["queues"].append(factories.queue("below", parent="waits"))
    return factories.scenario(document=document)


@pytest.fixture
def at(scenario: Scenario) -> str:
    return f"/api/v1/scenarios/{scenario.pk}/queues/"


def seen(revision: int) -> dict[str, str]:
    return {"If-Match": f'"{revision}"'}


def test_a_queue_is_added(api: APIClient, at: str) -> None:
    payload = {"name": "new", "parent": "waits", "capability": {"cpu": "4"}}
    made = api.post(at, payload, headers=seen(1))
    assert (made.status_code, made["ETag"]) == (201, '"2"')
    body = made.json()
    assert body.pop("problems")
    assert body.pop("notes") == []
    assert body == api.get(f"{at}new/").json()
    assert made.json()["capability"] == {"cpu": "4"}


def test_a_repeated_creation_with_one_key_adds_one_queue(api: APIClient, at: str, scenario: Scenario) -> None:
    headers = seen(1) | {"Idempotency-Key": "once"}
    answers = [api.post(at, {"name": "new"}, headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert scenario.queues.filter(name="new").count() == 1


def test_renaming_a_queue_updates_its_children(api: APIClient, at: str) -> None:
    renamed = api.patch(f"{at}waits/", {"name": "team-a"}, headers=seen(1))
    assert (renamed.status_code, renamed.json()["name"]) == (200, "team-a")
    assert api.get(f"{at}waits/").status_code == 404
    assert api.get(f"{at}below/").json()["parent"] == "team-a"


def test_a_queue_with_children_is_removed_only_with_its_subtree(api: APIClient, at: str) -> None:
    refused = api.delete(f"{at}waits/", headers=seen(1))
    assert refused.status_code == 422
    assert refused.json()["problems"][0]["rule"] == "queue.delete_has_children"
    gone = api.delete(f"{at}waits/?subtree=1", headers=seen(1))
    assert (gone.status_code, gone["ETag"]) == (200, '"2"')
    assert [queue["name"] for queue in api.get(at).json()["results"]] == ["busy"]


def test_dry_runs_change_nothing(api: APIClient, at: str, scenario: Scenario) -> None:
    added = api.post(f"{at}?dry_run=1", {"name": "new"}, headers=seen(1))
    removed = api.delete(f"{at}waits/?subtree=1&dry_run=1", headers=seen(1))
    assert (added.status_code, removed.status_code) == (200, 200)
    assert added["ETag"] == removed["ETag"] == '"1"'
    assert set(scenario.queues.values_list("name", flat=True)) == {"busy", "waits", "below"}


def test_a_stale_tree_edit_returns_both_versions(api: APIClient, at: str, scenario: Scenario) -> None:
    queue_update(scenario=scenario, name="below", patch={"weight": 7}, expected_revision=1)
    removed = api.delete(f"{at}below/", headers=seen(1))
    assert removed.status_code == 412
    assert removed.json()["seen"]["body"]["weight"] == 1
    assert removed.json()["current"]["body"]["weight"] == 7
    added = api.post(at, {"name": "new"}, headers=seen(1))
    assert (added.status_code, added.json()["current"]) == (412, {"revision": 2, "body": None})


def test_an_edit_without_if_match_returns_428(api: APIClient, at: str) -> None:
    assert api.post(at, {"name": "new"}).status_code == 428
    assert api.delete(f"{at}below/").status_code == 428


def test_a_queue_that_the_webhook_would_reject_is_saved_with_a_problem(api: APIClient, at: str) -> None:
    saved = api.patch(f"{at}below/", {"guarantee": {"resource": {"cpu": "2"}}}, headers=seen(1))
    assert saved.status_code == 200
    checks = api.get(at.replace("queues/", "validate/")).json()
    rules = {problem["rule"] for problem in checks["problems"] if problem["queue"] == "below"}
    assert "queue.guarantee_without_deserved" in rules


def test_an_edit_of_a_queue_that_was_renamed_meanwhile_is_stale(
    api: APIClient, at: str, scenario: Scenario
) -> None:
    earlier = Scenario.objects.get(pk=scenario.pk)
    assert api.patch(f"{at}waits/", {"name": "renamed"}, headers=seen(1)).status_code == 200
    for stale in (
        api.patch(f"{at}waits/", {"weight": 7}, headers=seen(1)),
        api.delete(f"{at}waits/", headers=seen(1)),
    ):
        assert (stale.status_code, stale.json()["code"]) == (412, "stale_revision")
    assert api.patch(f"{at}waits/", {"weight": 7}, headers=seen(2)).status_code == 404
    with pytest.raises(StaleRevision):  # as when both are read before one of them is saved
        queue_update(scenario=earlier, name="waits", patch={"name": "other"}, expected_revision=1)
