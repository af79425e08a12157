"""Nodes of a scenario: pools, cordons, taints and sizes, on the page and through the API."""

import re
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from rest_framework.test import APIClient

from planner.accounts.models import Role
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import objects_in, state_of
from tests import factories
from tests.planner.pages import text_of


@pytest.fixture
def scenario(db: None) -> Scenario:
    return factories.scenario()


def nodes(scenario: Scenario) -> dict[str, Any]:
    return objects_in(scenario, state_of(scenario)).of_kind("nodes")


def post(browser: Client, scenario: Scenario, rest: str, revision: int = 1, **typed: object) -> HttpResponse:
    return browser.post(f"/scenarios/{scenario.pk}/nodes/{rest}", {"revision": str(revision), **typed})


def page(browser: Client, scenario: Scenario, query: str = "") -> str:
    content = text_of(browser.get(f"/scenarios/{scenario.pk}/nodes/{query}"))
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", content))


def test_no_filter_is_blamed_where_there_are_no_nodes(browser: Client, scenario: Scenario) -> None:
    assert "No node matches All 2 nodes" in page(browser, scenario, "?filter=nothing-like-it")
    without = factories.scenario(document={**factories.cluster(), "nodes": []})
    actual = page(browser, without)
    assert "No nodes" in actual
    assert "No node matches" not in actual


def test_pools_and_nodes_are_shown_with_units(browser: Client, scenario: Scenario) -> None:
    actual = page(browser, scenario)
    assert "2 0 8 cores 32 GiB 110 pods" in actual
    assert "n0 8 cores 32 GiB 110 pods 8 schedulable" in actual


def test_nodes_are_added_as_copies_or_with_a_capacity(browser: Client, scenario: Scenario) -> None:
    assert post(browser, scenario, "add/", count="2", prefix="n", like="n0").status_code == 302
    post(browser, scenario, "add/", 2, count="1", prefix="big", **{"capacity.cpu": "64"})
    assert list(nodes(scenario)) == ["n0", "n1", "big-1", "n-1", "n-2"]
    assert nodes(scenario)["n-1"]["metadata"]["labels"] == {"kubernetes.io/hostname": "n-1"}
    assert nodes(scenario)["n-1"]["status"]["allocatable"]["cpu"] == "8"
    assert nodes(scenario)["big-1"]["status"]["allocatable"] == {"pods": "110", "cpu": "64"}
    assert "big-1 added 64 cores" in page(browser, scenario)


DOING = {
    "cordon": ({"action": "cordon"}, {"unschedulable": True}),
    "taint": (
        {"action": "taint", "key": "gpu", "value": "yes", "effect": "NoSchedule"},
        {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]},
    ),
}


@pytest.mark.parametrize(("typed", "spec"), DOING.values(), ids=DOING)
def test_a_change_of_selected_nodes_can_be_undone_by_its_opposite(
    browser: Client, scenario: Scenario, typed: dict[str, str], spec: dict[str, Any]
) -> None:
    assert post(browser, scenario, "change/", node=["n1"], **typed).status_code == 302
    assert [node["spec"] for node in nodes(scenario).values()] == [{}, spec]
    back = {"cordon": "uncordon", "taint": "untaint"}[typed["action"]]
    post(browser, scenario, "change/", 2, node=["n1"], action=back, key=typed.get("key", ""))
    assert not scenario.object_changes.exists()


def test_an_action_applies_to_all_nodes_that_match_the_filter(browser: Client, scenario: Scenario) -> None:
    post(browser, scenario, "change/", all="on", filter="n", action="resize", key="cpu", value="16")
    post(browser, scenario, "change/", 2, all="on", filter="n1", action="label", key="zone", value="a")
    assert [node["status"]["allocatable"]["cpu"] for node in nodes(scenario).values()] == ["16", "16"]
    assert nodes(scenario)["n1"]["metadata"]["labels"]["zone"] == "a"
    assert "n0" not in page(browser, scenario, "?filter=zone=a").rsplit("Taints", 1)[1]
    post(browser, scenario, "change/", 3, node=["n0"], action="remove")
    assert list(nodes(scenario)) == ["n1"]


