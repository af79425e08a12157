"""The search over the user's scenarios, runs, queues, jobs, pods, nodes and the help."""

import pytest
from django.test import Client
from rest_framework.test import APIClient

from planner.runs.models import Run
from planner.scenarios.services.labels import label
from tests import factories
from tests.planner.pages import fragment, text_of

pytestmark = pytest.mark.django_db


def hits(api: APIClient, words: str, **query: str) -> list[tuple[str, str]]:
    answer = api.get("/api/v1/search/", {"q": words, **query})
    assert answer.status_code == 200, answer.content
    return [(hit["kind"], hit["name"]) for hit in answer.json()["hits"]]


@pytest.mark.django_db(transaction=True)
def test_every_object_of_a_run_is_found_and_links_to_its_page(
    api: APIClient, browser: Client, finished_run: Run
) -> None:
    label(thing=finished_run, user=factories.user(), name="More weight for waits", tags=["review"])
    found = {
        "what i": ("scenario", "what if"),
        "more weight": ("run", "More weight for waits"),
        "review": ("run", "More weight for waits"),
        "bus": ("queue", "busy"),
        "default/wa": ("job", "default/wait"),
        "RUN-1": ("pod", "default/run-1"),
        "n1": ("node", "n1"),
        "deserv": ("help", "deserved"),
        "import": ("help", "Import a cluster"),
    }
    for words, hit in found.items():
        assert hit in hits(api, words), words
        body = api.get("/api/v1/search/", {"q": words}).json()
        for one in body["hits"]:
            assert browser.get(one["address"].partition("#")[0]).status_code == 200, one


def test_a_list_that_is_cut_says_so(browser: Client) -> None:
    for number in range(7):
        factories.scenario(name=f"alike {number}")
    page = text_of(browser.get("/search/?q=alike"))
    assert "Scenarios · the first 6, type more to narrow them down" in page
    assert page.count("alike ") == 6
    assert "the first 6" not in text_of(browser.get("/search/?q=alike+3"))


@pytest.mark.django_db(transaction=True)
def test_exact_and_prefix_matches_come_first(api: APIClient, finished_run: Run) -> None:
    pods = [name for kind, name in hits(api, "run-1") if kind == "pod"]
    assert pods[0] == "default/run-1"
    assert pods[1:] == sorted(pods[1:])


def test_short_queries_and_unknown_parameters_are_refused(api: APIClient) -> None:
    assert api.get("/api/v1/search/", {"q": "a"}).status_code == 422
    assert api.get("/api/v1/search/", {"q": "ab", "colour": "red"}).status_code == 422


def test_an_outsider_finds_no_scenario_of_another_workspace(client: Client) -> None:
    factories.run(factories.scenario(name="secret plan"))
    client.force_login(factories.user("outsider", role=None))
    page = text_of(client.get("/search/?q=secret"))
    assert "Nothing has “secret” in its name" in page
    assert "secret plan" not in page


def test_the_result_list_fragment_equals_that_part_of_the_page(browser: Client) -> None:
    factories.scenario(name="more GPUs")
    address = "/search/?q=gpus"
    assert fragment(browser, address, "find-list").strip() in text_of(browser.get(address))
    assert "more GPUs" in fragment(browser, address, "find-list")


@pytest.mark.parametrize("scenarios", [1, 5])
def test_the_query_count_of_a_search_does_not_grow(
    browser: Client, django_assert_max_num_queries, scenarios: int
) -> None:
    for number in range(scenarios):
        factories.run(factories.scenario(name=f"what if {number}"))
    with django_assert_max_num_queries(10):
        browser.get("/search/?q=what")
