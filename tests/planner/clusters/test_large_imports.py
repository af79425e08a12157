"""Large imports are read by a worker, with the same results as synchronous ones."""

import gzip
import json
import re
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from planner.accounts.models import Role
from planner.clusters.models import Blob, Import, Snapshot
from planner.clusters.services.imports import cluster_read
from planner.clusters.services.retention import old_runs_remove
from planner.clusters.services.snapshots import cluster_import
from planner.runs.services.runs import run_create
from planner.scenarios.models import Scenario
from planner.work.execution import work_execute_next
from planner.work.lifecycle import work_cancel, work_claim
from planner.work.recovery import work_recover
from planner.work.turns import work_claim_next
from planning.rows import Problem
from queuecast.__main__ import main
from tests import factories
from tests.factories import large_import
from tests.planner.pages import text_of
from tests.worker import do_while_stopping, do_work

pytestmark = pytest.mark.django_db(transaction=True)

SNAPSHOTS = "/api/v1/snapshots/"
BROKEN = b"""\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: a}
spec: {weight: 1, weight: 2}
---
apiVersion: v1
kind: Pod
metadata: {namespace: a}
"""
BROKEN_PLAN = b"""\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: a}
spec: {weight: many}
"""


@pytest.fixture(autouse=True)
def low_synchronous_limit(settings: Any) -> None:
    """Make every import large enough for a worker."""
    settings.IMPORT_SYNCHRONOUS_BYTES = 100


def scenario_file() -> bytes:
    return json.dumps({**factories.cluster(), "scheduler_conf": factories.CONF}).encode()


def uploaded_files(*files: tuple[str, bytes]) -> list[SimpleUploadedFile]:
    return [SimpleUploadedFile(name, content) for name, content in files]


def upload(api: APIClient, *files: tuple[str, bytes], query: str = "", **headers: str) -> Any:
    body = {"name": "large", "files": uploaded_files(*files)}
    return api.post(SNAPSHOTS + query, body, format="multipart", headers=headers)


def test_a_worker_saves_the_same_snapshot_as_a_synchronous_import() -> None:
    files = [("c.json", gzip.compress(scenario_file()))]
    over = do_work(large_import(files))
    assert (over.state, over.error, over.progress) == ("succeeded", "", 1.0)
    at_once = cluster_import(
        read=cluster_read(files), workspace=factories.workspace(), name="large", provenance="c.json"
    )
    assert over.snapshot is not None
    kept = ("content_id", "scheduler_conf", "counts", "problems", "provenance", "cluster_id")
    assert [getattr(over.snapshot, name) for name in kept] == [getattr(at_once, name) for name in kept]
    assert over.counts == over.snapshot.counts


def test_a_live_export_takes_the_time_of_its_upload() -> None:
    queues = json.dumps({"apiVersion": "v1", "kind": "List", "items": factories.cluster()["queues"]})
    waiting = large_import([("q.json", queues.encode())])
    Import.objects.filter(pk=waiting.pk).update(created=timezone.now() - timedelta(hours=5))
    waiting.refresh_from_db()
    over = do_work(waiting)
    assert over.snapshot is not None
    assert over.snapshot.content.document()["now"] == over.created.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_a_failed_import_stores_the_problems_of_a_synchronous_one() -> None:
    over = do_work(large_import([("a.yaml", BROKEN)]))
    actual = cluster_read([("a.yaml", BROKEN)]).problems
    assert (over.state, over.snapshot) == ("failed", None)
    assert over.error == "2 problems to fix; nothing was saved."
    assert [Problem(**found) for found in over.problems] == list(actual)
    assert not Snapshot.objects.exists()


def test_a_file_that_unpacks_beyond_the_limit_is_refused() -> None:
    over = do_work(large_import([("bomb.gz", gzip.compress(b" " * 200_000_001, 1))]))
    assert [found["rule"] for found in over.problems] == ["file.size"]


def test_a_dry_run_reports_and_saves_nothing() -> None:
    over = do_work(large_import(is_dry=True))
    assert (over.state, over.snapshot, over.counts["pods"]) == ("succeeded", None, 20)
    assert not Snapshot.objects.exists()
    assert do_work(large_import([("a.yaml", BROKEN)], is_dry=True)).state == "failed"


def test_a_stopping_worker_requeues_its_import() -> None:
    put_back = do_while_stopping(large_import())
    assert (put_back.state, put_back.losses) == ("queued", 0)
    assert (do_work(put_back).state, put_back.attempt) == ("succeeded", 2)
    assert Snapshot.objects.count() == 1


def test_a_worker_that_lost_its_import_saves_nothing() -> None:
    """The import is cancelled and its lease expires while the child process reads."""
    waiting = large_import()
    claim = work_claim(kind=Import, id=waiting.pk, worker="lost")
    assert claim
    work_cancel(work=waiting)
    Import.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    work_recover()
    waiting.refresh_from_db()
    assert waiting.state == "cancelled"
    assert not claim.mine().exists()


