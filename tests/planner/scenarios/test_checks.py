"""Checks and exports of a scenario."""

import pytest
import yaml
from django.test import Client
from rest_framework.test import APIClient

import manifests
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.export import scenario_export
from planner.scenarios.selectors.review import scenario_problems
from planner.scenarios.services.queues import queue_create, queue_remove, queue_update
from planner.scenarios.services.scenarios import conf_update
from planning.review import conf_findings
from scheduler_core.conf import DEFAULT_CONF
from scheduler_core.release import DEFAULT_RELEASE
from tests import factories
from tests.planner.pages import text_of

pytestmark = pytest.mark.django_db

BYPASSING = """\
# ours
actions: "reclaim, allocate, backfill"
tiers:
- plugins:
  - name: gang
- plugins:
  - name: predicates
  - name: proportion
"""


@pytest.fixture
def scenario() -> Scenario:
    return factories.scenario()


def edit(scenario: Scenario, name: str, **patch: object) -> None:
    queue_update(scenario=scenario, name=name, patch=patch, expected_revision=scenario.revision)


def test_an_invalid_field_is_an_error_with_its_queue_and_both_amounts(scenario: Scenario) -> None:
    edit(scenario, "waits", deserved={"cpu": "8"}, capability={"cpu": "4"})
    first = scenario_problems(scenario)[0]
    assert (first.rule, first.severity, first.queue) == ("queue.deserved_above_capability", "error", "waits")
    assert (first.field, first.actual, first.limit) == ("spec.deserved.cpu", 8, 4)
    assert first.fix == "write at most 4"


def test_a_configuration_finding_has_its_line(scenario: Scenario) -> None:
    conf_update(scenario=scenario, text=BYPASSING, expected_revision=1)
    found = next(one for one in scenario_problems(scenario) if one.rule == "conf.reclaim_bypasses_quota")
    assert (found.document, found.line) == ("volcano-scheduler.conf", 6)


def test_the_api_lists_the_problems_of_the_page(scenario: Scenario, api: APIClient) -> None:
    edit(scenario, "waits", deserved={"cpu": "8"}, capability={"cpu": "4"})
    body = api.get(f"/api/v1/scenarios/{scenario.pk}/validate/").json()
    assert [one["rule"] for one in body["problems"]] == [one.rule for one in scenario_problems(scenario)]


def test_the_query_count_does_not_grow_with_the_queues(
    scenario: Scenario, django_assert_num_queries: object
) -> None:
    for number in range(5):
        queue_create(scenario=scenario, spec={"name": f"q{number}"}, expected_revision=scenario.revision)
    scenario_problems(scenario)
    with django_assert_num_queries(2):  # type: ignore[operator]
        scenario_problems(scenario)


def test_a_configuration_is_linted_without_being_saved(api: APIClient) -> None:
    body = api.post("/api/v1/conf/lint/", {"text": BYPASSING}).json()
    assert "conf.reclaim_bypasses_quota" in [one["rule"] for one in body["problems"]]
    reclaimable = next(one for one in body["questions"] if one["point"] == "reclaimable")
    assert [(one["tier"], one["plugin"]) for one in reclaimable["plugins"]] == [
        (1, "gang"),
        (2, "proportion"),
    ]
    assert reclaimable["decides"] == 1


def test_an_unreadable_configuration_is_reported_with_its_line(api: APIClient) -> None:
    body = api.post("/api/v1/conf/lint/", {"text": "actions: [\n"}).json()
    assert [one["severity"] for one in body["problems"]] == ["error"]
    assert body["problems"][0]["line"] is not None
    assert body["questions"] == []


def test_an_empty_configuration_is_linted_as_the_volcano_default() -> None:
    assert {one.severity for one in conf_findings("", DEFAULT_RELEASE)} <= {"remark"}


def test_an_unchanged_scenario_exports_no_steps(scenario: Scenario) -> None:
    export = scenario_export(scenario)
    assert (export.steps, export.changed, export.script, export.impossible) == ([], "", "", [])
    assert "name: waits" in export.whole


def test_the_exported_yaml_reads_back_as_the_changes(scenario: Scenario) -> None:
    edit(scenario, "waits", weight=7)
    queue_create(scenario=scenario, spec={"name": "team"}, expected_revision=scenario.revision)
    queue_create(
        scenario=scenario, spec={"name": "below", "parent": "team"}, expected_revision=scenario.revision
    )
    conf_update(scenario=scenario, text=BYPASSING, expected_revision=scenario.revision)
    export = scenario_export(scenario)
    reading = manifests.read([("export.yaml", export.changed.encode())])
    names = [queue["metadata"]["name"] for queue in reading.document["queues"]]
    assert sorted(names) == ["below", "team", "waits"]
    assert names.index("team") < names.index("below")
    assert all("status" not in queue for queue in reading.document["queues"])
    assert reading.scheduler_conf_text == BYPASSING


