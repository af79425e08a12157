"""Creating and editing scenarios through the API."""

import pytest
from rest_framework.response import Response
from rest_framework.test import APIClient

from planner.scenarios.models import Change, Scenario
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def scenario() -> Scenario:
    return factories.scenario()


@pytest.fixture
def at(scenario: Scenario) -> str:
    return f"/api/v1/scenarios/{scenario.pk}/"


def patch(api: APIClient, at: str, body: object, *, seen: str = '"1"', query: str = "") -> Response:
    return api.patch(f"{at}queues/waits/{query}", body, headers={"If-Match": seen})


def rules(response: Response) -> dict[str, str]:
    assert response.status_code == 422
    return {problem["path"]: problem["rule"] for problem in response.json()["problems"]}


def test_a_scenario_starts_with_the_queues_of_its_snapshot(api: APIClient) -> None:
    snapshot = factories.snapshot()
    response = api.post("/api/v1/scenarios/", {"name": "what if", "snapshot": str(snapshot.pk)})
    assert response.status_code == 201
    assert response["ETag"] == '"1"'
    made = response.json()
    assert (made["name"], made["revision"], made["snapshot"]) == ("what if", 1, str(snapshot.pk))
    assert made["owner"] == "editor"
    read = api.get(f"/api/v1/scenarios/{made['id']}/")
    assert (read.json(), read["ETag"]) == (made, '"1"')
    assert Scenario.objects.get(pk=made["id"]).queues.count() == 2


def test_a_scenario_requires_a_snapshot_of_the_workspace(api: APIClient) -> None:
    payload = {"name": "x" * 300, "snapshot": "2d0b3a1e-0000-4000-8000-000000000000"}
    assert rules(api.post("/api/v1/scenarios/", payload)) == {"name": "request.max_length"}
    payload["name"] = "what if"
    assert rules(api.post("/api/v1/scenarios/", payload)) == {"snapshot": "request.does_not_exist"}


def test_a_dry_run_creates_no_scenario(api: APIClient) -> None:
    payload = {"name": "what if", "snapshot": str(factories.snapshot().pk)}
    response = api.post("/api/v1/scenarios/?dry_run=1", payload)
    assert (response.status_code, response.json()["id"]) == (200, None)
    assert not Scenario.objects.exists()


def test_queues_are_listed_with_the_field_names_of_the_crd(api: APIClient, at: str) -> None:
    response = api.get(f"{at}queues/")
    assert response["ETag"] == '"1"'
    assert response.json()["count"] == 2
    waits = response.json()["results"][1]
    assert waits == {
        "name": "waits",
        "parent": None,
        "weight": 1,
        "priority": None,
        "reclaimable": True,
        "state": "Open",
        "guarantee": {"resource": {}},
        "deserved": {},
        "capability": {"cpu": "12"},
        "dequeueStrategy": None,
        "affinity": {},
        "type": None,
        "extendClusters": None,
        "annotations": {},
        "labels": {},
    }
    assert api.get(f"{at}queues/waits/").json() == waits
    assert api.get(f"{at}queues/?name=BUS").json()["count"] == 1


def test_a_patch_changes_only_the_given_fields(api: APIClient, at: str) -> None:
    body = {
        "weight": 4,
        "capability": {"cpu": "8", "memory": "64Gi"},
        "guarantee": {"resource": {"cpu": "2"}},
    }
    response = patch(api, at, body)
    assert (response.status_code, response["ETag"]) == (200, '"2"')
    changed = response.json()
    assert changed["weight"] == 4
    assert changed["capability"] == {"cpu": "8", "memory": "64Gi"}
    assert changed["guarantee"] == {"resource": {"cpu": "2"}}
    assert changed["reclaimable"] is True
    rules = {problem["rule"] for problem in changed.pop("problems")}
    assert "queue.guarantee_without_deserved" in rules
    assert changed.pop("notes") == []
    assert api.get(f"{at}queues/waits/").json() == changed
    assert set(Change.objects.values_list("key", "field", "user__username")) == {
        ("waits", "weight", "editor"),
        ("waits", "capability", "editor"),
        ("waits", "guarantee", "editor"),
    }


