"""Jobs without pods yet count as waiting in the verdict, the lists and the explanations."""

import pytest
from django.test import Client
from rest_framework.test import APIClient

from planner.runs.models import JobOutcome, Run
from planner.runs.selectors.runs import run_counts
from scheduler_core.explain.pending import awaits_pods
from scheduler_core.model.status import BEFORE_PODS
from tests import factories
from tests.planner.pages import text_of
from tests.planner.recorded import executed

pytestmark = pytest.mark.django_db(transaction=True)

REJECTED, ENQUEUED = "default/rejected", "default/enqueued"
WAITING = ["default/wait", REJECTED, ENQUEUED]


@pytest.fixture
def run() -> Run:
    document = factories.cluster()
    for key, cpu in ((REJECTED, "4000"), (ENQUEUED, "1")):
        podgroup = {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "metadata": {"name": key.partition("/")[2], "namespace": "default"},
            "spec": {"minMember": 4, "queue": "busy", "minResources": {"cpu": cpu}},
            "status": {"phase": "Pending"},
        }
        document["podgroups"].append(podgroup)
    return executed(factories.run(factories.scenario(document=document)))


def test_jobs_without_pods_are_counted_and_listed_as_waiting(
    run: Run, api: APIClient, browser: Client
) -> None:
    assert run_counts(run).jobs_pending == len(WAITING)
    listed = api.get(f"/api/v1/runs/{run.pk}/jobs/?pending=true").json()["results"]
    assert {job["job"] for job in listed} == set(WAITING)
    assert all(job["waits"] for job in listed)
    others = api.get(f"/api/v1/runs/{run.pk}/jobs/?pending=false").json()["results"]
    assert not any(job["waits"] for job in others)
    page = text_of(browser.get(f"/runs/{run.pk}/"))
    assert "3 of 4 jobs wait, with 3 pending pods; 2 of these jobs have no pods yet." in page


def test_a_job_without_pods_states_its_reason(run: Run, api: APIClient, browser: Client) -> None:
    rejected, enqueued = (JobOutcome.objects.get(job=key) for key in (REJECTED, ENQUEUED))
    assert (rejected.gate, rejected.phase_after) == ("enqueue", "Pending")
    assert "its minResources are 4,000 cores" in rejected.message
    assert (enqueued.gate, enqueued.phase_after) == ("noPods", "Inqueue")
    assert "its controller creates them once its PodGroup is Inqueue" in enqueued.message
    for row in (rejected, enqueued):
        page = text_of(browser.get(f"/runs/{run.pk}/jobs/{row.job}/"))
        assert "It has no pods yet." in page
        assert row.message in page
        story = api.get(f"/api/v1/runs/{run.pk}/explain/jobs/{row.job}/").json()
        assert story["pending"]["reason"]["sentence"] == row.message


@pytest.mark.parametrize("phase", [*BEFORE_PODS, "Running", "Unknown", "Completed"])
def test_stored_rows_and_results_agree_on_which_jobs_wait(phase: str) -> None:
    row = JobOutcome(pods=0, pending=0, phase_after=phase)
    assert row.waits == awaits_pods({"tasks": [], "phase_after": phase}) == (phase in BEFORE_PODS)
