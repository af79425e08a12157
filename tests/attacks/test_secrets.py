"""Secrets in the manifests of a cluster are removed before anything is stored."""

import json
import logging
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings as configured
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

import manifests
from manifests.kinds import LISTS
from planner.backups.archive import archive_write
from planner.clusters.models import Blob, Import
from planner.clusters.services.imports import cluster_read
from planner.runs.models import Run
from planner.scenarios.models import Change, ObjectChange, Scenario, ScenarioCopy
from planner.scenarios.selectors.scenarios import state_of
from planning.bundle import About, Bundle
from planning.documents import encoded
from queuecast.sending import bare_files
from scheduler_core import encode, simulate_document
from tests import factories
from tests.manifests.test_stripping import SECRET, planted
from tests.worker import do_all_work

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cluster() -> dict[str, Any]:
    """A cluster with a secret in every possible place, including a vcjob."""
    document = factories.cluster()
    document["jobs"] = [vcjob("train")]
    document["pods"][0]["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    return planted(document) | {"scheduler_conf": factories.CONF}


def vcjob(name: str) -> dict[str, Any]:
    container = {"name": "c", "image": "busybox", "resources": {"requests": {"cpu": "1"}}}
    task = {"name": "main", "replicas": 1, "template": {"spec": {"containers": [container]}}}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {"queue": "waits", "schedulerName": "volcano", "minAvailable": 1, "tasks": [task]},
    }


def manifest_list(document: dict[str, Any]) -> bytes:
    """Return the objects of a scenario as `kubectl get -o yaml` prints them, including a Secret."""
    kinds = LISTS
    objects = [
        {"apiVersion": f"{kinds[name].group}/v1".strip("/"), "kind": kinds[name].name, **thing}
        for name, things in document.items()
        if name in kinds
        for thing in things
    ]
    objects.append({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"x": SECRET}})
    return manifests.dump({"apiVersion": "v1", "kind": "List", "items": objects}).encode()


def bytes_kept() -> Iterator[tuple[str, bytes]]:
    """Yield everything that is stored: unpacked rows, the tables' raw bytes, files, the cache, a backup."""
    for model in apps.get_models():
        for row in model._default_manager.values():
            yield model.__name__, json.dumps(row, default=_readable).encode()
    for blob in Blob.objects.all():
        yield "Blob", blob.content()
    for path in Path(configured.VAR_DIR).rglob("*"):
        if path.is_file() and path.suffix not in (".css", ".js", ".woff2"):
            yield str(path), path.read_bytes()
    archive_write(backup := StringIO())
    yield "backup", backup.getvalue().encode()
    yield "cache", repr(getattr(cache, "_cache", "")).encode()
    connection.ensure_connection()
    if hasattr(connection.connection, "serialize"):
        yield "database", connection.connection.serialize()


def _readable(value: Any) -> str:
    content = bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()
    with suppress(zlib.error):
        content = zlib.decompress(content)
    return content.decode(errors="replace")


def assert_nowhere(log: str) -> None:
    for place, content in bytes_kept():
        assert SECRET.encode() not in content, place
    assert SECRET not in log


def read_everything(api: APIClient, browser: Client) -> None:
    """Read every page and call about the last scenario and its runs."""
    scenario = Scenario.objects.latest("created")
    pages = [f"/scenarios/{scenario.pk}/{part}" for part in ("", "conf/", "workloads/", "nodes/", "export/")]
    calls = [f"/api/v1/scenarios/{scenario.pk}/{part}" for part in ("", "workloads/", "nodes/", "export/")]
    calls += ["/api/v1/snapshots/", f"/api/v1/snapshots/{scenario.snapshot_id}/"]
    for run in Run.objects.all():
        pages.append(f"/runs/{run.pk}/")
        calls += [f"/api/v1/runs/{run.pk}/{part}" for part in ("", "input/", "result/", "jobs/", "bundle/")]
    for caller, addresses in ((browser, pages), (api, calls)):
        for address in addresses:
            answer = caller.get(address)
            content = b"".join(answer.streaming_content) if answer.streaming else answer.content
            assert answer.status_code == 200, address
            assert SECRET.encode() not in content, address


