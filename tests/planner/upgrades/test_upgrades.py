"""The simulated effects of an upgrade of Volcano and their causes, on the page and in the API."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

import manifests
from planner.accounts.models import Role, User
from planner.errors import Invalid, RoleTooLow
from planner.runs.models import Run
from planner.runs.selectors.runs import runs
from planner.runs.selectors.searches import search_of
from planner.upgrades.selectors import Changed, impact_address, impact_found
from planner.upgrades.services import impact_create
from scheduler_core import prepare
from scheduler_core.release import V1_14, V1_15
from scheduler_core.upgrade import impact_data, upgrade_impact
from tests import factories
from tests.planner.pages import text_of
from tests.scheduler_core.test_release import EXAMPLE
from tests.worker import do_work

pytestmark = pytest.mark.django_db(transaction=True)


def execute(run: Run) -> Run:
    do_work(run)
    assert run.state == "succeeded", run.error
    return run


def document() -> dict[str, Any]:
    """Return the example of the page about releases: v1.14.4 evicts a pod and v1.15.1 does not."""
    return {**EXAMPLE, "release": "v1.14.4"}


@pytest.fixture
def run(db: None) -> Run:
    conf = manifests.dump(EXAMPLE["scheduler_conf"])
    return factories.run(factories.scenario(document=document(), conf=conf))


@pytest.fixture
def impact(run: Run, editor: User) -> Run:
    """The finished analysis of an upgrade to v1.15.1."""
    return execute(impact_create(run=run, old="v1.14.4", new="v1.15.1", user=editor))


def test_the_stored_impact_equals_that_of_the_core(run: Run, impact: Run) -> None:
    found = impact_found(impact)
    assert found is not None
    core = impact_data(upgrade_impact(prepare(document()), V1_14, V1_15))
    assert [vars(row) for row in found.differences] == core["differences"]
    assert [cause.id for cause in found.causes] == [rule["id"] for rule in core["rules"]]
    assert "reclaim-rollback" in [cause.id for cause in found.causes]


@pytest.mark.parametrize(
    ("what", "value", "shown"),
    [
        ("allocated cpu at the end", 296000, "296 cores"),
        ("cycle 2: deserved memory", 2.0**40, "1 TiB"),
        ("allocated nvidia.com/gpu at the end", 1000.0, "1 GPU"),
        ("real_capability cpu", 1.7976931348623157e308, "unlimited"),
        ("share at the end", 1.2542372881355932, "125.4 %"),
        ("share", None, ""),
    ],
)
def test_queue_figures_are_shown_with_their_unit(what: str, value: float, shown: str) -> None:
    assert Changed("queue", "q", what, value, None, [], together=False).values == [shown, ""]


def test_an_impact_is_computed_once(run: Run, impact: Run, editor: User) -> None:
    assert impact_create(run=run, old="v1.14.4", new="v1.15.1", user=editor) == impact
    assert impact_create(run=run, old="v1.15.1", new="v1.14.4", user=editor) != impact


def test_an_impact_is_listed_neither_as_a_run_nor_as_a_search(run: Run, impact: Run, editor: User) -> None:
    assert impact not in runs(editor)
    assert search_of(run, "") is None


def test_a_viewer_cannot_request_an_impact_and_an_invalid_release_is_refused(run: Run, editor: User) -> None:
    viewer = factories.user("reader", role=Role.VIEWER)
    with pytest.raises(RoleTooLow):
        impact_create(run=run, old="v1.14.4", new="v1.15.1", user=viewer)
    with pytest.raises(Invalid) as refused:
        impact_create(run=run, old="old", new="new", user=editor)
    assert [problem.path for problem in refused.value.problems] == ["from", "to"]


def test_one_click_on_a_scenario_leads_to_its_impact(browser: Client, run: Run) -> None:
    answer = browser.post(reverse("planner:scenario-upgrade", args=[run.scenario_id]))
    impact = Run.objects.exclude(new_release="").get()
    assert (impact.old_release, impact.new_release) == ("v1.14.4", "v1.15.1")
    assert answer["Location"] == impact_address(impact)
    execute(impact)
    page = text_of(browser.get(answer["Location"]))
    assert "reclaim evicts at least one victim on a node" in page
    assert "pod default/run-0" in page
    assert "Not compared: quotas for dynamic resource allocation" in page
    assert browser.get(reverse("planner:run-detail", args=[impact.pk]))["Location"] == answer["Location"]


def test_the_page_shows_progress_until_the_impact_is_computed(browser: Client, run: Run) -> None:
    address = reverse("planner:run-upgrade", args=[run.pk])
    assert "Not compared yet" in text_of(browser.get(address))
    page = browser.post(address, {"from": "v1.14.4", "to": "v1.15.1"}, follow=True)
    assert "Waiting for a worker." in text_of(page)
    refused = browser.post(address, {"from": "v1.14.4", "to": "latest"})
    assert refused.status_code == 422
    assert "This is not a version of Volcano." in text_of(refused)


def test_the_impact_report_is_markdown(browser: Client, run: Run, impact: Run) -> None:
    address = reverse("planner:run-upgrade-report", args=[run.pk])
    assert browser.get(address, {"from": "v1.14.4", "to": "v1.16.0-alpha.1"}).status_code == 404
    report = browser.get(address, {"from": "v1.14.4", "to": "v1.15.1"})
    assert report["Content-Type"] == "text/markdown; charset=utf-8"
    found = impact_found(impact)
    assert found is not None
    assert report.content.decode() == found.markdown
    assert "Volcano v1.14.4 to v1.15.1" in found.markdown


def test_the_api_requests_and_returns_an_impact(api: APIClient, run: Run) -> None:
    address = f"/api/v1/runs/{run.pk}/upgrade/"
    assert api.get(address).json()["state"] is None
    begun = api.post(address, {"to": "v1.15.1"})
    assert (begun.status_code, begun.json()["state"], begun.json()["from"]) == (202, "queued", "v1.14.4")
    assert begun.json()["differences"] is None
    execute(Run.objects.exclude(new_release="").get())
    body = api.get(address).json()
    assert body["state"] == "succeeded"
    assert {"kind": "pod", "name": "default/run-0"}.items() <= body["differences"][0].items()
    assert body["markdown"].startswith("# ")
    assert body["notes"][0].startswith("Not compared: ")
    assert api.post(address, {"to": "x"}).status_code == 422
