"""Rebases that compare large snapshots: executed by a worker, followed on the page and through the API."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer
from rest_framework.test import APIClient

from planner.accounts.models import Membership, Role, User
from planner.clusters.models import Snapshot
from planner.clusters.services.retention import old_runs_remove
from planner.scenarios.models import Rebase, Scenario
from planner.scenarios.selectors import rebases
from planner.scenarios.services.nodes import nodes_remove, nodes_update
from planner.scenarios.services.scenarios import scenario_remove
from planner.work.execution import work_execute_next
from queuecast.__main__ import main
from tests import factories
from tests.planner.pages import text_of
from tests.worker import do_work

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebases, "AT_ONCE_BYTES", 0)


@pytest.fixture
def scenario(editor: User) -> Scenario:
    """A scenario with node n0 cordoned."""
    scenario = factories.scenario()
    cordon: dict[str, Any] = {"spec": {"unschedulable": True}}
    nodes_update(scenario=scenario, names=["n0"], patch=lambda _: cordon, expected_revision=1)
    return scenario


@pytest.fixture
def newer(scenario: Scenario) -> Snapshot:
    """A later snapshot: a third node, and a label on n0."""
    document = factories.cluster(nodes=3)
    document["nodes"][0]["metadata"]["labels"] = {"rack": "b"}
    return factories.snapshot(document)


@pytest.fixture
def without_n0(scenario: Scenario) -> Snapshot:
    """A later snapshot without the node that the scenario cordons."""
    document = factories.cluster(nodes=3)
    del document["nodes"][0]
    return factories.snapshot(document)


def executed(rebase: Rebase) -> Rebase:
    """Return the rebase after a worker executed it."""
    do_work(rebase)
    return rebase


def requested(browser: Client, scenario: Scenario, snapshot: Snapshot) -> Rebase:
    """Request a rebase on the page; no branch exists yet."""
    seen = {"snapshot": snapshot.pk, "revision": scenario.revision, "name": "later"}
    answer = browser.post(f"/scenarios/{scenario.pk}/carry-over/", seen)
    rebase = Rebase.objects.get()
    assert answer.headers["Location"] == f"/rebases/{rebase.pk}/"
    assert Scenario.objects.count() == 1
    return rebase


def test_a_worker_creates_the_branch_and_the_page_links_to_it(
    browser: Client, scenario: Scenario, newer: Snapshot
) -> None:
    rebase = requested(browser, scenario, newer)
    at = f"/rebases/{rebase.pk}/"
    page = text_of(browser.get(at))
    assert "Waiting for a worker." in page
    assert 'hx-trigger="every 1s"' in page
    assert browser.get(at, {"seen": "queued-0.000--0"}).status_code == 204
    assert at in text_of(browser.get(f"/scenarios/{scenario.pk}/carry-over/"))
    assert executed(rebase).state == "succeeded"
    branch = rebase.branch
    assert branch is not None
    assert (branch.name, branch.parent, branch.snapshot) == ("later", scenario, newer)
    [kept] = branch.object_changes.all()
    assert (kept.key, kept.manifest["spec"]["unschedulable"], kept.manifest["metadata"]["labels"]) == (
        "n0", True, {"rack": "b"},
    )  # fmt: skip
    assert f'href="/scenarios/{branch.pk}/"' in text_of(browser.get(at))
    assert at not in text_of(browser.get(f"/scenarios/{scenario.pk}/carry-over/"))


def test_undecided_conflicts_are_reported_and_no_branch_is_created(
    browser: Client, scenario: Scenario, without_n0: Snapshot
) -> None:
    rebase = executed(requested(browser, scenario, without_n0))
    assert (rebase.state, rebase.branch, Scenario.objects.count()) == ("failed", None, 1)
    page = text_of(browser.get(f"/rebases/{rebase.pk}/"))
    assert "Resolve the problems below in a new preview." in page
    assert "1 problem" in page
    assert "Both sides changed this; choose one." in page
    assert f"/scenarios/{scenario.pk}/carry-over/?snapshot={without_n0.pk}" in page


def test_an_edit_in_the_meantime_fails_the_rebase(
    browser: Client, scenario: Scenario, newer: Snapshot
) -> None:
    rebase = requested(browser, scenario, newer)
    nodes_remove(scenario=scenario, names=["n1"], expected_revision=2)
    assert "changed in the meantime" in executed(rebase).error
    assert (rebase.state, Scenario.objects.count()) == ("failed", 1)


def test_a_rebase_fails_when_its_user_may_no_longer_edit(
    browser: Client, editor: User, scenario: Scenario, newer: Snapshot
) -> None:
    rebase = requested(browser, scenario, newer)
    Membership.objects.filter(user=editor).update(role=Role.VIEWER)
    assert "may no longer edit" in executed(rebase).error
    assert Scenario.objects.count() == 1


def test_a_stale_request_is_refused_at_once(browser: Client, scenario: Scenario, newer: Snapshot) -> None:
    typed = {"snapshot": newer.pk, "revision": "1"}
    assert browser.post(f"/scenarios/{scenario.pk}/carry-over/", typed).status_code == 412
    assert not Rebase.objects.exists()


def test_a_rebase_is_cancelled_and_removed_with_its_scenario(
    browser: Client, scenario: Scenario, newer: Snapshot
) -> None:
    rebase = requested(browser, scenario, newer)
    part = {"HX-Request": "true", "HX-Target": "rebase"}
    page = text_of(browser.post(f"/rebases/{rebase.pk}/cancel/", headers=part))
    assert "This rebase was cancelled" in page
    assert "<html" not in page
    again = Rebase.objects.create(
        workspace=scenario.workspace, scenario=scenario, revision=2, snapshot=newer, name="x"
    )
    scenario_remove(scenario=scenario, expected_revision=2)
    again.refresh_from_db()
    assert again.state == "cancelled"
    assert browser.get(f"/rebases/{again.pk}/").status_code == 404


def test_old_rebases_are_removed(scenario: Scenario, newer: Snapshot) -> None:
    long_ago = timezone.now() - timedelta(days=91)
    facts = {"workspace": scenario.workspace, "scenario": scenario, "snapshot": newer, "revision": 2}
    Rebase.objects.create(**facts, name="old", state="succeeded", finished=long_ago)
    Rebase.objects.create(**facts, name="new", state="succeeded", finished=timezone.now())
    old_runs_remove(keep=timedelta(days=90))
    assert [rebase.name for rebase in Rebase.objects.all()] == ["new"]


def test_an_api_rebase_returns_202_and_is_followed(
    api: APIClient, scenario: Scenario, newer: Snapshot
) -> None:
    where, seen = f"/api/v1/scenarios/{scenario.pk}/rebase/", {"If-Match": "2"}
    payload = {"snapshot": str(newer.pk), "name": "later"}
    tried = api.post(f"{where}?dry_run=1", payload, headers=seen)
    assert (tried.status_code, tried.json()["id"], Rebase.objects.count()) == (200, None, 0)
    answer = api.post(where, payload, headers={**seen, "Idempotency-Key": "once"})
    assert (answer.status_code, answer.json()["state"]) == (202, "queued")
    assert api.post(where, payload, headers={**seen, "Idempotency-Key": "once"}).json() == answer.json()
    assert answer.headers["Location"] == f"/api/v1/rebases/{answer.json()['id']}/"
    executed(Rebase.objects.get())
    body = api.get(answer.headers["Location"], headers={"Prefer": "wait=5"}).json()
    assert (body["state"], body["problems"]) == ("succeeded", [])
    assert Scenario.objects.get(pk=body["branch"]).parent == scenario
    cancelled = api.post(f"{answer.headers['Location']}cancel/").json()
    assert cancelled["state"] == "succeeded", "cancelling a finished rebase has no effect"


def test_choices_are_passed_to_the_worker(api: APIClient, scenario: Scenario, without_n0: Snapshot) -> None:
    decided = {"kind": "nodes", "key": "n0", "field": "", "take": "ours"}
    payload = {"snapshot": str(without_n0.pk), "choices": [decided]}
    answer = api.post(f"/api/v1/scenarios/{scenario.pk}/rebase/", payload, headers={"If-Match": "2"})
    assert answer.status_code == 202
    branch = executed(Rebase.objects.get()).branch
    assert branch is not None
    assert [change.key for change in branch.object_changes.all()] == ["n0"]


@pytest.fixture
def worker() -> Iterator[None]:
    """A worker that executes queued work until the test ends."""
    over = threading.Event()

    def work() -> None:
        from django.db import connection

        while not over.wait(0.05):
            work_execute_next(worker="here", stopping=over)
        connection.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield
    over.set()
    thread.join()


@pytest.mark.usefixtures("worker")
def test_the_rebase_command_waits_for_the_branch(
    live_server: LiveServer,
    editor: User,
    scenario: Scenario,
    without_n0: Snapshot,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = ["--server", live_server.url, "--token", factories.token(editor)]
    arguments = ["scenario", "rebase", str(scenario.pk), str(without_n0.pk)]
    assert main([*arguments, *place]) == 1
    assert main([*arguments, "--take", "theirs", *place]) == 0
    branch = Scenario.objects.get(parent=scenario)
    assert str(branch.pk) in capsys.readouterr().out
    assert not branch.object_changes.exists()
