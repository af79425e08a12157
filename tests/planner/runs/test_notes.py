"""The notes of a run (parts not modelled, and assumptions) on pages and in the API."""

from html import unescape
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from planner.runs.models import Run
from planner.runs.services.links import link_create
from tests import factories
from tests.planner.pages import text_of, visible_text
from tests.worker import do_work

CLAIMS = "Not modelled: resource claims of pod default/claimed. Dynamically allocated devices rule out"
WEIGHT = "Assumed: 1 queue without spec.weight: weight 1."

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run() -> Run:
    """A run of a cluster with a pod that uses a resource claim, and a queue without a weight."""
    cluster: dict[str, Any] = factories.cluster()
    pod = factories.pod("claimed", "wait")
    pod["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "gpu"}]
    light = factories.queue("light")
    del light["spec"]["weight"]
    document = {**cluster, "pods": [*cluster["pods"], pod], "queues": [*cluster["queues"], light]}
    started = factories.run(factories.scenario(document=document))
    do_work(started)
    assert started.state == "succeeded", started.error
    return started


def test_a_run_stores_the_notes_of_its_result(run: Run) -> None:
    assert run.result is not None
    assert run.notes == run.result.document()["notes"]
    assert run.notes[0].startswith(CLAIMS)
    assert WEIGHT in run.notes


def test_every_page_of_a_run_shows_every_note(run: Run, browser: Client) -> None:
    _, secret = link_create(run=run, user=factories.user())
    other = factories.run(run.scenario)
    pages = [
        reverse("planner:run-detail", args=[run.pk]),
        reverse("planner:shared", args=[secret]),
        f"{reverse('planner:compare')}?runs={run.pk},{other.pk}",
    ]
    for page in pages:
        words = unescape(visible_text(text_of(browser.get(page))))
        assert [note for note in run.notes if note not in words] == [], page


def test_a_run_without_notes_has_no_notes_panel(run: Run, browser: Client) -> None:
    Run.objects.update(notes=[])
    page = browser.get(reverse("planner:run-detail", args=[run.pk]))
    assert "Left out and assumed" not in text_of(page)


def test_the_api_returns_the_notes_of_runs_and_comparisons(run: Run, api: APIClient) -> None:
    assert api.get(f"/api/v1/runs/{run.pk}/").json()["notes"] == run.notes
    other = factories.run(run.scenario)
    assert api.get(f"/api/v1/runs/{other.pk}/").json()["notes"] == []
    heads = api.get(f"/api/v1/comparisons/?runs={run.pk},{other.pk}").json()["runs"]
    assert [head["notes"] for head in heads] == [run.notes, []]


def test_a_failed_run_keeps_its_notes(run: Run) -> None:
    extender = {"extender.urlPrefix": "http://127.0.0.1:1", "extender.queueOverusedVerb": "overused"}
    lines = [f"      {name}: {value}" for name, value in extender.items()]
    conf = "\n".join(
        ["actions: allocate", "tiers:", "- plugins:", "  - name: extender", "    arguments:", *lines]
    )
    run.scenario.conf_text = conf
    run.scenario.save()
    failing = factories.run(run.scenario)
    do_work(failing)
    assert failing.state == "failed"
    assert failing.notes[0].startswith(CLAIMS)


def test_the_migration_copies_notes_from_the_results_of_existing_runs(run: Run) -> None:
    kept = run.notes
    Run.objects.update(notes=[])
    import_module("planner.migrations.0017_run_notes").take_over(apps, None)
    run.refresh_from_db()
    assert run.notes == kept


def test_the_checks_of_a_scenario_report_parts_that_are_not_modelled(run: Run, api: APIClient) -> None:
    found = api.get(f"/api/v1/scenarios/{run.scenario_id}/validate/").json()["problems"]
    (remark,) = [problem for problem in found if problem["rule"] == "plan.not_modelled"]
    assert remark["message"].startswith("pod default/claimed: resource claims are not modelled.")
    assert remark["path"].endswith(".spec.resourceClaims")
