"""Removing a scenario: the removed objects, and the history that is kept."""

import pytest
from django.test import Client
from rest_framework.test import APIClient

from planner.accounts.models import Event, User
from planner.runs.models import Run
from planner.runs.services.links import link_create
from planner.scenarios.models import Scenario
from planner.scenarios.services.branches import scenario_branch
from planner.scenarios.services.queues import queue_update
from planner.scenarios.services.scenarios import scenario_remove
from tests import factories
from tests.planner.pages import text_of


@pytest.fixture
def scenario(editor: User) -> Scenario:
    """A scenario at revision 2: queue `waits` has weight 5 instead of 1."""
    made = factories.scenario("to go")
    queue_update(scenario=made, name="waits", patch={"weight": 5}, expected_revision=1, user=editor)
    return made


def deletion_status(api: APIClient, scenario: Scenario, seen: int = 2, query: str = "") -> int:
    address = f"/api/v1/scenarios/{scenario.pk}/{query}"
    return api.delete(address, headers={"If-Match": str(seen)}).status_code


def test_removing_a_scenario_removes_its_runs_and_their_links(
    api: APIClient, client: Client, editor: User, scenario: Scenario
) -> None:
    run = factories.run(scenario)
    _, secret = link_create(run=run, user=editor)
    branch = scenario_branch(scenario=scenario, name="stays", user=editor)
    assert deletion_status(api, scenario) == 204
    for address in (f"scenarios/{scenario.pk}/", f"runs/{run.pk}/", f"scenarios/{scenario.pk}/changes/"):
        assert api.get(f"/api/v1/{address}").status_code == 404
    assert [row["id"] for row in api.get("/api/v1/scenarios/").json()["results"]] == [str(branch.pk)]
    assert client.get(f"/shared/{secret}/").status_code == 404
    assert Run.objects.get(pk=run.pk).state == "cancelled"


def test_a_removal_requires_the_current_revision(api: APIClient, scenario: Scenario) -> None:
    assert deletion_status(api, scenario, seen=1) == 412
    assert deletion_status(api, scenario, query="?dry_run=1") == 204
    assert api.get(f"/api/v1/scenarios/{scenario.pk}/").status_code == 200


def test_a_removal_at_the_same_moment_as_another_is_noted_once(scenario: Scenario) -> None:
    for same in (scenario, Scenario.objects.get(pk=scenario.pk)):
        scenario_remove(scenario=same, expected_revision=scenario.revision)
    assert Event.objects.filter(action="removed").count() == 1


def test_the_history_of_the_workspace_keeps_every_change(
    api: APIClient, browser: Client, scenario: Scenario
) -> None:
    deletion_status(api, scenario)
    at = f"/api/v1/workspaces/{scenario.workspace_id}"
    (change,) = api.get(f"{at}/changes/?scenario_name=GO&key=waits&user=editor").json()["results"]
    assert (change["path"], change["before"], change["after"]) == ("queues.waits.weight", 1, 5)
    assert (change["scenario_name"], change["user"]) == ("to go", "editor")
    assert change["scenario_removed"]
    (event,) = api.get(f"{at}/history/?kind=scenario").json()["results"]
    assert (event["actor"], event["action"], event["subject"]) == ("editor", "removed", "to go")
    page = text_of(browser.get(f"/workspaces/{scenario.workspace_id}/history/?words=to+go"))
    assert "queue waits: weight" in page
    assert "1 scenario change" in page
    assert "0 scenario changes" in text_of(
        browser.get(f"/workspaces/{scenario.workspace_id}/history/?words=nobody")
    )


def test_the_page_removes_a_scenario_and_confirms_it(browser: Client, scenario: Scenario) -> None:
    address = f"/scenarios/{scenario.pk}/remove/"
    assert browser.post(address, {"revision": "1"}).status_code == 412
    assert browser.get(f"/scenarios/{scenario.pk}/changes/").status_code == 200
    answer = browser.post(address, {"revision": "2"}, follow=True)
    assert "to go was removed" in text_of(answer)
    assert browser.get(f"/scenarios/{scenario.pk}/").status_code == 404


def test_a_removed_sample_can_be_created_again(browser: Client, db: None) -> None:
    first = browser.post("/sample/").headers["Location"]
    browser.post(f"{first}remove/", {"revision": "1"})
    second = browser.post("/sample/").headers["Location"]
    assert second != first
    assert browser.get(second).status_code == 200


def test_a_change_names_its_user_after_the_account_is_deleted(api: APIClient, scenario: Scenario) -> None:
    colleague = factories.user("colleague")
    queue_update(scenario=scenario, name="busy", patch={"weight": 2}, expected_revision=2, user=colleague)
    colleague.delete()
    at = f"/api/v1/workspaces/{scenario.workspace_id}/changes/"
    assert [row["user"] for row in api.get(at).json()["results"]] == ["colleague", "editor"]
    assert api.get(f"{at}?user=colleague").json()["count"] == 1
