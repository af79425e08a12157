"""All errors have one shape, and anonymous requests are rejected."""

import json
import re
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern
from rest_framework.test import APIClient

from planner.accounts.models import Workspace
from planner.api.errors import PROBLEM_KEYS
from planner.api.urls import urlpatterns
from planner.clusters.models import Blob
from planner.scenarios.models import Scenario
from tests import factories

ID = "{id}"
CALLS = [
    ("get", "snapshots/"),
    ("post", "snapshots/"),
    ("get", f"snapshots/{ID}/"),
    ("get", "scenarios/"),
    ("post", "scenarios/"),
    ("get", f"scenarios/{ID}/"),
    ("get", f"scenarios/{ID}/queues/"),
    ("get", f"scenarios/{ID}/queues/waits/"),
    ("patch", f"scenarios/{ID}/queues/waits/"),
    ("get", f"scenarios/{ID}/conf/"),
    ("put", f"scenarios/{ID}/conf/"),
    ("get", f"scenarios/{ID}/runs/"),
    ("post", f"scenarios/{ID}/runs/"),
    ("get", "runs/"),
    ("get", f"runs/{ID}/"),
    ("post", f"runs/{ID}/cancel/"),
    ("get", f"runs/{ID}/input/"),
    ("get", f"runs/{ID}/result/"),
    ("get", f"runs/{ID}/queues/"),
    ("get", f"runs/{ID}/jobs/"),
    ("get", f"runs/{ID}/victims/"),
    ("get", f"runs/{ID}/decisions/"),
    ("get", "no-such-thing/"),
]


def call(client: APIClient, method: str, path: str, of: object = None, **kwargs):
    """Call an address of the API."""
    return getattr(client, method)("/api/v1/" + path.format(id=of or uuid.uuid4()), **kwargs)


def assert_shape(response, status: int, code: str) -> None:
    body = response.json()
    assert (response.status_code, body["code"]) == (status, code)
    assert body["message"]
    for problem in body["problems"]:
        assert set(problem) == set(PROBLEM_KEYS)


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_an_anonymous_request_returns_401(stranger: APIClient, method: str, path: str) -> None:
    response = call(stranger, method, path)
    assert_shape(response, 401, "not_authenticated")
    assert response["WWW-Authenticate"] == "Token"


@pytest.mark.parametrize(("method", "path"), [c for c in CALLS if ID in c[1]])
def test_an_object_of_another_workspace_returns_404(api: APIClient, method: str, path: str) -> None:
    elsewhere = Workspace.objects.create(name="elsewhere")
    of = None
    if path.startswith("scenarios"):
        of = factories.scenario()
    elif path.startswith("runs"):
        of = factories.run()
    else:
        of = factories.snapshot()
    type(of).objects.filter(pk=of.pk).update(workspace=elsewhere)
    assert_shape(call(api, method, path, of.pk, data={}), 404, "not_found")


@pytest.mark.parametrize("token", ["", "nonsense", "x" * 64, "x y", "\xff" * 20])
def test_an_invalid_token_returns_401(stranger: APIClient, token: str) -> None:
    stranger.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    assert_shape(call(stranger, "get", "runs/"), 401, "authentication_failed")


def test_a_browser_write_without_a_csrf_token_is_refused(editor) -> None:
    browser = APIClient(enforce_csrf_checks=True)
    browser.force_login(editor)
    assert call(browser, "get", "runs/").status_code == 200
    refused = call(browser, "post", "scenarios/", data={}, format="json")
    assert_shape(refused, 403, "permission_denied")


def test_a_browser_write_with_a_csrf_token_is_accepted(editor) -> None:
    browser = APIClient(enforce_csrf_checks=True)
    browser.force_login(editor)
    browser.cookies["csrftoken"] = token = "a" * 32
    payload = {"name": "what if", "snapshot": str(factories.snapshot().pk)}
    response = call(
        browser, "post", "scenarios/", data=payload, format="json", headers={"X-CSRFToken": token}
    )
    assert response.status_code == 201


def test_an_unknown_address_returns_404(api: APIClient) -> None:
    assert_shape(call(api, "get", "no-such-thing/"), 404, "not_found")
    assert_shape(call(api, "post", "runs/not-an-id/cancel/"), 404, "not_found")


