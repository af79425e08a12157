"""Roles: the controls on pages, and the checks in services."""

import pytest
from django.test import Client

from planner.accounts.models import Role, User
from planner.accounts.services.members import member_change, member_remove, member_set
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
