"""Editing parts of a configuration, through the API and on its page."""

import html
import json
import re
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from manifests import parse_conf
from planner.accounts.models import Role
from planner.scenarios.models import Change, Scenario
from planner.scenarios.services.scenarios import conf_update
from scheduler_core.conf import DEFAULT_CONF
from tests import factories
from tests.planner.pages import htmx_headers, text_of
from tests.planner.scenarios.test_checks import BYPASSING

pytestmark = pytest.mark.django_db

ACTIONS = {"op": "replace", "path": "/actions", "value": "enqueue, allocate"}
FIRST = {"op": "move", "from": "/tiers/1/plugins/1", "path": "/tiers/0/plugins/0"}


@pytest.fixture
def scenario() -> Scenario:
    scenario = factories.scenario()
    return conf_update(scenario=scenario, text=BYPASSING, expected_revision=1)


def patch(api: APIClient, scenario: Scenario, body: object, seen: int = 2, query: str = "") -> Any:
    address = f"/api/v1/scenarios/{scenario.pk}/conf/{query}"
    return api.patch(address, body, headers={"If-Match": str(seen)})


def test_a_json_patch_changes_its_lines_in_one_revision(api: APIClient, scenario: Scenario) -> None:
    answer = patch(api, scenario, [ACTIONS, FIRST])
    text = BYPASSING.replace("reclaim, allocate, backfill", "enqueue, allocate")
    text = text.replace("  - name: proportion\n", "").replace(
        "  - name: gang\n", "  - name: proportion\n  - name: gang\n"
    )
    assert (answer.status_code, answer["ETag"], answer.json()["text"]) == (200, '"3"', text)
    change = Change.objects.get(scenario=scenario, revision=3)
    assert (change.kind, change.before, change.after) == ("conf", BYPASSING, text)


def test_the_json_patch_media_type_is_accepted(api: APIClient, scenario: Scenario) -> None:
    answer = api.generic(
        "PATCH", f"/api/v1/scenarios/{scenario.pk}/conf/", json.dumps([ACTIONS]),
        content_type="application/json-patch+json", headers={"If-Match": "2"},
    )  # fmt: skip
    assert answer.status_code == 200


def test_a_dry_run_returns_the_text_and_saves_nothing(api: APIClient, scenario: Scenario) -> None:
    answer = patch(api, scenario, [ACTIONS], query="?dry_run=1")
    assert "enqueue, allocate" in answer.json()["text"]
    scenario.refresh_from_db()
    assert (scenario.revision, scenario.conf_text) == (2, BYPASSING)


def test_a_stale_patch_is_refused(api: APIClient, scenario: Scenario) -> None:
    answer = patch(api, scenario, [ACTIONS], seen=1)
    assert (answer.status_code, answer.json()["current"]["body"]) == (412, {"text": BYPASSING})


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ({}, {""}),
        (["x", {"op": "copy"}, {"op": "move", "path": 3}], {"[0]", "[1]", "[2].from", "[2].path"}),
        ([ACTIONS, {"op": "remove", "path": "/tiers/9"}], {"[1]"}),
        ([ACTIONS] * 101, {""}),
    ],
)
def test_every_invalid_operation_of_a_patch_is_reported(
    api: APIClient, scenario: Scenario, body: object, paths: set[str]
) -> None:
    answer = patch(api, scenario, body)
    assert answer.status_code == 422
    assert {problem["path"] for problem in answer.json()["problems"]} == paths
    scenario.refresh_from_db()
    assert scenario.conf_text == BYPASSING


def test_a_configuration_with_anchors_cannot_be_patched(api: APIClient, scenario: Scenario) -> None:
    conf_update(scenario=scenario, text="actions: &a allocate\nx: *a\n", expected_revision=2)
    answer = patch(api, scenario, [ACTIONS], seen=3)
    assert [problem["rule"] for problem in answer.json()["problems"]] == ["conf.no_edit"]


