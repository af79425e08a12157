"""Proposed changes reach the requested amount once they are applied."""

import html
import json
import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from planner.accounts.models import Role
from planner.errors import Invalid
from planner.scenarios.models import Scenario
from planner.scenarios.selectors import reach as selector
from planner.scenarios.selectors.preview import scenario_preview
from planner.scenarios.selectors.reach import scenario_reach
from planning.reach.answers import answer_of, resolved
from planning.reach.search import reached
from tests import factories
from tests.planner.pages import text_of

DESERVED = {"figure": "deserved", "queue": "waits", "resource": "cpu", "at_least": "7"}
PLACED = {"figure": "placed", "job": "default/wait", "at_least": "2"}


@pytest.fixture
def scenario(db: None) -> Scenario:
    """Queue busy fills the nodes, queue waits has four pending pods."""
    document = factories.cluster()
    document["podgroups"][0]["spec"]["minMember"] = 1
    busy, waits = (queue["spec"] for queue in document["queues"])
    busy["weight"], waits["capability"] = 5, {"cpu": "3"}
    return factories.scenario(document=document)


def logged_in(client: Client, role: Role = Role.EDITOR) -> Client:
    client.force_login(factories.user("reader", role=role))
    return client


def proposed_changes(scenario: Scenario, query: dict[str, str]) -> list[dict[str, Any]]:
    answer = answer_of(scenario_reach(scenario, query))
    return [change for change in answer["changes"] if change["status"] == "found"]


QUESTIONS = {
    "deserved": {**DESERVED, "at_least": "2900m"},
    "deserved at most": {"figure": "deserved", "queue": "waits", "resource": "cpu", "at_most": "500m"},
    "share": {"figure": "share", "queue": "busy", "resource": "cpu", "at_least": "122%"},
    "share at most": {"figure": "share", "queue": "busy", "resource": "cpu", "at_most": "1.08"},
    "placed": PLACED,
}


