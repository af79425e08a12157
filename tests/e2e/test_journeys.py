"""Whole journeys in a real browser, with the real web server, worker and broker."""

import json
import re
import shutil
import subprocess
import time
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.product import RUN_PATIENCE, Product, open_sample, wait_for_page, wait_for_run
from tests.needs import unavailable

pytestmark = pytest.mark.browser


def press_run(page: Page) -> str:
    """Click Run, wait for the outcome, return the run's id."""
    page.get_by_role("button", name="Run this scenario").click()
    wait_for_run(page)
    found = re.search(r"/runs/([0-9a-f-]{36})/", page.url)
    assert found, page.url
    return found[1]


DESERVED = "td:nth-child(4) data"


def deserved(page: Page) -> dict[str, float]:
    """Return the deserved amount of each queue in the table, in the scheduler's units."""
    rows = page.get_by_role("region", name=re.compile("^Amounts of")).locator("tbody tr")
    return {
        row.locator("th").inner_text(): amount(row) for row in rows.all() if row.locator(DESERVED).count()
    }


def amount(row: Locator) -> float:
    return float(row.locator(DESERVED).first.get_attribute("value") or "nan")


def line(page: Page, queue: str) -> Locator:
    """Return the row of a queue in the tree table."""
    return page.locator(f'[id="queue-{queue}"] .tree__line')


def edit(page: Page, queue: str, field: str, text: str) -> None:
    """Open a queue's row by keyboard, change a field, save with Enter."""
    wait_for_page(line(page, queue))
    line(page, queue).focus()
    page.keyboard.press("Enter")
    page.get_by_label(f"{field} of {queue}").fill(text)
    page.keyboard.press("Enter")
    expect(line(page, queue)).to_be_focused()


def test_raising_a_weight_changes_deserved_amounts_and_victims(page: Page, running: Product) -> None:
    open_sample(page)
    press_run(page)
    before, victims_before = deserved(page), victims(page)
    page.get_by_role("link", name="Back to the scenario").click()
    edit(page, "agents", "Weight", "6")
    run_id = press_run(page)
    after, victims_after = deserved(page), victims(page)

    assert after["agents"] > before["agents"]
    assert after["vision"] < before["vision"]
    assert len(victims_after) > len(victims_before)
    assert {victim["For queue"] for victim in victims_after} >= {"agents"}
    expect(page.get_by_text(re.compile("^was ")).first).to_be_visible()

    by_script = {row["queue"]: row for row in api(running, f"/api/v1/runs/{run_id}/queues/")}
    shown = page.get_by_role("navigation", name="Resource").locator("[aria-current]").inner_text()
    assert after == {queue: by_script[queue]["deserved"][shown]["value"] for queue in after}
    victims_by_script = api(running, f"/api/v1/runs/{run_id}/victims/")
    assert [victim["Pod"] for victim in victims_after] == [victim["pod"] for victim in victims_by_script]
    assert weight_raised_by_curl(running, shown) == (after, [victim["Pod"] for victim in victims_after])


def weight_raised_by_curl(running: Product, resource: str) -> tuple[dict[str, float], list[str]]:
    """Do the same from a shell in a separate scenario; return the deserved amounts and the victims."""
    if not shutil.which("curl"):
        unavailable("curl not installed")
    headers = [f"Authorization: Token {running.token()}", "Content-Type: application/json", "If-Match: 1"]

    def call(method: str, path: str, body: object = None) -> Any:
        actual = ["curl", "-sS", "--fail", "-X", method, f"{running.address}api/v1/{path}"]
        actual += [part for header in headers for part in ("-H", header)]
        actual += [] if body is None else ["-d", json.dumps(body)]
        return json.loads(subprocess.check_output(actual, timeout=30))

    sample = call("GET", "scenarios/?ordering=created")["results"][0]
    scenario = call("POST", "scenarios/", {"name": "by curl", "snapshot": sample["snapshot"]})["id"]
    call("PATCH", f"scenarios/{scenario}/queues/agents/", {"weight": 6})
    run = call("POST", f"scenarios/{scenario}/runs/", {})["id"]
    until = time.monotonic() + RUN_PATIENCE / 1000
    while not call("GET", f"runs/{run}/")["finished"]:
        assert time.monotonic() < until
        time.sleep(0.2)
    rows = call("GET", f"runs/{run}/queues/?page_size=200")["results"]
    deserves = {
        row["queue"]: row["deserved"][resource]["value"] for row in rows if resource in row["deserved"]
    }
    evicted = call("GET", f"runs/{run}/victims/?page_size=200")["results"]
    return deserves, [victim["pod"] for victim in evicted]


