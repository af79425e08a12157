"""What is deleted takes along what hangs on it, which is said first, and leaves what others share."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from planner.models import Blob, Cluster, Membership, Outcome, Role, Run, Scenario, Snapshot, User, Workspace
from planner.selectors.usage import usage
from planner.services.execution import next_execute
from planner.services.retention import old_runs_remove
from planner.services.runs import run_create
from planner.services.scenarios import scenario_create
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


def done(scenario: Scenario, count: int = 1) -> list[Run]:
    """Return finished runs of a scenario, all of the same input."""
    runs = [run_create(scenario=scenario) for _ in range(count)]
    while next_execute(worker="test", stopping=threading.Event()):
        pass
    return [Run.objects.get(pk=run.pk) for run in runs]


def test_a_deleted_run_leaves_what_its_twin_shares(api: APIClient) -> None:
    first, second = done(factories.scenario(), 2)
    assert first.outcome_id == second.outcome_id
    shown = api.get(f"/api/v1/runs/{second.pk}/queues/").json()
    assert api.delete(f"/api/v1/runs/{first.pk}/").status_code == 204
    assert api.get(f"/api/v1/runs/{first.pk}/").status_code == 404
    old_runs_remove(keep=timedelta(days=90))
    assert api.get(f"/api/v1/runs/{second.pk}/queues/").json() == shown
    assert api.get(f"/api/v1/runs/{second.pk}/result/").status_code == 200
    assert api.delete(f"/api/v1/runs/{second.pk}/").status_code == 204
    assert not Outcome.objects.exists()


def test_a_snapshot_says_what_hangs_on_it_and_takes_it_along(api: APIClient, browser: Client) -> None:
    scenario = factories.scenario()
    [run] = done(scenario)
    other = scenario_create(snapshot=factories.snapshot(name="another"), name="stays")
    [kept] = done(other)
    address = f"/api/v1/snapshots/{scenario.snapshot_id}/"
    assert api.delete(f"{address}?dry_run=1").json() == {"scenarios": 1, "runs": 1}
    page = browser.get(f"/snapshots/{scenario.snapshot_id}/delete/").content.decode()
    assert "<li>1 scenarios</li>" in page
    assert "<li>1 runs</li>" in page
    assert Run.objects.filter(pk=run.pk).exists(), "nothing was deleted yet"
    assert browser.post(f"/snapshots/{scenario.snapshot_id}/delete/").status_code == 302
    assert list(Scenario.objects.all()) == [other]
    assert list(Run.objects.all()) == [kept]
    Blob.objects.update(created=timezone.now() - timedelta(days=2))
    old_runs_remove(keep=timedelta(days=90))
    assert api.get(f"/api/v1/runs/{kept.pk}/input/").status_code == 200, "shared bytes stay"
    assert set(Blob.objects.values_list("pk", flat=True)) == {
        kept.input_id, kept.result_id, other.snapshot.content_id,
    }  # fmt: skip


def test_a_cluster_goes_with_its_snapshots(browser: Client) -> None:
    factories.scenario()
    cluster = Cluster.objects.get()
    assert browser.post(f"/clusters/{cluster.pk}/delete/").status_code == 302
    assert not Snapshot.objects.exists()
    assert not Cluster.objects.exists()


def test_only_an_admin_deletes_a_workspace_and_a_viewer_nothing(api: APIClient, client: Client) -> None:
    scenario = factories.scenario()
    address = f"/api/v1/workspaces/{scenario.workspace_id}/"
    assert api.delete(address).status_code == 403
    client.force_login(factories.user("viewer", role=Role.VIEWER))
    assert client.post(f"/snapshots/{scenario.snapshot_id}/delete/").status_code == 403
    client.force_login(factories.user("outsider", role=None))
    assert client.post(f"/snapshots/{scenario.snapshot_id}/delete/").status_code == 404
    client.force_login(factories.user("admin", role=Role.ADMIN))
    assert client.post(f"/workspaces/{scenario.workspace_id}/delete/").status_code == 302
    assert not Workspace.objects.filter(pk=scenario.workspace_id).exists()
    assert not Scenario.objects.exists()
    assert not Membership.objects.exists()


def test_an_account_deletes_itself_unless_a_workspace_would_have_no_admin(client: Client) -> None:
    scenario = factories.scenario()
    admin = factories.user("admin", role=Role.ADMIN)
    client.force_login(admin)
    assert "only admin of default" in client.get("/account/delete/").content.decode()
    client.post("/account/delete/")
    assert User.objects.filter(pk=admin.pk).exists()
    factories.user("second", role=Role.ADMIN)
    assert client.post("/account/delete/").status_code == 302
    assert not User.objects.filter(pk=admin.pk).exists()
    assert Scenario.objects.filter(pk=scenario.pk).exists(), "what it made stays"
    assert client.get("/account/").status_code == 302


def test_the_oldest_runs_go_when_a_workspace_has_too_much_and_each_scenario_keeps_its_last(
    settings: Any,
) -> None:
    scenario = factories.scenario()
    runs = []
    for number in range(4):
        scenario.name = f"what if {number}"
        scenario.save(update_fields=["name"])
        runs += done(scenario)
    all_of_it = usage(scenario.workspace).runs
    settings.KEEP_RUNS_MB = all_of_it * 0.4 / 1e6
    old_runs_remove(keep=timedelta(days=90))
    left = list(Run.objects.order_by("created").values_list("pk", flat=True))
    assert left == [runs[-1].pk]
    assert 0 < usage(scenario.workspace).runs < all_of_it
