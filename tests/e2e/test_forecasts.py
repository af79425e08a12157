"""Forecasts of a day of the Philly trace in a real browser, computed by the real worker."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Page, expect

from benchmarks.bench_forecast import ROW, line_of
from tests.e2e.legibility import illegible
from tests.e2e.product import RUN_PATIENCE
from tests.e2e.test_journeys import edit
from tests.e2e.test_whole_journey import import_files
from tests.needs import unavailable
from tests.shared import SHARED

pytestmark = pytest.mark.browser
TOOL = SHARED / "data" / "tools" / "philly_replay.py"
WINDOW = ("--day", "47.5", "--hours", "24", "--nodes", "4", "--limit", "150", "--conf", "capacity")


@pytest.fixture(scope="module")
def philly(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A cluster with the queues of the Philly trace as kubectl writes it, and a day of its jobs."""
    if not TOOL.exists():
        unavailable(f"{TOOL} is not there")
    made = subprocess.run([sys.executable, str(TOOL), *WINDOW], check=True, capture_output=True).stdout
    document = json.loads(made)
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "volcano-scheduler-configmap", "namespace": "volcano-system"},
        "data": {"volcano-scheduler.conf": yaml.safe_dump(document["scheduler_conf"])},
    }
    items = [*document["nodes"], *document["queues"], config_map]
    folder = tmp_path_factory.mktemp("philly")
    cluster, trace = folder / "cluster.json", folder / "day.csv"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    trace.write_text("\n".join([ROW, *map(line_of, document["replay"]["events"])]))
    return {"cluster": cluster, "trace": trace}


def test_a_day_is_forecast_changed_compared_and_branched_from(page: Page, philly: dict[str, Path]) -> None:
    import_files(page, [philly["cluster"]])
    scenario = page.url
    upload_trace(page, philly["trace"])
    first = forecast_a_day(page, scenario)
    longest = api_get(page, first, "verdict/")["queues"]
    worst = max(longest, key=lambda row: row["wait_p95"] or 0.0)
    assert worst["wait_p95"] > 600

    page.goto(scenario)
    for resource, all_there_is in (("nvidia.com/gpu", "32"), ("cpu", "256"), ("memory", "2Ti")):
        edit(page, worst["queue"], f"Deserved {resource}", all_there_is)
    second = forecast_a_day(page, scenario)
    compare(page, scenario, first, second, worst["queue"])

    branch_from_the_worst_moment(page, first, worst)


def api_get(page: Page, forecast: str, what: str) -> Any:
    """Return a response of the API about a forecast, for the logged-in account."""
    home = page.url.partition("/forecasts/")[0].partition("/scenarios/")[0]
    answer = page.request.get(f"{home}/api/v1/forecasts/{forecast}/{what}")
    assert answer.ok, answer.text()
    return answer.json()


def upload_trace(page: Page, trace: Path) -> None:
    page.get_by_role("link", name="Traces", exact=True).click()
    page.get_by_label("Name").first.fill("a Philly day")
    page.get_by_label("File, plain or gzip").set_input_files(trace)
    page.get_by_role("button", name="Keep this trace").click()
    expect(page.get_by_role("heading", name="a Philly day", level=1)).to_be_visible()


def forecast_a_day(page: Page, scenario: str) -> str:
    """Forecast under the uploaded trace; return the id once the page shows the verdict."""
    page.goto(scenario)
    page.get_by_role("link", name="Forecasts", exact=True).click()
    page.get_by_label("Horizon").fill("1d")
    page.get_by_label("Schedule period").fill("30s")
    page.get_by_role("button", name="Forecast this scenario").click()
    page.get_by_role("heading", name="Verdict").wait_for(timeout=RUN_PATIENCE)
    found = re.search(r"/forecasts/([0-9a-f-]{36})/", page.url)
    assert found, page.url
    summary = api_get(page, found[1], "")["summary"]
    facts = page.locator("dl.facts").first
    expect(facts.locator("div", has_text="Jobs started").locator("dd")).to_have_text(
        f"{summary['started']:,}"
    )
    return found[1]