def test_null_in_a_patch_removes_a_value(api: APIClient, at: str) -> None:
    assert patch(api, at, {"capability": {"cpu": None}, "weight": None}).status_code == 200
    queue = api.get(f"{at}queues/waits/").json()
    assert (queue["capability"], queue["weight"]) == ({}, None)


def test_the_merge_patch_media_type_is_accepted(api: APIClient, at: str) -> None:
    response = api.patch(
        f"{at}queues/waits/",
        b'{"weight": 3}',
        content_type="application/merge-patch+json",
        headers={"If-Match": "1"},
    )
    assert (response.status_code, response.json()["weight"]) == (200, 3)


def test_every_problem_of_a_patch_is_reported_at_once(api: APIClient, at: str) -> None:
    body = {
        "weight": 0,
        "capability": {"cpu": "lots", "memory": "-1"},
        "reclaimable": "yes",
        "color": "blue",
        "parent": "nowhere",
    }
    assert rules(patch(api, at, body)) == {
        "queues.waits.weight": "queue.weight",
        "queues.waits.capability.cpu": "quantity.unreadable",
        "queues.waits.capability.memory": "quantity.negative",
        "queues.waits.reclaimable": "form.type",
        "queues.waits.color": "queue.unknown_field",
        "queues.waits.parent": "queue.parent_missing",
    }
    assert api.get(at).json()["revision"] == 1


ODD = {
    "a parent that is not a string": ({"parent": {}}, {"queues.waits.parent": "form.type"}),
    "a weight out of range": ({"weight": 2**70}, {"queues.waits.weight": "number.range"}),
    "a quantity of 5000 digits": (
        {"deserved": {"cpu": "9" * 5000}},
        {"queues.waits.deserved.cpu": "quantity.unreadable"},
    ),
    "a quantity that is a boolean": (
        {"deserved": {"cpu": True}},
        {"queues.waits.deserved.cpu": "quantity.unreadable"},
    ),
    "a guarantee without `resource`": (
        {"guarantee": {"cpu": "1"}},
        {"queues.waits.guarantee.cpu": "queue.unknown_field"},
    ),
    "an invalid name": ({"name": "Not B"}, {"queues.waits.name": "name.illegal"}),
    "the name of another queue": ({"name": "busy"}, {"queues.waits.name": "name.taken"}),
    "its own parent": ({"parent": "waits"}, {"queues.waits.parent": "queue.cycle"}),
}


@pytest.mark.parametrize(("body", "want"), ODD.values(), ids=ODD)
def test_invalid_values_are_reported_as_problems(
    api: APIClient, at: str, body: object, want: dict[str, str]
) -> None:
    assert rules(patch(api, at, body)) == want


@pytest.mark.parametrize("body", [[], "weight", 4])
def test_a_patch_must_be_an_object(api: APIClient, at: str, body: object) -> None:
    assert rules(patch(api, at, body)) == {None: "request.not_an_object"}


@pytest.mark.parametrize("seen", ["1", '"1"', ' "1" ', 'W/"1"'])
def test_if_match_is_read_with_or_without_quotes(api: APIClient, at: str, seen: str) -> None:
    assert patch(api, at, {"weight": 2}, seen=seen).status_code == 200


@pytest.mark.parametrize("seen", ["", "*", "one", '"1", "2"', "1 2", "-1", "1e0", "9" * 20, "\u0661"])
def test_an_invalid_if_match_returns_400(api: APIClient, at: str, seen: str) -> None:
    response = patch(api, at, {"weight": 2}, seen=seen)
    assert (response.status_code, response.json()["code"]) == (400, "parse_error")


def test_an_edit_without_if_match_returns_428(api: APIClient, at: str) -> None:
    for response in (api.patch(f"{at}queues/waits/", {"weight": 2}), api.put(f"{at}conf/", {"text": ""})):
        assert (response.status_code, response.json()["code"]) == (428, "precondition_required")


