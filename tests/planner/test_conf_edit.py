"""How is a configuration edited part by part, by script and on its page?"""

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from planner.models import Change, Scenario
from planner.services.scenarios import conf_update
from tests import factories
from tests.planner.test_checks import BYPASSING

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


def test_a_patch_changes_its_lines_and_is_one_revision(api: APIClient, scenario: Scenario) -> None:
    answer = patch(api, scenario, [ACTIONS, FIRST])
    text = BYPASSING.replace("reclaim, allocate, backfill", "enqueue, allocate")
    text = text.replace("  - name: proportion\n", "").replace(
        "  - name: gang\n", "  - name: proportion\n  - name: gang\n"
    )
    assert (answer.status_code, answer["ETag"], answer.json()["text"]) == (200, '"3"', text)
    change = Change.objects.get(scenario=scenario, revision=3)
    assert (change.kind, change.before, change.after) == ("conf", BYPASSING, text)


def test_the_media_type_of_json_patch_is_taken(api: APIClient, scenario: Scenario) -> None:
    answer = api.generic(
        "PATCH", f"/api/v1/scenarios/{scenario.pk}/conf/", json.dumps([ACTIONS]),
        content_type="application/json-patch+json", headers={"If-Match": "2"},
    )  # fmt: skip
    assert answer.status_code == 200


def test_a_dry_run_tells_the_text_and_keeps_nothing(api: APIClient, scenario: Scenario) -> None:
    answer = patch(api, scenario, [ACTIONS], query="?dry_run=1")
    assert "enqueue, allocate" in answer.json()["text"]
    scenario.refresh_from_db()
    assert (scenario.revision, scenario.conf_text) == (2, BYPASSING)


def test_a_patch_that_saw_an_older_revision_is_refused(api: APIClient, scenario: Scenario) -> None:
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
def test_what_is_no_patch_is_told_with_all_places(
    api: APIClient, scenario: Scenario, body: object, paths: set[str]
) -> None:
    answer = patch(api, scenario, body)
    assert answer.status_code == 422
    assert {problem["path"] for problem in answer.json()["problems"]} == paths
    scenario.refresh_from_db()
    assert scenario.conf_text == BYPASSING


def test_a_text_with_anchors_is_edited_as_a_text(api: APIClient, scenario: Scenario) -> None:
    conf_update(scenario=scenario, text="actions: &a allocate\nx: *a\n", expected_revision=2)
    answer = patch(api, scenario, [ACTIONS], seen=3)
    assert [problem["rule"] for problem in answer.json()["problems"]] == ["conf.no_edit"]


def test_a_finding_brings_the_patch_that_mends_it(api: APIClient, scenario: Scenario) -> None:
    found = api.get(f"/api/v1/scenarios/{scenario.pk}/conf/").json()["problems"]
    remedy = next(one["remedy"] for one in found if one["rule"] == "conf.reclaim_bypasses_quota")
    after = patch(api, scenario, remedy).json()["problems"]
    assert "conf.reclaim_bypasses_quota" not in [one["rule"] for one in after]
