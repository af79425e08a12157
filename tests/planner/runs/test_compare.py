"""Comparisons of runs, on the page and in the API."""

import json
import re
from dataclasses import fields, replace
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from planner.accounts.models import Role
from planner.runs.models import Run
from planner.runs.selectors.comparison_rows import queue_delta
from planner.runs.selectors.figures import queue_lines
from planner.runs.selectors.runs import queue_figures
from planner.scenarios.services.branches import scenario_branch
from planner.scenarios.services.queues import queue_update
from planner.scenarios.services.scenarios import conf_update
from planning.rows import Amounts, Decision, Placement, QueueFigures, placements_at_end
from tests import factories
from tests.planner.pages import fragment, text_of, visible_text
from tests.planner.recorded import finish, simulated_run

pytestmark = pytest.mark.django_db


def result(*, victims: list[str], nodes: dict[str, str], share: float) -> dict[str, Any]:
    """A result in which `waits` has a share, some pods are evicted and some are bound."""
    queues = [
        {"name": name, "deserved": {"cpu": 8000.0}, "allocated": {"cpu": 8000.0 * full}, "share": full}
        for name, full in (("busy", 1.0), ("waits", share))
    ]
    steps = [
        {"action": "reclaim", "op": "evict", "pod": pod, "job": "default/run", "for": "default/wait-0",
         "node": "n0", "state": "committed"}
        for pod in victims
    ] + [
        {"action": "allocate", "op": "bind", "pod": pod, "job": "default/wait", "node": node,
         "state": "committed"}
        for pod, node in nodes.items()
    ]  # fmt: skip
    waiting = 4 - len(nodes)
    groups = [
        {"name": "default/run", "queue": "busy", "task_status": {"Running": 16}, "tasks": []},
        {
            "name": "default/wait", "queue": "waits", "task_status": {"Pending": waiting},
            "phase_after": "Inqueue",
            "tasks": [{"pod": f"default/wait-{number}", "status": "Pending"} for number in range(4)],
        },
    ]  # fmt: skip
    snapshot = {"queues": queues}
    cycle = {
        "cycle": 1,
        "at_open": snapshot,
        "at_end": snapshot,
        "decisions": steps,
        "podgroups": groups,
        "nodes": [],
    }
    return {"cycles": [cycle]}


@pytest.fixture(scope="module")
def pair(rows_of_module: None) -> list[Run]:
    """Two runs of a scenario, before and after a change of its queue and its configuration."""
    scenario = factories.scenario(document={**factories.cluster(), "now": "2026-01-01T00:01:00Z"})
    first = finish(
        factories.run(scenario),
        result(victims=["default/run-0", "default/run-1"], nodes={"default/wait-0": "n0"}, share=0.5),
    )
    editor = factories.user()
    queue_update(
        scenario=scenario, name="waits", patch={"capability": {"cpu": "4"}}, expected_revision=1, user=editor
    )
    without = factories.CONF.replace("  - name: conformance\n", "")
    conf_update(scenario=scenario, text=without, expected_revision=2, user=editor)
    second = finish(
        factories.run(scenario, cycles=2),
        result(
            victims=["default/run-1", "default/run-2", "default/run-3"],
            nodes={"default/wait-0": "n1", "default/wait-1": "n1"},
            share=0.75,
        ),
    )
    return [first, second]


def address(runs: list[Run], root: str = "/compare/") -> str:
    return f"{root}?runs={','.join(str(run.pk) for run in runs)}"


def comparison(api: APIClient, runs: list[Run]) -> dict[str, Any]:
    answer = api.get(address(runs, "/api/v1/comparisons/"))
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_differing_settings_are_listed_field_by_field(api: APIClient, pair: list[Run]) -> None:
    settings = comparison(api, pair)["settings"]
    assert [(found["kind"], found["name"], found["field"]) for found in settings] == [
        ("options", "", "cycles"),
        ("scheduler_conf", "", ""),
        ("queues", "waits", "spec.capability.cpu"),
    ]
    assert settings[0]["values"] == [1, 2]
    assert settings[2]["values"] == ["12", "4"]


def test_a_guarantee_of_nothing_is_no_column(browser: Client, pair: list[Run]) -> None:
    for run in pair:
        run.queue_outcomes.update(guarantee={"cpu": 0.0, "memory": 0.0})
    assert "Guarantee, cores" not in visible_text(text_of(browser.get(address(pair))))
    pair[1].queue_outcomes.filter(queue="waits").update(guarantee={"cpu": 1000.0})
    assert "Guarantee, cores" in visible_text(text_of(browser.get(address(pair))))


