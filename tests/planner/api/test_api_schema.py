"""The API's OpenAPI schema is complete, free of warnings and correct."""

import re
from typing import Any

import jsonschema
import pytest
import yaml
from django.core.management import call_command
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from planner.api.urls import urlpatterns
from tests import factories

NOT_DESCRIBED = {"schema", "docs", "nowhere"}


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The schema as it is served."""
    described: dict[str, Any] = SchemaGenerator().get_schema(public=True)
    return described


def test_the_schema_is_valid_and_generated_without_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn")
    assert capsys.readouterr().err == ""


def test_summaries_are_plain_text(schema: dict[str, Any]) -> None:
    summaries = [call["summary"] for calls in schema["paths"].values() for call in calls.values()]
    assert all(summaries)
    assert "`" not in "".join(summaries)


def test_every_address_is_in_the_schema(schema: dict[str, Any]) -> None:
    routes = {
        "/api/v1/" + re.sub(r"<\w+:(\w+)>", r"{\1}", str(route.pattern))
        for route in urlpatterns
        if route.name not in NOT_DESCRIBED
    }
    assert set(schema["paths"]) == routes


def test_every_list_supports_paging_ordering_and_fields(schema: dict[str, Any]) -> None:
    for path, calls in schema["paths"].items():
        taken = {parameter["name"] for parameter in calls.get("get", {}).get("parameters", ())}
        if "results" in response_schema(schema, calls.get("get", {})).get("properties", {}):
            assert {"page", "page_size", "ordering", "fields"} <= taken, path


def test_every_json_read_supports_fields(schema: dict[str, Any]) -> None:
    whole = {
        "/api/v1/runs/{run_id}/input/", "/api/v1/runs/{run_id}/result/",
        "/api/v1/scenarios/{scenario_id}/document/", "/api/v1/snapshots/{snapshot_id}/document/",
    }  # fmt: skip
    for path, calls in schema["paths"].items():
        if response_schema(schema, calls.get("get", {})) and path not in whole:
            assert "fields" in {parameter["name"] for parameter in calls["get"].get("parameters", ())}, path


def test_every_creating_call_supports_an_idempotency_key_and_dry_run(schema: dict[str, Any]) -> None:
    for path, calls in schema["paths"].items():
        if {"201", "202"} & set(calls.get("post", {}).get("responses", ())):
            taken = {parameter["name"] for parameter in calls["post"]["parameters"]}
            assert {"Idempotency-Key", "dry_run"} <= taken, path


def test_every_scenario_edit_returns_problems_and_notes(schema: dict[str, Any]) -> None:
    others = {
        ("delete", "/api/v1/scenarios/{scenario_id}/"),  # nothing is left
        ("put", "/api/v1/scenarios/{scenario_id}/targets/"),  # belong to no revision
        (
            "post",
            "/api/v1/scenarios/{scenario_id}/rebase/",
        ),  # creates another scenario, which has its own checks
    }
    edits = {
        (method, path): call["responses"]
        for path, calls in schema["paths"].items()
        for method, call in calls.items()
        if "If-Match" in {parameter["name"] for parameter in call.get("parameters", ())}
    }
    assert len(edits) > 15
    for (method, path), responses in edits.items():
        if (method, path) not in others:
            done = response_schema(schema, {"responses": {"200": responses.get("201", responses["200"])}})
            assert {"problems", "notes"} <= set(done["required"]), (method, path)


def response_schema(schema: dict[str, Any], call: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a call's JSON response for status 200, empty if there is none."""
    shape = call.get("responses", {}).get("200", {}).get("content", {}).get("application/json", {})
    found: dict[str, Any] = shape.get("schema", {})
    return schema["components"]["schemas"][found["$ref"].rpartition("/")[2]] if "$ref" in found else found


def test_every_failure_has_the_error_shape_in_the_schema(schema: dict[str, Any]) -> None:
    for path, calls in schema["paths"].items():
        for method, call in calls.items():
            assert "401" in call["responses"], (method, path)
            for status, response in call["responses"].items():
                if status >= "400":
                    shape = response["content"]["application/json"]["schema"]["$ref"]
                    assert shape in ("#/components/schemas/Error", "#/components/schemas/Stale")