def test_a_finding_includes_the_patch_that_fixes_it(api: APIClient, scenario: Scenario) -> None:
    found = api.get(f"/api/v1/scenarios/{scenario.pk}/conf/").json()["problems"]
    remedy = next(one["remedy"] for one in found if one["rule"] == "conf.reclaim_bypasses_quota")
    after = patch(api, scenario, remedy).json()["problems"]
    assert "conf.reclaim_bypasses_quota" not in [one["rule"] for one in after]


# The page


def submit(browser: Client, scenario: Scenario, seen: int = 2, **fields: str) -> tuple[int, str]:
    """Post the fields of a button or a form; return the status and the fragment."""
    answer = browser.post(
        f"/scenarios/{scenario.pk}/conf/edit/",
        {"revision": str(seen), **fields},
        headers=htmx_headers("conf"),
    )
    return answer.status_code, html.unescape(text_of(answer))


def button_patch(page: str, name: str) -> str:
    """Return the patch in the value of a button."""
    found = re.search(rf'id="{re.escape(name)}" name="operations" value="([^"]*)"', page)
    assert found, name
    return html.unescape(found[1])


def conf_page(browser: Client, scenario: Scenario) -> str:
    return text_of(browser.get(f"/scenarios/{scenario.pk}/conf/"))


def test_buttons_move_plugins_actions_and_tiers(browser: Client, scenario: Scenario) -> None:
    steps = [
        "action-down-reclaim-0",
        "earlier-proportion-0",
        "up-proportion-0",
        "tier-down-1",
        "remove-gang-0",
    ]
    for revision, step in enumerate(steps, 2):
        patch_held = button_patch(conf_page(browser, scenario), step)
        assert submit(browser, scenario, revision, operations=patch_held)[0] == 200
    scenario.refresh_from_db()
    assert scenario.conf_text == (
        '# ours\nactions: "allocate, reclaim, backfill"\ntiers:\n'
        "- plugins:\n  - name: predicates\n- plugins:\n  - name: proportion\n"
    )


def test_the_form_of_a_plugin_writes_only_changed_fields(browser: Client, scenario: Scenario) -> None:
    path = "/tiers/1/plugins/0"
    fields = {"switch.enablePredicate": "false", "argument.predicate.CacheEnable": "true"}
    status, page = submit(browser, scenario, 2, path=path, **fields)
    assert status == 200
    assert "saved as revision 3" in page
    scenario.refresh_from_db()
    written = "    enablePredicate: false\n    arguments:\n      predicate.CacheEnable: true\n"
    assert scenario.conf_text == BYPASSING.replace("predicates\n", f"predicates\n{written}")
    empty = dict.fromkeys(fields, "")
    assert submit(browser, scenario, 3, path=path, **empty)[0] == 200
    scenario.refresh_from_db()
    assert scenario.conf_text == BYPASSING


def test_every_value_of_a_wrong_type_is_reported_and_stays_in_its_field(
    browser: Client, scenario: Scenario
) -> None:
    conf_update(scenario=scenario, text=BYPASSING + "  - name: binpack\n", expected_revision=2)
    fields = {"argument.binpack.cpu": "much", "argument.binpack.weight": "1.5"}
    status, page = submit(browser, scenario, 3, path="/tiers/1/plugins/2", **fields)
    assert status == 422
    assert "binpack.cpu takes a whole number, not 'much'." in page
    assert "binpack.weight takes a whole number, not '1.5'." in page
    assert 'value="much"' in page


def test_arguments_of_an_action_have_a_form(browser: Client, scenario: Scenario) -> None:
    page = conf_page(browser, scenario)
    choice = re.search(r'value="([^"]*)">preempt</option>', page[page.index('id="more-configured"') :])
    assert choice
    assert submit(browser, scenario, operations=html.unescape(choice[1]))[0] == 200
    path = "/configurations/0"
    field = "argument.minCandidateNodesAbsolute"
    assert submit(browser, scenario, 3, path=path, **{field: "5"})[0] == 200
    scenario.refresh_from_db()
    end = "configurations:\n- name: preempt\n  arguments:\n    minCandidateNodesAbsolute: 5\n"
    assert scenario.conf_text == BYPASSING + end


