"""Editing several queues at once, by value, arithmetic or pasted block, with a preview."""

import json

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from planner.errors import Invalid
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.preview import cluster_total, scenario_preview
from planner.scenarios.selectors.scenarios import state_at, state_of
from planner.scenarios.services.history import undo
from planner.scenarios.services.queues import queue_create, queues_update
from tests import factories

NAMES = ("busy", "waits")


@pytest.fixture
def scenario(db: None) -> Scenario:
    made = factories.scenario()
    patches = {
        "busy": {"weight": 4, "deserved": {"cpu": "8"}},
        "waits": {"weight": 3, "deserved": {"cpu": "4"}},
    }
    queues_update(scenario=made, patches=patches, expected_revision=1)
    return made


def value(scenario: Scenario, name: str, resource: str = "cpu") -> str:
    return str(scenario.queues.get(name=name).deserved.get(resource))


def test_arithmetic_changes_each_queue_from_its_own_value_in_one_revision(scenario: Scenario) -> None:
    patches = {name: {"weight": "2x", "deserved": {"cpu": "+10%"}} for name in NAMES}
    saved = queues_update(scenario=scenario, patches=patches, expected_revision=2)
    assert [(row.weight, row.deserved["cpu"]) for row in saved] == [(8, "8800m"), (6, "4400m")]
    assert scenario.revision == 3
    undo(scenario=scenario, expected_revision=3)
    assert [value(scenario, name) for name in NAMES] == ["8", "4"]


def test_a_fraction_of_root_refers_to_the_capacity_of_the_nodes(scenario: Scenario) -> None:
    total = cluster_total(scenario)["cpu"]
    assert total
    patches = {"busy": {"deserved": {"cpu": "1/4 of root"}}}
    queues_update(scenario=scenario, patches=patches, expected_revision=2)
    assert value(scenario, "busy") == str(round(total / 4000))


def test_a_fraction_of_the_parent_requires_the_same_field_of_the_parent(scenario: Scenario) -> None:
    queue_create(
        scenario=scenario,
        spec={"name": "team", "parent": "busy", "deserved": {"cpu": "50% of parent"}},
        expected_revision=2,
    )
    assert value(scenario, "team") == "4"
    patches = {"team": {"capability": {"cpu": "50% of parent"}}, "waits": {"priority": "2x"}}
    with pytest.raises(Invalid) as refused:
        queues_update(scenario=scenario, patches=patches, expected_revision=3)
    assert [problem.path for problem in refused.value.problems] == [
        "queues.team.capability.cpu",
        "queues.waits.priority",
    ]


@pytest.mark.parametrize("order", [("busy", "team"), ("team", "busy")])
@pytest.mark.parametrize("own", [{"weight": 5}, {"name": "group"}, {"parent": "busy", "weight": 5}])
def test_a_child_edited_together_with_its_renamed_parent_stays_below_it(
    scenario: Scenario, order: tuple[str, ...], own: dict[str, object]
) -> None:
    queue_create(scenario=scenario, spec={"name": "team", "parent": "busy"}, expected_revision=2)
    queue_create(scenario=scenario, spec={"name": "deep", "parent": "team"}, expected_revision=3)
    before = state_of(scenario).as_copy()
    patches = {"busy": {"name": "full", "priority": 2}, "team": own}
    queues_update(scenario=scenario, patches={name: patches[name] for name in order}, expected_revision=4)
    name = own.get("name", "team")
    parents = dict(scenario.queues.values_list("name", "parent"))
    assert parents == {"full": "", "waits": "", name: "full", "deep": name}
    assert state_at(scenario, 5).as_copy() == state_of(scenario).as_copy()
    assert {change.key for change in scenario.changes.filter(revision=5)} <= {"busy", "team", "deep"}
    undo(scenario=scenario, expected_revision=5)
    assert state_of(scenario).as_copy() == before


def test_a_queue_may_move_below_one_that_is_renamed_with_it(scenario: Scenario) -> None:
    patches = {"busy": {"name": "full"}, "waits": {"parent": "full"}}
    queues_update(scenario=scenario, patches=patches, expected_revision=2)
    assert scenario.queues.get(name="waits").parent == "full"


@pytest.mark.parametrize("order", [("busy", "team"), ("team", "busy")])
def test_a_queue_and_its_parent_may_exchange_their_places(scenario: Scenario, order: tuple[str, ...]) -> None:
    queue_create(scenario=scenario, spec={"name": "team", "parent": "busy"}, expected_revision=2)
    patches = {"busy": {"parent": "team"}, "team": {"parent": None}}
    queues_update(scenario=scenario, patches={name: patches[name] for name in order}, expected_revision=3)
    assert dict(scenario.queues.values_list("name", "parent")) == {"busy": "team", "team": "", "waits": ""}
    with pytest.raises(Invalid) as refused:
        queues_update(scenario=scenario, patches={"team": {"parent": "busy"}}, expected_revision=4)
    assert [problem.rule for problem in refused.value.problems] == ["queue.cycle"]


def test_two_queues_cannot_get_one_name(scenario: Scenario) -> None:
    patches = {name: {"name": "one"} for name in NAMES}
    with pytest.raises(Invalid) as refused:
        queues_update(scenario=scenario, patches=patches, expected_revision=2)
    assert [problem.rule for problem in refused.value.problems] == ["name.taken"]