def test_api_import_stores_no_planted_secret(
    api: APIClient, browser: Client, cluster: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for number, text in enumerate((json.dumps(cluster), manifest_list(cluster).decode())):
        body = {"name": f"c{number}", "documents": text}
        answer = api.post("/api/v1/snapshots/", body)
        assert answer.status_code == 201, answer.data
        assert SECRET not in answer.content.decode()
        made = api.post("/api/v1/scenarios/", {"name": "x", "snapshot": answer.data["id"]})
        assert api.post(f"/api/v1/scenarios/{made.data['id']}/runs/", {}).status_code == 202
    do_all_work()
    assert set(Run.objects.values_list("state", flat=True)) == {"succeeded"}
    read_everything(api, browser)
    assert_nowhere(caplog.text)


def test_previewed_and_saved_import_stores_no_planted_secret(
    browser: Client, api: APIClient, cluster: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    upload = SimpleUploadedFile("cluster.yaml", manifest_list(cluster))
    preview = browser.post("/import/", {"name": "c", "files": [upload]})
    assert SECRET not in preview.content.decode()
    assert_nowhere(caplog.text)
    draft = re.search(r'name="draft" value="([^"]+)"', preview.content.decode())
    assert draft, "a preview can be saved"
    assert browser.post("/import/save/", {"draft": draft[1]}).status_code == 302
    read_everything(api, browser)
    assert_nowhere(caplog.text)


def test_large_import_stores_no_planted_secret_before_or_after_the_worker(
    cluster: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    requested = factories.large_import([("cluster.yaml", manifest_list(cluster))])
    assert_nowhere(caplog.text)
    do_all_work()
    requested.refresh_from_db()
    assert requested.state == Import.State.SUCCEEDED, (requested.error, requested.problems)
    assert_nowhere(caplog.text)


def test_added_workloads_and_nodes_store_no_planted_secret(
    api: APIClient, browser: Client, cluster: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    scenario = factories.scenario()
    address = f"/api/v1/scenarios/{scenario.pk}/"
    job = planted({"jobs": [vcjob("later")]})["jobs"][0]
    headers = {"HTTP_IF_MATCH": "1"}
    added = api.post(f"{address}workloads/", {"documents": manifests.dump(job)}, **headers)
    assert added.status_code == 201, added.data
    node = planted({"nodes": [factories.node("n0")]})["nodes"][0]
    headers = {"HTTP_IF_MATCH": "2"}
    changed = api.put(f"{address}nodes/n0/", node, **headers)
    assert changed.status_code in (200, 404, 405), changed.data
    read_everything(api, browser)
    assert_nowhere(caplog.text)


def test_bundle_of_an_older_installation_stores_no_planted_secret(
    api: APIClient, browser: Client, cluster: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    cluster.pop("secrets")
    content = json.dumps(cluster).encode()
    blob = Blob.of(content)
    result = b"{}"
    options = {"cycles": 1, "explain": True}
    about = About("old", 1, options, "1", blob.sha256, Blob.of(result).sha256)
    packed = Bundle(about, content, result).packed()
    sent = api.post("/api/v1/bundles/", {"file": SimpleUploadedFile("b.zip", packed)}, format="multipart")
    assert sent.status_code in (201, 202), sent.data
    do_all_work()
    assert set(Run.objects.values_list("state", flat=True)) == {"succeeded"}
    read_everything(api, browser)
    assert_nowhere(caplog.text)


def test_client_removes_secrets_without_changing_what_the_server_reads(cluster: dict[str, Any]) -> None:
    content = manifest_list(cluster)
    files = [("cluster.yaml", content), ("scheduler.yaml", factories.CONF.encode())]
    reading = manifests.read(files)
    sent = bare_files([name for name, _ in files], reading)
    assert all(SECRET.encode() not in held for _, held in sent)
    theirs, ours = cluster_read(sent), cluster_read(files)
    assert {**theirs.document, "now": ""} == {**ours.document, "now": ""}
    assert theirs.scheduler_conf == ours.scheduler_conf
    assert (theirs.counts, theirs.unknown_kinds) == (ours.counts, ours.unknown_kinds)
    again = manifests.read(sent)
    places = [("pods", 3), ("queues", 1), ("jobs", 0)]
    for place in places:
        assert again.origins[place].line(()) == reading.origins[place].line(()), (
            "line numbers refer to the file"
        )


def test_command_removes_secrets_stored_by_an_older_version(
    api: APIClient, browser: Client, cluster: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    cluster.pop("secrets")
    cluster.pop("scheduler_conf")
    scenario = factories.scenario(document=cluster)
    run = factories.run(scenario)
    whole = planted({"nodes": [factories.node("n0")]})["nodes"][0]
    ObjectChange.objects.create(scenario=scenario, kind="nodes", key="n9", manifest=whole)
    Change.objects.create(scenario=scenario, revision=1, kind="nodes", key="n9", after=whole)
    copied = encoded(state_of(scenario).as_copy())
    ScenarioCopy.objects.create(scenario=scenario, revision=1, content=Blob.of(copied).keep())
    do_all_work()
    run.refresh_from_db()
    assert run.result is not None
    result, places = (
        run.result.content(),
        {place for place, content in bytes_kept() if SECRET.encode() in content},
    )
    assert {"Blob", "Queue", "ObjectChange", "Change"} <= places
    call_command("strip")
    assert_nowhere(caplog.text)
    read_everything(api, browser)
    run.refresh_from_db()
    assert encode(simulate_document(manifests.resolve(run.input.document()))) == result
    call_command("strip", stdout=(actual := StringIO()))
    assert {line.split()[0] for line in actual.getvalue().splitlines()} == {"0"}
