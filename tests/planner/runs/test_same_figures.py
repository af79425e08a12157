"""Pages of runs and comparisons have the same numbers as the API, compared by raw values."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from planner.runs.models import Run
from planner.web.views.listing import ROWS_A_PAGE
from tests import factories
from tests.planner.figures import Cell, Figures
from tests.planner.pages import fragment, text_of
from tests.planner.recorded import finish, finished_run, recorded

pytestmark = pytest.mark.django_db
MEASURES = ("deserved", "allocated", "request", "guarantee", "capability")
FAMILIES = (("capacity_hierarchy", 3), ("preempt", 0), ("cycles", 0), ("mixed", 1))


@pytest.fixture(scope="module", params=FAMILIES, ids=lambda family: " ".join(map(str, family)))
def run(request: pytest.FixtureRequest, rows_of_module: None) -> Run:
    return finished_run(*request.param)


@pytest.fixture(scope="module", params=FAMILIES, ids=lambda family: " ".join(map(str, family)))
def pair(request: pytest.FixtureRequest, rows_of_module: None) -> list[Run]:
    """A recorded run, and a run of its scenario with half the decisions and smaller queue figures."""
    first = finished_run(*request.param)
    other = recorded(*request.param)["result"]
    last = other["cycles"][-1]
    last["decisions"] = last["decisions"][: len(last["decisions"]) // 2]
    for queue in last["at_end"].get("queues", ()):
        queue["deserved"] = {name: value / 2 for name, value in queue["deserved"].items()}
        queue["share"] = None if queue.get("share") is None else queue["share"] / 3
    return [first, finish(factories.run(first.scenario), other)]


def get_list(api: APIClient, run: Run, what: str, query: str = "") -> dict[str, Any]:
    return api.get(f"/api/v1/runs/{run.pk}/{what}/?page_size=1000{query}").json()


def raw_values(row: dict[str, Any], measure: str, resource: str) -> list[float]:
    """Return the expected raw values of a cell: none for an unset or unlimited amount."""
    amount = row[measure].get(resource)
    if amount is None or amount["value"] is None or (measure == "guarantee" and not amount["value"]):
        return []
    return [amount["value"]]


def value_list(value: float | None) -> list[float]:
    return [] if value is None else [value]


def with_deltas(line: dict[str, Any], measure: str) -> list[list[float]]:
    """Return the cells of a measure: one per run, and a delta beside all but the first."""
    cells = []
    for place, (row, delta) in enumerate(zip(line["runs"], line["deltas"], strict=True)):
        for there in (row, delta) if place else (row,):
            if there is None:
                cells.append([])
            else:
                cells.append(
                    value_list(there["share"]) if measure == "share" else raw_values(there, measure, "cpu")
                )
    return cells


def seconds(run: dict[str, Any]) -> float:
    return (datetime.fromisoformat(run["finished"]) - datetime.fromisoformat(run["started"])).total_seconds()


def values(cells: list[Cell]) -> list[list[float]]:
    return [cell.values for cell in cells]


def texts(cells: list[Cell]) -> list[str]:
    return [" ".join(cell.text.split()) for cell in cells]


def table_rows(html: str) -> list[list[list[Cell]]]:
    """Return the rows of each table."""
    return [Figures(table).rows for table in re.findall(r"<tbody>.*?</tbody>", html, flags=re.DOTALL)]


def test_every_number_on_the_page_has_its_raw_value(browser: Client, run: Run) -> None:
    for address in (f"/runs/{run.pk}/", f"/compare/?runs={run.pk},{factories.run(run.scenario).pk}"):
        assert Figures(text_of(browser.get(address))).bare == [], address


def test_every_amount_and_share_equals_that_of_the_api(browser: Client, api: APIClient, run: Run) -> None:
    queues = {row["queue"]: row for row in get_list(api, run, "queues")["results"]}
    parents = {row["parent"] or "root" for row in queues.values()}
    waiting = Counter(job["queue"] for job in get_list(api, run, "jobs", "&pending=true")["results"])
    resources = sorted({name for row in queues.values() for name in row["deserved"]}) or ["cpu"]
    for resource in resources:
        html = fragment(browser, f"/runs/{run.pk}/?as=tree&resource={resource}", "amounts")
        (table,) = table_rows(html)
        assert [row[0].text.strip() for row in table] == list(queues)
        for name, *cells in table:
            row = queues[name.text.strip()]
            if row["queue"] in parents:
                continue
            if row["in_session"]:
                _chart, _deficit, *amounts, share = cells[:8]
                assert values(amounts) == [raw_values(row, measure, resource) for measure in MEASURES]
                assert share.values in ([], value_list(row["share"]))
            assert values(cells[-2:]) == [value_list(row["weight"]), [waiting[row["queue"]]]]


def test_every_number_in_the_heading_and_summary_equals_that_of_the_api(
    browser: Client, api: APIClient, run: Run
) -> None:
    page = Figures(text_of(browser.get(f"/runs/{run.pk}/")))
    body = api.get(f"/api/v1/runs/{run.pk}/").json()
    counts = {
        "bound": get_list(api, run, "decisions", "&op=bind&state=committed")["count"],
        "pipelined": get_list(api, run, "decisions", "&op=pipeline")["count"],
        "committed": get_list(api, run, "victims", "&state=committed")["count"],
        "kept": get_list(api, run, "victims", "&state=kept")["count"],
        "failed": get_list(api, run, "victims", "&state=failed")["count"],
        "pending": get_list(api, run, "jobs", "&pending=true")["count"],
        "jobs": get_list(api, run, "jobs")["count"],
        "queues": get_list(api, run, "queues")["count"],
    }
    said_only_when_there = ("pipelined", "kept", "failed")
    want = [count for name, count in counts.items() if count or name not in said_only_when_there]
    full = sum(
        (row["share"] or 0) >= 1 and any(held["value"] for held in row["allocated"].values())
        for row in get_list(api, run, "queues")["results"]
    )
    assert page.parts["Summary"] == [*want, full, seconds(body)]
    assert page.parts[""] == [body["scenario_revision"]]


def pages_of(browser: Client, run: Run, what: str, count: int) -> Iterator[tuple[list[float], list[Any]]]:
    """Yield the expected numbers of the head and foot, and the rows, of every page of a list."""
    for number in range(max(1, -(-count // ROWS_A_PAGE))):
        html = fragment(browser, f"/runs/{run.pk}/?{what}={number + 1}", what)
        figures = Figures(html)
        first, last = number * ROWS_A_PAGE + 1, min(count, (number + 1) * ROWS_A_PAGE)
        foot = [first, last, count] if count > ROWS_A_PAGE else []
        head = [] if what == "decisions" else [count]
        yield head + foot, [figures, *table_rows(html)[:1]]


def test_every_victim_equals_that_of_the_api(browser: Client, api: APIClient, run: Run) -> None:
    victims = get_list(api, run, "victims")
    shown = []
    for numbers, (figures, *tables) in pages_of(browser, run, "victims", victims["count"]):
        assert figures.values == numbers
        shown += [texts(row) for table in tables for row in table]
    names = ("pod", "job", "queue", "node", "for_pod", "for_queue", "action")
    assert shown == [
        [*(row[name] or "–" for name in names), row["state"].capitalize()] for row in victims["results"]
    ]


def test_every_waiting_job_equals_that_of_the_api(browser: Client, api: APIClient, run: Run) -> None:
    jobs = get_list(api, run, "jobs", "&pending=true")
    shown = []
    for numbers, (figures, *tables) in pages_of(browser, run, "pending", jobs["count"]):
        rows = [row for table in tables for row in table]
        held = [value for row in rows for cell in row for value in cell.values]
        assert figures.values == [*numbers[:1], *held, *numbers[1:]]
        shown += rows
    assert [(texts(row)[:2], values(row)[2:5], texts(row)[5]) for row in shown] == [
        (
            [row["job"], row["queue"]],
            [[row["pending"], row["pods"]], [row["min_available"]], [row["priority"]]],
            row["phase_after"] or "–",
        )
        for row in jobs["results"]
    ]


def test_every_decision_equals_that_of_the_api(browser: Client, api: APIClient, run: Run) -> None:
    decisions = get_list(api, run, "decisions")
    shown = []
    for numbers, (figures, *tables) in pages_of(browser, run, "decisions", decisions["count"]):
        rows = [row for table in tables for row in table]
        assert figures.values == [*(row[0].values[0] for row in rows), *numbers]
        shown += [(row[0].values, texts(row)[1:7], texts(row)[8]) for row in rows]
    names = ("job", "pod", "node", "for_pod")
    assert shown == [
        (
            [row["seq"]],
            [row["action"], row["op"], *(row[name] or "–" for name in names)],
            " ".join(row["reason"].split()),
        )
        for row in decisions["results"]
    ]


def test_the_previous_deserved_amount_equals_that_of_the_api(
    browser: Client, api: APIClient, pair: list[Run]
) -> None:
    now, before = (
        {row["queue"]: row for row in get_list(api, run, "queues")["results"]} for run in reversed(pair)
    )
    html = fragment(browser, f"/runs/{pair[1].pk}/?as=tree&resource=cpu", "amounts")
    for name, *cells in table_rows(html)[0]:
        row, was = now[name.text.strip()], before[name.text.strip()]
        if row["in_session"] and row["queue"] != "root":
            changed = [
                value
                for value in raw_values(was, "deserved", "cpu")
                if [value] != raw_values(row, "deserved", "cpu")
            ]
            assert cells[2].values == raw_values(row, "deserved", "cpu") + changed


def test_every_number_of_a_comparison_equals_that_of_the_api(
    browser: Client, api: APIClient, pair: list[Run]
) -> None:
    runs = ",".join(str(run.pk) for run in pair)
    body = api.get(f"/api/v1/comparisons/?runs={runs}").json()
    html = text_of(browser.get(f"/compare/?runs={runs}&resource=cpu&show=all"))
    page = Figures(html)
    assert page.bare == []
    heads, first = body["runs"], body["runs"][0]
    rows = {row[0].text: row[1:] for row in page.rows}
    assert values(rows["Scenario"]) == [[head["scenario_revision"]] for head in heads]
    assert values(rows["Placed"]) == [[head["bound"], *filter(None, [head["pipelined"]])] for head in heads]
    actual = ("victims_new", "victims_gone", "victims_same")
    assert values(rows["Victims"]) == [
        [head["victims_committed"], *(head[name] for name in actual if head is not first)] for head in heads
    ]
    assert values(rows["Work lost"]) == [[head["work_lost"]] for head in heads]
    assert values(rows["Still waiting"]) == [
        [head["jobs_pending"], head["jobs"], *more]
        for head in heads
        for more in [[] if head is first else [head["jobs_pending"] - first["jobs_pending"]]]
    ]

    queues = {line["name"]: line for line in body["queues"]}
    in_table = re.search(r'<table class="grid compared__table">.*?</table>', html, flags=re.DOTALL)
    assert in_table
    shown = {row[0].text.split()[0]: values(row[1:]) for row in table_rows(in_table[0])[0]}
    held = [row for line in queues.values() for row in line["runs"] if row]
    has = {
        "guarantee": any(row["guarantee"].get("cpu", {}).get("value") for row in held),
        "capability": any("cpu" in row["capability"] for row in held),
    }
    limits = [measure for measure in MEASURES[3:] if has[measure]]
    assert shown == {
        name: [
            *(cell for measure in MEASURES[:3] for cell in with_deltas(line, measure)),
            *with_deltas(line, "share"),
            *(value_list(row["share_at_open"]) if row else [] for row in line["runs"]),
            *(raw_values(row, measure, "cpu") if row else [] for measure in limits for row in line["runs"]),
        ]
        for name, line in queues.items()
    }
    differing = {
        what: sum(line["differs"] for line in body[what])
        for what in ("queues", "victims", "jobs", "placements")
    }
    totals = {name: len(body[name]) for name in differing}
    assert page.parts["queues"][:3] == [differing["queues"], totals["queues"], len(shown)]
    assert page.parts["victims-title"] == [differing["victims"], totals["victims"]]
    waiting = [
        [
            *([row["pending"], row["pods"]] if row and row["pending"] else []),
            *([delta["pending"]] if delta else []),
        ]
        for line in body["jobs"]
        if line["differs"]
        for row, delta in zip(line["runs"], line["deltas"], strict=True)
    ]
    assert page.parts["jobs-title"] == [
        differing["jobs"],
        totals["jobs"],
        *(value for pods in waiting for value in pods),
    ]
    assert page.parts["placements-title"] == [differing["placements"], totals["placements"]]
