"""Which old objects are removed, and which are kept whatever their age."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone
from knox.models import AuthToken

from planner.api.models import IdempotencyKey
from planner.clusters.models import Blob
from planner.clusters.services.retention import Removed, old_runs_remove
from planner.runs.models import Run
from tests import factories

pytestmark = pytest.mark.django_db

LONG_AGO = timedelta(days=100)
KEEP = timedelta(days=90)


def finished(run: Run, *, ago: timedelta) -> Run:
    moment = timezone.now() - ago
    Run.objects.filter(pk=run.pk).update(state="succeeded", created=moment, finished=moment)
    Blob.objects.update(created=timezone.now() - timedelta(days=2))
    return run


def test_old_runs_are_removed_with_their_blobs_and_recent_ones_stay() -> None:
    scenario = factories.scenario()
    old = finished(factories.run(scenario, cycles=2), ago=LONG_AGO)
    young = finished(factories.run(scenario, cycles=3), ago=timedelta(days=1))
    assert old_runs_remove(keep=KEEP) == Removed(
        runs=1, forecasts=0, experiments=0, imports=0, blobs=1, keys=0, tokens=0
    )
    assert list(Run.objects.all()) == [young]
    assert not Blob.objects.filter(pk=old.input_id).exists()
    assert Blob.objects.filter(pk__in=[young.input_id, scenario.snapshot.content_id]).count() == 2


def test_the_last_run_and_unfinished_runs_of_a_scenario_are_kept() -> None:
    alone = finished(factories.run(), ago=LONG_AGO)
    scenario = factories.scenario("another")
    waiting = factories.run(scenario)
    Run.objects.filter(pk=waiting.pk).update(created=timezone.now() - 2 * LONG_AGO)
    last = finished(factories.run(scenario, cycles=2), ago=LONG_AGO)
    assert old_runs_remove(keep=KEEP).runs == 0
    assert set(Run.objects.all()) == {alone, waiting, last}


def test_a_blob_shared_by_two_runs_stays_with_the_second() -> None:
    scenario = factories.scenario()
    first = finished(factories.run(scenario), ago=LONG_AGO)
    second = finished(factories.run(scenario), ago=timedelta(days=1))
    assert first.input_id == second.input_id
    assert old_runs_remove(keep=KEEP) == Removed(
        runs=1, forecasts=0, experiments=0, imports=0, blobs=0, keys=0, tokens=0
    )
    second.refresh_from_db()
    assert second.input.content()


def test_a_recent_blob_without_an_owner_is_kept() -> None:
    lonely = Blob.of(b"lonely").keep()
    assert old_runs_remove(keep=KEEP).blobs == 0
    Blob.objects.filter(pk=lonely.pk).update(created=timezone.now() - timedelta(days=2))
    Blob.of(b"lonely").keep()
    assert old_runs_remove(keep=KEEP).blobs == 0, "storing a blob again renews its age"
    Blob.objects.filter(pk=lonely.pk).update(created=timezone.now() - timedelta(days=2))
    assert old_runs_remove(keep=KEEP).blobs == 1


def test_expired_tokens_and_idempotency_keys_are_removed() -> None:
    account = factories.user()
    AuthToken.objects.create(account)
    AuthToken.objects.create(account, expiry=timedelta(seconds=-1))
    IdempotencyKey.objects.create(caller="a", key="new", fingerprint="f")
    used = IdempotencyKey.objects.create(caller="a", key="used", fingerprint="f")
    IdempotencyKey.objects.filter(pk=used.pk).update(created=timezone.now() - timedelta(days=2))
    assert old_runs_remove(keep=KEEP) == Removed(
        runs=0, forecasts=0, experiments=0, imports=0, blobs=0, keys=1, tokens=1
    )


def test_many_old_runs_are_removed_in_batches(monkeypatch) -> None:
    monkeypatch.setattr("planner.clusters.services.retention.AT_ONCE", 2)
    scenario = factories.scenario()
    for _ in range(6):
        finished(factories.run(scenario), ago=LONG_AGO)
    assert old_runs_remove(keep=KEEP).runs == 5


def test_the_tidy_command_prints_what_it_removed(capsys) -> None:
    scenario = factories.scenario()
    for _ in range(2):
        finished(factories.run(scenario), ago=LONG_AGO)
    call_command("tidy", days=200)
    call_command("tidy", days=90)
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()] == [
        "Removed 0 runs",
        "Removed 1 runs",
    ]