def compare(page: Page, scenario: str, first: str, second: str, queue: str) -> None:
    """Select and compare both forecasts; check that the page and the API agree."""
    page.goto(f"{scenario}forecasts/")
    for forecast in (first, second):
        page.locator(f'input[value="{forecast}"]').check()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="Compare forecasts")).to_be_visible()
    found = api_get(page, first, f"comparison/?with={second}")
    expect(page.get_by_text(found["sentence"])).to_be_visible()
    [row] = [row for row in found["queues"] if row["queue"] == queue]
    assert row["p95"][1] < row["p95"][0]
    table = page.get_by_role("region", name="Waits by queue before and after, table")
    line = table.locator("tbody tr", has=page.get_by_role("rowheader", name=queue, exact=True))
    expect(line.locator("td").first).to_have_text(str(row["jobs"]))


def branch_from_the_worst_moment(page: Page, forecast: str, worst: dict[str, Any]) -> None:
    """Open the moment when most jobs of the worst queue waited, and branch from it."""
    home = page.url.partition("/forecasts/")[0]
    page.goto(f"{home}/forecasts/{forecast}/")
    table = page.get_by_role("region", name="Waits by queue, table")
    row = table.locator("tbody tr", has=page.get_by_role("rowheader", name=worst["queue"], exact=True))
    row.get_by_role("link").click()
    page.get_by_role("button", name="Branch from here").wait_for()
    at = re.search(r"at=([\d.]+)", page.url)
    assert at, page.url
    assert float(at[1]) == worst["most_waiting_at"]
    page.get_by_role("button", name="Branch from here").click()
    expect(page.get_by_text("is a scenario of its own now.")).to_be_visible(timeout=RUN_PATIENCE)
    page.get_by_role("link", name="Workloads", exact=True).click()
    expect(page.get_by_role("main")).to_contain_text("trace/")


def test_timed_changes_are_drawn_while_typing(sample: Page) -> None:
    scenario = sample.url
    sample.get_by_role("link", name="Traces", exact=True).click()
    sample.get_by_label("Queue", exact=True).fill("analytics")
    sample.get_by_label("Name").last.fill("drawn")
    sample.get_by_role("button", name=re.compile("^Generate")).click()
    expect(sample.get_by_role("heading", name="drawn", level=1)).to_be_visible()
    sample.goto(f"{scenario}forecasts/")
    sample.get_by_label("Horizon").fill("2h")
    sample.get_by_label("When change 1 happens").fill("2h")
    sample.get_by_label("What change 1 happens to").fill("analytics")
    sample.get_by_label("Fields or count of change 1").fill("weight=5")
    sample.get_by_label("Fields or count of change 1").press("Tab")
    line = sample.locator("#timeline")
    expect(line).to_contain_text("Queue analytics gets weight 5.")
    sample.get_by_label("When change 2 happens").fill("3h")
    sample.get_by_label("What change 2 happens to").fill("nowhere")
    sample.get_by_label("Fields or count of change 2").fill("weight=5")
    sample.get_by_label("Fields or count of change 2").press("Tab")
    expect(line).to_contain_text("there is no queue 'nowhere'")
    sample.get_by_role("button", name="Check and add a row").click()
    sample.get_by_role("button", name="Remove change 2").click()
    expect(sample.get_by_label("What change 2 happens to")).to_have_value("")
    expect(line.locator("circle")).to_have_count(1)
    conf = sample.get_by_label("volcano-scheduler.conf from change 2 on")
    expect(conf).to_be_hidden()
    sample.get_by_label("When change 2 happens").fill("1h")
    sample.get_by_label("What change 2 is").select_option("scheduler gets a configuration")
    conf.fill(conf.input_value().replace("allocate, preempt", "allocate"))
    conf.press("Tab")
    expect(line).to_contain_text("another configuration: actions enqueue, allocate, reclaim, backfill.")
    # the longest labels of an axis, of quarters of an hour
    sample.set_viewport_size({"width": 390, "height": 844})
    assert illegible(sample) == []