def test_every_error_is_reported_and_nothing_is_saved(browser: Client, scenario: Scenario) -> None:
    typed = {"capacity.cpu": "many", "capacity.memory": "-1x"}
    answer = post(browser, scenario, "add/", count="1", prefix="new", **typed)
    assert answer.status_code == 422
    assert "nodes.new-1.status.allocatable.cpu" in text_of(answer)
    assert "nodes.new-1.status.allocatable.memory" in text_of(answer)
    assert post(browser, scenario, "add/", count="0", prefix="New").status_code == 422
    answer = text_of(post(browser, scenario, "add/", count="many", amount="4"))
    assert 'id="add-count_error"><li>Enter a whole number.' in answer
    assert 'id="add-prefix_error"><li>This field is required.' in answer
    assert 'id="add-resource_error"><li>Name the resource of this amount.' in answer
    assert 'id="add-amount_error"><li>Type an amount of this resource.' in text_of(
        post(browser, scenario, "add/", count="1", prefix="new", resource="amd.com/gpu")
    )
    assert post(browser, scenario, "change/", node=["n7"], action="cordon").status_code == 422
    answer = text_of(post(browser, scenario, "change/", node=["n0"], action="taint", effect="Never"))
    assert 'id="node-key_error"><li>Name the resource, the taint or the label.' in answer
    assert 'id="node-effect_error"><li>Select a valid choice. Never is not one' in answer
    assert not scenario.object_changes.exists()


def test_a_stale_node_edit_is_refused(browser: Client, scenario: Scenario) -> None:
    post(browser, scenario, "change/", node=["n1"], action="cordon")
    answer = post(browser, scenario, "change/", node=["n0"], action="cordon")
    assert answer.status_code == 412
    assert "You edited revision 1; it is now at revision 2." in text_of(answer)


def test_a_viewer_reads_the_nodes_and_an_outsider_does_not(client: Client, scenario: Scenario) -> None:
    client.force_login(factories.user("viewer", role=Role.VIEWER))
    assert "Add nodes" not in page(client, scenario)
    assert post(client, scenario, "change/", node=["n0"], action="cordon").status_code == 403
    client.force_login(factories.user("outsider", role=None))
    assert client.get(f"/scenarios/{scenario.pk}/nodes/").status_code == 404


def test_the_page_makes_a_bounded_number_of_queries(
    browser: Client, scenario: Scenario, django_assert_max_num_queries
) -> None:
    page(browser, scenario)
    with django_assert_max_num_queries(8):
        page(browser, scenario)


def test_nodes_are_created_patched_and_deleted_through_the_api(api: APIClient, scenario: Scenario) -> None:
    at = f"/api/v1/scenarios/{scenario.pk}/nodes/"
    assert [node["metadata"]["name"] for node in api.get(at).json()["results"]] == ["n0", "n1"]
    new = factories.node("n2")
    made = api.post(at, new, headers={"If-Match": "1"})
    assert (made.status_code, made.json(), made["ETag"]) == (201, {**new, "problems": [], "notes": []}, '"2"')
    patch = {"spec": {"unschedulable": True}}
    assert api.patch(f"{at}n2/", patch, headers={"If-Match": "2"}).json()["spec"] == patch["spec"]
    assert api.get(f"{at}?unschedulable=true").json()["count"] == 1
    pool = {"count": 2, "prefix": "p", "capacity": {"cpu": "4", "nvidia.com/gpu": "8"}}
    assert api.post(f"{at}add/", pool, headers={"If-Match": "3"}).json()["names"] == ["p-1", "p-2"]
    assert api.delete(f"{at}n2/", headers={"If-Match": "4"}).status_code == 200
    assert api.get(f"{at}n2/").status_code == 404
    assert api.get(f"{at}?name=P-").json()["count"] == 2
    assert api.get(f"{at}?colour=red").status_code == 422


REFUSED = {
    "no name": ({"metadata": {}}, "name.illegal"),
    "metadata not an object": ({"metadata": "n"}, "request.invalid"),
    "a taken name": (factories.node("n0"), "name.taken"),
    "invalid amounts": (factories.node("new", cpu="many"), "quantity"),
    "an amount without a value": (factories.node("new", cpu=None), "quantity.unreadable"),
}


@pytest.mark.parametrize(("body", "rule"), REFUSED.values(), ids=REFUSED)
def test_an_invalid_node_is_refused(api: APIClient, scenario: Scenario, body: Any, rule: str) -> None:
    answer = api.post(f"/api/v1/scenarios/{scenario.pk}/nodes/", body, headers={"If-Match": "1"})
    assert answer.status_code == 422
    assert rule in answer.json()["problems"][0]["rule"]


def test_a_patch_cannot_change_the_name_or_shape_of_a_node(api: APIClient, scenario: Scenario) -> None:
    at = f"/api/v1/scenarios/{scenario.pk}/nodes/n0/"
    for patch in ({"metadata": {"name": "other"}}, {"metadata": None}, {"metadata": "x"}, {"spec": "x"}):
        assert api.patch(at, patch, headers={"If-Match": "1"}).status_code == 422
    assert api.patch(at, {"spec": {}}).status_code == 428
    assert not scenario.object_changes.exists()
