"""Clicks and seconds of the nine tasks of the trial; docs/tasks.md shows the figures.

A click is any action by hand: a press on a button or link, a key that submits, a chosen file or value. Text
typed into a focused field does not count.
"""

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.bench_simulate import recorded
from tests.e2e.product import run_sample
from tests.e2e.real_clusters import upload_of
from tests.needs import unavailable

pytestmark = pytest.mark.browser
PATIENCE = 120_000
OPENB = "openb, 102 queues"


class Hand:
    """Acts on a page, and counts the clicks."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def click(self, where: Locator) -> None:
        where.click(timeout=PATIENCE)
        self.clicks += 1

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.clicks += 1

    def choose(self, where: Locator, file: Path) -> None:
        where.set_input_files(file)
        self.clicks += 1

    def link(self, name: str) -> None:
        self.click(self.page.get_by_role("link", name=name, exact=True).first)

    def button(self, name: str) -> None:
        self.click(self.page.get_by_role("button", name=name, exact=True).first)


@contextmanager
def task(page: Page, name: str, at_most: int) -> Iterator[Hand]:
    """Run a task, which must take at most so many clicks."""
    hand = Hand(page)
    begun = time.monotonic()
    yield hand
    sys.stdout.write(f"| {name} | {hand.clicks} | {time.monotonic() - begun:.1f} s |\n")
    assert hand.clicks <= at_most, name


@pytest.mark.long
def test_openb_is_imported_and_its_starved_queues_are_named(page: Page, tmp_path: Path) -> None:
    if not list(recorded()):
        unavailable("the recorded clusters are not here")
    file = tmp_path / "openb.json.gz"
    file.write_bytes(upload_of(OPENB))
    with task(page, "1 Import openb and find the starved queues", at_most=4) as hand:
        hand.link("Import a cluster")
        hand.choose(page.get_by_label("Files"), file)
        hand.button("Preview")
        hand.button("Create scenario and run it")
        verdict = page.locator("#verdict")
        expect(verdict).to_contain_text("queues are starved", timeout=PATIENCE)
        expect(verdict.get_by_text("queues are starved")).to_be_in_viewport()


def test_a_branch_is_compared_with_its_parent(tab: Page, run_of_sample: str) -> None:
    tab.get_by_role("link", name="Back to the scenario").click()
    tab.get_by_role("link", name="Changes", exact=True).click()
    tab.get_by_label("Name of the branch").fill("agents first")
    tab.get_by_role("button", name="Branch this scenario").click()
    tab.get_by_role("heading", name="agents first", level=1).wait_for()
    tab.goto(f"{tab.url}queues/agents/?edit")
    tab.get_by_label("Weight of agents").fill("6")
    tab.keyboard.press("Enter")
    tab.get_by_text("revision 2").wait_for()
    tab.get_by_role("link", name="Scenarios", exact=True).first.click()
    with task(tab, "2 Compare a scenario with its parent", at_most=3) as hand:
        hand.link("agents first")
        hand.button("Compare with parent")
        row = tab.get_by_role("region", name="Queues side by side").get_by_role(
            "row", name=re.compile("^agents")
        )
        expect(row).to_contain_text("+20", timeout=PATIENCE)


def test_a_waiting_job_names_the_setting_that_unblocks_it(tab: Page, run_of_sample: str) -> None:
    with task(tab, "3 Find which setting unblocks a job", at_most=2) as hand:
        hand.click(
            tab.get_by_role("region", name="Waiting jobs").get_by_role("link", name="agents/train-planner")
        )
        hand.button("Search for changes")
        first = tab.locator(".way__said").first
        first.wait_for(timeout=PATIENCE)
        expect(first).to_contain_text("then runs")


def test_questions_about_a_run_take_one_or_two_clicks(tab: Page, run_of_sample: str) -> None:
    with task(tab, "4 Find out why a pod was evicted", at_most=1) as hand:
        victims = tab.get_by_role("region", name="Victims")
        hand.click(victims.locator("tbody tr").first.locator("th a"))
        expect(tab.get_by_role("heading", level=1)).to_contain_text("vision")
    tab.goto(run_of_sample)
    tab.get_by_role("link", name="Back to the scenario").click()
    with task(tab, "5 See what more weight would give, before saving", at_most=1) as hand:
        hand.click(tab.locator("[id=queue-agents]").get_by_role("link", name="Edit"))
        tab.get_by_label("Weight of agents").fill("2x")
        deserved = tab.locator("[id=queue-agents] [data-answer=deserved]")
        expect(deserved).to_contain_text("60 →")
    with task(tab, "6 Find a job by its name, from any page", at_most=2) as hand:
        hand.press("Control+k")
        tab.keyboard.type("train-planner")
        tab.get_by_role("option", name=re.compile("train-planner")).first.wait_for()
        hand.press("Enter")
        expect(tab.get_by_role("heading", level=1)).to_contain_text("train-planner")


def test_sharing_exporting_and_inviting_take_two_clicks(page: Page) -> None:
    run = run_sample(page)
    with task(page, "7 Share a run by a public link", at_most=2) as hand:
        hand.link("Share")
        hand.button("Create public link")
        expect(page.get_by_role("status").locator("code")).to_contain_text("/shared/")
    page.goto(run)
    page.get_by_role("link", name="Back to the scenario").click()
    page.goto(f"{page.url}queues/agents/?edit")
    page.get_by_label("Weight of agents").fill("2")
    page.keyboard.press("Enter")
    page.get_by_text("revision 2").wait_for()
    with task(page, "8 Take the queues to the cluster", at_most=2) as hand:
        hand.link("Export")
        expect(page.get_by_role("main")).to_contain_text("kubectl")
    with task(page, "9 Invite somebody to the workspace", at_most=2) as hand:
        hand.link("Members")
        hand.button("Invite")
        expect(page.get_by_role("status").locator("code")).to_contain_text("/invitations/")
