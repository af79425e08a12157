"""Editing a scenario on its page; a refused edit keeps the input."""

import re

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from planner.scenarios.models import Queue, Scenario
from planner.scenarios.services.queues import queue_update
from tests import factories
from tests.planner.pages import fragment, htmx_headers, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def scenario() -> Scenario:
    return factories.scenario()


def page_of(scenario: Scenario) -> str:
    return reverse("planner:scenario-detail", args=[scenario.pk])


def queue_of(scenario: Scenario, name: str = "waits") -> str:
    return reverse("planner:queue", args=[scenario.pk, name])


def save(browser: Client, scenario: Scenario, *, revision: int = 1, **typed: str) -> HttpResponse:
    fields = {"revision": str(revision), **{name.replace("__", "."): text for name, text in typed.items()}}
    return browser.post(queue_of(scenario), fields, headers=htmx_headers("queue-waits"))


def stored(scenario: Scenario, name: str = "waits") -> Queue:
    return scenario.queues.get(name=name)


def test_the_page_shows_every_queue_with_units(browser: Client, scenario: Scenario) -> None:
    page = text_of(browser.get(page_of(scenario)))
    assert 'role="treegrid"' in page
    assert page.count('aria-level="') == 2
    assert '<data value="12000.0" title="cpu: 12000m">12</data>' in page


def test_the_pages_require_login(client: Client, scenario: Scenario) -> None:
    pages = [page_of(scenario), queue_of(scenario), reverse("planner:conf", args=[scenario.pk])]
    for page in pages:
        assert client.get(page).headers["Location"].startswith(reverse("login"))


def test_the_page_makes_a_fixed_number_of_queries(
    browser: Client, scenario: Scenario, django_assert_num_queries
) -> None:
    browser.get(page_of(scenario))
    with django_assert_num_queries(8):
        browser.get(page_of(scenario))


def test_a_queue_row_equals_that_part_of_the_page(browser: Client, scenario: Scenario) -> None:
    line = fragment(browser, queue_of(scenario), "queue-waits").split("<template>")[0]
    assert line.strip() in text_of(browser.get(page_of(scenario)))


def test_an_edited_queue_row_equals_that_part_of_the_page(browser: Client, scenario: Scenario) -> None:
    line = fragment(browser, f"{queue_of(scenario)}?edit", "queue-waits").split("<template>")[0]
    assert 'name="capability.cpu" value="12"' in line
    assert line.strip() in text_of(browser.get(f"{queue_of(scenario)}?edit"))


def test_the_editor_has_fields_for_the_resources_of_the_nodes(browser: Client) -> None:
    document = factories.cluster()
    document["nodes"].append(factories.node("gpu", **{"nvidia.com/gpu": "8"}))
    line = fragment(browser, f"{queue_of(factories.scenario(document=document))}?edit", "queue-waits")
    assert 'name="deserved.nvidia.com/gpu"' in line


def test_saving_changes_only_the_submitted_fields(browser: Client, scenario: Scenario) -> None:
    answer = save(browser, scenario, weight="4", guarantee__resource__cpu="500m", reclaimable="false")
    assert answer.status_code == 200
    assert ">0.5</data>" in text_of(answer)
    queue = stored(scenario)
    assert (queue.weight, queue.guarantee, queue.reclaimable) == (4, {"cpu": "500m"}, False)
    assert queue.capability == {"cpu": "12"}


def test_saving_updates_the_revision_and_the_last_changes_on_the_page(
    browser: Client, scenario: Scenario
) -> None:
    answer = save(browser, scenario, weight="4")
    assert answer.headers["HX-Trigger"] == '{"revision": {"seen": 1, "now": 2}}'
    assert 'hx-swap-oob="true">revision 2<' in text_of(answer)
    last = text_of(answer).partition('id="last-changes"')[2]
    assert 'hx-swap-oob="true"' in last
    assert ": weight</td><td>1</td><td>4</td>" in last


def test_an_emptied_field_is_unset(browser: Client, scenario: Scenario) -> None:
    save(browser, scenario, capability__cpu="", weight="")
    assert stored(scenario).capability == {}
    assert stored(scenario).weight is None


def test_an_invalid_quantity_stays_in_its_field_with_the_error(browser: Client, scenario: Scenario) -> None:
    answer = save(browser, scenario, capability__cpu="12 cores", weight="many")
    assert answer.status_code == 422
    page = text_of(answer)
    assert 'value="12 cores"' in page
    assert 'value="many"' in page
    assert page.count('aria-invalid="true"') == 2
    assert "Not saved." in page
    assert stored(scenario).capability == {"cpu": "12"}


@pytest.fixture
def edited_meanwhile(scenario: Scenario) -> Scenario:
    queue_update(
        scenario=scenario,
        name="waits",
        patch={"weight": 7},
        expected_revision=1,
        user=factories.user("other"),
    )
    return scenario


