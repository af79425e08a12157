"""Searches for changes that unblock a job: simulated, stored, shown, and applied to a branch."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from planner.accounts.models import Role, User
from planner.errors import RoleTooLow
from planner.runs.models import Run
from planner.runs.selectors.runs import runs
from planner.runs.selectors.searches import found, search_of
from planner.runs.services.runs import run_create
from planner.runs.services.searches import change_apply, search_create
from planner.runs.services.simulations import search_progress_store, simulate
from planner.scenarios.models import Scenario
from planner.work.execution import limits
from planner.work.lifecycle import work_claim
from tests import factories
from tests.planner.pages import fragment, text_of
from tests.planner.recorded import executed
from tests.worker import do_work

pytestmark = pytest.mark.django_db(transaction=True)
JOB = "default/wait"


@pytest.fixture
def run(db: None) -> Run:
    """A run in which a gang of fourteen waits, since its queue has a capability of twelve cores."""
    document = factories.cluster(waiting=14)
    document["podgroups"][1]["spec"]["minMember"] = 14
    del document["queues"][0]["spec"]["reclaimable"]
    return executed(factories.run(factories.scenario(document=document)))


@pytest.fixture
def search(run: Run, editor: User) -> Run:
    """A search that succeeded."""
    return executed(search_create(run=run, job=JOB, user=editor))


def job_page(run: Run) -> str:
    return reverse("planner:run-job", args=[run.pk, "default", "wait"])


def test_a_search_finds_changes_with_reasons_and_a_checklist(search: Run) -> None:
    actual = found(search)
    assert actual is not None
    assert actual.waits
    assert actual.simulations > 1
    assert actual.changes
    assert {entry.action for entry in actual.checklist} == {"reclaim", "preempt"}
    for change in actual.changes:
        assert change.reason.sentence
        assert change.changes


def test_each_change_found_lets_the_job_run_when_applied(search: Run, editor: User) -> None:
    actual = found(search)
    assert actual is not None
    for number, change in enumerate(actual.changes):
        branch = change_apply(search=search, number=number, user=editor)
        assert branch.parent == search.scenario
        again = executed(run_create(scenario=branch, user=editor))
        job = again.job_outcomes.get(job=JOB)
        assert job.ready or job.pipelined, change.id
    assert Scenario.objects.get(pk=search.scenario_id).revision == 1


def test_a_search_changes_tree_weights_in_every_queue_below(editor: User) -> None:
    """Of eight cores `dev` uses two in one of its queues and `c` uses one; a gang in each requests five."""
    document = factories.cluster(nodes=1)
    notes = {"qa": ("root/dev/a", "1/1/1"), "qb": ("root/dev/b", "1/1/1"), "qc": ("root/c", "1/1")}
    document["queues"] = [factories.queue(name) for name in notes]
    for entry, (path, weights) in zip(document["queues"], notes.values(), strict=True):
        entry["metadata"]["annotations"] = {
            "volcano.sh/hierarchy": path,
            "volcano.sh/hierarchy-weights": weights,
        }
    document["podgroups"] = [
        factories.podgroup("a", "qa", phase="Running"),
        factories.podgroup("c", "qc", phase="Running"),
        factories.podgroup("wait", "qb", min_member=5, phase="Inqueue"),
        factories.podgroup("more", "qc", min_member=5, phase="Inqueue"),
    ]
    document["pods"] = [
        *(factories.pod(f"a-{number}", "a", node="n0") for number in range(2)),
        factories.pod("c-0", "c", node="n0"),
        *(factories.pod(f"{job}-{number}", job) for job in ("wait", "more") for number in range(5)),
    ]
    tree = "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n  - {name: drf, enableHierarchy: true}\n"
    scenario = factories.scenario(document=document, conf=tree + "  - name: predicates\n")
    search = executed(search_create(run=executed(factories.run(scenario)), job=JOB, user=editor))
    actual = found(search)
    assert actual is not None
    number = [change.id for change in actual.changes].index("unblock.weight")
    branch = change_apply(search=search, number=number, user=editor)
    weights = {
        name: branch.queues.get(name=name).annotations["volcano.sh/hierarchy-weights"] for name in notes
    }
    assert weights == {"qa": "1/2/1", "qb": "1/2/1", "qc": "1/1"}
    again = executed(run_create(scenario=branch, user=editor))
    assert again.job_outcomes.get(job=JOB).ready


def test_a_search_is_created_once_and_again_only_after_a_failure(run: Run, editor: User) -> None:
    first = search_create(run=run, job=JOB, user=editor)
    assert search_create(run=run, job=JOB, user=editor) == first
    Run.objects.filter(pk=first.pk).update(state=Run.State.FAILED)
    assert search_create(run=run, job=JOB, user=editor) != first


def test_searches_are_not_listed_as_runs(search: Run, editor: User, browser: Client) -> None:
    assert search.explains is not None
    assert list(runs(editor)) == [search.explains]
    assert str(search.pk) not in text_of(browser.get("/"))
    assert str(search.pk) not in text_of(
        browser.get(reverse("planner:scenario-detail", args=[search.scenario_id]))
    )
    answer = browser.get(reverse("planner:run-detail", args=[search.pk]))
    assert answer.headers["Location"] == job_page(search.explains)


def test_the_job_page_starts_a_search_polls_it_and_shows_the_changes(browser: Client, run: Run) -> None:
    assert "Tries changes of queues" in text_of(browser.get(job_page(run)))
    address = f"{job_page(run)}unblock/"
    answer = browser.post(address, headers={"HX-Request": "true", "HX-Target": "unblock"})
    assert "Waiting for a worker" in text_of(answer)
    assert 'hx-trigger="every 700ms"' in text_of(answer)
    search = search_of(run, JOB)
    assert search is not None
    executed(search)
    actual = found(search)
    assert actual is not None
    shown = fragment(browser, address, "unblock")
    assert "hx-trigger" not in shown
    assert shown.strip() in text_of(browser.get(job_page(run)))
    for change in actual.changes:
        assert change.reason.sentence.replace("'", "&#x27;") in shown
    for entry in actual.checklist:
        for check in entry.checks:
            assert check.reason.sentence.replace("'", "&#x27;") in shown


@pytest.fixture
def half_found(run: Run, editor: User) -> Run:
    """A running search that has found its first change."""
    search = search_create(run=run, job=JOB, user=editor)
    claim = work_claim(kind=Run, id=search.pk, worker="test")
    assert claim is not None
    received: list[Any] = []
    simulate(
        search.input.content(),
        explain=True,
        limits=limits(),
        beat=lambda *_: True,
        on_report=received.append,
        question=search.question,
    )
    counts = [len(shown["changes"]) for shown in received]
    assert counts[0] == 1
    assert counts == sorted(counts)
    assert counts[-1] > 1
    search_progress_store(claim=claim, found=received[0])
    search.refresh_from_db()
    return search


def test_changes_appear_on_the_page_and_in_the_api_as_they_are_found(
    browser: Client, api: APIClient, half_found: Run
) -> None:
    actual = found(half_found)
    assert actual is not None
    (change,) = actual.changes
    run = half_found.explains
    assert run is not None
    page = text_of(browser.get(job_page(run)))
    assert "1 change found so far" in page
    assert change.reason.sentence in page
    assert "hx-trigger" in page
    assert "Try it in a copy" not in page
    answer = api.get(f"/api/v1/runs/{run.pk}/explain/jobs/{JOB}/unblock/").json()
    assert answer["state"] == "running"
    assert [one["reason"]["sentence"] for one in answer["found"]["changes"]] == [change.reason.sentence]


def test_a_cancelled_search_keeps_the_changes_found(browser: Client, half_found: Run) -> None:
    assert half_found.found_so_far is not None
    Run.objects.filter(pk=half_found.pk).update(state=Run.State.CANCELLED)
    half_found.refresh_from_db()
    actual = found(half_found)
    assert actual is not None
    assert half_found.explains is not None
    page = text_of(browser.get(job_page(half_found.explains)))
    assert actual.changes[0].reason.sentence in page
    assert "The search was cancelled." in page
    assert "Search for changes" in page


def test_a_finished_search_keeps_only_its_result(run: Run, editor: User) -> None:
    search = search_create(run=run, job=JOB, user=editor)
    do_work(search)
    assert (search.state, search.found_so_far) == ("succeeded", None)


def test_applying_a_change_redirects_to_a_branch_of_the_scenario(browser: Client, search: Run) -> None:
    assert search.explains is not None
    answer = browser.post(f"{job_page(search.explains)}unblock/0/")
    copy = Scenario.objects.exclude(pk=search.scenario_id).get()
    assert answer.headers["Location"] == reverse("planner:scenario-detail", args=[copy.pk])
    assert browser.post(f"{job_page(search.explains)}unblock/99/").status_code == 404


def test_the_api_starts_a_search_and_returns_its_changes(api: APIClient, run: Run) -> None:
    address = f"/api/v1/runs/{run.pk}/explain/jobs/{JOB}/unblock/"
    assert api.get(address).json()["state"] is None
    answer = api.post(address)
    assert answer.status_code == 202
    assert answer.json()["state"] == "queued"
    assert answer.json()["found"] is None
    search = search_of(run, JOB)
    assert search is not None
    executed(search)
    body: dict[str, Any] = api.get(address).json()
    want = found(search)
    assert want is not None
    assert [change["reason"]["sentence"] for change in body["found"]["changes"]] == [
        change.reason.sentence for change in want.changes
    ]
    assert api.post(f"/api/v1/runs/{run.pk}/explain/jobs/default/nobody/unblock/").status_code == 404


@pytest.mark.parametrize("uid", ["0f8fad5b-d9cb-469f-a165-70867728950e", "default-wait"])
def test_a_job_is_found_by_the_name_of_its_vcjob(api: APIClient, browser: Client, run: Run, uid: str) -> None:
    run.job_outcomes.filter(job=JOB).update(job=f"{JOB}-{uid}")
    address = f"/api/v1/runs/{run.pk}/explain/jobs/"
    assert api.get(f"{address}{JOB}/").json()["outcome"]["job"] == f"{JOB}-{uid}"
    assert api.post(f"{address}{JOB}/unblock/").json()["job"] == f"{JOB}-{uid}"
    assert f"{JOB}-{uid}" in text_of(browser.get(job_page(run)))
    for other in ("wai", "wait-default", "WAIT"):
        assert api.get(f"{address}default/{other}/").status_code == 404


def test_a_dry_run_starts_no_search(api: APIClient, run: Run) -> None:
    assert api.post(f"/api/v1/runs/{run.pk}/explain/jobs/{JOB}/unblock/?dry_run=1").status_code == 200
    assert search_of(run, JOB) is None


def test_a_viewer_reads_the_changes_but_cannot_start_a_search(client: Client, search: Run) -> None:
    viewer = factories.user("viewer", role=Role.VIEWER)
    client.force_login(viewer)
    assert search.explains is not None
    page = text_of(client.get(job_page(search.explains)))
    assert "What would unblock it" in page
    assert "Try it in a copy" not in page
    with pytest.raises(RoleTooLow):
        search_create(run=search.explains, job=JOB, user=viewer)
    with pytest.raises(RoleTooLow):
        change_apply(search=search, number=0, user=viewer)