def test_victims_are_classified_as_new_gone_or_unchanged(api: APIClient, pair: list[Run]) -> None:
    body = comparison(api, pair)
    assert [(row["name"], row["differs"]) for row in body["victims"]] == [
        ("default/run-0", True),
        ("default/run-2", True),
        ("default/run-3", True),
        ("default/run-1", False),
    ]
    first, second = body["runs"]
    assert (second["victims_new"], second["victims_gone"], second["victims_same"]) == (2, 1, 1)
    assert (first["victims_new"], first["victims_gone"], first["victims_same"]) == (0, 0, 2)
    assert body["victims"][0]["runs"][1] is None
    assert body["victims"][0]["runs"][0]["for_queue"] == "waits"


def test_work_lost_is_counted_in_pod_seconds(api: APIClient, pair: list[Run]) -> None:
    assert [run["work_lost"] for run in comparison(api, pair)["runs"]] == [120.0, 180.0]


def test_evictions_of_unknown_run_time_are_counted_apart(
    api: APIClient, browser: Client, pair: list[Run]
) -> None:
    pair[0].victims.filter(pod="default/run-0").update(ran_seconds=None)
    first, second = comparison(api, pair)["runs"]
    assert (first["work_lost"], first["work_unknown"]) == (60.0, 1)
    assert second["work_unknown"] == 0
    page = visible_text(text_of(browser.get(address(pair))))
    assert "at least 60 pod-seconds <small>run time of 1 eviction unknown</small>" in page
    groups = api.get(f"/api/v1/runs/{pair[0].pk}/victims/groups/?by=queue").json()["groups"]
    assert (groups[0]["work_lost_seconds"], groups[0]["work_unknown"]) == (60.0, 1)


def test_a_run_counted_by_older_rules_says_so(api: APIClient, browser: Client, pair: list[Run]) -> None:
    said = "follow older rules of counting"
    page = f"/runs/{pair[0].pk}/"
    assert said not in text_of(browser.get(page))
    outcome = pair[0].outcome
    assert outcome is not None
    del outcome.counts["counting"]
    outcome.save(update_fields=["counts"])
    assert said in text_of(browser.get(page))
    assert text_of(browser.get(address(pair))).count(said) == 1
    assert api.get(f"/api/v1/runs/{pair[0].pk}/").json()["counts"]["counting"] == 0


def test_differing_queues_jobs_and_placements_are_listed_first(api: APIClient, pair: list[Run]) -> None:
    body = comparison(api, pair)
    assert [(row["name"], row["differs"]) for row in body["queues"]] == [("waits", True), ("busy", False)]
    assert [held["share"] for held in body["queues"][0]["runs"]] == [0.5, 0.75]
    assert body["queues"][0]["runs"][0]["deserved"]["cpu"]["unit"] == "millicores"
    waiting = body["jobs"][0]
    assert (waiting["name"], [held["pending"] for held in waiting["runs"]]) == ("default/wait", [3, 2])
    assert {row["name"]: row["runs"] for row in body["placements"]} == {
        "default/wait-0": [{"node": "n0", "op": "bind"}, {"node": "n1", "op": "bind"}],
        "default/wait-1": [None, {"node": "n1", "op": "bind"}],
    }
    assert body["totals"] == {"settings": 3, "queues": 2, "jobs": 2, "victims": 4, "placements": 2}


def test_a_run_compared_with_an_identical_one_has_no_differences(api: APIClient, pair: list[Run]) -> None:
    twin = finish(
        factories.run(pair[0].scenario, cycles=2),
        json.loads(pair[1].result.content()),  # type: ignore[union-attr]
    )
    body = comparison(api, [pair[1], twin])
    assert body["settings"] == []
    assert not any(
        row["differs"] for kind in ("queues", "jobs", "victims", "placements") for row in body[kind]
    )


def test_a_parent_queue_is_compared_by_the_share_of_its_children(api: APIClient, db: None) -> None:
    run, again = (simulated_run("capacity_hierarchy", 3) for _ in range(2))
    lines = [line for line in queue_lines(queue_figures(run), "cpu", {}) if line.is_parent]
    parents = {line.figures.queue: line.share for line in lines if line.figures.share is not None}
    actual = {row["name"]: row["runs"][1]["share"] for row in comparison(api, [run, again])["queues"]}
    assert any(parents.values())
    assert {name: actual[name] for name in parents} == parents


@pytest.mark.parametrize("options", ["", "?runs=", "?runs=nonsense", "?runs={0}", "?runs={0},{0}"])
def test_an_invalid_selection_of_runs_is_refused_with_the_reason(
    api: APIClient, browser: Client, pair: list[Run], options: str
) -> None:
    query = options.format(pair[0].pk)
    answer = api.get(f"/api/v1/comparisons/{query}")
    assert (answer.status_code, answer.json()["problems"][0]["path"]) == (422, "runs")
    page = browser.get(f"/compare/{query}")
    assert page.status_code == 422
    assert "Select two to six runs" in text_of(page)


