"""The status of the queue and the workers on the page, in the API and in the metrics; access to /metrics."""

import re
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from planner.runs.models import Run
from planner.web.selectors.status import status
from planner.work.models import Worker
from planner.work.workers import worker_delete, worker_report
from tests import factories
from tests.planner.pages import text_of


@pytest.fixture
def busy(db: None) -> Run:
    """Two runs are queued, one for a minute, and an import; one worker is alive, one was lost an hour ago."""
    factories.large_import()
    scenario = factories.scenario()
    first, _ = factories.run(scenario), factories.run(scenario)
    now = timezone.now()
    Run.objects.filter(pk=first.pk).update(created=now - timedelta(seconds=60))
    worker_report(name="a:1", started=now)
    worker_report(name="b:2", started=now)
    Worker.objects.filter(name="b:2").update(seen=now - timedelta(hours=1))
    return first


def test_the_api_returns_queued_work_and_live_workers(busy: Run, api: APIClient) -> None:
    body = api.get("/api/v1/status/").json()
    assert body["runs"] == {"queued": 2, "running": 0, "succeeded": 0, "failed": 0, "cancelled": 0}
    assert body["imports"] == {"queued": 1, "running": 0, "succeeded": 0, "failed": 0, "cancelled": 0}
    assert 60 <= body["oldest_queued_seconds"] < 90
    assert [worker["name"] for worker in body["workers"]] == ["a:1"]
    assert body["mean_wait_seconds"] is None


def test_the_status_page_shows_the_same_figures_and_refreshes_a_fragment(busy: Run, browser: Client) -> None:
    whole = text_of(browser.get("/status/"))
    assert "<h1>Status</h1>" in whole
    assert re.search(r"Queued</th><td[^>]*>2 runs", whole)
    assert re.search(r"Queued, large imports</th><td[^>]*>1 import<", whole)
    part = text_of(browser.get("/status/", headers={"HX-Request": "true", "HX-Target": "status"}))
    assert "<h1>" not in part
    assert "a:1" in part


def test_the_metrics_have_the_same_figures(busy: Run, client: Client) -> None:
    lines = client.get("/metrics").content.decode().splitlines()
    assert 'queuecast_runs{state="queued"} 2.0' in lines
    assert 'queuecast_imports{state="queued"} 1.0' in lines
    assert "queuecast_workers 1.0" in lines


@pytest.mark.parametrize(
    ("production", "token", "sent", "status"),
    [
        (False, "", {}, 200),
        (True, "", {}, 404),
        (True, "s3cret", {}, 404),
        (True, "s3cret", {"Authorization": "Bearer wrong"}, 404),
        (True, "s3cret", {"Authorization": "Bearer s3cret"}, 200),
    ],
)
def test_metrics_require_their_token_in_production(
    db: None, client: Client, settings, production: bool, token: str, sent: dict[str, str], status: int
) -> None:
    settings.PRODUCTION, settings.METRICS_TOKEN = production, token
    assert client.get("/metrics", headers=sent).status_code == status


def test_stopped_workers_are_removed_and_stale_ones_expire(busy: Run) -> None:
    Worker.objects.filter(name="b:2").update(seen=timezone.now() - timedelta(days=2))
    worker_report(name="c:3", started=timezone.now())
    worker_delete(name="a:1")
    assert [worker.name for worker in Worker.objects.all()] == ["c:3"]


def test_the_worker_health_check_looks_for_a_worker_of_this_host(db: None, capsys, monkeypatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "here")
    with pytest.raises(SystemExit):
        call_command("worker_alive")
    worker_report(name="here:7", started=timezone.now())
    call_command("worker_alive")
    assert "A worker is running." in capsys.readouterr().out


def test_the_status_takes_eleven_queries(busy: Run, django_assert_num_queries) -> None:
    with django_assert_num_queries(11):
        assert status().runs["queued"] == 2


@pytest.mark.django_db
def test_forecasts_are_counted_like_runs(browser: Client) -> None:
    factories.forecast()
    found = status()
    assert found.forecasts["queued"] == 1
    assert found.oldest_queued_seconds > 0
    assert "1 forecast" in browser.get("/status/").content.decode()
