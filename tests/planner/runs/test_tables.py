"""Sorting, filtering, grouping and counting of the long lists of a run, on pages and in the API."""

import re
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from planner.runs.models import Run
from planner.runs.selectors.lists import DECISION_GROUPS, JOB_GROUPS, VICTIM_GROUPS
from planner.runs.selectors.steps import decisions
from planner.runs.views.tables import KINDS
from planning import traces
from tests import factories
from tests.planner.pages import fragment, text_of, visible_text
from tests.planner.recorded import finish

pytestmark = pytest.mark.django_db

QUEUES = ("research", "serving", "vision")
JOBS = 60


def result() -> dict[str, Any]:
    """Sixty jobs with two pods each in three queues: a third of them wait, a third have a victim."""
    groups, steps, pending = [], [], {}
    for number in range(JOBS):
        job, queue = f"default/job-{number:02}", QUEUES[number % 3]
        waits = 2 if number % 3 == 0 else 0
        tasks = [{"pod": f"{job}-{pod}", "status": "Pending" if waits else "Running"} for pod in range(2)]
        groups.append(
            {
                "name": job, "queue": queue, "tasks": tasks, "minAvailable": 2, "priority": number % 7,
                "task_status": {"Pending": waits} if waits else {"Running": 2},
                "phase_after": "Inqueue" if waits else "Running",
            }
        )  # fmt: skip
        if waits:
            pending[job] = {"gate": "queue", "resource": "cpu" if number % 2 else "nvidia.com/gpu"}
        elif number % 3 == 1:
            steps.append(
                {
                    "action": "reclaim" if number % 2 else "preempt", "op": "evict", "pod": f"{job}-0",
                    "job": job, "for": "default/job-00-0", "node": f"n{number % 4}",
                    "state": "committed" if number % 5 else "kept",
                }
            )  # fmt: skip
    snapshot = {"queues": [{"name": name, "deserved": {"cpu": 8000.0}, "share": 0.5} for name in QUEUES]}
    return {
        "cycles": [
            {
                "cycle": 1, "at_open": snapshot, "at_end": snapshot, "decisions": steps,
                "podgroups": groups, "nodes": [],
            }
        ]
    }  # fmt: skip


@pytest.fixture(scope="module")
def run(rows_of_module: None) -> Run:
    made = finish(factories.run(), result())
    for job in made.job_outcomes.filter(pending__gt=0):
        job.gate = "queue"
        job.resource = "cpu" if job.position % 2 else "nvidia.com/gpu"
        job.save()
    return made


def rows_of(api: APIClient, run: Run, query: str) -> Any:
    answer = api.get(f"/api/v1/runs/{run.pk}/{query}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_the_jobs_page_counts_and_lists_the_jobs_of_a_queue(browser: Client, run: Run) -> None:
    page = visible_text(text_of(browser.get(f"/runs/{run.pk}/jobs/?queue=research")))
    assert "20 jobs of 60" in page
    assert "default/job-00" in page
    assert "default/job-01" not in page


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("jobs/", 60), ("jobs/?pending=true", 20), ("jobs/?queue=vision", 20), ("jobs/?words=JOB-1", 10),
        ("jobs/?gate=queue&resource=cpu", 10), ("victims/", 20), ("victims/?state=kept", 4),
        ("victims/?for_queue=research&action=reclaim", 10), ("victims/?words=n3", 5),
        ("decisions/?op=evict&node=n1", 5), ("decisions/?words=JOB-01", 1),
    ],
)  # fmt: skip
def test_the_page_and_the_api_accept_the_same_parameters(
    api: APIClient, browser: Client, run: Run, query: str, count: int
) -> None:
    assert rows_of(api, run, query)["count"] == count
    word = {"j": "job", "v": "victim", "d": "decision"}[query[0]]
    plural = word if count == 1 else f"{word}s"
    assert f"{count} {plural}" in visible_text(text_of(browser.get(f"/runs/{run.pk}/{query}")))


@pytest.mark.parametrize(
    ("name", "by"),
    [("jobs", by) for by in JOB_GROUPS]
    + [("victims", by) for by in VICTIM_GROUPS]
    + [("decisions", by) for by in DECISION_GROUPS],
)
def test_group_counts_add_up_and_match_the_filtered_lists(
    api: APIClient, run: Run, name: str, by: str
) -> None:
    total = rows_of(api, run, f"{name}/")["count"]
    groups = rows_of(api, run, f"{name}/groups/?by={by}")
    assert groups["rows"] == total == sum(group["rows"] for group in groups["groups"])
    for group in groups["groups"]:
        if group["value"]:
            assert rows_of(api, run, f"{name}/?{by}={group['value']}")["count"] == group["rows"]


def test_job_groups_are_ordered_by_waiting_pods(api: APIClient, browser: Client, run: Run) -> None:
    first = rows_of(api, run, "jobs/groups/?by=queue")["groups"][0]
    assert first == {
        "value": "research", "rows": 20, "pods": 40, "pending": 40, "work_lost_seconds": None,
        "work_unknown": None,
    }  # fmt: skip
    page = visible_text(text_of(browser.get(f"/runs/{run.pk}/jobs/?by=queue")))
    assert 'href="?queue=research"' in page
    assert page.index("research</a>") < page.index("serving</a>")


