"""The problems and notes in the response to an edit, and the parameters that calls refuse."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from planner.scenarios.models import Queue, Scenario
from planner.scenarios.services.queues import queue_update
from tests import factories

pytestmark = pytest.mark.django_db

SEEN = {"If-Match": "1"}
TOO_MUCH = {"deserved": {"cpu": "9"}, "capability": {"cpu": "1"}}


@pytest.fixture
def scenario(db: None) -> Scenario:
    return factories.scenario()


@pytest.fixture
def at(scenario: Scenario) -> str:
    return f"/api/v1/scenarios/{scenario.pk}/"


USAGE = factories.CONF.replace("priority", "usage")
CLAIMED: dict[str, Any] = {
    "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "claimed", "namespace": "default"},
    "spec": {
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}],
        "containers": [{"name": "main"}],
    },
}  # fmt: skip

EDITS: dict[str, tuple[str, str, Any, str]] = {
    "a changed queue": (
        "patch", "queues/busy/", TOO_MUCH,
        "queue.deserved_above_capability",
    ),
    "an added queue": (
        "post", "queues/", {"name": "new", **TOO_MUCH},
        "queue.deserved_above_capability",
    ),
    "an added job": (
        "post", "workloads/", {"job": {"name": "lost", "queue": "nowhere", "replicas": 1}},
        "job.queue_missing",
    ),
    "a removed queue with jobs": (
        "delete", "queues/busy/", None,
        "podgroup.queue_missing",
    ),
    "a plugin that is not modelled": (
        "put", "conf/", {"text": USAGE},
        "conf.not_modelled",
    ),
    "several kinds of objects": (
        "patch", "document/", {"objects": {"queues": [{"metadata": {"name": "q"}, "spec": TOO_MUCH}]}},
        "queue.deserved_above_capability",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body", "rule"), EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("dry", [False, True])
def test_an_edit_returns_the_problems_it_introduces(
    api: APIClient, at: str, scenario: Scenario, method: str, path: str, body: Any, rule: str, dry: bool
) -> None:
    call = getattr(api, method)
    answer = call(f"{at}{path}{'?dry_run=1' if dry else ''}", body, headers=SEEN, format="json")
    assert answer.status_code in (200, 201), answer.content
    assert rule in {problem["rule"] for problem in answer.json()["problems"]}
    found = {problem["rule"] for problem in api.get(f"{at}validate/").json()["problems"]}
    assert (rule in found) is not dry
    scenario.refresh_from_db()
    assert scenario.revision == (1 if dry else 2)


@pytest.mark.parametrize(
    ("method", "path", "body", "says"),
    [
        ("put", "conf/", {"text": USAGE}, "usage"),
        ("patch", "document/", {"objects": {"pods": [CLAIMED]}}, "resource claims are not modelled"),
    ],
)
def test_an_edit_returns_notes_on_what_runs_now_leave_out(
    api: APIClient, at: str, method: str, path: str, body: Any, says: str
) -> None:
    first = getattr(api, method)(f"{at}{path}", body, headers=SEEN, format="json").json()
    (note,) = first["notes"]
    assert says in note
    assert note in [problem["message"] for problem in first["problems"]]
    second = api.patch(f"{at}queues/busy/", {"priority": 3}, headers={"If-Match": "2"}, format="json").json()
    assert second["notes"] == []


def test_an_existing_problem_is_not_returned_again(api: APIClient, at: str) -> None:
    api.patch(f"{at}queues/busy/", EDITS["a changed queue"][2], headers=SEEN, format="json")
    answer = api.patch(f"{at}queues/busy/", {"priority": 3}, headers={"If-Match": "2"}, format="json").json()
    assert "queue.deserved_above_capability" not in {problem["rule"] for problem in answer["problems"]}
    undone = api.post(f"{at}undo/", headers={"If-Match": "3"}).json()
    assert undone["problems"] == []


@pytest.mark.parametrize("field", [{"type": "team"}, {"extendClusters": [{"name": "other"}]}])
def test_fields_that_the_scheduler_does_not_read_are_kept_and_undone(
    api: APIClient, at: str, field: dict[str, Any]
) -> None:
    ((name, value),) = field.items()
    assert api.patch(f"{at}queues/busy/", field, headers=SEEN, format="json").json()[name] == value
    other = {"objects": {"queues": [{"metadata": {"name": "waits"}, "spec": field}]}}
    assert api.patch(f"{at}document/", other, headers={"If-Match": "2"}, format="json").status_code == 200
    queues = {queue["metadata"]["name"]: queue for queue in api.get(f"{at}document/").json()["queues"]}
    assert queues["busy"]["spec"][name] == queues["waits"]["spec"][name] == value
    differences = api.get(f"{at}diff/").json()["differences"]
    assert {(one["key"], one["field"]) for one in differences} >= {("busy", name), ("waits", name)}
    for seen in (3, 4):
        api.post(f"{at}undo/", headers={"If-Match": str(seen)})
    assert api.get(f"{at}diff/").json()["differences"] == []


def test_the_text_of_several_objects_is_applied_in_one_revision(
    api: APIClient, at: str, scenario: Scenario
) -> None:
    text = f"""\