def test_running_out_of_memory_is_reported(settings: Any) -> None:
    settings.RUN_MEMORY_MB = 60
    over = do_work(large_import())
    assert (over.state, over.problems) == ("failed", [])
    assert "The import" in over.error


def test_runs_and_imports_take_turns_between_owners() -> None:
    greedy, modest = factories.user("greedy"), factories.user("modest")
    scenario = factories.scenario()
    first, second = large_import(owner=greedy), run_create(scenario=scenario, user=greedy)
    other = run_create(scenario=scenario, user=modest)
    order = []
    while (claim := work_claim_next(worker="w")) is not None:
        order.append(claim.id)
    assert order == [first.pk, other.pk, second.pk]


def test_tidy_removes_the_files_then_the_import_but_not_the_snapshot() -> None:
    over, waiting = do_work(large_import()), large_import([("other.json", b"other")])
    long_ago = timezone.now() - timedelta(days=100)
    Blob.objects.update(created=long_ago)
    removed = old_runs_remove(keep=timedelta(days=90))
    assert (removed.imports, removed.blobs) == (0, 1)
    over.refresh_from_db()
    assert over.files is None
    assert waiting.files is not None
    Import.objects.filter(pk=over.pk).update(finished=long_ago)
    assert old_runs_remove(keep=timedelta(days=90)).imports == 1
    assert Snapshot.objects.count() == 1


# Through the API


def test_a_large_upload_returns_an_import_to_follow(api: APIClient) -> None:
    answer = upload(api, ("c.json", scenario_file()))
    assert answer.status_code == 202
    body = answer.json()
    assert answer.headers["Location"] == f"/api/v1/imports/{body['id']}/"
    assert (body["state"], body["name"], body["snapshot"]) == ("queued", "large", None)
    do_work(Import.objects.get())
    over = api.get(answer.headers["Location"], headers={"Prefer": "wait=5"}).json()
    assert (over["state"], over["counts"]["pods"], over["dry_run"]) == ("succeeded", 20, False)
    assert api.get(f"{SNAPSHOTS}{over['snapshot']}/").json()["name"] == "large"
    assert [row["id"] for row in api.get("/api/v1/imports/?state=succeeded").json()["results"]] == [
        body["id"]
    ]


@pytest.mark.parametrize("part", ["scenario", "documents"])
def test_a_large_json_body_is_imported_by_a_worker(api: APIClient, part: str) -> None:
    cluster = factories.cluster()
    body = {"name": "body", part: cluster if part == "scenario" else json.dumps(cluster)}
    answer = api.post(SNAPSHOTS, body)
    assert answer.status_code == 202
    over = do_work(Import.objects.get())
    assert (over.state, over.name, over.counts["pods"]) == ("succeeded", "body", 20)


def test_the_unpacked_size_decides_whether_a_worker_reads_an_upload(api: APIClient, settings: Any) -> None:
    packed = gzip.compress(scenario_file())
    settings.IMPORT_SYNCHRONOUS_BYTES = len(scenario_file()) - 1
    assert len(packed) < settings.IMPORT_SYNCHRONOUS_BYTES
    assert upload(api, ("c.gz", packed)).status_code == 202
    settings.IMPORT_SYNCHRONOUS_BYTES += 1
    assert upload(api, ("c.gz", packed)).status_code == 201
    assert upload(api, ("c.gz", packed), ("d.json", b" ")).status_code == 202, (
        "the sizes of all files are added up"
    )