def test_a_stale_edit_is_refused_with_both_versions(browser: Client, edited_meanwhile: Scenario) -> None:
    answer = save(browser, edited_meanwhile, weight="3")
    assert answer.status_code == 412
    page = text_of(answer)
    assert "You edited revision 1; it is now at revision 2." in page
    assert re.search(r"queue waits: weight</td><td>1</td><td>7</td><td>other<", page)
    assert stored(edited_meanwhile).weight == 7


def test_a_stale_edit_keeps_the_input_without_reverting_other_changes(
    browser: Client, edited_meanwhile: Scenario
) -> None:
    page = text_of(save(browser, edited_meanwhile, weight="1", capability__cpu="16"))
    assert 'name="capability.cpu" value="16"' in page
    assert 'name="weight" value="7"' in page
    assert 'name="revision" value="2"' in page


def test_a_stale_edit_can_overwrite_the_other_one(browser: Client, edited_meanwhile: Scenario) -> None:
    assert save(browser, edited_meanwhile, weight="3", revision=2).status_code == 200
    assert stored(edited_meanwhile).weight == 3


@pytest.mark.parametrize("action", ["", "move/", "duplicate/", "remove/"])
def test_an_edit_of_a_queue_that_was_renamed_meanwhile_shows_the_change(
    browser: Client, scenario: Scenario, action: str
) -> None:
    queue_update(scenario=scenario, name="waits", patch={"name": "renamed"}, expected_revision=1)
    address = queue_of(scenario) + action
    answer = browser.post(address, {"revision": "1", "weight": "3"}, headers=htmx_headers("tree-messages"))
    assert answer.status_code == 412
    assert answer["HX-Retarget"] == "#tree-messages"
    page = text_of(answer)
    assert "You edited revision 1; it is now at revision 2." in page
    assert "renamed" in page
    assert browser.post(address, {"revision": "2"}).status_code == 404


def test_without_javascript_saving_redirects_to_the_page(browser: Client, scenario: Scenario) -> None:
    fields = {"revision": "1", "weight": "5"}
    answer = browser.post(queue_of(scenario), fields)
    assert answer.headers["Location"] == page_of(scenario) + "#queue-waits"
    answer = browser.post(queue_of(scenario), fields | {"weight": "3"})
    assert answer.status_code == 412
    page = text_of(answer)
    assert "<html" in page
    assert 'name="weight" value="3"' in page


def save_conf(browser: Client, scenario: Scenario, text: str, revision: int = 1) -> HttpResponse:
    address = reverse("planner:conf", args=[scenario.pk])
    return browser.post(address, {"text": text, "revision": str(revision)}, headers=htmx_headers("conf"))


def test_the_configuration_is_saved_as_typed(browser: Client, scenario: Scenario) -> None:
    text = factories.CONF + "# reclaim only at night\n"
    assert "saved as revision 2" in text_of(save_conf(browser, scenario, text.replace("\n", "\r\n")))
    scenario.refresh_from_db()
    assert scenario.conf_text == text


def test_invalid_yaml_stays_in_the_configuration_field(browser: Client, scenario: Scenario) -> None:
    answer = save_conf(browser, scenario, "actions: [enqueue\ntiers: {")
    assert answer.status_code == 422
    assert "actions: [enqueue\ntiers: {" in text_of(answer)
    scenario.refresh_from_db()
    assert scenario.conf_text == factories.CONF


def test_a_stale_configuration_edit_is_refused_and_keeps_the_text(
    browser: Client, edited_meanwhile: Scenario
) -> None:
    answer = save_conf(browser, edited_meanwhile, "actions: allocate\n")
    assert answer.status_code == 412
    page = text_of(answer)
    assert "You edited revision 1; it is now at revision 2." in page
    assert "actions: allocate\n</textarea>" in page


def test_a_tree_edit_is_undone_and_redone(browser: Client, scenario: Scenario) -> None:
    save(browser, scenario, weight="4")
    for revision, way, weight in ((2, "undo", 1), (3, "redo", 4)):
        answer = browser.post(
            reverse(f"planner:{way}", args=[scenario.pk]),
            {"revision": str(revision)},
            headers=htmx_headers("tree-messages"),
        )
        assert (answer.status_code, answer.headers["HX-Retarget"]) == (200, "#tree")
        assert 'data-names-queue="waits"' in text_of(answer)
        assert stored(scenario).weight == weight


def test_an_unedited_scenario_has_nothing_to_undo(browser: Client, scenario: Scenario) -> None:
    assert 'data-undo="undo" title="Undo the last change (Ctrl Z)" disabled' in text_of(
        browser.get(page_of(scenario))
    )
    answer = browser.post(
        reverse("planner:undo", args=[scenario.pk]), {"revision": "1"}, headers=htmx_headers("tree-messages")
    )
    assert answer.status_code == 422
    assert "There is nothing to undo." in text_of(answer)


