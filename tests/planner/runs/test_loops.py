"""The page, the public link and the API of a run show its eviction loops."""

import json

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

import manifests
from planner.runs.models import Run
from planner.runs.services.links import link_create
from scheduler_core import Options, prepare
from scheduler_core.explain import with_loops
from tests import factories
from tests.planner.pages import text_of, visible_text
from tests.planner.recorded import finish, finished_run
from tests.scheduler_core.answers import evicted_and_bound_again

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def run(rows_of_module: None) -> Run:
    """A run of eight cycles that evicts one pod in every other one."""
    situation = evicted_and_bound_again()
    conf = json.dumps(situation.pop("scheduler_conf"))
    run = factories.run(factories.scenario(document=situation, conf=conf), cycles=8)
    prepared = prepare(manifests.resolve(run.input.document()))
    return finish(run, with_loops(prepared, prepared.simulate(), Options()))


def test_the_run_page_shows_the_loop_and_a_change_that_ends_it(browser: Client, run: Run) -> None:
    page = visible_text(text_of(browser.get(reverse("planner:run-detail", args=[run.pk]))))
    assert "An eviction loop: from cycle 3 on" in page
    assert "1, 3, 5, 7" in page
    assert "the share of queue queue1 has fallen to 0" in page
    assert "Deserved of queue queue1: 4 cores instead of 3 cores: no pod is evicted" in page


def test_a_public_link_shows_the_loop(client: Client, run: Run, editor) -> None:
    _, secret = link_create(run=run, user=editor, label="", days=3)
    page = visible_text(text_of(client.get(reverse("planner:shared", args=[secret]))))
    assert "An eviction loop: from cycle 3 on" in page


def test_the_api_returns_the_loop_of_the_page(api: APIClient, run: Run) -> None:
    (loop,) = api.get(reverse("api:explain-loops", args=[run.pk])).json()["loops"]
    assert (loop["first_cycle"], loop["period"], loop["turns"], loop["evictions"]) == (3, 2, 3, 1)
    (pod,) = loop["pods"]
    assert (pod["pod"], pod["evicted_in"], pod["ran_cycles"]) == ("default/pod1", [1, 3, 5, 7], 1)
    assert loop["reason"]["sentence"].startswith("An eviction loop: from cycle 3 on")
    assert loop["changes"][0]["changes"][0]["field"] == "spec.deserved"
    assert loop["complete"] is True


def test_a_run_without_a_loop_has_none(browser: Client, api: APIClient) -> None:
    run = finished_run("capacity_hierarchy", 3)
    assert api.get(reverse("api:explain-loops", args=[run.pk])).json() == {"loops": []}
    assert "Eviction loop" not in visible_text(
        text_of(browser.get(reverse("planner:run-detail", args=[run.pk])))
    )


def test_a_result_contains_the_loop_of_the_page(run: Run) -> None:
    assert run.result is not None
    (loop,) = json.loads(run.result.content())["loops"]
    assert loop["changes"]