def test_a_run_of_another_workspace_is_not_found(client: Client, pair: list[Run]) -> None:
    client.force_login(factories.user("outsider", role=None))
    assert client.get(address(pair)).status_code == 404


def test_the_page_shows_both_runs_to_a_viewer(client: Client, pair: list[Run]) -> None:
    client.force_login(factories.user("viewer", role=Role.VIEWER))
    page = text_of(client.get(address(pair)))
    for shown in (
        "spec.capability.cpu",
        "-  - name: conformance",
        "2 new, 1 no longer evicted, 1 as in A",
        "180 pod-seconds",
    ):
        assert shown in visible_text(page)
    figure = json.loads(re.search(r'id="share-figure"[^>]*>(.*?)</script>', page)[1])  # type: ignore[index]
    bars = [trace for trace in figure["data"] if trace["name"] == "Share at the end"]
    assert [(trace["xaxis"], trace["y"], trace["x"]) for trace in bars] == [
        ("x", ["waits", "busy"], [50.0, 100.0]),
        ("x2", ["waits", "busy"], [75.0, 100.0]),
    ]
    assert figure["layout"]["xaxis2"]["matches"] == "x"


def test_selected_runs_redirect_to_the_permanent_address(browser: Client, pair: list[Run]) -> None:
    first, second = (str(run.pk) for run in pair)
    answer = browser.get(f"/compare/?runs={first}&runs={second}")
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/compare/?runs={first},{second}"
    lists = text_of(browser.get("/"))
    assert f'name="runs" value="{first}"' in lists


def test_the_queues_fragment_equals_that_part_of_the_page(browser: Client, pair: list[Run]) -> None:
    assert fragment(browser, address(pair), "queues").strip() in text_of(browser.get(address(pair)))


def test_the_queue_filter_matches_names(browser: Client, pair: list[Run]) -> None:
    shown = fragment(browser, f"{address(pair)}&queue=BUS", "queues")
    assert "busy" in shown
    assert 'class="grid__name">waits' not in shown


def test_the_page_makes_a_fixed_number_of_queries(
    browser: Client, pair: list[Run], django_assert_num_queries
) -> None:
    with django_assert_num_queries(11):
        browser.get(address(pair))


def test_a_run_without_a_result_is_reported(browser: Client, pair: list[Run]) -> None:
    waiting = factories.run(pair[0].scenario)
    assert "has no result to compare" in text_of(browser.get(address([pair[0], waiting])))


def test_the_older_of_two_selected_runs_is_the_baseline(browser: Client, pair: list[Run]) -> None:
    first, second = (str(run.pk) for run in pair)
    answer = browser.get(f"/compare/?runs={second}&runs={first}")
    assert answer.headers["Location"] == f"/compare/?runs={first},{second}"


def test_a_run_of_the_parent_scenario_is_the_baseline_even_if_it_ran_later(
    browser: Client, pair: list[Run]
) -> None:
    parent = pair[0].scenario
    branch = scenario_branch(scenario=parent, name="branch", user=factories.user())
    of_branch = finish(factories.run(branch), result(victims=[], nodes={}, share=0.5))
    later = finish(factories.run(parent), result(victims=[], nodes={}, share=0.5))
    answer = browser.get(f"/compare/?runs={of_branch.pk}&runs={later.pk}")
    assert answer.headers["Location"] == f"/compare/?runs={later.pk},{of_branch.pk}"


def test_one_link_swaps_the_baseline_and_the_charts_name_their_scenarios(
    browser: Client, pair: list[Run]
) -> None:
    page = text_of(browser.get(address(pair)))
    assert f'href="{address(pair[::-1])}"' in page
    figure = json.loads(re.search(r'id="share-figure"[^>]*>(.*?)</script>', page)[1])  # type: ignore[index]
    assert figure["layout"]["xaxis"]["title"]["text"].startswith("A: what if, ")


def test_deltas_are_relative_to_the_first_run(api: APIClient, browser: Client, pair: list[Run]) -> None:
    body = comparison(api, pair)
    waits, busy = body["queues"]
    assert [delta and delta["share"] for delta in waits["deltas"]] == [None, 0.25]
    assert waits["deltas"][1]["allocated"]["cpu"]["value"] == 2000.0
    assert busy["deltas"][1]["share"] == 0.0
    assert body["jobs"][0]["deltas"] == [None, {"pods": 0, "pending": -1}]
    page = visible_text(text_of(browser.get(address(pair))))
    for shown in ("<strong>+25 pp</strong>", "<strong>+2</strong>", "<strong>−1 pod</strong>"):
        assert shown in page
    turned = comparison(api, pair[::-1])
    assert turned["queues"][0]["deltas"][1]["share"] == -0.25