def test_the_problems_of_all_queues_are_reported_at_once_and_nothing_is_saved(scenario: Scenario) -> None:
    patches = {"busy": {"weight": "many"}, "gone": {"weight": 1}, "waits": {"deserved": {"cpu": "plenty"}}}
    with pytest.raises(Invalid) as refused:
        queues_update(scenario=scenario, patches=patches, expected_revision=2)
    assert {problem.queue for problem in refused.value.problems} == {"busy", "gone", "waits"}
    scenario.refresh_from_db()
    assert scenario.revision == 2


def test_the_api_previews_unsaved_edits(scenario: Scenario, api: APIClient) -> None:
    body = {"queues": {"busy": {"deserved": {"cpu": "2x"}}, "waits": {"weight": "many"}}}
    address = reverse("api:scenario-preview", args=[scenario.pk])
    answer = api.post(address, body, format="json").json()
    [edited] = answer["edited"]
    assert (edited["name"], edited["deserved"]["cpu"]) == ("busy", "16")
    assert [problem["queue"] for problem in answer["problems"]] == ["waits"]
    scenario.refresh_from_db()
    assert (scenario.revision, value(scenario, "busy")) == (2, "8")


def test_the_api_edits_several_queues_at_once(scenario: Scenario, api: APIClient) -> None:
    body = {"queues": {name: {"weight": "+100%"} for name in NAMES}}
    address = reverse("api:scenario-queues", args=[scenario.pk])
    answer = api.patch(address, body, format="json", headers={"If-Match": '"2"'})
    assert [queue["weight"] for queue in answer.json()["queues"]] == [8, 6]
    assert answer.headers["ETag"] == '"3"'
    wrong = api.patch(address, {"busy": {}}, format="json", headers={"If-Match": '"3"'})
    assert wrong.status_code == 422


def test_the_previewed_figures_equal_those_after_saving(scenario: Scenario, browser: Client) -> None:
    page = reverse("planner:scenario-detail", args=[scenario.pk])
    lines = {"waits": {"name": "waits", "weight": "+100%", "guarantee.resource.cpu": "3"}}
    typed = {"resource": "cpu", "lines": json.dumps(lines)}
    answer = browser.post(f"{page}preview/", typed).json()
    assert answer["computed"] == {"waits": {"weight": "6"}}
    assert (answer["problems"], answer["edited"]) == ([], 1)
    actual = dict(zip(answer["cells"]["columns"], answer["cells"]["queues"]["busy"], strict=True))
    queues_update(
        scenario=scenario,
        patches={"waits": {"weight": 6, "guarantee": {"resource": {"cpu": "3"}}}},
        expected_revision=2,
    )
    saved = scenario_preview(scenario).queues["busy"]
    assert actual["real_capability"] == f"{(saved.real_capability['cpu'] or 0) / 1000:g}"


def test_selected_queues_get_one_value_and_the_page_shows_the_old_one(
    scenario: Scenario, browser: Client
) -> None:
    page = reverse("planner:scenario-detail", args=[scenario.pk])
    typed = {"revision": "2", "resource": "cpu", "selected": NAMES, "field": "deserved.cpu", "value": "0.5x"}
    answer = browser.post(f"{page}edit-queues/", typed, follow=True)
    assert [value(scenario, name) for name in NAMES] == ["4", "2"]
    assert "2 queues changed: revision 3." in answer.text
    assert 'title="in the snapshot: –"' in answer.text


def test_selected_queues_that_have_the_value_already_do_not_count_as_changed(
    scenario: Scenario, browser: Client
) -> None:
    page = reverse("planner:scenario-detail", args=[scenario.pk])
    queues_update(scenario=scenario, patches={NAMES[0]: {"weight": 7}}, expected_revision=2)
    typed = {"revision": "3", "resource": "cpu", "selected": NAMES, "field": "weight", "value": "7"}
    answer = browser.post(f"{page}edit-queues/", typed, follow=True)
    assert "1 queue changed: revision 4." in answer.text


def test_problems_of_a_pasted_block_name_their_row_and_column(scenario: Scenario, browser: Client) -> None:
    page = reverse("planner:scenario-detail", args=[scenario.pk])
    block = "Queue\tWeight\tDeserved cpu\nbusy\tmany\t\nnobody\t2\t\nwaits\t\t1/0 of root"
    typed = {"revision": "2", "resource": "cpu", "paste": block}
    answer = browser.post(f"{page}edit-queues/", typed)
    assert answer.status_code == 422
    assert "Row 3, column Queue: there is no queue &#x27;nobody&#x27;" in answer.text
    mended = block.replace("nobody\t2\t\n", "")
    answer = browser.post(f"{page}edit-queues/", {**typed, "paste": mended})
    for place in ("row 2, column Weight", "row 3, column Deserved cpu"):
        assert place in answer.text
    block = "Queue\tWeight\tDeserved cpu\nbusy\t9\t-\nwaits\t\t2x"
    browser.post(f"{page}edit-queues/", {**typed, "paste": block})
    assert scenario.queues.get(name="busy").weight == 9
    assert [value(scenario, name) for name in NAMES] == ["None", "8"]


def test_the_table_is_sorted_by_any_column_and_hides_columns(scenario: Scenario, browser: Client) -> None:
    page = reverse("planner:scenario-detail", args=[scenario.pk])
    text = browser.get(f"{page}?resource=cpu&sort=deserved&hide=weight&hide=share").text
    assert text.index('id="queue-waits"') < text.index('id="queue-busy"')
    assert "grid--without-2 grid--without-13" in text
    assert 'aria-sort="ascending"' in text
    turned = browser.get(f"{page}?resource=cpu&sort=-deserved").text
    assert turned.index('id="queue-busy"') < turned.index('id="queue-waits"')
