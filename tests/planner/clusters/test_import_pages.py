"""The import page shows a preview before saving, and keeps the entered text."""

import gzip
import json
import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from planner.clusters.models import Blob, Import, Snapshot
from planner.scenarios.models import Scenario
from tests import factories
from tests.planner.pages import text_of
from tests.worker import do_work

pytestmark = pytest.mark.django_db
PAGE = "/import/"

BROKEN = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: a
  name: b
spec:
  weight: 1
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
---
apiVersion: v1
kind: Pod
metadata: {namespace: "a"}
"""


def preview(browser: Client, *files: tuple[str, bytes], text: str = "", name: str = "") -> HttpResponse:
    sent = [SimpleUploadedFile(label, content) for label, content in files]
    return browser.post(PAGE, {"name": name, "documents": text, "files": sent})


def save(browser: Client, previewed: HttpResponse) -> HttpResponse:
    draft = re.search(r'name="draft" value="([^"]+)"', text_of(previewed))
    assert draft, text_of(previewed)
    return browser.post(reverse("planner:import-save"), {"draft": draft[1]})


def scenario_file() -> bytes:
    return json.dumps({**factories.cluster(), "scheduler_conf": factories.CONF}).encode()


def test_a_preview_counts_objects_and_saves_nothing(browser: Client) -> None:
    answer = preview(browser, ("cluster.json", scenario_file()))
    assert answer.status_code == 200
    page = text_of(answer)
    assert re.search(r">Pods</th><td[^>]*>20<", page)
    assert re.search(r">Queues</th><td[^>]*>2<", page)
    assert not Snapshot.objects.exists()


def test_saving_opens_a_scenario_named_after_its_file(browser: Client) -> None:
    answer = save(browser, preview(browser, ("small.json.gz", gzip.compress(scenario_file()))))
    scenario = Scenario.objects.get()
    assert answer.headers["Location"] == reverse("planner:scenario-detail", args=[scenario.pk])
    assert (scenario.name, scenario.conf_text) == ("small", factories.CONF)
    assert scenario.snapshot.provenance == "small.json.gz"
    assert [queue.name for queue in scenario.queues.all()] == ["busy", "waits"]


def test_files_and_pasted_text_form_one_cluster(browser: Client) -> None:
    cluster = factories.cluster()
    files = [(f"{kind}.json", as_list(cluster[kind])) for kind in ("nodes", "pods", "podgroups")]
    save(browser, preview(browser, *files, text=as_list(cluster["queues"]).decode(), name="four parts"))
    counts = Snapshot.objects.get(name="four parts").counts
    assert {kind: count for kind, count in counts.items() if count} == {
        "nodes": 2, "queues": 2, "podgroups": 2, "pods": 20,
    }  # fmt: skip


def test_every_problem_is_shown_with_its_line_and_the_text_is_kept(browser: Client) -> None:
    answer = preview(browser, text=BROKEN, name="broken")
    assert answer.status_code == 422
    page = text_of(answer)
    assert "line 5" in page
    assert "pasted text#3" in page
    assert "Deployment" in page
    assert "metadata: {namespace: &quot;a&quot;}" in page
    assert 'value="broken"' in page
    assert "Save and open" not in page
    assert not Snapshot.objects.exists()


def test_an_empty_upload_is_refused_with_a_fix(browser: Client) -> None:
    assert "Choose files or paste a text." in text_of(preview(browser))


def test_a_preview_can_be_saved_only_by_its_user(browser: Client) -> None:
    previewed = preview(browser, ("cluster.json", scenario_file()))
    browser.force_login(factories.user("other"))
    assert save(browser, previewed).headers["Location"] == PAGE
    assert not Snapshot.objects.exists()


def as_list(items: list) -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()


def test_a_real_cluster_and_a_published_manifest_are_imported(browser: Client, shared: Path) -> None:
    openb = shared / "data" / "openb" / "scenarios" / "openb-small.json"
    assert save(browser, preview(browser, (openb.name, openb.read_bytes()))).status_code == 302
    manifest = shared / "data" / "volcano-yaml" / "volcano-examples" / "hierarchical-jobs_queues.yaml"
    previewed = preview(browser, text=manifest.read_text(), name="published")
    assert save(browser, previewed).status_code == 302
    for scenario in Scenario.objects.all():
        assert browser.get(reverse("planner:scenario-detail", args=[scenario.pk])).status_code == 200
    assert set(Scenario.objects.values_list("name", flat=True)) == {"openb-small", "published"}


def test_a_large_import_is_read_by_a_worker_and_only_once(browser: Client, shared: Path) -> None:
    packed = shared / "data" / "openb" / "scenarios" / "openb-burst-qos.json.gz"
    content = gzip.decompress(packed.read_bytes())
    assert len(content) > 10_000_000
    answer = preview(browser, ("openb-burst-qos.json", content))
    assert (answer.status_code, Snapshot.objects.count()) == (302, 0)
    [requested] = Import.objects.all()
    assert answer.headers["Location"] == f"/imports/{requested.pk}/"
    do_work(requested)
    document = json.loads(content)
    snapshot = Snapshot.objects.get()
    assert snapshot.counts["pods"] == len(document["pods"])
    assert snapshot.queues == document["queues"]
    Blob.objects.filter(pk=snapshot.content_id).update(packed=b"not read")
    assert browser.post(f"/imports/{requested.pk}/scenario/").status_code == 302
    assert Scenario.objects.get().queues.count() == len(document["queues"])