def test_the_table_of_queues_switches_to_another_resource(sample: Page) -> None:
    press_run(sample)
    head = sample.locator("#amounts thead .ranks__chart")
    for name, shown in (("Memory", "Memory, TiB"), ("CPU", "CPU, cores")):
        sample.get_by_role("navigation", name="Resource").get_by_role("link", name=name).click()
        expect(sample.get_by_role("region", name=f"Amounts of {name}")).to_be_visible()
        expect(head).to_contain_text(shown)


def victims(page: Page) -> list[dict[str, str]]:
    """Return the rows of the table of victims."""
    table = page.get_by_role("region", name="Victims")
    if not table.count():
        return []
    head = table.locator("thead th").all_inner_texts()
    rows = table.locator("tbody tr")
    return [dict(zip(head, row.locator("th, td").all_inner_texts(), strict=True)) for row in rows.all()]


def api(running: Product, path: str) -> list[dict[str, Any]]:
    """Return all rows of a list of the API."""
    token = running.token()
    rows: list[dict[str, Any]] = []
    address: str | None = running.address.rstrip("/") + path
    while address:
        request = Request(address, headers={"Authorization": f"Token {token}"})  # noqa: S310 - our own address
        with urlopen(request) as answer:  # noqa: S310 - the same
            found = json.load(answer)
        rows += found["results"]
        address = found["next"]
    return rows


def test_a_stale_edit_keeps_the_input(sample: Page) -> None:
    other = sample.context.new_page()
    other.goto(sample.url)
    for window in (sample, other):
        window.get_by_role("link", name="Edit nlp").click()
    edit_field(other, "Weight of nlp", "4")
    sample.get_by_label("Priority of nlp").fill("7")
    sample.keyboard.press("Enter")
    expect(sample.get_by_text("the scenario has changed")).to_be_visible()
    expect(sample.get_by_label("Priority of nlp")).to_have_value("7")
    expect(sample.get_by_label("Weight of nlp")).to_have_value("4")
    sample.get_by_role("button", name="Save", exact=True).click()
    expect(line(sample, "nlp").locator("[data-field=priority] data")).to_have_text("7")
    expect(line(sample, "nlp").locator("[data-field=weight] data")).to_have_text("4")


def edit_field(window: Page, label: str, text: str) -> None:
    window.get_by_label(label).fill(text)
    window.keyboard.press("Enter")
    expect(window.get_by_label(label)).to_have_count(0)


def test_the_tree_is_collapsed_and_navigated_by_keyboard(sample: Page) -> None:
    line(sample, "research").focus()
    sample.keyboard.press("ArrowLeft")
    expect(line(sample, "vision")).to_be_hidden()
    sample.keyboard.press("ArrowRight")
    sample.keyboard.press("ArrowRight")
    expect(line(sample, "agents")).to_be_focused()
    sample.keyboard.press("ArrowLeft")
    expect(line(sample, "research")).to_be_focused()
    sample.keyboard.press("Enter")
    expect(sample.get_by_label("Weight of research")).to_be_focused()
    sample.keyboard.press("Escape")
    expect(line(sample, "research")).to_be_focused()


def test_an_import_shows_the_problems_of_the_cluster_first(page: Page) -> None:
    page.get_by_role("link", name="Import", exact=True).click()
    text = page.get_by_label("Or paste the text")
    text.fill("kind: Queue\napiVersion: scheduling.volcano.sh/v1beta1\nmetadata: {name: a, name: b}\n")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("alert")).to_contain_text("to fix; nothing was saved")
    expect(text).to_have_value(re.compile("name: a, name: b"))
    text.fill(
        "kind: Queue\napiVersion: scheduling.volcano.sh/v1beta1\nmetadata: {name: a}\nspec: {weight: 3}\n"
    )
    page.get_by_label("Name").fill("one queue")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Save and open the scenario").click()
    expect(page.get_by_role("heading", name="one queue", level=1)).to_be_visible()
    expect(line(page, "a")).to_contain_text("3")
