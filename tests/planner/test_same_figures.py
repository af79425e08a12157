"""Are the numbers of a run's page those of the API? The raw value beside each number on the page says so."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from planner.models import Run
from tests.planner.pages import part, text_of
from tests.planner.recorded import finished_run

pytestmark = pytest.mark.django_db
MEASURES = ("deserved", "allocated", "request", "guarantee", "capability")
FAMILIES = (("capacity_hierarchy", 3), ("preempt", 0), ("cycles", 0), ("mixed", 1))


class Cells(HTMLParser):
    """The raw values in every cell of every row: ``[[row heading, [values], [values], …], …]``."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[Any]] = []
        self.values: list[float] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([""])
        elif tag == "td" and self.rows:
            self.rows[-1].append([])
        elif tag == "th":
            self._inside = "th"
        elif tag == "data":
            value = float(dict(attrs)["value"] or "nan")
            self.values.append(value)
            if self.rows and len(self.rows[-1]) > 1:
                self.rows[-1][-1].append(value)

    def handle_endtag(self, tag: str) -> None:
        if tag == "th":
            self._inside = ""

    def handle_data(self, text: str) -> None:
        if self._inside and self.rows:
            self.rows[-1][0] += text.strip()


@pytest.fixture(params=FAMILIES, ids=lambda family: " ".join(map(str, family)))
def run(request: pytest.FixtureRequest) -> Run:
    return finished_run(*request.param)


def listed(api: APIClient, run: Run, what: str, query: str = "") -> dict[str, Any]:
    return api.get(f"/api/v1/runs/{run.pk}/{what}/?page_size=1000{query}").json()


def raw(row: dict[str, Any], measure: str, resource: str) -> list[float]:
    """Return what the page should carry: nothing where nothing is set or no limit is."""
    amount = row[measure].get(resource)
    if amount is None or amount["value"] is None or (measure == "guarantee" and not amount["value"]):
        return []
    return [amount["value"]]


def test_every_amount_and_share_is_that_of_the_api(browser: Client, api: APIClient, run: Run) -> None:
    queues = {row["queue"]: row for row in listed(api, run, "queues")["results"]}
    resources = sorted({name for row in queues.values() for name in row["deserved"]}) or ["cpu"]
    for resource in resources:
        html = part(browser, f"/runs/{run.pk}/?show=all&resource={resource}", "amounts")
        amounts, shares = (Cells(table) for table in re.findall(r"<tbody>.*?</tbody>", html, flags=re.DOTALL))
        assert [row[0] for row in amounts.rows] == list(queues)
        for name, *cells in amounts.rows:
            if queues[name]["in_session"]:
                assert cells == [raw(queues[name], measure, resource) for measure in MEASURES], name
        for name, _, start, end, held in shares.rows:
            row = queues[name]
            assert start == [value for value in [row["share_at_open"]] if value is not None]
            assert end == [value for value in [row["share"]] if value is not None]
            if row["in_session"]:
                assert (held or [0]) == (raw(row, "allocated", resource) or [0])


def test_every_number_of_the_summary_is_that_of_the_api(browser: Client, api: APIClient, run: Run) -> None:
    html = text_of(browser.get(f"/runs/{run.pk}/"))
    summary = re.search(r'<dl class="facts">.*?</dl>', html, flags=re.DOTALL)
    assert summary
    counts = {
        "bound": listed(api, run, "decisions", "&op=bind&state=committed")["count"],
        "pipelined": listed(api, run, "decisions", "&op=pipeline")["count"],
        "committed": listed(api, run, "victims", "&state=committed")["count"],
        "kept": listed(api, run, "victims", "&state=kept")["count"],
        "failed": listed(api, run, "victims", "&state=failed")["count"],
        "pending": listed(api, run, "jobs", "&pending=true")["count"],
        "jobs": listed(api, run, "jobs")["count"],
        "queues": listed(api, run, "queues")["count"],
    }
    said_only_when_there = ("pipelined", "kept", "failed")
    want = [count for name, count in counts.items() if count or name not in said_only_when_there]
    full = sum(
        (row["share"] or 0) >= 1 and any(held["value"] for held in row["allocated"].values())
        for row in listed(api, run, "queues")["results"]
    )
    assert Cells(summary[0]).values == [*want, full]
