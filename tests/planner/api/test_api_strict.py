"""Ambiguous requests are refused, and each error names what to send instead."""

import pytest
from rest_framework.test import APIClient

from planner.scenarios.models import Scenario
from tests import factories
from tests.planner.api.test_api_errors import assert_shape

pytestmark = pytest.mark.django_db
JSON = "application/json"


@pytest.fixture
def queue() -> str:
    return f"/api/v1/scenarios/{factories.scenario().pk}/queues/waits/"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b'{"weight": 2, "weight": 3}', "'weight' is twice in one object"),
        (b'{"guarantee": {"cpu": "1", "cpu": "2"}}', "'cpu' is twice in one object"),
        (b'{"weight": ' + b"9" * 5000 + b"}", "a number is too large"),
        (b'{"weight": -Infinity}', "-Infinity is not a number of JSON"),
    ],
    ids=["twice", "twice inside", "5,000 digits", "infinite"],
)
def test_an_ambiguous_json_body_is_refused(api: APIClient, queue: str, body: bytes, says: str) -> None:
    refused = api.patch(queue, body, content_type=JSON, headers={"If-Match": "1"})
    assert_shape(refused, 400, "parse_error")
    assert refused.json()["message"].startswith(f"JSON parse error - {says}")
    assert Scenario.objects.get().revision == 1


@pytest.mark.parametrize(
    "sent", ['"name": "a", "name": "b", "documents": ""', '"documents": "", "documents": ""']
)
def test_a_member_sent_twice_beside_the_text_of_documents_is_refused(api: APIClient, sent: str) -> None:
    answer = api.generic("POST", "/api/v1/snapshots/", f"{{{sent}}}", content_type="application/json")
    assert answer.status_code == 400
    assert "is twice in one object" in answer.json()["message"]


def test_duplicate_keys_of_an_imported_cluster_are_reported_with_their_line(api: APIClient) -> None:
    queue = '{"metadata": {"name": "a"}, "spec":\n{"weight": 1, "weight": 2}}'
    text = f'{{"name": "twice", "scenario": {{"queues": [{queue}]}}}}'
    body = api.post("/api/v1/snapshots/", text.encode(), content_type=JSON).json()
    assert [(one["rule"], one["line"]) for one in body["problems"] if one["rule"] == "json.duplicate"] == [
        ("json.duplicate", 2)
    ]


def test_an_unknown_choice_is_refused_with_the_possible_values(api: APIClient) -> None:
    scenario = factories.scenario()
    choice = {"kind": "conf", "key": "", "field": "", "take": "mine"}
    body = {"snapshot": str(scenario.snapshot_id), "name": "b", "choices": [choice]}
    refused = api.post(f"/api/v1/scenarios/{scenario.pk}/rebase/", body, headers={"If-Match": "1"})
    assert_shape(refused, 422, "invalid")
    [problem] = refused.json()["problems"]
    assert (problem["path"], problem["message"]) == ("choices[0].take", "Write one of ours, theirs.")


def test_oversized_annotations_are_refused(api: APIClient, queue: str) -> None:
    refused = api.patch(queue, {"annotations": {"a": "x" * 300_000}}, headers={"If-Match": "1"})
    assert_shape(refused, 422, "invalid")
    assert refused.json()["problems"][0]["path"] == "queues.waits.annotations"


@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_a_missing_trailing_slash_is_named_in_the_error(api: APIClient, method: str) -> None:
    refused = getattr(api, method)("/api/v1/scenarios")
    assert_shape(refused, 404, "not_found")
    assert refused.json()["message"].endswith(" /api/v1/scenarios/")
    assert api.get("/api/v1/nothing").json()["message"] == "Not found."


@pytest.mark.parametrize("address", ["scenarios/", "clusters/", "status/"])
def test_an_unsupported_format_parameter_returns_422(api: APIClient, address: str) -> None:
    refused = api.get(f"/api/v1/{address}?format=xml")
    assert_shape(refused, 422, "invalid")
    (problem,) = refused.json()["problems"]
    assert problem["path"] == "format"
    assert "json" in problem["message"]


def test_an_unsupported_accept_header_returns_406(api: APIClient) -> None:
    assert_shape(api.get("/api/v1/scenarios/", headers={"Accept": "image/png"}), 406, "not_acceptable")


def test_only_a_failed_write_mentions_that_nothing_was_saved(api: APIClient, queue: str) -> None:
    assert api.get("/api/v1/runs/?state=maybe").json()["message"] == "1 problem to fix."
    refused = api.patch(queue, {"weight": 0}, headers={"If-Match": "1"})
    assert refused.json()["message"] == "1 problem to fix; nothing was saved."


def test_an_authorization_header_without_a_token_is_reported(stranger: APIClient) -> None:
    refused = stranger.get("/api/v1/scenarios/", headers={"Authorization": "Token "})
    assert_shape(refused, 401, "authentication_failed")
    assert refused.json()["message"] == "The header Authorization has no token behind `Token`."


@pytest.mark.parametrize("name", [5, ["a"], {"a": 1}, True])
def test_a_queue_name_that_is_not_a_string_is_refused_in_the_error_shape(
    api: APIClient, name: object
) -> None:
    address = f"/api/v1/scenarios/{factories.scenario().pk}/queues/"
    refused = api.post(address, {"name": name, "parent": "gone"}, headers={"If-Match": "1"})
    assert_shape(refused, 422, "invalid")
    assert {type(problem["queue"]) for problem in refused.json()["problems"]} <= {str, type(None)}


@pytest.mark.parametrize("quantity", [2, 0.5, True, ["1"]])
def test_a_resource_request_that_is_not_a_string_is_refused(api: APIClient, quantity: object) -> None:
    job = f"/api/v1/scenarios/{factories.scenario().pk}/workloads/podgroups/default/wait/"
    refused = api.patch(job, {"requests": {"cpu": quantity}}, headers={"If-Match": "1"})
    assert_shape(refused, 422, "invalid")
    assert [one["rule"] for one in refused.json()["problems"]] == ["form.type"]


def test_a_place_in_a_list_is_written_in_brackets_and_a_wrong_json_type_is_named(api: APIClient) -> None:
    patterns = [{"queue": "a", "jobs_per_hour": "many"}, {"queue": "b", "jobs_per_hour": 1, "pods": [2]}]
    refused = api.post("/api/v1/traces/", {"name": "t", "generate": {"patterns": patterns, "seconds": 60}})
    assert_shape(refused, 422, "invalid")
    found = {problem["path"]: problem["message"] for problem in refused.json()["problems"]}
    assert found == {
        "generate.patterns[0].jobs_per_hour": "A valid number is required.",
        "generate.patterns[1].pods": "Send an object, not a list.",
    }
    refused = api.post("/api/v1/traces/", [{"name": "t"}])
    assert [one["message"] for one in refused.json()["problems"]] == ["Send an object, not a list."]
