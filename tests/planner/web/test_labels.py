"""Names, notes, tags and archiving of scenarios and runs, and their lists on the home page."""

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from planner.accounts.models import Role
from planner.runs.models import Run
from planner.runs.selectors.verdicts import run_verdict
from planner.scenarios.models import Scenario
from planner.scenarios.services.branches import scenario_branch
from planner.scenarios.services.queues import queue_update
from planner.web.selectors.home import ScenarioLine, run_lines, scenario_lines, scenario_tree
from planner.web.templatetags.quantities import counted
from planner.web.views.listing import ROWS_A_PAGE
from tests import factories
from tests.planner.pages import text_of, visible_text

pytestmark = pytest.mark.django_db


def test_labels_are_saved_without_a_new_revision(api: APIClient, browser: Client) -> None:
    scenario = factories.scenario()
    body = {"name": " More GPUs ", "note": "For the review.", "tags": ["q3", "review", "q3"]}
    answer = api.patch(f"/api/v1/scenarios/{scenario.pk}/", body)
    assert answer.status_code == 200, answer.content
    data = answer.json()
    assert (data["name"], data["note"], data["tags"]) == ("More GPUs", "For the review.", ["q3", "review"])
    assert data["revision"] == scenario.revision
    page = text_of(browser.get(f"/scenarios/{scenario.pk}/"))
    assert "For the review." in page
    assert 'href="/?tag=review"' in page


def test_every_invalid_label_is_reported_at_once_and_nothing_is_saved(api: APIClient) -> None:
    scenario = factories.scenario()
    body = {"name": "", "note": "x" * 5000, "tags": ["no spaces", "-bad"]}
    answer = api.patch(f"/api/v1/scenarios/{scenario.pk}/", body)
    assert answer.status_code == 422
    assert [found["path"] for found in answer.json()["problems"]] == ["name", "note", "tags", "tags"]
    scenario.refresh_from_db()
    assert (scenario.name, scenario.note, scenario.tags) == ("what if", "", [])


@pytest.mark.parametrize("kind", ["scenarios", "runs"])
def test_the_label_form_shows_every_error_and_keeps_the_input(browser: Client, kind: str) -> None:
    thing = factories.scenario() if kind == "scenarios" else factories.run()
    sent = {"name": "a" * 300, "note": "For the review.", "tags": "!, q3"}
    answer = browser.post(f"/{kind}/{thing.pk}/labels/", sent)
    assert answer.status_code == 422
    form = answer.context["labels"]
    assert form.errors["name"] == ["The name has 300 characters; at most 253 are allowed. Shorten it."]
    [tag] = form.errors["tags"]
    assert tag.startswith("'!' is not a valid tag. Use up to 40 lower-case letters")
    page = text_of(answer)
    assert "is not a valid tag" in page
    assert 'value="!, q3"' in page
    assert ">\nFor the review.</textarea>" in page
    thing.refresh_from_db()
    assert (thing.note, thing.tags) == ("", [])


def test_one_button_archives_and_restores_a_scenario(browser: Client) -> None:
    scenario = factories.scenario(name="kept")
    address = f"/scenarios/{scenario.pk}/labels/"
    for archived in (True, False):
        assert browser.post(address, {"archived": str(archived).lower()}).status_code == 302
        scenario.refresh_from_db()
        assert (bool(scenario.archived), scenario.name) == (archived, "kept")


def test_a_viewer_cannot_edit_labels(client: Client) -> None:
    run = factories.run()
    client.force_login(factories.user("viewer", role=Role.VIEWER))
    assert client.post(f"/runs/{run.pk}/labels/", {"name": "mine"}).status_code == 403
    assert "Name, note and tags" not in text_of(client.get(f"/runs/{run.pk}/"))