def test_an_unsupported_method_returns_405(api: APIClient) -> None:
    response = call(api, "delete", "runs/")
    assert_shape(response, 405, "method_not_allowed")


ROUTES = [route for route in urlpatterns if route.name not in ("schema", "docs", "nowhere")]
VALUES = {"uuid": str(uuid.uuid4()), "int": "999", "str": "nothing"}
METHODS = ("get", "post", "put", "patch", "delete")


@pytest.mark.parametrize("route", ROUTES, ids=[route.name for route in ROUTES])
def test_every_address_returns_405_and_404_in_the_error_shape(api: APIClient, route: URLPattern) -> None:
    pattern = str(route.pattern)
    address = "/api/v1/" + re.sub(r"<(\w+):\w+>", lambda part: VALUES[part[1]], pattern)
    offered = [method for method in METHODS if hasattr(route.callback.view_class, method)]
    for method in {*METHODS, "trace"} - {*offered}:
        refused = api.generic(method.upper(), address, b"{}", "application/json")
        assert_shape(refused, 405, "method_not_allowed")
        assert {*refused["Allow"].lower().split(", ")} >= {*offered}
    if "<uuid" in pattern:
        for method in offered:
            lost = api.generic(method.upper(), address, b"{}", "application/json", HTTP_IF_MATCH="1")
            assert_shape(lost, 404, "not_found")


BODIES = {
    "truncated": b'{"name": ',
    "not UTF-8": b'{"name": "\xff"}',
    "not a number": b'{"name": NaN}',
    "deeply nested": b"[" * 100_000,
    "lone surrogate": b'{"name": ["\\uD83d"]}',
    "NUL in a key": b'{"\\u0000": 1}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_an_unparsable_body_returns_400(api: APIClient, body: bytes) -> None:
    assert_shape(
        call(api, "post", "scenarios/", data=body, content_type="application/json"), 400, "parse_error"
    )


@pytest.mark.parametrize("name", ["\\u0000 spelled out", "a whole pair \U0001f600"])
def test_a_body_with_unusual_but_valid_text_is_accepted(api: APIClient, name: str) -> None:
    body = json.dumps({"name": name, "snapshot": str(factories.snapshot().pk)}).encode()
    response = call(api, "post", "scenarios/", data=body, content_type="application/json")
    assert (response.status_code, response.json()["name"]) == (201, name)


def test_a_body_of_an_unsupported_media_type_returns_415(api: APIClient) -> None:
    response = call(api, "post", "scenarios/", data="a=1", content_type="application/x-www-form-urlencoded")
    assert_shape(response, 415, "unsupported_media_type")


@pytest.mark.parametrize("body", [[], "text", 7, None])
def test_a_body_that_is_not_an_object_returns_422(api: APIClient, body: object) -> None:
    assert_shape(call(api, "post", "scenarios/", data=body), 422, "invalid")


def test_every_missing_field_is_reported_at_once(api: APIClient) -> None:
    response = call(api, "post", "scenarios/", data={})
    assert_shape(response, 422, "invalid")
    assert [problem["path"] for problem in response.json()["problems"]] == ["name", "snapshot"]
    assert {problem["rule"] for problem in response.json()["problems"]} == {"request.required"}


def test_a_misspelt_filter_is_reported_by_name(api: APIClient) -> None:
    response = call(api, "get", "runs/?stat=running")
    assert_shape(response, 422, "invalid")
    assert response.json()["problems"][0]["path"] == "stat"


@pytest.mark.parametrize("query", ["state=walking", "scenario=7", "ordering=secret", "scenario=%00"])
def test_an_invalid_filter_value_returns_422(api: APIClient, query: str) -> None:
    assert_shape(call(api, "get", f"runs/?{query}"), 422, "invalid")


@pytest.mark.parametrize("page", ["0", "-1", "99", "x", "1" * 5000])
def test_a_nonexistent_page_number_returns_404(api: APIClient, page: str) -> None:
    assert_shape(call(api, "get", f"runs/?page={page}"), 404, "not_found")


def test_an_internal_error_does_not_leak_details(api: APIClient) -> None:
    run = factories.run()
    Blob.objects.filter(pk=run.input_id).update(packed=b"rotten")
    api.raise_request_exception = False
    response = call(api, "get", "runs/{id}/input/", run.pk)
    assert_shape(response, 500, "internal_error")
    assert "zlib" not in response.content.decode()


def test_a_list_is_paginated(api: APIClient) -> None:
    snapshot = factories.snapshot()
    for number in range(5):
        factories.scenario_create(snapshot=snapshot, name=f"s{number}")
    first = call(api, "get", "scenarios/?page_size=2&ordering=name").json()
    assert first["count"] == Scenario.objects.count() == 5
    assert [row["name"] for row in first["results"]] == ["s0", "s1"]
    assert first["previous"] is None
    last = api.get(api.get(first["next"]).json()["next"]).json()
    assert [row["name"] for row in last["results"]] == ["s4"]
    assert last["next"] is None


@pytest.mark.parametrize("path", ["snapshots/", "scenarios/", "runs/"])
def test_the_query_count_does_not_grow_with_the_list(api: APIClient, path: str) -> None:
    factories.run()
    call(api, "get", path)
    with CaptureQueriesContext(connection) as short:
        call(api, "get", path)
    for _ in range(3):
        factories.run()
    with CaptureQueriesContext(connection) as long:
        assert call(api, "get", path).json()["count"] == 4
    assert len(long) == len(short) <= 6


BODIES: dict[str, tuple[str, Any, str]] = {
    "a number for a string": ("conf/lint/", {"text": 0}, "text"),
    "a number for a name": ("workspaces/", {"name": 5}, "name"),
    "a string for a number": ("tokens/", {"scope": "viewer", "days": "7"}, "days"),
}


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "body", "field"), BODIES.values(), ids=BODIES)
def test_a_value_of_the_wrong_json_type_is_refused_with_its_field(
    api: APIClient, path: str, body: Any, field: str
) -> None:
    answer = api.post(f"/api/v1/{path}", body, format="json")
    assert answer.status_code == 422
    assert [problem["path"] for problem in answer.json()["problems"]] == [field]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "query", ["scenarios/?archived=maybe", "scenarios/?format=csv&page=null", "workspaces/?page_size=1.5"]
)
def test_a_parameter_of_the_wrong_type_is_refused(api: APIClient, query: str) -> None:
    assert api.get(f"/api/v1/{query}").status_code in (404, 422)


