"""The release of a scenario applies to its runs, preview and checks, and can be undone."""

import pytest
from django.test import Client
from rest_framework.test import APIClient

from planner.clusters.models import Snapshot
from planner.clusters.services.snapshots import snapshot_create
from planner.errors import Invalid
from planner.runs.services.runs import run_create
from planner.scenarios.models import Change, Scenario
from planner.scenarios.selectors.preview import scenario_preview
from planner.scenarios.selectors.releases import release_used
from planner.scenarios.selectors.review import scenario_problems
from planner.scenarios.services.branches import scenario_branch
from planner.scenarios.services.history import redo, undo
from planner.scenarios.services.scenarios import conf_update, release_update, scenario_create
from tests import factories
from tests.planner.pages import text_of
from tests.scheduler_core.test_lint_conf import LATER

pytestmark = pytest.mark.django_db


@pytest.fixture
def scenario() -> Scenario:
    return factories.scenario()


def set_release(scenario: Scenario, name: str = "v1.14.4") -> Scenario:
    return release_update(scenario=scenario, name=name, expected_revision=scenario.revision)


def snapshot_of_release(release: str) -> Snapshot:
    document = {**factories.scenario().snapshot.content.document(), "release": release}
    return snapshot_create(
        workspace=factories.workspace(), name="older", document=document, scheduler_conf=factories.CONF,
        problems=[], provenance="",
    )  # fmt: skip


def test_a_run_has_the_release_of_its_scenario(scenario: Scenario) -> None:
    assert "release" not in run_create(scenario=scenario).input.document()
    set_release(scenario)
    assert run_create(scenario=scenario).input.document()["release"] == "v1.14.4"


def test_the_imported_release_applies_until_another_is_chosen() -> None:
    scenario = scenario_create(snapshot=snapshot_of_release("v1.14.2"), name="as imported")
    assert release_used(scenario).name == "v1.14.4"
    assert run_create(scenario=scenario).input.document()["release"] == "v1.14.2"
    set_release(scenario, "v1.15.1")
    assert release_used(scenario).name == "v1.15.1"
    assert run_create(scenario=scenario).input.document()["release"] == "v1.15.1"


def test_choosing_a_release_is_a_revision_that_can_be_undone_and_redone(scenario: Scenario) -> None:
    set_release(scenario)
    change = Change.objects.get(scenario=scenario, revision=2)
    assert (change.kind, change.before, change.after) == ("release", "", "v1.14.4")
    undo(scenario=scenario, expected_revision=2)
    scenario.refresh_from_db()
    assert scenario.release == ""
    redo(scenario=scenario, expected_revision=3)
    scenario.refresh_from_db()
    assert scenario.release == "v1.14.4"


def test_a_branch_keeps_the_release(scenario: Scenario) -> None:
    set_release(scenario)
    assert scenario_branch(scenario=scenario, name="b").release == "v1.14.4"
    assert scenario_branch(scenario=scenario, name="c", revision=1).release == ""


def test_an_invalid_release_is_refused_with_the_known_ones(scenario: Scenario) -> None:
    with pytest.raises(Invalid) as refused:
        set_release(scenario, "latest")
    (problem,) = refused.value.problems
    assert problem.path == "release"
    assert "v1.14.4, v1.15.1, v1.16.0-alpha.1" in problem.fix


def test_checks_and_preview_follow_the_release(scenario: Scenario) -> None:
    text, rule, _ = LATER["action of a later release"]
    conf_update(scenario=scenario, text=text, expected_revision=1)
    assert rule not in {problem.rule for problem in scenario_problems(scenario)}
    assert scenario_preview(scenario).error == ""
    set_release(scenario)
    assert rule in {problem.rule for problem in scenario_problems(scenario)}
    assert "gangpreempt" in scenario_preview(scenario).error


def test_the_api_reads_and_sets_the_release(api: APIClient, scenario: Scenario) -> None:
    address = f"/api/v1/scenarios/{scenario.pk}/release/"
    assert api.get(address).json() == {"release": "", "imported": "", "rules_of": "v1.15.1"}
    chosen = api.put(address, {"release": "v1.14.1"}, headers={"If-Match": "1"})
    assert (chosen.status_code, chosen["ETag"]) == (200, '"2"')
    assert chosen.json() == {
        "release": "v1.14.1", "imported": "", "rules_of": "v1.14.4", "problems": [], "notes": [],
    }  # fmt: skip
    refused = api.put(address, {"release": "newest"}, headers={"If-Match": "2"})
    assert refused.status_code == 422
    assert api.put(address, {"release": ""}, headers={"If-Match": "1"}).status_code == 412
    (difference,) = api.get(f"/api/v1/scenarios/{scenario.pk}/diff/").json()["differences"]
    assert (difference["kind"], difference["after"]) == ("release", "v1.14.1")


def test_a_configuration_is_linted_for_the_given_release(api: APIClient) -> None:
    text, rule, _ = LATER["argument of a later release"]
    found = api.post("/api/v1/conf/lint/", {"text": text, "release": "v1.14.4"}).json()["problems"]
    assert rule in {problem["rule"] for problem in found}
    refused = api.post("/api/v1/conf/lint/", {"text": text, "release": "x"})
    assert refused.status_code == 422


def test_the_page_offers_the_known_releases_and_saves_the_choice(browser: Client, scenario: Scenario) -> None:
    address = f"/scenarios/{scenario.pk}/conf/"
    page = text_of(browser.get(address))
    assert "Not imported: v1.15.1 is assumed" in page
    browser.post(f"/scenarios/{scenario.pk}/release/", {"release": "v1.14.4", "revision": "1"})
    page = text_of(browser.get(address))
    assert '<option value="v1.14.4" selected>' in page
    assert "Runs follow the rules of Volcano v1.14.4." in page
    changes = text_of(browser.get(f"/scenarios/{scenario.pk}/changes/"))
    assert "as imported" in changes