kind: Queue
apiVersion: scheduling.volcano.sh/v1beta1
metadata: {{name: team}}
spec: {{weight: 3, parent: busy}}
---
kind: ConfigMap
apiVersion: v1
metadata: {{name: volcano-scheduler-configmap, namespace: volcano-system}}
data:
  volcano-scheduler.conf: |
{"".join(f"    {line}" for line in factories.CONF.replace("nodeorder", "binpack").splitlines(keepends=True))}
"""
    answer = api.patch(f"{at}document/", {"documents": text}, headers=SEEN, format="json")
    assert (answer.status_code, answer.json()["revision"]) == (200, 2)
    assert api.get(f"{at}queues/team/").json()["weight"] == 3
    assert "binpack" in api.get(f"{at}conf/").json()["text"]
    wrong = (
        text.replace("weight: 3", "weight: [")
        + "---\nkind: Deployment\napiVersion: apps/v1\nmetadata: {name: x}\n"
    )
    refused = api.patch(f"{at}document/", {"documents": wrong}, headers={"If-Match": "2"}, format="json")
    assert refused.status_code == 422
    assert all(
        problem["document"] for problem in refused.json()["problems"] if problem["rule"] != "kind.left_out"
    )
    left = text + "---\nkind: Deployment\napiVersion: apps/v1\nmetadata: {name: x}\n"
    refused = api.patch(
        f"{at}document/", {"documents": left}, headers={"If-Match": "2"}, format="json"
    ).json()
    assert [problem["rule"] for problem in refused["problems"]] == ["kind.left_out"]


def test_a_scenario_document_is_read_at_an_older_revision(
    api: APIClient, at: str, scenario: Scenario
) -> None:
    first = api.get(f"{at}document/").json()
    queue_update(scenario=scenario, name="busy", patch={"weight": 9}, expected_revision=1)
    assert api.get(f"{at}document/?revision=1").json() == first
    assert api.get(f"{at}document/?revision=2").json() == api.get(f"{at}document/").json() != first
    for wrong in ("0", "3", "x", ""):
        assert api.get(f"{at}document/?revision={wrong}").status_code == 422, wrong


def test_a_scenario_is_renamed_without_a_new_revision(api: APIClient, at: str, scenario: Scenario) -> None:
    assert api.patch(f"{at}?dry_run=1", {"name": "other"}, format="json").json()["name"] == "other"
    assert api.get(at).json()["name"] == scenario.name
    assert api.patch(at, {"name": "other"}, format="json").json()["revision"] == 1
    assert api.get(at).json()["name"] == "other"
    assert api.patch(at, {"name": ""}, format="json").status_code == 422


def test_the_sample_is_created_once(api: APIClient) -> None:
    assert api.post("/api/v1/sample/?dry_run=1").json()["id"] is None
    assert not Scenario.objects.exists()
    first, second = (api.post("/api/v1/sample/") for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["id"] == second.json()["id"]


@pytest.mark.parametrize(
    "query",
    [
        "dry_run=yes", "dry_run=", "dryrun=1", "dry-run=true", "subtree=maybe", "Dry_run=1",
    ],
)  # fmt: skip
def test_a_write_refuses_an_unknown_or_invalid_parameter(api: APIClient, at: str, query: str) -> None:
    answer = api.delete(f"{at}queues/busy/?{query}", headers=SEEN)
    assert answer.status_code == 422, answer.content
    assert Queue.objects.filter(name="busy").exists()


@pytest.mark.parametrize(
    "address",
    [
        "runs/?scenario=", "runs/?page_size=lots", "runs/?page_size=0", "runs/?fields=", "runs/?fields=,",
        "scenarios/?name=", "{at}?feilds=name", "{at}diff/?bas=start", "{at}validate/?severity=error",
        "{at}nodes/?cordoned=true", "{at}nodes/?unschedulable=maybe", "{at}workloads/?queue=",
    ],
)  # fmt: skip
def test_a_read_refuses_an_empty_or_unknown_parameter(api: APIClient, at: str, address: str) -> None:
    answer = api.get("/api/v1/" + address.format(at=at.removeprefix("/api/v1/")))
    assert answer.status_code == 422, answer.content
    assert answer.json()["problems"][0]["path"]
