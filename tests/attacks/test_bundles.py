"""What does a bundle do that no Queuecast packed?"""

import hashlib
import io
import json
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from planner.engine.bundle import NoBundle, about_of
from planner.models import Blob, Run, Scenario, Snapshot
from planner.services.scenarios import scenario_remove
from tests import factories

ABOUT = {
    "format": 1, "name": "what if", "scenario_revision": 1, "options": {"cycles": 1, "explain": True},
    "engine_version": "1.15.1", "input_sha256": "", "result_sha256": "",
}  # fmt: skip


def bundle(about: Any, document: bytes | None = None) -> bytes:
    held = json.dumps(factories.cluster()).encode() if document is None else document
    if isinstance(about, dict):
        sums = {
            "input_sha256": hashlib.sha256(held).hexdigest(),
            "result_sha256": hashlib.sha256(b"{}").hexdigest(),
        }
        about = {**about, **{name: value for name, value in sums.items() if about.get(name) == ""}}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bundle.json", json.dumps(about))
        archive.writestr("input.json", held)
        archive.writestr("result.json", b"{}")
    return packed.getvalue()


def send(api: APIClient, content: bytes) -> Any:
    return api.post("/api/v1/bundles/", {"file": SimpleUploadedFile("run.zip", content)}, format="multipart")


def test_a_bundle_that_says_what_it_should_is_taken(api: APIClient) -> None:
    assert send(api, bundle(ABOUT)).status_code == 202


WRONG: dict[str, tuple[Any, set[str]]] = {
    "cycles that are a text": ({"options": {"cycles": "x", "explain": True}}, {"options.cycles"}),
    "no options": ({"options": {}}, {"options.cycles", "options.explain"}),
    "options that are a list": ({"options": []}, {"options", "options.cycles", "options.explain"}),
    "an option more": ({"options": {"cycles": 1, "explain": True, "x": 1}}, {"options"}),
    "many cycles": ({"options": {"cycles": 10**9, "explain": True}}, {"options.cycles"}),
    "cycles that are true": ({"options": {"cycles": True, "explain": True}}, {"options.cycles"}),
    "a name that is a number": ({"name": 5}, {"name"}),
    "no name": ({"name": ""}, {"name"}),
    "a name with NUL": ({"name": "a\0b"}, {"name"}),
    "a name with half a pair": ({"name": "a\ud800"}, {"name"}),
    "a long name": ({"name": "a" * 254}, {"name"}),
    "an engine with NUL": ({"engine_version": "1\0"}, {"engine_version"}),
    "an engine that is a list": ({"engine_version": []}, {"engine_version"}),
    "a revision out of range": ({"scenario_revision": 2**63}, {"scenario_revision"}),
    "a revision that is a text": ({"scenario_revision": "1"}, {"scenario_revision"}),
    "a sum that is a number": ({"input_sha256": 1}, {"input_sha256"}),
    "everything wrong": (
        {"name": 5, "options": {"cycles": 0}, "engine_version": None},
        {"name", "options.cycles", "options.explain", "engine_version"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_what_a_bundle_says_is_checked_before_anything_is_written(api: APIClient, kind: str) -> None:
    changes, paths = WRONG[kind]
    answer = send(api, bundle({**ABOUT, **changes}))
    assert answer.status_code == 422, answer.content
    problems = answer.json()["problems"]
    assert {problem["path"] for problem in problems} == paths
    assert {(problem["rule"], problem["document"]) for problem in problems} == {
        ("bundle.about", "bundle.json")
    }
    assert all(problem["fix"] for problem in problems)
    for kept in (Run, Snapshot, Scenario, Blob):
        assert not kept.objects.exists()


@pytest.mark.parametrize(
    "about", [None, [], "x", 1, {}, {"format": 2}, {"format": "1"}, {**ABOUT, "format": None}]
)
def test_a_bundle_of_another_form_is_refused(api: APIClient, about: Any) -> None:
    answer = send(api, bundle(about))
    assert (answer.status_code, answer.json()["problems"][0]["rule"]) == (422, "bundle.broken")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(st.fixed_dictionaries({}, optional={name: JSON | st.just(value) for name, value in ABOUT.items()}))
def test_whatever_a_bundle_says_is_kept_or_refused(told: dict[str, Any]) -> None:
    try:
        about = about_of({"format": 1, **told})
    except NoBundle:
        return
    assert isinstance(about.options["cycles"], int)
    assert isinstance(about.options["explain"], bool)


@pytest.mark.parametrize("options", [{"cycles": "x"}, {}, [], "text", {"cycles": None}])
def test_a_run_that_cannot_be_read_does_not_take_the_list_away(
    api: APIClient, browser: Client, options: Any
) -> None:
    good, bad = factories.run(), factories.run()
    Run.objects.filter(pk=bad.pk).update(options=options, timings={"queued_ms": "soon"}, notes=5)
    for address in (
        "/api/v1/runs/",
        f"/api/v1/scenarios/{bad.scenario_id}/runs/",
        "/api/v1/runs/?format=csv",
    ):
        assert api.get(address).status_code == 200, address
    rows = {row["id"]: row for row in api.get("/api/v1/runs/").json()["results"]}
    assert rows[str(good.pk)]["options"] == {"cycles": 1}
    assert rows[str(bad.pk)]["timings"] is None
    assert api.get(f"/api/v1/runs/{bad.pk}/").status_code == 200
    for address in ("/", f"/scenarios/{bad.scenario_id}/", f"/runs/{bad.pk}/"):
        assert browser.get(address).status_code == 200, address
    scenario = Scenario.objects.get(pk=bad.scenario_id)
    scenario_remove(scenario=scenario, expected_revision=scenario.revision)