def test_a_button_fixes_a_finding(browser: Client, scenario: Scenario) -> None:
    page = conf_page(browser, scenario)
    row = page[page.index('data-rule="conf.reclaim_bypasses_quota"') :]
    offered = re.search(r'name="operations" value="([^"]*)"', row)
    assert offered
    status, after = submit(browser, scenario, operations=html.unescape(offered[1]))
    assert status == 200
    assert 'data-rule="conf.reclaim_bypasses_quota"' not in after


def test_the_volcano_default_is_written_out_before_it_is_edited(browser: Client, scenario: Scenario) -> None:
    conf_update(scenario=scenario, text="", expected_revision=2)
    patch_held = button_patch(conf_page(browser, scenario), "write-default")
    assert submit(browser, scenario, 3, operations=patch_held)[0] == 200
    scenario.refresh_from_db()
    assert parse_conf(scenario.conf_text) == DEFAULT_CONF


def test_unsaved_text_is_kept_when_an_edit_is_refused(browser: Client, scenario: Scenario) -> None:
    typed = BYPASSING + "# and this\n"
    status, page = submit(browser, scenario, operations="[]", text=typed.replace("\n", "\r\n"))
    assert status == 422
    assert "# and this\n</textarea>" in page
    assert "Nothing was changed." in page
    assert submit(browser, scenario, operations="[]", text=BYPASSING.replace("\n", "\r\n"))[0] == 200


def test_a_stale_edit_reports_that_the_scenario_has_changed(browser: Client, scenario: Scenario) -> None:
    status, page = submit(browser, scenario, 1, operations=json.dumps([ACTIONS]))
    assert status == 412
    assert "the scenario has changed" in page


@pytest.mark.parametrize("fields", [{"operations": "["}, {"operations": "{}"}, {"path": "/tiers/7"}, {}])
def test_an_invalid_edit_request_is_refused(
    browser: Client, scenario: Scenario, fields: dict[str, str]
) -> None:
    assert submit(browser, scenario, 2, **fields)[0] == 422


def test_line_endings_are_preserved(browser: Client, scenario: Scenario) -> None:
    text = BYPASSING.replace("\n", "\r\n")
    conf_update(scenario=scenario, text=text, expected_revision=2)
    assert submit(browser, scenario, 3, operations=json.dumps([FIRST]), text=text)[0] == 200
    scenario.refresh_from_db()
    assert scenario.conf_text.count("\r\n") == scenario.conf_text.count("\n") == 8
    browser.post(f"/scenarios/{scenario.pk}/conf/", {"text": text, "revision": "4"})
    scenario.refresh_from_db()
    assert scenario.conf_text == text


@pytest.mark.parametrize(
    "text",
    [
        "actions: 3\ntiers: x\n",
        "tiers: [x, {plugins: y}, {plugins: [z, {}]}]\nconfigurations: [1]\n",
        "- a\n",
    ],
)
def test_a_configuration_that_volcano_rejects_still_has_a_page(
    browser: Client, scenario: Scenario, text: str
) -> None:
    Scenario.objects.filter(pk=scenario.pk).update(conf_text=text)
    assert browser.get(f"/scenarios/{scenario.pk}/conf/").status_code == 200


def test_a_viewer_sees_the_form_without_buttons(client: Client, scenario: Scenario) -> None:
    client.force_login(factories.user("reader", role=Role.VIEWER))
    page = conf_page(client, scenario)
    assert ">Form<" in page
    assert 'name="operations"' not in page
    assert submit(client, scenario, operations="[]")[0] == 403
