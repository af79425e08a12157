"""Roles: the controls on pages, and the checks in services."""

import html
import re

import pytest
from django.test import Client

from planner.accounts.models import Role, User
from planner.accounts.services.members import member_change, member_remove, member_set
from planner.accounts.services.workspaces import workspace_create
from planner.clusters.services.samples import sample_load
from planner.errors import Invalid, RoleTooLow
from planner.runs.models import Run
from planner.scenarios.models import Scenario
from planner.scenarios.services.scenarios import conf_update
from tests import factories


@pytest.fixture
def scenario(db: None) -> Scenario:
    return factories.scenario()


def pages(run: Run) -> list[str]:
    return [f"/scenarios/{run.scenario_id}/", f"/runs/{run.pk}/", f"/runs/{run.pk}/queues/waits/"]


def log_in(client: Client, name: str, role: Role | None) -> User:
    account = factories.user(name, role=role)
    client.force_login(account)
    return account


def test_scenarios_of_another_workspace_are_not_listed(client: Client, finished_run: Run) -> None:
    log_in(client, "outsider", None)
    assert "what if" not in client.get("/").content.decode()


def test_a_viewer_reads_every_page_without_controls_for_changes(client: Client, finished_run: Run) -> None:
    log_in(client, "viewer", Role.VIEWER)
    for page in pages(finished_run):
        answer = client.get(page)
        assert answer.status_code == 200
        content = answer.content.decode()
        for offer in ("Run this scenario</button>", "Run it again", "Save configuration", "data-edit"):
            assert offer not in content


def test_no_page_asks_a_viewer_to_do_what_only_editors_may_do(client: Client, finished_run: Run) -> None:
    log_in(client, "viewer", Role.VIEWER)
    scenario = factories.scenario(name="not run")
    for page in (
        "/",
        "/traces/",
        f"/scenarios/{scenario.pk}/",
        f"/scenarios/{scenario.pk}/forecasts/",
        f"/scenarios/{scenario.pk}/experiments/",
        f"/runs/{finished_run.pk}/fit/",
        f"/runs/{finished_run.pk}/upgrade/",
    ):
        content = " ".join(client.get(page).content.decode().split())
        for request in (
            "Press “",
            "below, ",
            "below: ",
            "Open the sample",
            "Import a cluster",
            "> Describe a pod",
        ):
            assert request not in content, (page, request)
        assert "ditor of the workspace can" in content or page == "/", page


def test_a_viewer_who_may_import_nowhere_reads_why_instead_of_a_form(
    client: Client, scenario: Scenario
) -> None:
    log_in(client, "viewer", Role.VIEWER)
    page = client.get("/import/").content.decode()
    assert "requires the role editor; you are viewer." in page
    assert "Preview</button>" not in page
    assert client.post("/import/", {"documents": "kind: Queue"}).status_code == 403
    rebase = " ".join(client.get(f"/scenarios/{scenario.pk}/carry-over/").content.decode().split())
    assert "An editor of the workspace can import the cluster again under the name" in rebase
    log_in(client, "outsider", None)
    assert "you have no role here" in client.get("/import/").content.decode()
    log_in(client, "editor", Role.EDITOR)
    assert "Preview</button>" in client.get("/import/").content.decode()


def test_the_sample_shows_a_viewer_what_can_be_read(client: Client, db: None) -> None:
    scenario = sample_load(workspace=factories.workspace())
    viewer = log_in(client, "viewer", Role.VIEWER)
    page = client.get(f"/scenarios/{scenario.pk}/").content.decode()
    assert "The sample in five steps" not in page
    assert "create a workspace of your own" in page
    asked = re.search(r'href="(/scenarios/[^"]+/reach/\?figure=deserved[^"]+)"', page)
    assert asked
    answer = " ".join(client.get(html.unescape(asked[1])).content.decode().split())
    assert "weight of agents" in answer
    workspace_create(user=viewer, name="of my own")
    page = client.get(f"/scenarios/{scenario.pk}/").content.decode()
    assert "it opens in a workspace that you may edit" in page
    log_in(client, "editor", Role.EDITOR)
    assert "The sample in five steps" in client.get(f"/scenarios/{scenario.pk}/").content.decode()


def test_services_check_roles_themselves(scenario: Scenario) -> None:
    for account in (factories.user("viewer", role=Role.VIEWER), factories.user("outsider", role=None)):
        with pytest.raises(RoleTooLow):
            conf_update(scenario=scenario, text="", expected_revision=1, user=account)


def test_a_workspace_keeps_at_least_one_admin(scenario: Scenario) -> None:
    admin = factories.user("admin", role=Role.ADMIN)
    with pytest.raises(Invalid):
        member_change(membership=admin.memberships.get(), role=Role.VIEWER, user=admin)
    with pytest.raises(Invalid):
        member_remove(membership=admin.memberships.get(), user=admin)
    factories.user("second", role=Role.ADMIN)
    member_remove(membership=admin.memberships.get(), user=admin)
    assert not admin.memberships.exists()


def test_an_unknown_account_cannot_become_a_member(scenario: Scenario) -> None:
    with pytest.raises(Invalid):
        member_set(workspace=scenario.workspace, username="nobody", role=Role.VIEWER)
