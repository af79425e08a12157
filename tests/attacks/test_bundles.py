"""Bundles that were not written by Queuecast are refused."""

import hashlib
import io
import json
import resource
import uuid
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from planner.clusters.models import Blob, Snapshot
from planner.runs.models import Run
from planner.runs.services.bundles import bundle_export
from planner.scenarios.models import Scenario
from planner.scenarios.services.scenarios import scenario_remove
from planning.bundle import NoBundle, about_of
from tests import factories
from tests.worker import do_all_work

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


def test_valid_bundle_is_accepted(api: APIClient) -> None:
    assert send(api, bundle(ABOUT)).status_code == 202


WRONG: dict[str, tuple[Any, set[str]]] = {
    "cycles given as a string": ({"options": {"cycles": "x", "explain": True}}, {"options.cycles"}),
    "no options": ({"options": {}}, {"options.cycles", "options.explain"}),
    "options given as a list": ({"options": []}, {"options", "options.cycles", "options.explain"}),
    "additional option": ({"options": {"cycles": 1, "explain": True, "x": 1}}, {"options"}),
    "too many cycles": ({"options": {"cycles": 10**9, "explain": True}}, {"options.cycles"}),
    "cycles given as a boolean": ({"options": {"cycles": True, "explain": True}}, {"options.cycles"}),
    "name given as a number": ({"name": 5}, {"name"}),
    "no name": ({"name": ""}, {"name"}),
    "name with NUL": ({"name": "a\0b"}, {"name"}),
    "name with half a surrogate pair": ({"name": "a\ud800"}, {"name"}),
    "long name": ({"name": "a" * 254}, {"name"}),
    "engine with NUL": ({"engine_version": "1\0"}, {"engine_version"}),
    "engine given as a list": ({"engine_version": []}, {"engine_version"}),
    "revision out of range": ({"scenario_revision": 2**63}, {"scenario_revision"}),
    "revision given as a string": ({"scenario_revision": "1"}, {"scenario_revision"}),
    "hash given as a number": ({"input_sha256": 1}, {"input_sha256"}),
    "everything wrong": (
        {"name": 5, "options": {"cycles": 0}, "engine_version": None},
        {"name", "options.cycles", "options.explain", "engine_version"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_every_problem_of_a_bundle_has_a_path_and_a_fix(kind: str) -> None:
    changes, paths = WRONG[kind]
    with pytest.raises(NoBundle) as refusal:
        about_of({**ABOUT, "input_sha256": "0" * 64, "result_sha256": "0" * 64, **changes})
    assert {problem.path for problem in refusal.value.problems} == paths
    assert {(problem.rule, problem.document) for problem in refusal.value.problems} == {
        ("bundle.about", "bundle.json")
    }
    assert all(problem.fix for problem in refusal.value.problems)


@pytest.mark.parametrize("kind", ["everything wrong", "name with NUL"])
def test_bundle_is_validated_before_anything_is_stored(api: APIClient, kind: str) -> None:
    changes, paths = WRONG[kind]
    answer = send(api, bundle({**ABOUT, **changes}))
    assert answer.status_code == 422, answer.content
    assert {problem["path"] for problem in answer.json()["problems"]} == paths
    for kept in (Run, Snapshot, Scenario, Blob):
        assert not kept.objects.exists()


@pytest.mark.parametrize(
    "about", [None, [], "x", 1, {}, {"format": 2}, {"format": "1"}, {**ABOUT, "format": None}]
)
def test_bundle_of_another_format_is_refused(about: Any) -> None:
    with pytest.raises(NoBundle) as refusal:
        about_of(about)
    assert [problem.rule for problem in refusal.value.problems] == ["bundle.broken"]


def test_api_refuses_a_bundle_of_another_format(api: APIClient) -> None:
    answer = send(api, bundle({**ABOUT, "format": 2}))
    assert (answer.status_code, answer.json()["problems"][0]["rule"]) == (422, "bundle.broken")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(st.fixed_dictionaries({}, optional={name: JSON | st.just(value) for name, value in ABOUT.items()}))
def test_any_bundle_metadata_is_either_valid_or_refused(metadata: dict[str, Any]) -> None:
    try:
        about = about_of({"format": 1, **metadata})
    except NoBundle:
        return
    assert isinstance(about.options["cycles"], int)
    assert isinstance(about.options["explain"], bool)


@pytest.mark.parametrize("options", [{"cycles": "x"}, {}, [], "text", {"cycles": None}])
def test_unreadable_run_does_not_break_the_list_of_runs(
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


def zipped(**parts: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(f"{name}.json", content)
    return packed.getvalue()


def with_comment(comment: bytes) -> bytes:
    packed = io.BytesIO(bundle(ABOUT))
    with zipfile.ZipFile(packed, "a") as archive:
        archive.comment = comment
    return packed.getvalue()


def test_zip_with_too_many_files_is_refused_before_its_directory_is_read(api: APIClient) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(3000):
            archive.writestr(f"{number}", b"")
    answer = send(api, packed.getvalue())
    assert answer.status_code == 422
    assert "too many files" in answer.json()["problems"][0]["message"]


@pytest.mark.parametrize(
    "content",
    [
        b"", b"PK", b"PK\x05\x06", b"x" * 100, bundle(ABOUT)[:-30], bundle(ABOUT)[5:],
        zipped(bundle=b"[" * 60_000, input=b"{}", result=b"{}"), zipped(bundle=b" " * 70_000),
        zipped(input=b"{}"),
    ],
)  # fmt: skip
def test_file_that_is_not_a_bundle_is_refused_with_a_reason(api: APIClient, content: bytes) -> None:
    answer = api.post(
        "/api/v1/bundles/", {"file": SimpleUploadedFile("run.zip", content)}, format="multipart"
    )
    assert answer.status_code == 422, answer.content
    assert not Blob.objects.exists()


def test_zip_comment_that_imitates_an_end_record_is_refused(api: APIClient) -> None:
    assert send(api, with_comment(b"harmless")).status_code == 202
    assert send(api, with_comment(b"PK\x05\x06" + bytes(18))).status_code == 422


def large(settings: Any, about: Any = ABOUT, document: bytes | None = None) -> bytes:
    content = bundle(about, document)
    settings.IMPORT_SYNCHRONOUS_BYTES = 1000
    return content


@pytest.mark.django_db(transaction=True)
def test_large_bundle_is_imported_and_rerun_by_a_worker(
    api: APIClient, finished_run: Run, settings: Any
) -> None:
    content = bundle_export(run=finished_run)
    settings.IMPORT_SYNCHRONOUS_BYTES = 1000
    answer = send(api, content)
    assert answer.status_code == 202
    body = answer.json()
    assert (body["run"], body["result_sha256"]) == (None, None)
    assert body["imported_by"]["run"] is None
    assert answer["Location"].endswith(f"/imports/{body['imported_by']['id']}/")
    do_all_work()
    data = api.get(f"/api/v1/imports/{body['imported_by']['id']}/").json()
    assert data["state"] == "succeeded"
    assert "error" not in {problem["severity"] for problem in data["problems"]}
    run = Run.objects.get(pk=data["run"])
    assert run.scenario.snapshot_id == uuid.UUID(data["snapshot"])
    assert (run.state, run.input_id, run.result_id) == (
        "succeeded",
        finished_run.input_id,
        finished_run.result_id,
    )


@pytest.mark.django_db(transaction=True)
def test_invalid_large_bundle_stores_nothing(api: APIClient, settings: Any) -> None:
    content = large(settings, {**ABOUT, "options": {}, "input_sha256": "0" * 64})
    imported = send(api, content).json()["imported_by"]["id"]
    do_all_work()
    body = api.get(f"/api/v1/imports/{imported}/").json()
    assert (body["state"], body["run"], body["snapshot"]) == ("failed", None, None)
    assert {problem["path"] for problem in body["problems"]} == {"options.cycles", "options.explain"}
    for kept in (Run, Snapshot, Scenario):
        assert not kept.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_zip_bomb_uses_no_web_memory_and_stays_within_the_worker_limit(api: APIClient, settings: Any) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    settings.RUN_MEMORY_MB = 600
    bomb = bundle(ABOUT, b"[" + b"[]," * 30_000_000 + b"1]")
    made = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    answer = send(api, bomb)
    assert answer.status_code == 202
    assert answer.json()["imported_by"], "too large to be read synchronously"
    do_all_work()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - max(before, made) < 60
    body = api.get(f"/api/v1/imports/{answer.json()['imported_by']['id']}/").json()
    assert body["state"] == "failed"
    assert "memory" in body["error"]