def test_a_stale_edit_changes_nothing_and_returns_both_versions(api: APIClient, at: str) -> None:
    assert patch(api, at, {"weight": 4}).status_code == 200
    assert patch(api, at, {"weight": 5}, seen="2").status_code == 200
    response = patch(api, at, {"weight": 9, "priority": 1})
    assert response.status_code == 412
    body = response.json()
    assert (body["code"], body["problems"]) == ("stale_revision", [])
    assert (body["seen"]["revision"], body["seen"]["body"]["weight"]) == (1, 1)
    assert (body["current"]["revision"], body["current"]["body"]["weight"]) == (3, 5)
    assert api.get(f"{at}queues/waits/").json() == body["current"]["body"]


def test_an_edit_of_another_queue_also_makes_a_revision_stale(api: APIClient, at: str) -> None:
    api.patch(f"{at}queues/busy/", {"weight": 2}, headers={"If-Match": "1"})
    body = patch(api, at, {"weight": 2}).json()
    assert body["seen"]["body"] == body["current"]["body"]


def test_a_stale_edit_ignores_changes_of_queues_with_a_longer_name(api: APIClient) -> None:
    queues = [factories.queue("waits"), factories.queue("waits.x")]
    scenario = factories.scenario(document={"queues": queues})
    at = f"/api/v1/scenarios/{scenario.pk}/"
    api.patch(f"{at}queues/waits.x/", {"weight": 2}, headers={"If-Match": "1"})
    body = patch(api, at, {"weight": 2}).json()
    assert body["seen"]["body"] == body["current"]["body"]


def test_a_dry_run_validates_and_saves_nothing(api: APIClient, at: str) -> None:
    response = patch(api, at, {"weight": 4}, query="?dry_run=1")
    assert (response.status_code, response.json()["weight"], response["ETag"]) == (200, 4, '"1"')
    assert api.get(f"{at}queues/waits/").json()["weight"] == 1
    assert api.get(at).json()["revision"] == 1
    assert rules(patch(api, at, {"weight": -1}, query="?dry_run=true"))


def test_a_patch_without_effect_keeps_the_revision(api: APIClient, at: str) -> None:
    assert patch(api, at, {"weight": 1})["ETag"] == '"1"'


def test_the_configuration_is_read_and_replaced(api: APIClient, at: str) -> None:
    assert api.get(f"{at}conf/").json()["text"] == factories.CONF
    text = factories.CONF.replace("reclaim", "backfill") + "# a comment stays\n"
    response = api.put(f"{at}conf/", {"text": text}, headers={"If-Match": "1"})
    assert (response.status_code, response.json()["text"], response["ETag"]) == (200, text, '"2"')
    assert "error" not in {problem["severity"] for problem in response.json()["problems"]}
    assert api.get(f"{at}conf/").json()["text"] == text


def test_a_stale_configuration_edit_returns_both_versions(api: APIClient, at: str) -> None:
    api.put(f"{at}conf/", {"text": ""}, headers={"If-Match": "1"})
    response = api.put(f"{at}conf/", {"text": "actions: allocate"}, headers={"If-Match": "1"})
    assert response.status_code == 412
    assert response.json()["seen"] == {"revision": 1, "body": {"text": factories.CONF}}
    assert response.json()["current"] == {"revision": 2, "body": {"text": ""}}


def test_an_unreadable_configuration_returns_422(api: APIClient, at: str) -> None:
    response = api.put(f"{at}conf/", {"text": "actions: allocate\ntiers: [\n"}, headers={"If-Match": "1"})
    assert rules(response) == {"scheduler_conf": "yaml.syntax"}
    assert response.json()["problems"][0]["line"] == 3
    assert rules(api.put(f"{at}conf/", {}, headers={"If-Match": "1"})) == {"text": "request.required"}


def test_an_unknown_queue_returns_404(api: APIClient, at: str) -> None:
    assert api.get(f"{at}queues/nobody/").status_code == 404
    assert api.patch(f"{at}queues/nobody/", {"weight": 1}, headers={"If-Match": "1"}).status_code == 404