def test_an_upload_repeated_with_one_key_creates_one_import(api: APIClient) -> None:
    answers = [upload(api, ("c.json", scenario_file()), **{"Idempotency-Key": "k"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].headers["Location"] == answers[1].headers["Location"]
    assert Import.objects.count() == 1


def test_a_large_dry_run_returns_an_import_to_follow(api: APIClient) -> None:
    answer = upload(api, ("a.yaml", BROKEN), query="?dry_run=1")
    assert answer.status_code == 202
    assert do_work(Import.objects.get()).is_dry
    body = api.get(answer.headers["Location"]).json()
    assert (body["dry_run"], body["state"], len(body["problems"])) == (True, "failed", 2)


def test_a_queued_import_is_cancelled_at_once(api: APIClient) -> None:
    answer = upload(api, ("c.json", scenario_file()))
    stopped = api.post(f"{answer.headers['Location']}cancel/").json()
    assert (stopped["state"], stopped["cancel_requested"]) == ("cancelled", True)


# On the command line


@pytest.fixture
def server(live_server: Any, api: APIClient, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server with a worker, set in the environment of the command line."""
    token = factories.token(factories.user())
    monkeypatch.setenv("QUEUECAST_URL", live_server.url)
    monkeypatch.setenv("QUEUECAST_TOKEN", token)
    over = threading.Event()
    worker = threading.Thread(target=work_until, args=[over])
    worker.start()
    yield
    over.set()
    worker.join()


def work_until(over: threading.Event) -> None:
    while not over.wait(0.1):
        work_execute_next(worker="here", stopping=over)
    connection.close()


def test_the_import_command_waits_for_a_large_import(
    server: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.json").write_bytes(scenario_file())
    assert main(["import", str(tmp_path / "c.json"), "--name", "large"]) == 0
    assert f"Snapshot {Snapshot.objects.get().pk}: 2 nodes, 2 queues" in capsys.readouterr().out
    assert Import.objects.get().state == "succeeded"


def test_the_import_command_reports_the_problems_of_a_large_import(
    server: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_bytes(BROKEN.replace(b"weight: 1, weight: 2", b"weight: many"))
    assert main(["import", str(tmp_path / "a.yaml")]) == 2
    assert "this Pod has no metadata.name" in capsys.readouterr().err
    assert not Import.objects.exists(), "an unreadable file is not uploaded"
    (tmp_path / "a.yaml").write_bytes(b"# a comment\n" + BROKEN_PLAN)
    assert main(["import", str(tmp_path / "a.yaml")]) == 2
    output = capsys.readouterr().err
    assert "1 problem to fix; nothing was saved." in output
    assert "a.yaml:5: error: queue a: spec.weight is the string 'many'" in output


# On the page


def upload_by_page(browser: Client, *files: tuple[str, bytes]) -> Import:
    answer = browser.post(
        reverse("planner:import"), {"name": "", "documents": "", "files": uploaded_files(*files)}
    )
    made = Import.objects.get()
    assert answer.headers["Location"] == reverse("planner:import-detail", args=[made.pk])
    return made


def test_the_import_page_leads_to_a_scenario_or_a_run(browser: Client) -> None:
    made = upload_by_page(browser, ("big.json", scenario_file()))
    address = reverse("planner:import-detail", args=[made.pk])
    assert "Waiting for a worker" in text_of(browser.get(address))
    assert "big" in text_of(browser.get(reverse("planner:import")))
    do_work(made)
    page = text_of(browser.get(address))
    assert re.search(r">Pods</th><td[^>]*>20<", page)
    answer = browser.post(reverse("planner:import-begin", args=[made.pk]))
    scenario = Scenario.objects.get()
    assert answer.headers["Location"] == reverse("planner:scenario-detail", args=[scenario.pk])
    assert (scenario.name, scenario.conf_text) == ("big", factories.CONF)
    assert "Open the scenario" in text_of(browser.get(address))
    answer = browser.post(reverse("planner:import-begin", args=[made.pk]), {"run": "yes"})
    run = Scenario.objects.order_by("created").last().runs.get()
    assert answer.headers["Location"] == reverse("planner:run-detail", args=[run.pk])


def test_the_import_page_lists_every_problem_with_its_line(browser: Client) -> None:
    made = do_work(upload_by_page(browser, ("a.yaml", BROKEN)))
    page = text_of(browser.get(reverse("planner:import-detail", args=[made.pk])))
    assert "2 problems to fix; nothing was saved." in page
    assert "line 4" in page
    assert browser.post(reverse("planner:import-begin", args=[made.pk])).status_code == 404


def test_an_import_poll_returns_204_until_changed_and_shows_a_cancellation(browser: Client) -> None:
    made = upload_by_page(browser, ("big.json", scenario_file()))
    address = reverse("planner:import-detail", args=[made.pk])
    part = {"HX-Request": "true", "HX-Target": "import"}
    seen = re.search(r"\?seen=([^\"]+)\"", text_of(browser.get(address, headers=part)))
    assert seen
    assert browser.get(f"{address}?seen={seen[1]}", headers=part).status_code == 204
    answer = browser.post(reverse("planner:import-cancel", args=[made.pk]), headers=part)
    assert "was cancelled" in text_of(answer)
    assert "hx-get" not in text_of(answer)


def test_a_viewer_reads_an_import_and_an_outsider_does_not(browser: Client) -> None:
    made = do_work(upload_by_page(browser, ("big.json", scenario_file())))
    address = reverse("planner:import-detail", args=[made.pk])
    begin = reverse("planner:import-begin", args=[made.pk])
    browser.force_login(factories.user("viewer", role=Role.VIEWER))
    assert "Create scenario" not in text_of(browser.get(address))
    assert browser.post(begin).status_code == 403
    browser.force_login(factories.user("outsider", role=None))
    assert browser.get(address).status_code == 404
    assert browser.post(begin).status_code == 404