def test_deletions_and_state_changes_are_exported_as_a_script(scenario: Scenario) -> None:
    queue_remove(scenario=scenario, name="waits", subtree=False, expected_revision=scenario.revision)
    edit(scenario, "busy", state="Closed")
    export = scenario_export(scenario)
    assert "waits" not in export.changed
    assert export.script.splitlines()[2:] == [
        "kubectl delete queue -- waits",
        "vcctl queue operate --name=busy --action=close",
    ]


def test_an_emptied_configuration_is_exported_as_the_default_of_volcano(scenario: Scenario) -> None:
    conf_update(scenario=scenario, text="", expected_revision=1)
    (exported,) = yaml.safe_load_all(scenario_export(scenario).changed)
    assert yaml.safe_load(exported["data"]["volcano-scheduler.conf"]) == DEFAULT_CONF


def test_the_export_page_says_which_fields_apply_may_leave(scenario: Scenario, browser: Client) -> None:
    edit(scenario, "waits", weight=7)
    address = f"/scenarios/{scenario.pk}/export/"
    assert "removes a field only if" not in text_of(browser.get(address))
    edit(scenario, "waits", reclaimable=None)
    page = text_of(browser.get(address))
    assert "removes spec.reclaimable" in page
    assert "removes a field only if an earlier" in page


def test_the_api_returns_the_export_of_the_page(scenario: Scenario, api: APIClient) -> None:
    edit(scenario, "waits", weight=7)
    body = api.get(f"/api/v1/scenarios/{scenario.pk}/export/").json()
    assert body["steps"] == [{"verb": "update", "queue": "waits", "halfway": False, "removes": []}]
    assert body["changed"] == scenario_export(scenario).changed


def test_the_configuration_page_shows_findings_and_the_deciding_tier(
    scenario: Scenario, browser: Client
) -> None:
    conf_update(scenario=scenario, text=BYPASSING, expected_revision=1)
    page = text_of(browser.get(f"/scenarios/{scenario.pk}/conf/"))
    assert 'data-rule="conf.reclaim_bypasses_quota"' in page
    assert "put proportion into tier 1 with gang" in page
    assert "tier 1 first" in page


def test_a_configuration_is_checked_on_the_page_without_being_saved(
    scenario: Scenario, browser: Client
) -> None:
    answer = browser.post(
        f"/scenarios/{scenario.pk}/conf/",
        {"text": BYPASSING, "revision": "1", "check": "1"},
        headers={"HX-Request": "true", "HX-Target": "conf"},
    )
    page = text_of(answer)
    assert "checked, not saved" in page
    assert 'data-rule="conf.reclaim_bypasses_quota"' in page
    assert "<html" not in page
    scenario.refresh_from_db()
    assert scenario.revision == 1


def test_the_export_page_lists_the_steps_and_offers_the_files(scenario: Scenario, browser: Client) -> None:
    edit(scenario, "waits", weight=7)
    page = text_of(browser.get(f"/scenarios/{scenario.pk}/export/"))
    assert "update queue <strong>waits</strong>" in page
    answer = browser.get(f"/scenarios/{scenario.pk}/export/changed/")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="scenario-2-changed.yaml"'
    assert answer.content.decode() == scenario_export(scenario).changed
    assert browser.get(f"/scenarios/{scenario.pk}/export/secrets/").status_code == 404


@pytest.mark.parametrize("tab", ["conf/", "export/", "export/whole/"])
def test_configuration_and_export_are_not_found_from_another_workspace(
    scenario: Scenario, client: Client, tab: str
) -> None:
    client.force_login(factories.user("outsider", role=None))
    assert client.get(f"/scenarios/{scenario.pk}/{tab}").status_code == 404


def test_the_export_page_gives_commands_and_warns_if_volcano_rejects_the_scenario(
    scenario: Scenario, browser: Client
) -> None:
    address = f"/scenarios/{scenario.pk}/export/"
    edit(scenario, "waits", weight=3)
    page = text_of(browser.get(address))
    assert "kubectl diff -f scenario-2-changed.yaml" in page
    assert "kubectl apply -f scenario-2-changed.yaml" in page
    assert "Volcano refuses this scenario" not in page
    scenario.conf_text = "actions: [1]\n"
    scenario.save(update_fields=["conf_text"])
    assert "Volcano refuses this scenario" in text_of(browser.get(address))
