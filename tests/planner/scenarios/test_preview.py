"""The previewed figures equal those of a run, on the page and in the API, and take few queries."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from planner.clusters.models import Blob
from planner.clusters.selectors import contents
from planner.scenarios.models import ObjectChange, Scenario
from planner.scenarios.selectors.preview import scenario_preview
from planner.scenarios.services.queues import queue_create, queue_update
from planner.scenarios.services.scenarios import conf_update
from planning.memory_cache import MemoryCache
from tests import factories
from tests.planner.pages import text_of
from tests.worker import do_work

CAPACITY = factories.CONF.replace("proportion", "capacity")


@pytest.fixture
def scenario(db: None) -> Scenario:
    return factories.scenario()


def test_preview_figures_equal_those_of_a_run_at_its_start(transactional_db: None) -> None:
    run = factories.run()
    preview = scenario_preview(run.scenario)
    do_work(run)
    outcomes = run.queue_outcomes
    assert {outcome.queue for outcome in outcomes if outcome.in_session} == {"busy", "waits"}
    for outcome in outcomes.filter(in_session=True):
        answer = preview.queues[outcome.queue]
        assert answer.share == outcome.share_at_open
        assert answer.allocated == outcome.allocated_at_open
        assert answer.deserved == outcome.deserved
        assert answer.real_capability == outcome.real_capability
        assert answer.request == outcome.request


def test_an_edit_changes_the_figures_of_other_queues(scenario: Scenario) -> None:
    before = scenario_preview(scenario).queues["busy"]
    queue_update(
        scenario=scenario, name="waits", patch={"guarantee": {"resource": {"cpu": "3"}}}, expected_revision=1
    )
    after = scenario_preview(scenario).queues["busy"]
    assert (before.real_capability["cpu"], after.real_capability["cpu"]) == (16000, 13000)
    assert scenario_preview(scenario).queues["waits"].deserved["cpu"] >= 3000


def test_jobs_are_counted_once_for_all_scenarios_of_a_snapshot(
    scenario: Scenario, django_assert_num_queries
) -> None:
    scenario_preview(scenario)
    with django_assert_num_queries(3):
        scenario_preview(Scenario.objects.select_related("snapshot").get(pk=scenario.pk))


def test_a_preview_needs_no_object_of_a_cluster_whose_jobs_are_counted(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = scenario_preview(scenario)
    monkeypatch.setattr(contents, "_cache", MemoryCache(1, lambda kept: kept[1]))
    Blob.objects.update(packed=b"")
    assert scenario_preview(Scenario.objects.select_related("snapshot").get(pk=scenario.pk)) == before


def test_a_parent_has_the_sums_of_its_children(scenario: Scenario) -> None:
    for revision, name in enumerate(("busy", "waits"), start=1):
        patch = {"guarantee": {"resource": {"cpu": "500m"}}, "deserved": {"cpu": "2", "memory": "1Gi"}}
        queue_update(scenario=scenario, name=name, patch=patch, expected_revision=revision)
    queue_create(scenario=scenario, spec={"name": "root"}, expected_revision=3)
    root = scenario_preview(scenario).queues["root"]
    assert root.guarantee_of_children == {"cpu": 1000}
    assert root.deserved_of_children == {"cpu": 4000, "memory": 2 * 2**30}


def test_jobs_and_pods_of_a_queue_are_counted(scenario: Scenario) -> None:
    busy, waits = (scenario_preview(scenario).queues[name] for name in ("busy", "waits"))
    assert (busy.jobs, busy.running, busy.pending) == (1, 16, 0)
    assert (waits.jobs, waits.running, waits.pending) == (1, 0, 4)


def test_jobs_follow_a_renamed_queue(scenario: Scenario) -> None:
    queue_update(scenario=scenario, name="busy", patch={"name": "team-a"}, expected_revision=1)
    assert scenario_preview(scenario).queues["team-a"].running == 16


def test_an_added_job_counts_under_the_current_name_of_its_queue(scenario: Scenario) -> None:
    queue_update(scenario=scenario, name="busy", patch={"name": "team-a"}, expected_revision=1)
    added = {"podgroups": factories.podgroup("more", "team-a"), "pods": factories.pod("more-0", "more")}
    for kind, manifest in added.items():
        key = f"default/{manifest['metadata']['name']}"
        ObjectChange.objects.create(scenario=scenario, kind=kind, key=key, manifest=manifest)
    answer = scenario_preview(scenario).queues["team-a"]
    assert (answer.jobs, answer.running, answer.pending) == (2, 16, 1)


def test_fields_without_effect_state_the_reason(scenario: Scenario, browser: Client) -> None:
    assert "deserved" in scenario_preview(scenario).without_effect
    conf_update(scenario=scenario, text=CAPACITY, expected_revision=1)
    assert "deserved" not in scenario_preview(scenario).without_effect
    assert "capacity uses deserved instead" in scenario_preview(scenario).without_effect["weight"]
    page = text_of(browser.get(reverse("planner:scenario-detail", args=[scenario.pk])))
    assert (
        "Only the proportion plugin reads weight, and it is not configured; capacity uses deserved instead."
        in page
    )


def test_a_configuration_that_volcano_rejects_has_no_figures(scenario: Scenario, browser: Client) -> None:
    Scenario.objects.filter(pk=scenario.pk).update(conf_text='actions: "dance"\ntiers: []\n')
    scenario.refresh_from_db()
    preview = scenario_preview(scenario)
    assert "dance" in preview.error
    assert not preview.queues["busy"].in_session
    page = text_of(browser.get(reverse("planner:scenario-detail", args=[scenario.pk])))
    assert "No figures: this scenario cannot be simulated." in page


def test_a_hierarchy_that_blocks_scheduling_is_reported(scenario: Scenario, browser: Client) -> None:
    conf = CAPACITY.replace("- name: capacity", "- name: capacity\n    enableHierarchy: true")
    conf_update(scenario=scenario, text=conf, expected_revision=1)
    queue_update(scenario=scenario, name="waits", patch={"parent": "busy"}, expected_revision=2)
    assert scenario_preview(scenario).obstacle == "job default/run is in queue busy, which has children"
    page = text_of(browser.get(reverse("planner:scenario-detail", args=[scenario.pk])))
    assert "The capacity plugin would enqueue no job and place no pod." in page


def test_the_api_returns_the_figures_of_the_page(scenario: Scenario, api: APIClient, browser: Client) -> None:
    answer = api.get(f"/api/v1/scenarios/{scenario.pk}/preview/")
    assert (answer.status_code, answer["ETag"]) == (200, '"1"')
    body = answer.json()
    assert (body["plugin"], body["obstacle"], body["error"]) == ("proportion", "", "")
    assert body["total"]["cpu"] == {"value": 16000, "unit": "millicores", "unlimited": False}
    waits = next(queue for queue in body["queues"] if queue["queue"] == "waits")
    page = text_of(browser.get(reverse("planner:scenario-detail", args=[scenario.pk])))
    for answer_name in ("deserved", "real_capability", "request"):
        value = waits[answer_name]["cpu"]["value"]
        shown = re.findall(rf'data-answer="{answer_name}">(?:<a[^>]*>)?<data value="([0-9.]+)"', page)
        assert value in map(float, shown)
