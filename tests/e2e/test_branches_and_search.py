"""Branching, comparing with the parent by one button, swapping both, and searching by name."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.product import open_sample, wait_for_page


def test_a_branch_and_its_parent_are_compared_either_way_round(page: Page) -> None:
    open_sample(page)
    page.get_by_role("link", name="Changes", exact=True).click()
    page.get_by_label("Name of the branch").fill("agents first")
    page.get_by_role("button", name="Branch this scenario").click()
    expect(page.get_by_role("heading", name="agents first", level=1)).to_be_visible()
    branch = page.url
    page.goto(f"{branch}queues/agents/?edit")
    page.get_by_label("Weight of agents").fill("6")
    page.keyboard.press("Enter")
    page.get_by_text("revision 2").wait_for()

    page.get_by_role("button", name="Compare with parent").click()
    expect(page.get_by_text("this page follows it").first).to_be_visible()
    row = page.get_by_role("region", name="Queues side by side").get_by_role(
        "row", name=re.compile("^agents")
    )
    row.wait_for(timeout=120_000)
    expect(row).to_contain_text("+20")
    expect(row).to_contain_text("+66.7 pp")
    page.get_by_role("link", name="Swap A and B").click()
    wait_for_page(row.filter(has_text="−20"))

    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name=re.compile("^Search scenarios"))
    expect(field).to_be_focused()
