"""The explanation of an eviction, stepping through decisions by keyboard, and changes that unblock a job."""

import json
import re
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.product import Product, wait_for_page
from tests.e2e.test_journeys import press_run

pytestmark = pytest.mark.browser
SEARCH_PATIENCE = 120_000


@pytest.fixture
def run_id(run_of_sample: str) -> str:
    return run_of_sample.rstrip("/").rpartition("/")[2]


def explanation(running: Product, run_id: str, path: str) -> Any:
    """Return a response of the API."""
    request = Request(  # noqa: S310 - our own address
        f"{running.address}api/v1/runs/{run_id}/explain/{path}",
        headers={"Authorization": f"Token {running.token()}"},
    )
    with urlopen(request) as answer:  # noqa: S310 - the same
        return json.load(answer)


def test_a_victim_page_links_to_its_step_of_the_run(tab: Page, running: Product, run_id: str) -> None:
    first = tab.get_by_role("region", name="Victims").locator("tbody th a").first
    pod = first.inner_text()
    first.click()
    wait_for_page(tab.get_by_role("heading", name=f"Why {pod} was selected"))
    order = re.search(r"/victims/(\d+)/", tab.url)[1]  # type: ignore[index]
    story = explanation(running, run_id, f"victims/{order}/")
    expect(tab.locator(".story")).to_contain_text(story["for_pod"])
    votes = tab.get_by_role("region", name="Votes on this pod").locator("tbody tr")
    assert votes.locator("th").all_inner_texts() == [vote["plugin"] for vote in story["votes"]]
    amounts = tab.get_by_role("region", name="Freed and needed").locator("tbody tr").first.locator("data")
    actual = [story[name]["cpu"]["value"] for name in ("freed", "room", "freed_together", "needed", "left")]
    assert [float(amount.get_attribute("value") or "nan") for amount in amounts.all()[:5]] == actual
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_role("heading", name=f"Why {pod} was selected")).to_have_count(0)
    wait_for_page(tab.get_by_role("heading", name="was selected"))
    tab.keyboard.press("ArrowLeft")
    wait_for_page(tab.get_by_role("heading", name=f"Why {pod} was selected"))
    tab.get_by_role("link", name="Show this moment").click()
    expect(tab.get_by_role("heading", name=f"Step {order} of")).to_be_visible()


def test_steps_are_navigated_by_keyboard(tab: Page, running: Product, run_id: str) -> None:
    def step(number: int) -> Locator:
        return tab.get_by_role("heading", name=re.compile(f"^Step {number} of"))

    start = tab.get_by_role("heading", name="Start, before the first of")
    tab.get_by_role("link", name="Step through").click()
    wait_for_page(start)
    tab.keyboard.press("ArrowRight")
    wait_for_page(step(1))
    tab.keyboard.press("ArrowDown")
    wait_for_page(tab.get_by_text("action allocate", exact=False).first)
    tab.keyboard.press("End")
    last = explanation(running, run_id, "steps/1/")["steps"]
    wait_for_page(step(last))
    tab.keyboard.press("ArrowLeft")
    wait_for_page(step(last - 1))
    tab.get_by_label("Queue, job, pod or node contains").fill("vision")
    tab.keyboard.press("ArrowLeft")
    expect(step(last - 1)).to_be_visible()
    tab.keyboard.press("Enter")
    wait_for_page(tab.get_by_text("only steps about “vision”"))
    tab.locator("h1").click()
    tab.keyboard.press("Home")
    expect(start).to_be_visible()


def test_changes_that_unblock_a_job_are_searched_and_tried(tab: Page, run_of_sample: str) -> None:
    tab.get_by_role("link", name="vision/sweep-next").first.click()
    tab.get_by_role("button", name="Search for changes").click()
    expect(tab.get_by_role("heading", name=re.compile("^Why reclaim evicted no pods"))).to_be_visible(
        timeout=SEARCH_PATIENCE
    )
    expect(tab.get_by_text(re.compile("Weight of queue vision")).first).to_be_visible()
    tab.get_by_role("button", name="Try it in a copy of the scenario").first.click()
    expect(tab.get_by_role("heading", name="vision/sweep-next", level=1)).to_be_visible()
    press_run(tab)
