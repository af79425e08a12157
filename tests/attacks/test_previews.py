"""Import previews: their cost, and who may save them."""

import gzip
import json
import random
import resource
import threading
from collections.abc import Callable
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from planner.clusters.models import Blob, ImportPreview, Snapshot
from planner.clusters.services import snapshots
from planner.clusters.services.imports import cluster_read, cluster_read_apart, packed
from planner.clusters.services.retention import old_runs_remove
from planner.clusters.services.snapshots import MOST_PREVIEWS, PREVIEWS_KEPT, preview_store
from planner.clusters.views.imports import IN_A_REQUEST_BYTES
from planner.scenarios.models import Scenario
from planner.work.awaited import IN_PROCESS_BYTES, READING
from tests import factories
from tests.planner.pages import text_of

pytestmark = pytest.mark.django_db


def preview(browser: Client, document: dict[str, Any]) -> str:
    answer = browser.post("/import/", {"documents": json.dumps(document), "name": "what if"})
    assert answer.status_code == 200
    return str(ImportPreview.objects.latest("created").pk)


def named(number: int) -> dict[str, Any]:
    document = factories.cluster()
    document["nodes"][0]["metadata"]["labels"] = {"number": str(number)}
    return document


def test_preview_is_saved_as_shown(browser: Client) -> None:
    draft = preview(browser, factories.cluster())
    assert browser.post("/import/save/", {"draft": draft}).status_code == 302
    snapshot = Snapshot.objects.get()
    assert snapshot.content.document() == packed(read(factories.cluster())).content.document()  # type: ignore[union-attr]
    assert (snapshot.name, snapshot.counts["nodes"]) == ("what if", len(factories.cluster()["nodes"]))
    assert not ImportPreview.objects.exists()
    assert Scenario.objects.get().snapshot == snapshot


def read(document: dict[str, Any]) -> Any:
    return cluster_read([("pasted text", json.dumps(document).encode())])


def test_user_cannot_save_another_users_preview(browser: Client) -> None:
    draft = preview(browser, factories.cluster())
    another = Client()
    another.force_login(factories.user("another"))
    for query in (draft, "", "x", "../../etc/passwd", "0" * 32):
        response = another.post("/import/save/", {"draft": query}, follow=True)
        assert "older than an hour" in text_of(response)
    assert not Snapshot.objects.exists()


def test_preview_and_its_bytes_are_deleted_after_an_hour(browser: Client) -> None:
    draft = preview(browser, factories.cluster())
    kept = packed(read(named(1))).content
    assert kept is not None
    kept.keep()
    ImportPreview.objects.update(created=timezone.now() - PREVIEWS_KEPT)
    Blob.objects.exclude(pk=kept.pk).update(created=timezone.now() - PREVIEWS_KEPT - timedelta(seconds=1))
    assert "older than an hour" in text_of(browser.post("/import/save/", {"draft": draft}, follow=True))
    old_runs_remove(keep=timedelta(days=90))
    assert not ImportPreview.objects.exists()
    assert list(Blob.objects.values_list("pk", flat=True)) == [kept.pk], "bytes used by others are kept"


def test_only_the_newest_previews_are_kept(browser: Client) -> None:
    drafts = [preview(browser, named(number)) for number in range(MOST_PREVIEWS + 5)]
    assert ImportPreview.objects.count() == MOST_PREVIEWS
    assert Blob.objects.count() == MOST_PREVIEWS
    assert browser.post("/import/save/", {"draft": drafts[-1]}).status_code == 302
    assert browser.post("/import/save/", {"draft": drafts[0]}, follow=True).redirect_chain


def test_previews_of_a_workspace_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "MOST_PREVIEW_BYTES", 50_000)
    owner, workspace = factories.user("editor"), factories.workspace()
    for number in range(6):
        noise = "".join(random.Random(number).choices("abcdefghijklmnopqrstuvwxyz", k=30_000))
        document = {**factories.cluster(), "name": noise}
        preview_store(read=packed(read(document)), workspace=workspace, name="n", provenance="", user=owner)
        held = sum(len(blob.packed) for blob in Blob.objects.all())
        assert held <= 50_000
    assert ImportPreview.objects.count() == 2


def test_bytes_shared_by_a_preview_and_a_snapshot_are_kept(browser: Client) -> None:
    draft = preview(browser, factories.cluster())
    preview(browser, factories.cluster())
    browser.post("/import/save/", {"draft": draft})
    ImportPreview.objects.update(created=timezone.now() - PREVIEWS_KEPT)
    preview(browser, named(1))
    assert Snapshot.objects.get().content.document()["nodes"]
    assert ImportPreview.objects.count() == 1


def hostile(megabytes: float) -> bytes:
    """Return a text that uses a hundred times its size in memory when it is read."""
    return b'{"kind":"List","items":[' + b"{}," * int(megabytes * 1e6 / 3) + b"{}]}"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(lambda: gzip.compress(hostile(1)), id="packed"),
        pytest.param(lambda: gzip.compress(hostile(2)), id="packed and larger", marks=pytest.mark.long),
        pytest.param(lambda: hostile(1.2), id="plain", marks=pytest.mark.long),
    ],
)
def test_hostile_text_does_not_use_memory_of_the_web_process(
    api: APIClient, content: Callable[[], bytes]
) -> None:
    read(factories.cluster())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    file = SimpleUploadedFile("a.json", content())
    answer = api.post("/api/v1/snapshots/", {"files": file}, format="multipart")
    assert answer.status_code == 422
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before
    assert grown < 60, f"{grown:.0f} MB"


def test_text_that_exceeds_the_memory_limit_is_refused_with_a_fix(
    api: APIClient, browser: Client, settings
) -> None:
    settings.IMPORT_MEMORY_MB = 300
    file = SimpleUploadedFile("a.json", hostile(4))
    answer = api.post("/api/v1/snapshots/", {"files": file}, format="multipart")
    assert answer.status_code == 422
    [problem] = answer.json()["problems"]
    assert problem["rule"] == "import.too_costly"
    assert "memory" in problem["message"]
    assert "import_cluster" in problem["fix"]
    small = hostile(1.9)
    assert len(small) < IN_A_REQUEST_BYTES, "a worker reads a larger text with any amount of memory"
    settings.IMPORT_MEMORY_MB = 200
    page = browser.post("/import/", {"files": SimpleUploadedFile("a.json", small)})
    assert "more memory" in text_of(page)


def test_reading_in_a_child_process_gives_the_same_result() -> None:
    for document in (factories.cluster(), {**factories.cluster(), "nodes": [{}]}):
        text = json.dumps(document).encode() + b" " * IN_PROCESS_BYTES
        here, apart = packed(cluster_read([("a", text)])), cluster_read_apart([("a", BytesIO(text))])
        assert (here.content and here.content.sha256) == (apart.content and apart.content.sha256)
        assert (here.counts, here.problems, here.scheduler_conf) == (
            apart.counts,
            apart.problems,
            apart.scheduler_conf,
        )


def test_concurrent_import_returns_503_with_retry_after(api: APIClient) -> None:
    file = SimpleUploadedFile("a.json", json.dumps(factories.cluster()).encode() + b" " * IN_PROCESS_BYTES)
    with READING.lock:
        answer = api.post("/api/v1/snapshots/", {"files": file}, format="multipart")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer.json()["code"] == "busy"
    assert threading.active_count() < 50
