"""Absurd configurations cost little time and memory."""

import json
import time

import pytest
from django.test import Client
from rest_framework.test import APIClient

import manifests
from planner.accounts.models import Role
from tests import factories
from tests.trials import trials

pytestmark = pytest.mark.django_db


def plugins(many: int, name: str = "nothing{}") -> str:
    entries = "".join(f"  - {{name: {name.format(number)}, enabel: true}}\n" for number in range(many))
    return f"actions: allocate\ntiers:\n- plugins:\n{entries}"


HUGE = {
    "400 plugins": plugins(400),
    "800 plugins": plugins(800),
    "20000 plugins": plugins(20_000),
    "20000 tiers": "tiers:\n" + "- plugins: [{name: gang}]\n" * 20_000,
    "plugins in many tiers": "tiers:\n" + "- plugins: [{name: gang}, {name: drf}, {name: pdb}]\n" * 49,
    "20000 arguments": "tiers:\n- plugins:\n  - name: binpack\n    arguments:\n"
    + "".join(f"      a{number}: 1\n" for number in range(20_000)),
    "20000 keys": "".join(f"a{number}: 1\n" for number in range(20_000)),
    "a long name": f"tiers: [{{plugins: [{{name: {'x' * 2_000_000}}}]}}]",
    "many long names": "tiers:\n- plugins:\n" + "".join(f"  - name: {'x' * 2_500}{n}\n" for n in range(99)),
    "json": json.dumps({"tiers": [{"plugins": [{"name": f"n{number}"}]} for number in range(20_000)]}),
}
ALLOWED = {"many long names"}
KINDS = [pytest.param(kind, marks=pytest.mark.long if kind == "800 plugins" else ()) for kind in HUGE]


@pytest.mark.parametrize("kind", KINDS)
def test_linting_a_huge_configuration_takes_under_two_seconds(kind: str) -> None:
    client = Client()
    client.force_login(factories.user("viewer", role=Role.VIEWER))
    started = time.process_time()
    answer = client.post("/api/v1/conf/lint/", {"text": HUGE[kind]}, content_type="application/json")
    assert time.process_time() - started < 2
    assert answer.status_code == 200
    problems = answer.json()["problems"]
    if kind not in ALLOWED:
        assert [problem["rule"] for problem in problems] == ["conf.size"]
        assert "a configuration may have" in problems[0]["message"]
        assert problems[0]["line"] >= 1
        assert answer.json()["questions"] == []


def test_linting_the_largest_allowed_configuration_takes_under_two_seconds(api: APIClient) -> None:
    started = time.process_time()
    text = plugins(100)
    found = api.post("/api/v1/conf/lint/", {"text": text}).json()["problems"]
    assert time.process_time() - started < 2
    assert len([problem for problem in found if problem["rule"] == "conf.unknown_plugin"]) == 100
    lines = {problem["line"] for problem in found if problem["rule"] == "conf.unknown_plugin"}
    assert lines == set(range(4, 104))


@pytest.mark.parametrize("kind", trials(["400 plugins", "800 plugins"], always=1))
def test_too_large_configuration_is_neither_saved_nor_imported(api: APIClient, kind: str) -> None:
    scenario = factories.scenario()
    at = f"/api/v1/scenarios/{scenario.pk}/conf/"
    answer = api.put(at, {"text": HUGE[kind]}, headers={"If-Match": "1"})
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["rule"] == "conf.size"
    documents = json.dumps(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "volcano-scheduler-configmap"},
            "data": {manifests.CONF_KEY: HUGE[kind]},
        }
    )
    answer = api.post("/api/v1/snapshots/", {"name": "x", "documents": documents})
    assert answer.status_code == 422, answer.json()
    assert "conf.size" in {problem["rule"] for problem in answer.json()["problems"]}