def test_a_queue_is_added_below_another(browser: Client, scenario: Scenario) -> None:
    at = reverse("planner:queues", args=[scenario.pk])
    line = fragment(browser, f"{at}?new&parent=waits", "queue-waits")
    assert 'aria-level="2"' in line
    assert '<option value="waits" selected>' in line
    typed = {"name": "new", "parent": "waits", "deserved.cpu": "2", "revision": "1"}
    answer = browser.post(at, typed, headers=htmx_headers("queue-"))
    assert (answer.status_code, answer.headers["HX-Retarget"]) == (200, "#tree")
    assert stored(scenario, "new").parent == "waits"
    assert stored(scenario, "new").deserved == {"cpu": "2"}


def test_a_new_queue_may_be_placed_below_any_queue(browser: Client, scenario: Scenario) -> None:
    line = fragment(
        browser, f"{reverse('planner:queues', args=[scenario.pk])}?new&parent=waits", "queue-waits"
    )
    assert '<option value="waits" selected>waits</option>' in line
    assert '<option value="busy">busy</option>' in line


def test_a_refused_new_queue_keeps_the_input(browser: Client, scenario: Scenario) -> None:
    typed = {"name": "waits", "parent": "busy", "weight": "7", "revision": "1"}
    at = reverse("planner:queues", args=[scenario.pk])
    answer = browser.post(at, typed, headers=htmx_headers("queue-"))
    assert answer.status_code == 422
    page = text_of(answer)
    assert 'value="7"' in page
    assert "queue waits already exists" in page
    stale = browser.post(at, {**typed, "name": "new", "revision": "0"}, headers=htmx_headers("queue-"))
    assert (stale.status_code, 'name="revision" value="1"' in text_of(stale)) == (412, True)


def test_a_queue_is_moved_duplicated_and_removed(browser: Client, scenario: Scenario) -> None:
    for revision, what, typed in (
        (1, "move", {"parent": "busy"}),
        (2, "duplicate", {}),
        (3, "remove", {}),
    ):
        address = f"{queue_of(scenario)}{what}/"
        answer = browser.post(
            address, {**typed, "revision": str(revision)}, headers=htmx_headers("tree-messages")
        )
        assert answer.status_code == 200, what
    assert set(scenario.queues.values_list("name", "parent")) == {("busy", ""), ("waits-copy", "busy")}


def test_the_removal_dialog_names_the_children_and_jobs_of_the_queue(
    browser: Client, scenario: Scenario
) -> None:
    browser.post(f"{queue_of(scenario)}move/", {"parent": "busy", "revision": "1"})
    requested = fragment(browser, f"{queue_of(scenario, 'busy')}remove/", "queue-busy")
    assert "Remove queue busy and the 1 queue below it?" in requested
    assert "2 jobs with 16 running pods and 4 waiting pods" in requested
    assert requested.strip() in text_of(browser.get(f"{queue_of(scenario, 'busy')}remove/"))


def test_a_refused_tree_edit_states_the_reason(browser: Client, scenario: Scenario) -> None:
    answer = browser.post(
        f"{queue_of(scenario)}move/",
        {"parent": "waits", "revision": "1"},
        headers=htmx_headers("tree-messages"),
    )
    assert answer.status_code == 422
    assert "one of its descendants" in text_of(answer)


def test_selecting_a_resource_adds_its_columns(browser: Client, scenario: Scenario) -> None:
    part_of_page = fragment(browser, f"{page_of(scenario)}?resource=nvidia.com/gpu", "queues")
    assert 'data-field="deserved.nvidia.com/gpu"' in part_of_page
    saved = save(browser, scenario, **{"deserved.nvidia.com/gpu": "2", "resource": "nvidia.com/gpu"})
    assert stored(scenario).deserved == {"nvidia.com/gpu": "2"}
    assert ">2</data>" in text_of(saved)


def test_affinity_and_hierarchy_annotations_are_editable_fields(browser: Client, scenario: Scenario) -> None:
    required = "affinity.nodeGroupAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    save(browser, scenario, **{required: "a, b", "annotations.volcano.sh/hierarchy": "root/x"})
    kept = stored(scenario)
    assert kept.affinity == {
        "nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["a", "b"]}
    }
    assert kept.annotations == {"volcano.sh/hierarchy": "root/x"}
    save(browser, scenario, revision=2, **{required: "", "annotations.volcano.sh/hierarchy": ""})
    assert (stored(scenario).affinity, stored(scenario).annotations) == ({}, {})


def test_the_page_loads_the_checks_which_report_a_broken_rule(browser: Client, scenario: Scenario) -> None:
    address = reverse("planner:review", args=[scenario.pk])
    assert f'hx-get="{address}" hx-trigger="load, revision from:body"' in text_of(
        browser.get(page_of(scenario))
    )
    save(browser, scenario, guarantee__resource__cpu="20", deserved__cpu="1")
    checks = fragment(browser, address, "review-place")
    assert 'data-rule="queue.deserved_below_guarantee" data-queue="waits"' in checks
    assert checks.strip() in text_of(browser.get(address))