def test_runs_of_unrelated_clusters_get_a_short_comparison_with_a_notice(
    api: APIClient, browser: Client, pair: list[Run]
) -> None:
    cluster = factories.cluster()
    cluster["queues"] = [factories.queue("mine"), factories.queue("yours")]
    other = result(victims=[], nodes={}, share=0.5)
    for moment in ("at_open", "at_end"):
        other["cycles"][0][moment] = {
            "queues": [{"name": "mine", "share": 0.5}, {"name": "yours", "share": 0.5}]
        }
    other["cycles"][0]["nodes"] = [
        {"name": "elsewhere", "idle": {}, "used": {}, "releasing": {}, "pipelined": {}}
    ]
    stranger = finish(factories.run(factories.scenario(name="elsewhere", document=cluster)), other)
    body = comparison(api, [pair[0], stranger])
    assert body["related"] is False
    assert body["queues"] == body["jobs"] == body["settings"] == []
    assert len(body["runs"]) == 2
    page = text_of(browser.get(address([pair[0], stranger])))
    assert "These runs are about different clusters" in page
    assert 'id="queues"' not in page
    whole = api.get(f"{address([pair[0], stranger], '/api/v1/comparisons/')}&anyway=true").json()
    assert len(whole["queues"]) == 4
    assert 'id="queues"' in text_of(browser.get(f"{address([pair[0], stranger])}&anyway=true"))


def test_one_button_compares_a_scenario_with_its_parent(browser: Client, pair: list[Run]) -> None:
    parent = pair[0].scenario
    branch = scenario_branch(scenario=parent, name="branch", user=factories.user())
    assert "Compare with parent" in text_of(browser.get(f"/scenarios/{branch.pk}/"))
    answer = browser.post(f"/scenarios/{branch.pk}/compare/")
    begun = branch.runs.get()
    assert answer.headers["Location"] == f"/compare/?runs={pair[1].pk},{begun.pk}"
    assert "this page follows it" in text_of(browser.get(answer.headers["Location"]))
    assert browser.post(f"/scenarios/{branch.pk}/compare/").headers["Location"].endswith(str(begun.pk))
    assert browser.post(f"/scenarios/{parent.pk}/compare/").status_code == 404


def test_settings_of_large_inputs_are_compared_in_a_second_request(
    browser: Client, pair: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planner.runs.views.compare.AT_ONCE_BYTES", 10)
    page = text_of(browser.get(address(pair)))
    assert "Comparing the inputs of the runs" in page
    assert "spec.capability.cpu" not in page
    assert f'hx-get="{address(pair)}"' in page
    assert "spec.capability.cpu" in fragment(browser, address(pair), "settings")
    assert "spec.capability.cpu" in text_of(browser.get(f"{address(pair)}&settings=now"))


def test_a_pod_is_placed_only_where_it_is_at_the_end() -> None:
    def step(cycle: int, op: str, pod: str) -> Decision:
        return Decision(0, cycle, "", op, "", pod, "n0", "", "", "committed")

    steps = [
        *(step(1, "bind", pod) for pod in ("stays", "goes")),
        *(step(1, "pipeline", pod) for pod in ("waits again", "runs")),
        step(2, "evict", "goes"),
        step(2, "bind", "runs"),
        step(2, "pipeline", "next"),
    ]
    assert placements_at_end(steps) == {
        "stays": Placement("n0", "bind"),
        "runs": Placement("n0", "bind"),
        "next": Placement("n0", "pipeline"),
    }


def test_a_new_capability_is_not_counted_as_growth() -> None:
    queue = QueueFigures(**dict.fromkeys(field.name for field in fields(QueueFigures)) | AMOUNTS)
    bounded = replace(queue, capability={"cpu": 8000.0, "pods": 4.0}, guarantee={"cpu": 1000.0})
    wider = replace(bounded, capability={"cpu": 9000.0})
    delta = queue_delta(queue, bounded)
    assert delta is not None
    assert (delta.capability, delta.guarantee) == ({}, {"cpu": 1000.0})
    delta = queue_delta(bounded, wider)
    assert delta is not None
    assert delta.capability == {"cpu": 1000.0}


AMOUNTS: dict[str, Any] = {
    field.name: {} for field in fields(QueueFigures) if field.type in (Amounts, "Amounts")
}