@pytest.mark.django_db
def test_trace_returns_405_and_a_dry_run_deletion_deletes_nothing(api: APIClient) -> None:
    address = f"/api/v1/traces/{factories.workload().pk}/"
    assert [api.generic("TRACE", f"{address}{part}").status_code for part in ("", "preview/")] == [405, 405]
    assert api.delete(f"{address}?dry_run=1").status_code == 204
    assert api.get(address).status_code == 200


@pytest.mark.django_db
def test_a_node_patch_with_fields_of_wrong_types_is_refused(api: APIClient) -> None:
    node = f"/api/v1/scenarios/{factories.scenario().pk}/nodes/n0/"
    for wrong in ({"apiVersion": 0, "metadata": [], "status": None}, {"apiVersion": "", "metadata": None}):
        refused = api.patch(node, wrong, format="json", headers={"If-Match": "1"})
        assert refused.status_code == 422
        assert {problem["path"] for problem in refused.json()["problems"]} == {"apiVersion", "metadata"}
    emptied = api.patch(node, {"spec": None}, format="json", headers={"If-Match": "1"})
    assert (emptied.status_code, "spec" in emptied.json()) == (200, False)


@pytest.mark.django_db
@pytest.mark.timeout(30)
@pytest.mark.parametrize("field", ["weight", "priority"])
def test_a_fractional_weight_or_priority_is_refused_at_once(api: APIClient, field: str) -> None:
    queue = f"/api/v1/scenarios/{factories.scenario().pk}/queues/busy/"
    refused = api.patch(queue, {field: 0.5}, format="json", headers={"If-Match": "1"})
    assert refused.status_code == 422
