"""Deletion announces and removes dependent objects, and keeps objects that others share."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer
from rest_framework.test import APIClient

from planner.accounts.models import Membership, Role, User, Workspace
from planner.accounts.selectors.workspaces import events
from planner.accounts.services.invitations import invitation_offer
from planner.clusters.models import Blob, Cluster, Snapshot
from planner.clusters.selectors.usage import usage
from planner.clusters.services.deletion import account_delete
from planner.clusters.services.retention import old_runs_remove
from planner.runs.models import Outcome, Run
from planner.runs.services.runs import run_create
from planner.scenarios.models import Scenario
from planner.scenarios.services.scenarios import scenario_create
from queuecast.__main__ import main
from tests import factories
from tests.planner.pages import text_of
from tests.worker import do_all_work

pytestmark = pytest.mark.django_db(transaction=True)

CONFIRMED = {"confirmation": "a-long-test-password"}


def finished_runs(scenario: Scenario, count: int = 1) -> list[Run]:
    """Return finished runs of a scenario, all of the same input."""
    runs = [run_create(scenario=scenario) for _ in range(count)]
    do_all_work()
    return [Run.objects.get(pk=run.pk) for run in runs]


def test_deleting_a_run_keeps_the_results_it_shares(api: APIClient) -> None:
    first, second = finished_runs(factories.scenario(), 2)
    assert first.outcome_id == second.outcome_id
    shown = api.get(f"/api/v1/runs/{second.pk}/queues/").json()
    assert api.delete(f"/api/v1/runs/{first.pk}/").status_code == 204
    assert api.get(f"/api/v1/runs/{first.pk}/").status_code == 404
    old_runs_remove(keep=timedelta(days=90))
    assert api.get(f"/api/v1/runs/{second.pk}/queues/").json() == shown
    assert api.get(f"/api/v1/runs/{second.pk}/result/").status_code == 200
    assert api.delete(f"/api/v1/runs/{second.pk}/").status_code == 204
    assert not Outcome.objects.exists()


def test_deleting_a_snapshot_lists_and_removes_its_dependents(api: APIClient, browser: Client) -> None:
    scenario = factories.scenario()
    [run] = finished_runs(scenario)
    other = scenario_create(snapshot=factories.snapshot(name="another"), name="stays")
    [kept] = finished_runs(other)
    address = f"/api/v1/snapshots/{scenario.snapshot_id}/"
    assert api.delete(f"{address}?dry_run=1").json() == {"scenarios": 1, "runs": 1}
    page = text_of(browser.get(f"/snapshots/{scenario.snapshot_id}/delete/"))
    assert "<li>scenarios: 1</li>" in page
    assert "<li>runs: 1</li>" in page
    assert Run.objects.filter(pk=run.pk).exists(), "the confirmation page deletes nothing"
    assert browser.post(f"/snapshots/{scenario.snapshot_id}/delete/").status_code == 302
    assert list(Scenario.objects.all()) == [other]
    assert list(Run.objects.all()) == [kept]
    Blob.objects.update(created=timezone.now() - timedelta(days=2))
    old_runs_remove(keep=timedelta(days=90))
    assert api.get(f"/api/v1/runs/{kept.pk}/input/").status_code == 200, "shared bytes stay"
    assert set(Blob.objects.values_list("pk", flat=True)) == {
        kept.input_id, kept.result_id, other.snapshot.content_id,
    }  # fmt: skip


def test_deleting_a_cluster_removes_its_snapshots(browser: Client) -> None:
    factories.scenario()
    cluster = Cluster.objects.get()
    assert browser.post(f"/clusters/{cluster.pk}/delete/").status_code == 302
    assert not Snapshot.objects.exists()
    assert not Cluster.objects.exists()


def test_only_an_admin_deletes_a_workspace_and_a_viewer_deletes_nothing(
    api: APIClient, client: Client
) -> None:
    scenario = factories.scenario()
    address = f"/api/v1/workspaces/{scenario.workspace_id}/"
    assert api.delete(address).status_code == 403
    client.force_login(factories.user("viewer", role=Role.VIEWER))
    page = f"/snapshots/{scenario.snapshot_id}/delete/"
    assert "requires the role editor; you are viewer." in (shown := client.get(page).content.decode())
    assert "Delete</button>" not in shown
    assert client.post(page).status_code == 403
    client.force_login(factories.user("editor", role=Role.EDITOR))
    assert "Delete</button>" in client.get(page).content.decode()
    assert (
        "requires the role admin; you are editor."
        in client.get(f"/workspaces/{scenario.workspace_id}/delete/").content.decode()
    )
    client.force_login(factories.user("outsider", role=None))
    assert client.post(f"/snapshots/{scenario.snapshot_id}/delete/").status_code == 404
    client.force_login(factories.user("admin", role=Role.ADMIN))
    assert client.post(f"/workspaces/{scenario.workspace_id}/delete/").status_code == 302
    assert not Workspace.objects.filter(pk=scenario.workspace_id).exists()
    assert not Scenario.objects.exists()
    assert not Membership.objects.exists()


def test_an_account_is_deleted_unless_a_workspace_would_lose_its_only_admin(client: Client) -> None:
    scenario = factories.scenario()
    admin = factories.user("admin", role=Role.ADMIN)
    client.force_login(admin)
    assert "only admin of default" in text_of(client.get("/account/delete/"))
    assert client.post("/account/delete/", CONFIRMED).status_code == 422
    assert User.objects.filter(pk=admin.pk).exists()
    factories.user("second", role=Role.ADMIN)
    assert client.post("/account/delete/", CONFIRMED).status_code == 302
    assert not User.objects.filter(pk=admin.pk).exists()
    assert Scenario.objects.filter(pk=scenario.pk).exists(), "its scenarios stay"
    assert client.get("/account/").status_code == 302


def test_a_dry_run_lists_the_dependents_before_a_cluster_is_deleted(api: APIClient) -> None:
    scenario = factories.scenario()
    [run] = finished_runs(scenario)
    [row] = api.get("/api/v1/clusters/").json()["results"]
    address = f"/api/v1/clusters/{row['id']}/"
    assert api.get(address).json() == row
    assert [one["id"] for one in api.get(f"/api/v1/snapshots/?cluster={row['id']}").json()["results"]] == [
        str(scenario.snapshot_id)
    ]
    assert api.delete(f"{address}?dry_run=1").json() == {"snapshots": 1, "scenarios": 1, "runs": 1}
    assert Run.objects.filter(pk=run.pk).exists()
    assert api.delete(address).status_code == 204
    assert api.get(address).status_code == 404
    assert not Snapshot.objects.exists()


def test_the_delete_command_lists_the_dependents_and_deletes(
    live_server: LiveServer, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = factories.scenario()
    token = factories.token(factories.user("editor"))
    arguments = ["delete", "snapshot", scenario.snapshot.name, "--server", live_server.url, "--token", token]
    assert main([*arguments, "--dry-run"]) == 0
    assert "would be deleted. With it: scenarios: 1" in capsys.readouterr().out
    assert Snapshot.objects.exists()
    assert main(arguments) == 0
    assert not Snapshot.objects.exists()
    assert main(arguments) == 2, "the snapshot no longer exists"


def test_the_history_names_what_was_deleted(browser: Client) -> None:
    [run] = finished_runs(factories.scenario())
    assert browser.post(f"/runs/{run.pk}/delete/").status_code == 302
    assert events(factories.workspace()).get(action="deleted").subject == f"run {run.pk}"
    page = text_of(browser.get(f"/workspaces/{factories.workspace().pk}/history/"))
    assert f"run {run.pk}" in page
    assert f"/runs/{run.pk}/" not in page
    assert "deleted scenario" not in page


def test_the_history_of_a_workspace_has_the_deleted_account_of_a_member() -> None:
    factories.user("admin", role=Role.ADMIN)
    workspace, leaver = factories.workspace(), factories.user("leaver", role=Role.ADMIN)
    invitation_offer(workspace=workspace, username="invited", role=Role.VIEWER, user=leaver)
    account_delete(user=leaver, confirmation="a-long-test-password", address="")
    found = events(workspace).filter(action="removed").order_by("created")
    assert [(event.actor, event.kind, event.subject, event.before) for event in found] == [
        ("leaver", "invitation", "invited", ""),
        ("leaver", "member", "leaver", "admin"),
    ]
    assert not workspace.invitations.exists()


def test_deleting_an_account_through_the_api_requires_its_password() -> None:
    factories.user("admin", role=Role.ADMIN)
    leaver = factories.user("leaver")
    reads, all_of_it = (
        APIClient(HTTP_AUTHORIZATION=f"Token {factories.token(leaver, scope)}")
        for scope in (Role.VIEWER, Role.ADMIN)
    )
    address = "/api/v1/account/"
    assert reads.delete(address, CONFIRMED, format="json").status_code == 403
    assert all_of_it.delete(f"{address}?dry_run=1").json() == {"memberships": 1, "API tokens": 2}
    answer = all_of_it.delete(address, {"confirmation": "wrong"}, format="json")
    assert (answer.status_code, answer.json()["problems"][0]["path"]) == (422, "confirmation")
    assert all_of_it.delete(address).status_code == 422
    assert User.objects.filter(pk=leaver.pk).exists()
    assert all_of_it.delete(address, CONFIRMED, format="json").status_code == 204
    assert not User.objects.filter(pk=leaver.pk).exists()
    assert all_of_it.get("/api/v1/tokens/").status_code == 401


def test_an_account_without_a_password_confirms_deletion_with_its_name(client: Client) -> None:
    factories.user("admin", role=Role.ADMIN)
    leaver = factories.user("leaver")
    leaver.set_unusable_password()
    leaver.save()
    client.force_login(leaver)
    assert "Your user name, to confirm" in text_of(client.get("/account/delete/"))
    assert client.post("/account/delete/", {"confirmation": "someone"}).status_code == 422
    assert client.post("/account/delete/", {"confirmation": "leaver"}).status_code == 302
    assert not User.objects.filter(pk=leaver.pk).exists()


def test_password_guesses_on_the_account_deletion_page_are_throttled(client: Client) -> None:
    factories.user("admin", role=Role.ADMIN)
    client.force_login(factories.user("leaver"))
    guesses = [{"confirmation": f"guess {number}"} for number in range(6)]
    statuses = [client.post("/account/delete/", guess).status_code for guess in guesses]
    assert statuses == [422] * 5 + [429]
    paused = client.post("/account/delete/", CONFIRMED)
    assert (paused.status_code, "Retry-After" in paused.headers) == (429, True)


def test_the_run_page_links_to_its_deletion_except_for_viewers(client: Client) -> None:
    [run] = finished_runs(factories.scenario())
    for role, leads in ((Role.EDITOR, True), (Role.VIEWER, False)):
        client.force_login(factories.user(role.value, role=role))
        page = text_of(client.get(f"/runs/{run.pk}/"))
        assert (f'href="/runs/{run.pk}/delete/"' in page) is leads, role


def test_the_oldest_runs_above_the_workspace_quota_are_removed_but_not_the_last(
    settings: Any,
) -> None:
    scenario = factories.scenario()
    runs = []
    for number in range(4):
        scenario.name = f"what if {number}"
        scenario.save(update_fields=["name"])
        runs += finished_runs(scenario)
    all_of_it = usage(scenario.workspace).runs
    settings.KEEP_RUNS_MB = all_of_it * 0.4 / 1e6
    old_runs_remove(keep=timedelta(days=90))
    left = list(Run.objects.order_by("created").values_list("pk", flat=True))
    assert left == [runs[-1].pk]
    assert 0 < usage(scenario.workspace).runs < all_of_it
