"""Public links: stored values, expired and revoked links open nothing; reads are recorded."""

import json
import logging
from datetime import timedelta

import pytest
from django.core import serializers
from django.test import Client
from django.utils import timezone

from planner.accounts.models import Event
from planner.accounts.services.events import audit
from planner.runs.models import PublicLink, Run
from planner.runs.services.links import link_create, link_revoke
from tests import factories


@pytest.fixture
def made(finished_run: Run) -> tuple[PublicLink, str]:
    return link_create(run=finished_run, user=factories.user(), label="board meeting", days=7)


def test_stored_or_listed_values_do_not_open_a_shared_run(
    client: Client, made: tuple[PublicLink, str]
) -> None:
    link, secret = made
    stored = serializers.serialize("json", [link, *Event.objects.all()])
    assert secret not in stored
    for value in (str(link.pk), link.digest, *json.loads(stored)[0]["fields"].values()):
        assert client.get(f"/shared/{value}/").status_code == 404
    assert client.get(f"/shared/{secret}/").status_code == 200


def test_expired_or_revoked_link_returns_404(client: Client, made: tuple[PublicLink, str]) -> None:
    link, secret = made
    PublicLink.objects.update(expires=timezone.now())
    assert client.get(f"/shared/{secret}/").status_code == 404
    PublicLink.objects.update(expires=timezone.now() + timedelta(days=1))
    assert client.get(f"/shared/{secret}/").status_code == 200
    link_revoke(link=link, user=factories.user())
    assert client.get(f"/shared/{secret}/").status_code == 404


def test_reads_of_a_link_are_counted_and_logged_without_filling_a_table(
    client: Client, made: tuple[PublicLink, str], caplog: pytest.LogCaptureFixture
) -> None:
    link, secret = made
    with caplog.at_level(logging.INFO, logger=audit.name):
        for _ in range(5):
            client.get(f"/shared/{secret}/", REMOTE_ADDR="192.0.2.7")
    link.refresh_from_db()
    assert link.reads == 5
    read = Event.objects.get(kind="link", action="read")
    assert (read.address, read.workspace) == ("192.0.2.7", link.run.workspace)
    assert read.subject == f"run {link.run_id} board meeting"
    assert sum(record.name == audit.name for record in caplog.records) == 5