def test_an_active_filter_without_a_form_field_is_shown(browser: Client, run: Run) -> None:
    assert "Waiting: yes" in text_of(browser.get(f"/runs/{run.pk}/jobs/?pending=true&by=queue"))
    assert "Waiting: yes" not in text_of(browser.get(f"/runs/{run.pk}/jobs/?by=queue"))


def test_a_group_keeps_the_other_filters(browser: Client, run: Run) -> None:
    page = text_of(browser.get(f"/runs/{run.pk}/jobs/?by=resource&queue=research"))
    assert 'href="?queue=research&amp;resource=cpu"' in page


def test_facets_count_the_rows_that_the_other_filters_leave(browser: Client, run: Run) -> None:
    page = visible_text(text_of(browser.get(f"/runs/{run.pk}/jobs/?resource=cpu")))
    assert '<option value="research">research (10)</option>' in page
    assert '<option value="cpu" selected>cpu (10)</option>' in page
    assert '<option value="nvidia.com/gpu">nvidia.com/gpu (10)</option>' in page


def test_rows_equal_under_the_ordering_keep_the_order_of_the_result(api: APIClient, run: Run) -> None:
    rows = rows_of(api, run, "jobs/?ordering=-priority&fields=job,priority")["results"]
    assert rows == sorted(rows, key=lambda row: (-row["priority"], row["job"]))


def test_a_column_head_shows_its_order_and_links_to_the_reverse(browser: Client, run: Run) -> None:
    page = text_of(browser.get(f"/runs/{run.pk}/jobs/?ordering=-pending&queue=research"))
    assert 'aria-sort="descending"><a class="grid__sort" href="?ordering=pending&amp;queue=research">' in page


def test_an_unknown_filter_is_reported_on_the_page_and_refused_by_the_api(
    api: APIClient, browser: Client, run: Run
) -> None:
    assert "colour: there is no such filter" in text_of(browser.get(f"/runs/{run.pk}/jobs/?colour=red"))
    assert api.get(f"/api/v1/runs/{run.pk}/jobs/groups/?by=queue&colour=red").status_code == 422
    assert api.get(f"/api/v1/runs/{run.pk}/jobs/groups/?by=colour").status_code == 422


def test_the_csv_link_has_the_rows_of_the_page(api: APIClient, browser: Client, run: Run) -> None:
    page = text_of(browser.get(f"/runs/{run.pk}/victims/?state=kept&ordering=-pod"))
    address = f"/api/v1/runs/{run.pk}/victims/?format=csv&amp;state=kept&amp;ordering=-pod"
    assert address in page
    answer = api.get(address.replace("&amp;", "&"))
    lines = b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert len(lines) == 5
    pods = [line.split(",")[2] for line in lines[1:]]
    assert pods == sorted(pods, reverse=True)


@pytest.mark.parametrize(("name", "queries"), [("jobs", 10), ("victims", 10), ("decisions", 4)])
def test_a_table_page_makes_a_bounded_number_of_queries(
    browser: Client, run: Run, django_assert_max_num_queries: Any, name: str, queries: int
) -> None:
    with django_assert_max_num_queries(queries):
        assert browser.get(f"/runs/{run.pk}/{name}/").status_code == 200


def test_the_table_fragment_equals_that_part_of_the_page(browser: Client, run: Run) -> None:
    address = f"/runs/{run.pk}/jobs/?by=queue"
    assert fragment(browser, address, "table").strip() in text_of(browser.get(address))


def test_a_page_of_decisions_unpacks_only_the_parts_it_shows(
    monkeypatch: pytest.MonkeyPatch, db: None, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr(traces, "DECISIONS_IN_A_PART", 7)
    monkeypatch.setattr("planner.runs.selectors.steps.DECISIONS_IN_A_PART", 7)
    run = Run.objects.select_related("outcome").get(pk=finish(factories.run(), result()).pk)
    everything = list(decisions(run))
    assert [step.seq for step in everything] == list(range(1, 21))
    for begin in range(21):
        for end in range(begin, 22):
            steps = decisions(run)
            with django_assert_num_queries(1 if begin < min(end, 20) else 0):
                assert list(steps[begin:end]) == everything[begin:end]
    assert decisions(run)[-1] == everything[-1]
    assert decisions(run)[8] == everything[8]


def test_hidden_columns_are_left_out_of_page_and_csv(api: APIClient, browser: Client, run: Run) -> None:
    page = text_of(browser.get(f"/runs/{run.pk}/victims/?hide=node&hide=for_pod&hide=pod&state=kept"))
    assert 'class="grid grid--without-4 grid--without-5"' in page
    assert "there is no such filter" not in page
    fields = "pod,job,queue,for_queue,action,state"
    address = f"/api/v1/runs/{run.pk}/victims/?format=csv&state=kept&fields={fields}"
    assert address.replace("&", "&amp;").replace(",", "%2C") in page
    lines = b"".join(api.get(address).streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert lines[0] == fields


@pytest.mark.parametrize("name", ["jobs", "victims", "decisions"])
def test_every_column_that_can_be_hidden_is_a_field_of_the_api(
    api: APIClient, browser: Client, run: Run, name: str
) -> None:
    row = rows_of(api, run, f"{name}/")["results"][0]
    page = text_of(browser.get(f"/runs/{run.pk}/{name}/"))
    heads = re.findall(r'<th scope="col"[^>]*>(?:<a[^>]*>)?([^<]+)<', page)
    assert [head for _, head in KINDS[name].columns] == heads
    assert {field for field, _ in KINDS[name].columns} <= row.keys()
