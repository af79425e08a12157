"""Sliders of the workbench; tables of queues, nodes and workloads; the number of cycles of a run."""

import re

import pytest
from django.test import Client

from planner.scenarios.models import Scenario
from planner.scenarios.services.nodes import nodes_update
from planner.scenarios.services.scenarios import conf_update
from planner.scenarios.services.workloads import workload_update
from planner.scenarios.views.sliders import Slider, amount_slider, weight_slider
from tests import factories
from tests.planner.pages import text_of

GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("slider", "expected"),
    [
        (amount_slider(GPU, "60", 504_000), Slider(most="504", step="2", value="60", suffix="")),
        (amount_slider("cpu", "1500m", 24_000), Slider(most="24", step="0.1", value="1.5", suffix="")),
        (amount_slider("memory", "", 2.0**41), Slider(most="2", step="0.1", value="0", suffix="Ti")),
        (amount_slider("memory", "", 2.0**34, unset=2.0**34), Slider("16", "0.1", "16", "Gi")),
        (amount_slider(GPU, "800", 504_000), Slider(most="800", step="2", value="800", suffix="")),
        (amount_slider(GPU, "+10%", 8_000), Slider(most="8", step="1", value="0", suffix="")),
        (weight_slider("3", 4), Slider(most="10", step="1", value="3", suffix="")),
        (weight_slider("many", 900), Slider(most="1800", step="5", value="0", suffix="")),
    ],
)
def test_a_slider_ranges_from_zero_to_the_capacity_of_the_cluster(slider: Slider, expected: Slider) -> None:
    assert slider == expected


@pytest.fixture
def scenario(db: None) -> Scenario:
    """Return a scenario in which queue `below` has a larger capability than its parent."""
    document = factories.cluster()
    document["queues"] += [
        factories.queue("team", parent="root", capability={"cpu": "4"}),
        factories.queue("below", parent="team", capability={"cpu": "8"}),
    ]
    return factories.scenario(document=document)


def queues_shown(page: str) -> list[str]:
    return re.findall(r'<tbody id="queue-[^"]*"\s+data-queue="([^"]*)"', page)


def test_the_findings_filter_works_without_javascript(browser: Client, scenario: Scenario) -> None:
    at = f"/scenarios/{scenario.pk}/"
    assert "waits" in queues_shown(text_of(browser.get(at)))
    page = text_of(browser.get(at, {"findings": "yes"}))
    assert {"team", "below"} <= set(queues_shown(page))
    assert "waits" not in queues_shown(page)
    assert f"{len(queues_shown(page))} of " in page
    assert 'name="findings" value="yes"' in page


def test_the_queue_editor_has_sliders_for_amounts_and_the_weight(browser: Client, scenario: Scenario) -> None:
    page = text_of(browser.get(f"/scenarios/{scenario.pk}/queues/team/?edit=1&resource=cpu"))
    assert 'data-slides="weight"' in page
    assert 'data-slides="capability.cpu"' in page
    assert 'data-slides="deserved.memory"' in page
    assert 'data-slides="priority"' not in page


def names(page: str) -> list[str]:
    """Return the names of a table's rows in order."""
    rows = page.partition("grid--held")[2].partition("</table>")[0]
    return re.findall(r'<th scope="row" class="grid__name[^"]*">\s*(?:<a[^>]*>\s*)?([^\s<]+)', rows)


def test_changed_nodes_show_their_old_values_and_nodes_are_sorted(browser: Client) -> None:
    scenario = factories.scenario(document=factories.cluster(nodes=3))
    at = f"/scenarios/{scenario.pk}/nodes/"
    assert "tree__was" not in text_of(browser.get(at))
    patch = {"spec": {"unschedulable": True}, "status": {"allocatable": {"cpu": "16"}}}
    nodes_update(scenario=scenario, names=["n1"], patch=lambda _: patch, expected_revision=1)
    page = text_of(browser.get(at, {"ordering": "-amount.cpu"}))
    assert names(page)[0] == "n1"
    assert "schedulable → </small>cordoned" in page
    assert re.search(r"tree__was[^>]*><data[^>]*>8 cores</data> → </small><data[^>]*>16 cores", page)
    assert 'aria-sort="descending"' in page
    assert names(text_of(browser.get(at, {"origin": "changed"}))) == ["n1"]
    assert names(text_of(browser.get(at, {"ordering": "-name"}))) == ["n2", "n1", "n0"]
    assert "cordoned</td>" not in text_of(browser.get(at, {"hide": "state"}))


def test_changed_workloads_show_their_old_values_and_workloads_are_sorted(browser: Client) -> None:
    scenario = factories.scenario()
    at = f"/scenarios/{scenario.pk}/workloads/"
    listed = names(text_of(browser.get(at, {"ordering": "name"})))
    assert listed == sorted(listed)
    kind, key = re.findall(r"/workloads/(podgroups)/([^/]+/[^/]+)/", text_of(browser.get(at)))[0]
    fields = {"priorityClassName": "urgent"}
    workload_update(scenario=scenario, kind=kind, key=key, fields=fields, expected_revision=1)
    page = text_of(browser.get(at, {"ordering": "class"}))
    assert "– → </small>urgent" in page
    assert "– → </small>urgent" not in text_of(browser.get(at, {"hide": "class"}))


def test_the_configuration_page_shows_the_changed_lines(browser: Client) -> None:
    scenario = factories.scenario()
    at = f"/scenarios/{scenario.pk}/conf/"
    assert "Changes from the snapshot" not in text_of(browser.get(at))
    conf_update(scenario=scenario, text=f"# mine\n{factories.CONF}", expected_revision=1)
    assert "+# mine</span>" in text_of(browser.get(at))


@pytest.mark.parametrize(("typed", "cycles"), [("10", 10), ("3", 3), ("", 1)])
def test_a_run_has_the_chosen_number_of_cycles(
    browser: Client, scenario: Scenario, typed: str, cycles: int
) -> None:
    assert 'name="cycles"' in text_of(browser.get(f"/scenarios/{scenario.pk}/"))
    browser.post(f"/scenarios/{scenario.pk}/runs/", {"cycles": typed})
    assert scenario.runs.get().options["cycles"] == cycles


@pytest.mark.parametrize("typed", ["1000000", "0", "many"])
def test_an_invalid_number_of_cycles_is_refused(browser: Client, scenario: Scenario, typed: str) -> None:
    answer = browser.post(f"/scenarios/{scenario.pk}/runs/", {"cycles": typed}, follow=True)
    assert "Nothing was run. Cycles: " in text_of(answer)
    assert not scenario.runs.exists()
