"""Database unavailable, disk or workspace full: a clear response, nothing partly saved, no traceback."""

import errno
import json
import re
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client, RequestFactory
from rest_framework.test import APIClient

from planner.clusters.models import Blob, Snapshot
from planner.clusters.selectors.usage import most_kept, usage
from planner.runs.models import Run
from planner.web.middleware.outages import outage
from tests import factories

pytestmark = pytest.mark.django_db


class Away:
    """Every query fails as if the database were unavailable."""

    def __call__(self, execute: Any, sql: str, *rest: Any) -> Any:
        raise OperationalError("could not connect to server: Connection refused")


def test_database_outage_returns_503_with_retry_after(
    browser: Client, api: APIClient, caplog: pytest.LogCaptureFixture
) -> None:
    with connection.execute_wrapper(Away()):
        answers = [browser.get("/"), browser.get("/login/"), api.get("/api/v1/runs/"), browser.get("/readyz")]
    assert [answer.status_code for answer in answers] == [503, 503, 503, 503]
    assert all(answer["Retry-After"] for answer in answers[:3])
    assert answers[2].json()["message"].startswith("The database does not answer.")
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OperationalError("database or disk is full"),
        OperationalError('could not extend file "base/1": No space left on device'),
    ],
    ids=str,
)
def test_full_disk_returns_507(error: Exception) -> None:
    answer = outage(RequestFactory().post("/api/v1/snapshots/"), error)
    assert answer is not None
    assert (answer.status_code, answer["Retry-After"]) == (507, "10")
    assert b"disk is full" in answer.content


def test_deadlock_says_that_another_request_was_in_the_way() -> None:
    answer = outage(RequestFactory().post("/api/v1/snapshots/"), OperationalError("deadlock detected"))
    assert answer is not None
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert b"Another request changes the same objects. Nothing was saved." in answer.content


def test_program_error_is_not_an_outage() -> None:
    assert outage(RequestFactory().get("/"), ValueError("a bug")) is None


def test_previews_count_against_the_quota_and_saving_one_adds_nothing(browser: Client, settings: Any) -> None:
    text = json.dumps(factories.cluster())
    workspace = factories.workspace()
    preview = browser.post("/import/", {"name": "c", "documents": text})
    draft = re.search(r'name="draft" value="([^"]+)"', preview.content.decode())
    assert draft
    kept = usage(workspace).total
    assert kept > 0
    settings.WORKSPACE_MB = kept / 1e6
    assert browser.post("/import/", {"name": "d", "documents": text}).status_code == 507
    assert browser.post("/import/save/", {"draft": draft[1]}).status_code == 302
    assert Snapshot.objects.count() == 1
    assert usage(workspace).total == kept


def test_workspace_usage_never_exceeds_the_precheck_bound(
    browser: Client,
) -> None:
    text = json.dumps(factories.cluster())
    run = factories.run(factories.scenario(document=json.loads(text)))
    browser.post("/import/", {"name": "c", "documents": text})
    assert Blob.objects.filter(snapshots__workspace=run.workspace).exclude(import_previews=None).exists()
    kept = usage(run.workspace)
    assert min(kept.snapshots, kept.runs, kept.rest) > 0
    assert kept.total <= most_kept()


def test_full_workspace_refuses_imports_and_runs_and_suggests_deletions(
    api: APIClient, browser: Client, settings: Any
) -> None:
    scenario = factories.scenario()
    cluster = {"name": "c", "documents": json.dumps(factories.cluster())}
    settings.WORKSPACE_MB = 0.0001
    refused = api.post(f"/api/v1/scenarios/{scenario.pk}/runs/", {})
    assert refused.status_code == 507
    assert refused.json()["code"] == "insufficient_storage"
    [problem] = refused.json()["problems"]
    assert (problem["rule"], problem["path"]) == ("storage.quota", "workspace")
    assert problem["fix"].startswith("Delete old ")
    assert "Delete old snapshots" in refused.json()["message"]
    assert api.post("/api/v1/snapshots/", cluster).status_code == 507
    assert "Delete old snapshots" in browser.post(f"/scenarios/{scenario.pk}/runs/").content.decode()
    assert (Run.objects.count(), Snapshot.objects.count()) == (0, 1)
    settings.WORKSPACE_MB = 0
    assert api.post(f"/api/v1/scenarios/{scenario.pk}/runs/", {}).status_code == 202
