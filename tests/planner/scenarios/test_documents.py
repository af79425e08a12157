"""A whole snapshot or scenario as a document, and many parts of a scenario written in one revision."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from planner.scenarios.models import Change, Scenario
from tests import factories


@pytest.fixture
def scenario(db: None) -> Scenario:
    return factories.scenario()


@pytest.fixture
def at(scenario: Scenario) -> str:
    return f"/api/v1/scenarios/{scenario.pk}/document/"


def patch_document(api: APIClient, at: str, body: Any, seen: str = "1", **more: Any) -> Any:
    return api.patch(at, body, format="json", headers={"If-Match": seen}, **more)


def queue(name: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": spec}


def test_an_unedited_scenario_equals_its_snapshot(api: APIClient, at: str, scenario: Scenario) -> None:
    of_snapshot = api.get(f"/api/v1/snapshots/{scenario.snapshot_id}/document/").json()
    of_scenario = api.get(at)
    assert of_scenario["ETag"] == '"1"'
    assert {**of_scenario.json(), "name": ""} == {**of_snapshot, "name": ""}
    assert {one["metadata"]["name"] for one in of_snapshot["queues"]} == {"busy", "waits"}


def test_many_changes_are_applied_in_one_revision(api: APIClient, at: str, scenario: Scenario) -> None:
    body = {
        "objects": {
            "queues": [queue("busy", weight=3), queue("team", weight=2, parent="busy")],
            "nodes": [factories.node("n8")],
        },
        "removed": {"nodes": ["n0"], "queues": ["waits"]},
        "conf": factories.CONF.replace("reclaim", "preempt"),
    }
    response = patch_document(api, at, body)
    assert (response.status_code, response.json()["revision"]) == (200, 2), response.json()
    document = api.get(at).json()
    names = {kind: [one["metadata"]["name"] for one in document[kind]] for kind in ("queues", "nodes")}
    assert names == {"queues": ["busy", "team"], "nodes": ["n1", "n8"]}
    assert "preempt" in document["scheduler_conf"]
    assert {change.revision for change in Change.objects.filter(scenario=scenario)} == {2}
    assert api.post(at.replace("document", "undo"), headers={"If-Match": "2"}).status_code == 200
    again = api.get(at).json()
    assert [one["metadata"]["name"] for one in again["queues"]] == ["busy", "waits"]


def test_a_document_without_changes_creates_no_revision(api: APIClient, at: str) -> None:
    body = {"objects": {"queues": [queue("busy", weight=3)]}}
    assert patch_document(api, at, body).json()["revision"] == 2
    assert patch_document(api, at, body, seen="2").json()["revision"] == 2


def test_every_problem_is_reported_at_once_and_nothing_is_saved(api: APIClient, at: str) -> None:
    body = {
        "objects": {
            "queues": [queue("busy", wieght=3), queue("team", parent="nope")],
            "nodes": [{"metadata": {"name": "n8"}, "status": {"allocatable": {"cpu": "lots"}}}],
        },
        "conf": "tiers: [",
    }
    response = patch_document(api, at, body)
    assert response.status_code == 422
    rules = {one["rule"] for one in response.json()["problems"]}
    assert rules == {"queue.unknown_field", "queue.parent_missing", "quantity.unreadable", "yaml.syntax"}
    assert api.get(at)["ETag"] == '"1"'


def test_a_cycle_of_two_parents_is_refused(api: APIClient, at: str) -> None:
    body = {"objects": {"queues": [queue("busy", parent="waits"), queue("waits", parent="busy")]}}
    response = patch_document(api, at, body)
    assert {one["rule"] for one in response.json()["problems"]} == {"queue.cycle"}


def test_an_object_is_not_both_written_and_removed(api: APIClient, at: str) -> None:
    body = {
        "objects": {"queues": [queue("busy", weight=3)], "nodes": [factories.node("n0")]},
        "removed": {"queues": ["busy"], "nodes": ["n0", "n1"]},
    }
    problems = patch_document(api, at, body).json()["problems"]
    assert [(one["rule"], one["path"], one["message"]) for one in problems] == [
        ("edit.contradiction", "removed.queues", "queue busy is both written and removed"),
        ("edit.contradiction", "removed.nodes", "node n0 is both written and removed"),
    ]


def test_a_removed_queue_leaves_no_child_and_volcano_keeps_its_own(
    api: APIClient, at: str, scenario: Scenario
) -> None:
    body = {"objects": {"queues": [queue("root"), queue("team", parent="waits")]}}
    assert patch_document(api, at, body).status_code == 200
    problems = patch_document(api, at, {"removed": {"queues": ["waits", "root"]}}, seen="2").json()[
        "problems"
    ]
    assert {one["rule"] for one in problems} == {"queue.delete_has_children", "queue.delete_protected"}
    both = {"removed": {"queues": ["waits", "team"]}}
    assert patch_document(api, at, both, seen="2").status_code == 200


def test_of_two_queues_of_one_name_the_last_one_is_written(
    api: APIClient, at: str, scenario: Scenario
) -> None:
    body = {"objects": {"queues": [queue("team", weight=2), queue("team", weight=3)]}}
    assert patch_document(api, at, body).status_code == 200
    assert scenario.queues.get(name="team").weight == 3
    assert [change.path for change in scenario.changes.all()] == ["queues.team"]


@pytest.mark.parametrize(
    "body",
    [
        {"object": {}},
        {"objects": {"secrets": []}},
        {"removed": {"nods": ["n0"]}},
        {"objects": {"queues": [{"metadata": {}}]}},
        {"objects": {"queues": [{"metadata": {"name": "a"}, "spec": {"guarantee": "much"}}]}},
        {"objects": {"queues": [{"metadata": {"name": "a", "labels": "x"}}]}},
        {"objects": {"queues": [{"metadata": {"name": 3}}]}},
        {"objects": {"pods": [{"metadata": {"name": "a", "namespace": 3}}]}},
        {"objects": []},
        {"removed": {"jobs": ["no-namespace"]}},
        {"conf": None},
        [],
    ],
)
def test_an_invalid_document_edit_is_refused(api: APIClient, at: str, body: Any) -> None:
    response = patch_document(api, at, body)
    assert response.status_code == 422
    assert response.json()["problems"]


def test_a_dry_run_saves_nothing_and_a_stale_edit_is_refused(api: APIClient, at: str) -> None:
    body = {"objects": {"queues": [queue("busy", weight=3)]}}
    assert patch_document(api, f"{at}?dry_run=1", body).status_code == 200
    assert api.get(at)["ETag"] == '"1"'
    assert patch_document(api, at, body, seen="7").status_code == 412
