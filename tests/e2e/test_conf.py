"""Editing the scheduler configuration by keyboard alone, with form and text in step."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from planner.clusters.sample.conf import SAMPLE_CONF
from tests.e2e.product import Product, conf_editor, wait_for_page


@pytest.fixture
def page(running: Product, session: BrowserContext) -> Iterator[Page]:
    """A tab with the editor, whose library applies inline styles, which the browser reports as blocked."""
    tab = session.new_page()
    running.enter(session)
    tab.goto(f"{running.sample}conf/")
    wait_for_page(conf_editor(tab))
    yield tab
    tab.close()


def press(page: Page, name: str, key: str = "Enter") -> None:
    page.get_by_role("button", name=name, exact=True).focus()
    page.keyboard.press(key)


@pytest.mark.browser
def test_the_order_of_tiers_is_fixed_by_keyboard(page: Page) -> None:
    text = page.locator("#conf-text")
    comment = text.input_value().splitlines()[0]
    press(page, "Move proportion to the previous tier")
    wait_for_page(page.get_by_text("saved as revision"))
    expect(text).to_have_value(re.compile(r"- name: conformance\n  - name: proportion\n- plugins"))
    expect(page.locator('[data-rule="conf.reclaim_bypasses_quota"]')).to_have_count(0)
    expect(
        page.get_by_role("button", name="Move proportion to the previous tier", exact=True)
    ).to_be_focused()

    page.get_by_text("for drf").locator("xpath=ancestor::summary").focus()
    page.keyboard.press("Enter")
    page.get_by_label("enableJobOrder").locator("visible=true").select_option("false")
    press(page, "Save drf")
    expect(text).to_have_value(re.compile(r"enablePreemptable: false\n    enableJobOrder: false\n"))
    assert text.input_value().startswith(comment)

    page.get_by_label("Add action", exact=True).first.select_option(label="shuffle")
    press(page, "Add action", "Space")
    expect(text).to_have_value(re.compile("backfill, shuffle"))


@pytest.mark.browser
def test_a_button_fixes_a_finding_and_keeps_the_typed_text(page: Page) -> None:
    text, editor = page.locator("#conf-text"), conf_editor(page)
    editor.fill(SAMPLE_CONF + "# first\n")
    page.get_by_role("button", name="Save configuration").press("Enter")
    wait_for_page(page.get_by_text("saved as revision"))
    editor.press("Control+End")
    editor.press_sequentially("# mine")
    mends = page.locator('[data-rule="conf.reclaim_bypasses_quota"]').get_by_role("button")
    mends.press("Enter")
    expect(page.get_by_text("Nothing was changed.")).to_be_visible()
    expect(text).to_have_value(re.compile("# mine"))
    page.get_by_role("button", name="Save configuration").press("Enter")
    wait_for_page(page.get_by_text("saved as revision"))
    mends.press("Enter")
    expect(page.locator('[data-rule="conf.reclaim_bypasses_quota"]')).to_have_count(0)
    expect(text).to_have_value(re.compile("# mine"))


@pytest.mark.browser
def test_names_are_completed_and_findings_are_marked_at_their_lines(page: Page) -> None:
    editor = conf_editor(page)
    editor.fill("actions: enqueue, allocate\ntiers:\n- plugins:\n  - name: gang\n  - name: ")
    editor.press("Control+End")
    editor.press_sequentially("prop")
    offered = page.locator(".cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled)")
    offered.get_by_role("option", name="proportion").wait_for()
    page.wait_for_timeout(100)  # the editor ignores a choice in the first 75 ms of a list
    editor.press("Enter")
    expect(page.locator("#conf-text")).to_have_value(re.compile("- name: proportion$"))
    editor.press_sequentially("al")
    marked = page.locator(".cm-lintRange-error, .cm-lintRange-warning")
    expect(marked.filter(has_text="proportional")).to_be_visible()
