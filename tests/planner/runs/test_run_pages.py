"""The page of a run follows its progress and shows its decisions."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from planner.runs.models import Run
from planner.runs.selectors.steps import decisions
from planner.work.lifecycle import work_claim, work_fail, work_heartbeat
from tests import factories
from tests.planner.pages import fragment, htmx_headers, text_of, visible_text
from tests.planner.recorded import finish, finished_run
from tests.worker import do_work

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def run(rows_of_module: None) -> Run:
    return finished_run("capacity_hierarchy", 3)


def page_of(run: Run) -> str:
    return reverse("planner:run-detail", args=[run.pk])


def pages_of(run: Run) -> list[str]:
    victim = run.victims.all()[0]
    return [
        page_of(run),
        reverse("planner:run-queue", args=[run.pk, victim.queue]),
        reverse("planner:run-job", args=[run.pk, *victim.job.split("/")]),
    ]


def test_every_page_of_a_run_renders(browser: Client, run: Run) -> None:
    assert [browser.get(page).status_code for page in pages_of(run)] == [200, 200, 200]


def test_every_page_of_a_run_requires_login(client: Client, run: Run) -> None:
    for page in pages_of(run):
        answer = client.get(page)
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith(reverse("login"))


def test_an_unknown_queue_job_or_run_returns_404(browser: Client, run: Run) -> None:
    nowhere = [
        reverse("planner:run-queue", args=[run.pk, "nobody"]),
        reverse("planner:run-job", args=[run.pk, "default", "nobody"]),
        page_of(run).replace(str(run.pk), "00000000-0000-0000-0000-000000000000"),
    ]
    assert [browser.get(page).status_code for page in nowhere] == [404, 404, 404]


def test_the_page_makes_a_fixed_number_of_queries(
    browser: Client, run: Run, django_assert_num_queries
) -> None:
    with django_assert_num_queries(13):
        browser.get(page_of(run))


@pytest.mark.parametrize(
    ("name", "queries"), [("amounts", 7), ("victims", 5), ("pending", 5), ("decisions", 4)]
)
def test_a_fragment_queries_only_its_own_data(
    browser: Client, run: Run, django_assert_num_queries, name: str, queries: int
) -> None:
    with django_assert_num_queries(queries):
        fragment(browser, page_of(run), name)


@pytest.mark.parametrize("name", ["run", "amounts", "victims", "pending", "decisions"])
def test_a_fragment_equals_that_part_of_the_page(browser: Client, run: Run, name: str) -> None:
    page = text_of(browser.get(page_of(run)))
    assert fragment(browser, page_of(run), name).strip() in page


def test_a_running_run_shows_its_progress_and_polls(browser: Client) -> None:
    run = factories.run()
    claim = work_claim(kind=Run, id=run.pk, worker="test")
    assert claim is not None
    work_heartbeat(claim=claim, progress=0.42, doing="reclaim, cycle 1")
    page = text_of(browser.get(page_of(run)))
    assert "42 %" in page
    assert "reclaim, cycle 1" in page
    assert 'hx-trigger="every 1s"' in page
    assert fragment(browser, page_of(run), "run").strip() in page


def test_a_poll_of_an_unchanged_run_returns_204(browser: Client) -> None:
    run = factories.run()
    address = re.search(r'hx-get="([^"]+)"', fragment(browser, page_of(run), "run"))[1]  # type: ignore[index]
    answer = browser.get(address, headers=htmx_headers("run"))
    assert answer.status_code == 204
    work_claim(kind=Run, id=run.pk, worker="test")
    assert "Running" in fragment(browser, address, "run")


def test_a_finished_run_does_not_poll(browser: Client, run: Run) -> None:
    assert "every 1s" not in text_of(browser.get(page_of(run)))


def test_an_unfinished_run_refreshes_its_page_without_javascript(browser: Client, run: Run) -> None:
    refresh = '<noscript><meta http-equiv="refresh" content="2"></noscript>'
    assert refresh in text_of(browser.get(page_of(factories.run())))
    assert refresh not in text_of(browser.get(page_of(run)))


def test_a_failed_run_shows_its_error(browser: Client) -> None:
    run = factories.run()
    claim = work_claim(kind=Run, id=run.pk, worker="test")
    assert claim is not None
    work_fail(claim=claim, error="Queue a has a parent b that does not exist.")
    assert "Queue a has a parent b that does not exist." in text_of(browser.get(page_of(run)))


def test_cancelling_ends_a_queued_run(browser: Client) -> None:
    run = factories.run()
    answer = browser.post(reverse("planner:run-cancel", args=[run.pk]))
    assert answer.headers["Location"] == page_of(run)
    assert "was cancelled" in text_of(browser.get(page_of(run)))


def test_each_victim_is_shown_with_its_preemptor(browser: Client, run: Run) -> None:
    shown = fragment(browser, page_of(run), "victims")
    victims = list(run.victims.all())
    assert victims
    for victim in victims:
        for word in (victim.pod, victim.job, victim.queue, victim.node, victim.for_pod, victim.action):
            assert word in shown
        assert victim.get_state_display() in shown


def test_waiting_jobs_show_their_reason(browser: Client, run: Run) -> None:
    shown = fragment(browser, page_of(run), "pending")
    assert "Not enqueued: the PodGroup stays Pending" in shown
    assert "pod group is not ready, 4 Pending, 4 minAvailable" in shown


def test_each_queue_has_a_bullet_chart_on_one_axis(browser: Client, run: Run) -> None:
    shown = fragment(browser, f"{page_of(run)}?resource=cpu", "amounts")
    rows = list(run.queue_outcomes.filter(in_session=True).exclude(queue="root"))
    end = max(
        getattr(row, name).get("cpu") or 0
        for row in rows
        for name in ("deserved", "allocated", "request", "guarantee")
    )
    widths = [float(width) for width in re.findall(r'bullet__allocated"[^>]*width="([\d.]+)%"', shown)]
    assert sorted(widths) == [
        pytest.approx(held, abs=0.01) for held in sorted((row.allocated["cpu"] / end) * 100 for row in rows)
    ]
    for row in rows:
        assert f'<data value="{row.deserved["cpu"]}"' in shown


def test_a_changed_deserved_amount_is_shown_with_that_of_the_previous_run(browser: Client, run: Run) -> None:
    before = run.queue_outcomes.get(queue="q-0")
    before.deserved["cpu"] = 16_000
    before.save()
    assert run.result is not None
    again = finish(factories.run(run.scenario), run.result.document())
    shown = fragment(browser, f"{page_of(again)}?resource=cpu", "amounts")
    assert visible_text(shown).count("was 16") == shown.count(">was ") == 1
    assert page_of(run) in shown


def test_the_most_contested_resource_is_shown_first(browser: Client, run: Run) -> None:
    outcome = run.queue_outcomes.get(queue="q-0")
    outcome.request["memory"] = outcome.deserved["memory"] * 9
    outcome.save()
    assert "Amounts of Memory per queue" in fragment(browser, page_of(run), "amounts")


def test_queues_outside_the_session_are_shown_only_in_the_full_view(browser: Client, run: Run) -> None:
    run.queue_outcomes.filter(queue="q-1").update(in_session=False)
    assert ">q-1<" not in fragment(browser, page_of(run), "amounts")
    assert "no PodGroup, not in the session" in fragment(browser, f"{page_of(run)}?as=tree", "amounts")


def test_the_resource_switch_changes_the_table_and_its_unit(browser: Client, run: Run) -> None:
    shown = visible_text(fragment(browser, f"{page_of(run)}?resource=memory", "amounts"))
    assert "Memory, GiB" in shown
    assert shown.count("GiB") == 1
    assert " cores" not in shown


def test_queues_are_sorted_by_deficit_or_by_any_column(browser: Client, run: Run) -> None:
    outcome = run.queue_outcomes.get(queue="q-1")
    outcome.deserved["cpu"] = outcome.request["cpu"] = (outcome.allocated["cpu"] or 0) + 64_000
    outcome.save()
    run.job_outcomes.filter(queue="q-1").update(pending=1)
    first = re.findall(r">(q-\d)<", fragment(browser, f"{page_of(run)}?resource=cpu", "amounts"))
    assert first[0] == "q-1"
    by_name = re.findall(r">(q-\d)<", fragment(browser, f"{page_of(run)}?resource=cpu&sort=name", "amounts"))
    assert by_name == sorted(by_name)
    back = re.findall(r">(q-\d)<", fragment(browser, f"{page_of(run)}?resource=cpu&sort=-name", "amounts"))
    assert back == by_name[::-1]
    assert 'aria-sort="descending"' in fragment(browser, f"{page_of(run)}?resource=cpu&sort=share", "amounts")


def test_the_queue_filter_matches_names(browser: Client, run: Run) -> None:
    shown = fragment(browser, f"{page_of(run)}?queue=Q-1", "amounts")
    assert ">q-1<" in shown
    assert ">q-0<" not in shown
    assert "No queue matches" in fragment(browser, f"{page_of(run)}?queue=nobody", "amounts")


def test_a_run_without_jobs_and_nodes_blames_neither_a_filter_nor_the_configuration(browser: Client) -> None:
    empty = {**factories.cluster(), "nodes": [], "podgroups": [], "pods": []}
    run = factories.run(factories.scenario(document=empty))
    do_work(run)
    page = re.sub(r"\s+", " ", text_of(browser.get(page_of(run))))
    assert "No queue has a PodGroup" in page
    assert "none has a PodGroup, or neither proportion nor capacity is configured" in page
    assert "none has a PodGroup, or neither" in text_of(browser.get(f"{page_of(run)}steps/0/"))
    assert "The cluster has none." in text_of(browser.get(f"{page_of(run)}nodes/"))


def test_decisions_are_filtered(browser: Client, run: Run) -> None:
    evictions = fragment(browser, f"{page_of(run)}?op=evict", "decisions")
    assert evictions.count("<tr>") - 1 == len(decisions(run).where(op="evict"))
    words = fragment(browser, f"{page_of(run)}?words=new5", "decisions")
    assert words.count("<tr>") - 1 == len(decisions(run).where(job="default/new5"))


def test_every_decision_shows_its_state(browser: Client, run: Run) -> None:
    shown = text_of(browser.get(page_of(run)))
    labels = re.findall(r'<span class="tag tag--(committed|kept|failed)">([^<]*)</span>', shown)
    assert labels
    assert all(label == state.capitalize() for state, label in labels)


def test_long_lists_are_paginated(browser: Client) -> None:
    run = finished_run("scale")
    first = fragment(browser, page_of(run), "decisions")
    assert f"1 to 25 of {len(decisions(run))} decisions" in visible_text(first)
    second = fragment(browser, f"{page_of(run)}?decisions=2&op=bind", "decisions")
    assert "?decisions=3&amp;op=bind" in second


def test_the_run_button_starts_a_run_of_the_current_revision(browser: Client) -> None:
    scenario = factories.scenario()
    answer = browser.post(reverse("planner:run-submit", args=[scenario.pk]))
    run = scenario.runs.get()
    assert answer.headers["Location"] == page_of(run)
    assert run.scenario_revision == scenario.revision
    assert run.owner.username == "editor"


def test_a_run_has_the_chosen_number_of_cycles(browser: Client) -> None:
    scenario = factories.scenario()
    browser.post(reverse("planner:run-submit", args=[scenario.pk]), {"cycles": "7"})
    assert scenario.runs.get().options["cycles"] == 7


@pytest.mark.parametrize("cycles", ["0", "1001", "-3", "many", "1.5"])
def test_an_invalid_number_of_cycles_is_refused(browser: Client, cycles: str) -> None:
    scenario = factories.scenario()
    address = reverse("planner:run-submit", args=[scenario.pk])
    assert "Nothing was run. Cycles:" in text_of(browser.post(address, {"cycles": cycles}, follow=True))
    assert not scenario.runs.exists()