@pytest.mark.parametrize("options", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_every_proposed_change_reaches_the_amount_when_applied(
    options: dict[str, str], client: Client, scenario: Scenario
) -> None:
    """Apply the change on the page, which then shows the requested figure."""
    logged_in(client)
    found = proposed_changes(scenario, options)
    for change in found:
        branch = factories.scenario(document=scenario_document(scenario), name=change["name"])
        sent = (
            {"like": change["like"], "count": str(change["count"])}
            if change["count"]
            else {"queue": change["queue"], "patch": json.dumps(change["patch"])}
        )
        query = {name: options.get(name, "") for name in ("figure", "queue", "resource", "job")}
        page = client.post(reverse("planner:reach", args=[branch.pk], query=query), {"revision": "1", **sent})
        assert page.status_code == 302
        branch.refresh_from_db()
        assert branch.revision == 2
        answer = answer_of(scenario_reach(branch, options))
        assert answer["met"], change["name"]
        assert answer["now"] == change["value"]


def scenario_document(scenario: Scenario) -> dict[str, Any]:
    return dict(scenario.snapshot.content.document())


def test_each_question_finds_its_kinds_of_changes(scenario: Scenario) -> None:
    kinds = {
        name: {change["kind"] for change in proposed_changes(scenario, query)}
        for name, query in QUESTIONS.items()
    }
    assert kinds == {
        "deserved": {"nodes", "weight"},
        "deserved at most": {"capability"},
        "share": {"weight"},
        "share at most": {"nodes", "weight"},
        "placed": {"nodes"},
    }


def test_the_answer_equals_that_for_the_scenario_document(scenario: Scenario) -> None:
    """The page caches the demand; the answer equals one computed from the document."""
    for query in QUESTIONS.values():
        answer = scenario_reach(scenario, query)
        document = resolved({**scenario_document(scenario), "scheduler_conf": scenario.conf_text})
        assert answer_of(answer) == answer_of(reached(document, answer.question))


def test_the_current_figure_is_that_of_the_preview(scenario: Scenario) -> None:
    preview = scenario_preview(scenario).queues
    assert scenario_reach(scenario, DESERVED).now == preview["waits"].deserved["cpu"]
    assert scenario_reach(scenario, QUESTIONS["share"]).now == preview["busy"].share


def test_the_page_and_the_api_give_the_same_answer(client: Client, scenario: Scenario) -> None:
    logged_in(client)
    api = APIClient()
    api.force_login(factories.user("script"))
    requested = QUESTIONS["placed"]
    body = api.get(reverse("api:scenario-reach", args=[scenario.pk]), requested)
    assert body.status_code == 200
    assert body.json() == {**answer_of(scenario_reach(scenario, requested)), "next": None}
    page = client.get(reverse("planner:reach", args=[scenario.pk]), requested)
    assert "Find the smallest change" in text_of(page)
    for change in body.json()["changes"]:
        assert f'data-change="{change["name"]}" data-status="{change["status"]}"' in page.content.decode()


def test_figures_of_the_queue_tree_link_to_the_question(client: Client, scenario: Scenario) -> None:
    page = logged_in(client).get(reverse("planner:scenario-detail", args=[scenario.pk])).content.decode()
    address = reverse("planner:reach", args=[scenario.pk])
    assert f"{address}?figure=deserved&amp;queue=waits&amp;resource=cpu" in page
    assert f"{address}?figure=share&amp;queue=busy&amp;resource=cpu" in page


def test_the_fragment_is_a_row_of_the_queue_tree(client: Client, scenario: Scenario) -> None:
    logged_in(client)
    payload = {name: text for name, text in DESERVED.items() if name != "at_least"}
    line = client.get(
        reverse("planner:reach", args=[scenario.pk]),
        payload,
        headers={"HX-Request": "true", "HX-Target": "x"},
    ).content.decode()
    assert line.startswith('<tbody id="reach"')
    assert "Make the deserved CPU of" in " ".join(line.split())


def test_a_viewer_gets_answers_but_cannot_apply_a_change(client: Client, scenario: Scenario) -> None:
    logged_in(client, Role.VIEWER)
    address = reverse("planner:reach", args=[scenario.pk], query=QUESTIONS["placed"])
    assert "Use this change" not in client.get(address).content.decode()
    sent = {"revision": "1", "queue": "waits", "patch": '{"weight": 9}'}
    assert client.post(address, sent).status_code == 403


REFUSED = {
    "no amount": ({**DESERVED, "at_least": "much"}, "'much' is not an amount of deserved."),
    "no such queue": ({**DESERVED, "queue": "gone"}, "There is no queue 'gone'."),
    "a job that does not wait": ({**PLACED, "job": "default/gone"}, "no job"),
}


@pytest.mark.parametrize(("query", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_an_invalid_question_is_refused_with_the_reason(
    client: Client, scenario: Scenario, query: dict[str, str], reason: str
) -> None:
    logged_in(client)
    page = client.get(reverse("planner:reach", args=[scenario.pk]), query)
    assert page.status_code == 422
    assert reason in html.unescape(text_of(page))
    api = APIClient()
    api.force_login(factories.user("script"))
    refused = api.get(reverse("api:scenario-reach", args=[scenario.pk]), query)
    assert refused.status_code == 422
    assert reason in refused.json()["problems"][0]["message"]


def test_an_unreadable_amount_stays_in_its_field_with_the_error(client: Client, scenario: Scenario) -> None:
    address = reverse("planner:reach", args=[scenario.pk])
    form = logged_in(client).get(address, {**DESERVED, "at_least": "much"}).context["form"]
    assert form["at_least"].value() == "much"
    assert form.errors.keys() == {"at_least"}
    assert "Write a quantity such as 20" in form.errors["at_least"][0]
    both = client.get(address, {**DESERVED, "at_least": "1", "at_most": "2"}).context["form"]
    assert (both["at_least"].value(), both["at_most"].value()) == ("1", "2")
    gone = client.get(address, {**DESERVED, "queue": "gone"}).context["form"]
    assert "There is no queue" in gone.non_field_errors()[0]


def test_an_invalid_change_cannot_be_applied(client: Client, scenario: Scenario) -> None:
    logged_in(client)
    address = reverse("planner:reach", args=[scenario.pk], query=DESERVED)
    refused = client.post(address, {"revision": "1", "queue": "waits", "patch": "["})
    assert refused.status_code == 422
    assert "Search again, and use one of the changes found" in text_of(refused)
    for patch in ("[]", "3", "null", ""):
        sent = {"revision": "1", "queue": "waits", "patch": patch}
        assert client.post(address, sent).status_code == 422
    for count in ("", "0", "many"):
        assert client.post(address, {"revision": "1", "like": "n0", "count": count}).status_code == 422
    assert client.post(address, {"revision": "1", "queue": "gone", "patch": "{}"}).status_code == 404
    assert client.post(address, {"revision": "1", "like": "gone", "count": "1"}).status_code == 404
    stale = client.post(address, {"revision": "7", "queue": "waits", "patch": '{"weight": 9}'})
    assert stale.status_code == 412


def test_a_large_cluster_is_not_simulated_within_a_request(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selector, "MOST_PODS", 3)
    with pytest.raises(Invalid, match="sessions of more than 3 are not simulated"):
        scenario_reach(scenario, PLACED)


def test_changes_not_tried_in_time_are_shown_as_undecided(
    client: Client, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selector, "SECONDS", 0.0)
    shown = text_of(logged_in(client).get(reverse("planner:reach", args=[scenario.pk]), PLACED))
    assert "What is undecided may still be possible" in shown
    assert "larger steps not tried yet" in shown
    assert "none:" not in shown
    assert "Use this change" not in shown


def test_a_search_continues_over_requests_until_every_kind_is_decided(
    client: Client, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = answer_of(scenario_reach(scenario, PLACED))
    monkeypatch.setattr(selector, "SECONDS", 0.0)
    address = reverse("api:scenario-reach", args=[scenario.pk])
    logged_in(client)
    body = client.get(address, PLACED).json()
    requests = 1
    while body["next"]:
        body = client.get(address, {**PLACED, "after": body["next"]}).json()
        requests += 1
    assert body == {**whole, "next": None}
    assert requests == sum(change["tried"] for change in whole["changes"])


def test_the_page_requests_the_rest_of_a_search(
    client: Client, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selector, "SECONDS", 0.0)
    address, shown = reverse("planner:reach", args=[scenario.pk]), ""
    rest: list[str] = [f"{address}?{urlencode(PLACED)}"]
    logged_in(client)
    while rest:
        part = {"HX-Request": "true", "HX-Target": "reach-found"} if shown else {}
        shown = client.get(html.unescape(rest[0]), headers=part).content.decode()
        rest = re.findall(r'hx-get="([^"]*after=[^"]*)"', shown)
    assert shown.lstrip().startswith('<div id="reach-found"')
    assert 'data-status="undecided"' not in shown
    assert "The search continues" not in shown


def test_a_search_cannot_continue_after_its_scenario_or_question_changed(
    client: Client, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selector, "SECONDS", 0.0)
    address = reverse("api:scenario-reach", args=[scenario.pk])
    logged_in(client)
    goes_on = client.get(address, PLACED).json()["next"]
    for written, query in ((goes_on[:-1], PLACED), (goes_on, {**PLACED, "at_least": "3"})):
        refused = client.get(address, {**query, "after": written})
        assert refused.status_code == 422
        assert "the scenario has changed" in refused.json()["problems"][0]["message"]
    Scenario.objects.filter(pk=scenario.pk).update(revision=2)
    assert client.get(address, {**PLACED, "after": goes_on}).status_code == 422


def test_without_a_step_the_page_says_what_the_search_moves(client: Client, db: None) -> None:
    """An unset capability could be set lower than what the queue deserves; the search does not set it."""
    document = factories.cluster()
    document["queues"][1]["spec"].pop("capability")
    scenario = factories.scenario(document=document)
    query = {"figure": "deserved", "queue": "waits", "resource": "cpu", "at_most": "1"}
    assert answer_of(scenario_reach(scenario, query))["changes"] == []
    address = f"{reverse('planner:reach', args=[scenario.pk])}?{urlencode(query)}"
    page = " ".join(text_of(logged_in(client).get(address)).split())
    assert "The search moves the weight, and the amounts of this resource that are set" in page


def test_node_counts_on_the_page_have_their_unit(client: Client, scenario: Scenario) -> None:
    page = logged_in(client).get(reverse("planner:reach", args=[scenario.pk]), PLACED).content.decode()
    row = re.search(r'<tr data-change="nodes:.*?</tr>', page, re.DOTALL)[0]  # type: ignore[index]
    assert re.search(r"\d+ nodes? in the pool", row)
    assert re.search(r"\d+ nodes? more", row)


def test_amounts_on_the_page_have_their_units_and_the_form_says_which_it_reads(
    client: Client, scenario: Scenario
) -> None:
    query = QUESTIONS["deserved at most"]
    address = f"{reverse('planner:reach', args=[scenario.pk])}?{urlencode(query)}"
    page = logged_in(client).get(address).content.decode()
    assert "In cores, such as 20 or 500m." in page
    [change] = proposed_changes(scenario, query)
    row = re.search(rf'<tr data-change="{change["name"]}".*?</tr>', page, re.DOTALL)[0]  # type: ignore[index]
    assert "3 cores" in row
    assert re.search(rf'<strong title="{change["after"]}">[\d.,]+ cores?</strong>', row)