@pytest.mark.parametrize("accepted", ["application/vnd.oai.openapi", "application/yaml"])
def test_the_schema_is_equal_in_yaml_and_in_json(stranger: APIClient, accepted: str) -> None:
    written = stranger.get("/api/v1/schema/", headers={"Accept": accepted})
    assert written["Content-Type"].startswith(accepted)
    assert yaml.load(written.content, yaml.CSafeLoader) == stranger.get("/api/v1/schema/?format=json").json()
    refused = stranger.put("/api/v1/schema/", headers={"Accept": accepted})
    assert refused.status_code == 405
    assert yaml.safe_load(refused.content)["code"] == "method_not_allowed"


def test_schema_and_docs_need_no_authentication(stranger: APIClient) -> None:
    first, second = (stranger.get("/api/v1/schema/") for _ in range(2))
    assert first.status_code == 200
    assert second.content == first.content, "the generated schema is cached"
    page = stranger.get("/api/v1/docs/")
    assert page.status_code == 200
    text = page.content.decode()
    for address in re.findall(r'(?:src|href)="([^"]+)"', text):
        assert address.startswith(("/", "#")), "the docs page loads no external files"
    assert not re.findall(r"<script(?![^>]*\bsrc=)|<style|\bon\w+=|\bstyle=", text), (
        "no inline scripts or styles"
    )
    (script,) = re.findall(r'src="([^"]*script[^"]*)"', text)
    assert "SwaggerUIBundle" in stranger.get(script.replace("&amp;", "&")).content.decode()


READS = [
    "snapshots/",
    "snapshots/{snapshot_id}/",
    "scenarios/",
    "scenarios/{scenario_id}/",
    "scenarios/{scenario_id}/queues/",
    "scenarios/{scenario_id}/queues/{name}/",
    "scenarios/{scenario_id}/conf/",
    "scenarios/{scenario_id}/runs/",
    "runs/",
    "runs/{run_id}/",
    "runs/{run_id}/queues/",
    "runs/{run_id}/jobs/",
    "runs/{run_id}/victims/",
    "runs/{run_id}/decisions/",
    "runs/{run_id}/explain/queues/{name}/",
    "runs/{run_id}/explain/jobs/{namespace}/{job}/",
    "runs/{run_id}/explain/jobs/{namespace}/{job}/unblock/",
    "runs/{run_id}/explain/victims/{order}/",
    "runs/{run_id}/explain/pods/{namespace}/{pod}/",
    "runs/{run_id}/explain/nodes/{node}/",
    "runs/{run_id}/explain/flow/",
    "runs/{run_id}/explain/steps/{seq}/",
]


@pytest.mark.parametrize("path", READS)
def test_a_response_matches_the_schema(
    api: APIClient, finished_run: Any, schema: dict[str, Any], path: str
) -> None:
    scenario = finished_run.scenario
    response = api.get(
        "/api/v1/"
        + path.format(
            snapshot_id=scenario.snapshot_id,
            scenario_id=scenario.pk,
            run_id=finished_run.pk,
            name="waits",
            namespace="default",
            job="wait",
            pod="wait-0",
            node="n0",
            seq=1,
            order=finished_run.victims.all()[0].order,
        )
    )
    described = schema["paths"][f"/api/v1/{path}"]["get"]["responses"]["200"]
    assert_described(response.json(), described, schema)


def test_a_failure_response_matches_the_schema(api: APIClient, schema: dict[str, Any]) -> None:
    edit = f"/api/v1/scenarios/{factories.scenario().pk}/queues/waits/"
    responses = schema["paths"]["/api/v1/scenarios/{scenario_id}/queues/{name}/"]["patch"]["responses"]
    for seen, body, status in (
        ("1", {"weight": 0}, 422),
        ("1", {"weight": 2}, 200),
        ("1", {"weight": 3}, 412),
    ):
        response = api.patch(edit, body, headers={"If-Match": seen})
        assert response.status_code == status
        assert_described(response.json(), responses[str(status)], schema)


def assert_described(body: Any, response: dict[str, Any], schema: dict[str, Any]) -> None:
    described = {**response["content"]["application/json"]["schema"], "components": schema["components"]}
    jsonschema.Draft202012Validator(as_json_schema(described)).validate(body)


def as_json_schema(part: Any) -> Any:
    """Return a part of an OpenAPI 3.0 schema in plain JSON Schema, which spells `nullable` as a type."""
    if isinstance(part, list):
        return [as_json_schema(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    plain = {key: as_json_schema(inner) for key, inner in part.items() if key != "nullable"}
    return {"anyOf": [plain, {"type": "null"}]} if part.get("nullable") is True else plain