def test_lists_are_filtered_by_tag_and_hide_archived_scenarios(api: APIClient, browser: Client) -> None:
    first, second = factories.scenario(name="first"), factories.scenario(name="second")
    api.patch(f"/api/v1/scenarios/{first.pk}/", {"tags": ["prod"]})
    api.patch(f"/api/v1/scenarios/{second.pk}/", {"tags": ["production"], "archived": True})
    assert [row["name"] for row in api.get("/api/v1/scenarios/?tag=prod").json()["results"]] == ["first"]
    assert [row["name"] for row in api.get("/api/v1/scenarios/?archived=true").json()["results"]] == [
        "second"
    ]
    home = text_of(browser.get("/"))
    assert ">first</a>" in home
    assert ">second</a>" not in home
    assert ">second</a>" in text_of(browser.get("/?archived=true"))
    assert "No scenario here" in text_of(browser.get("/?tag=nothing"))


def lines_of(scenario: Scenario) -> list[ScenarioLine]:
    """Return the list of scenarios in the workspace of a scenario."""
    user = factories.user()
    return scenario_lines(user, scenario_tree(user, scenario.workspace))


def test_the_home_page_paginates_scenarios_with_a_bounded_number_of_queries(
    browser: Client, django_assert_max_num_queries: Any
) -> None:
    first = factories.scenario(name="first of many")
    user = factories.user()
    for number in range(ROWS_A_PAGE):
        scenario_branch(scenario=first, name=f"branch {number}", user=user)
    with django_assert_max_num_queries(12):
        page = text_of(browser.get("/"))
    assert page.count('class="grid__name grid__wide branch') == ROWS_A_PAGE
    assert f"1 to {ROWS_A_PAGE} of {ROWS_A_PAGE + 1} scenarios" in visible_text(page)
    assert text_of(browser.get("/?page=2")).count('class="grid__name grid__wide branch') == 1


def test_branches_are_listed_below_their_parent_with_their_changes(browser: Client) -> None:
    parent = factories.scenario(name="as it is")
    branch = scenario_branch(scenario=parent, name="waits gets more", user=factories.user())
    queue_update(scenario=branch, name="waits", patch={"weight": 2}, expected_revision=1)
    queue_update(scenario=branch, name="waits", patch={"weight": 4}, expected_revision=2)
    deeper = scenario_branch(scenario=branch, name="a leaf", user=factories.user())
    lines = lines_of(parent)
    assert [(line.scenario.pk, line.depth) for line in lines] == [
        (parent.pk, 0),
        (branch.pk, 1),
        (deeper.pk, 2),
    ]
    assert lines[1].changed == ["queue waits: weight 1 → 4"]
    assert "queue waits: weight 1 → 4" in text_of(browser.get("/"))


def test_reverted_changes_are_not_listed(browser: Client) -> None:
    scenario = factories.scenario()
    queue_update(scenario=scenario, name="waits", patch={"weight": 4}, expected_revision=1)
    queue_update(scenario=scenario, name="waits", patch={"weight": 1}, expected_revision=2)
    [line] = lines_of(scenario)
    assert line.changed == []


@pytest.mark.django_db(transaction=True)
def test_the_home_page_shows_the_outcome_of_a_run(api: APIClient, browser: Client, finished_run: Run) -> None:
    counts = api.get(f"/api/v1/runs/{finished_run.pk}/").json()["counts"]
    page = visible_text(text_of(browser.get("/")))
    assert counts["victims_committed"] > 0
    assert f"{counted(counts['victims_committed'], 'pod')} evicted" in page
    assert "Succeeded" not in page
    api.patch(f"/api/v1/runs/{finished_run.pk}/", {"name": "reclaim for waits"})
    assert "reclaim for waits" in text_of(browser.get("/"))


@pytest.mark.django_db(transaction=True)
def test_the_home_page_shows_the_verdict_on_a_run(browser: Client, finished_run: Run) -> None:
    [line] = run_lines(factories.user(), finished_run.workspace)
    actual = run_verdict(finished_run, None)
    assert actual is not None
    assert line.verdict == actual.verdict
    starved = actual.verdict.counts["starved"]
    actual = f"{counted(starved, 'queue')} starved" if starved else "no queue starved"
    assert actual in visible_text(text_of(browser.get("/")))
