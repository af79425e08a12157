"""The queue tree in a real browser: built by keyboard only, broken and mended, dragged, taken back."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def _sample(page: Page) -> None:
    page.get_by_role("button", name="Open the sample").click()
    page.get_by_role("heading", name="Sample", level=1).wait_for()
    expect(page.locator("#review")).to_be_visible()


def line(page: Page, queue: str) -> Locator:
    """Return the line of a queue."""
    return page.locator(f'[id="queue-{queue}"] .tree__line')


def answer(page: Page, queue: str, name: str) -> Locator:
    """Return a figure beside a queue's fields."""
    return page.locator(f'[id="queue-{queue}"] [data-answer={name}]')


def add(page: Page, key: str, name: str) -> None:
    """Add a queue from the line in focus, by keyboard."""
    page.keyboard.press(key)
    expect(page.get_by_label("Name of the new queue")).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    expect(line(page, name)).to_be_focused()


def test_a_tree_of_three_levels_is_built_by_keyboard_only(page: Page) -> None:
    line(page, "product").focus()
    add(page, "Insert", "labs")
    add(page, "Insert", "labs-day")
    add(page, "Shift+Insert", "labs-night")
    expect(line(page, "labs")).to_have_attribute("aria-level", "3")
    expect(line(page, "labs-day")).to_have_attribute("aria-level", "4")
    expect(line(page, "labs-night")).to_have_attribute("aria-level", "4")

    page.keyboard.press("Enter")
    expect(page.get_by_label("Weight of labs-night")).to_be_focused()
    page.keyboard.type("7")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Priority of labs-night")).to_be_focused()
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    expect(line(page, "labs-night").locator("[data-field=weight]")).to_have_text("7")
    expect(line(page, "labs-night").locator("[data-field=priority]")).to_have_text("2")

    page.keyboard.press("F2")
    expect(page.get_by_label("Name of labs-night")).to_be_focused()
    page.keyboard.type("labs-evening")
    page.keyboard.press("Enter")
    expect(line(page, "labs-evening")).to_be_focused()

    page.keyboard.press("ArrowUp")
    expect(line(page, "labs-day")).to_be_focused()
    page.keyboard.press("m")
    page.get_by_label("Parent of labs-day").select_option("research")
    page.keyboard.press("Enter")
    expect(line(page, "labs-day")).to_have_attribute("aria-level", "3")

    page.keyboard.press("Control+d")
    expect(line(page, "labs-day-copy")).to_be_focused()
    page.keyboard.press("Delete")
    expect(page.get_by_role("alertdialog")).to_contain_text("Remove queue labs-day-copy?")
    expect(page.get_by_role("button", name="Remove", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(line(page, "labs-day-copy")).to_be_focused()
    page.keyboard.press("Delete")
    expect(page.get_by_role("button", name="Remove", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(line(page, "labs-day-copy")).to_have_count(0)
    expect(line(page, "research")).to_be_focused()


def test_figures_of_all_queues_follow_an_edit_and_come_back_with_undo(page: Page) -> None:
    before = answer(page, "vision", "deserved").inner_text()
    line(page, "agents").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Guarantee cpu of agents").fill("13000")
    page.keyboard.press("Enter")
    expect(answer(page, "agents", "deserved")).to_have_text("13,000 cores")
    expect(answer(page, "vision", "real_capability")).to_have_text("1,456 cores")
    expect(answer(page, "vision", "deserved")).not_to_have_text(before)
    page.keyboard.press("Control+z")
    expect(answer(page, "vision", "deserved")).to_have_text(before)
    page.keyboard.press("Control+Shift+z")
    expect(answer(page, "agents", "deserved")).to_have_text("13,000 cores")
    page.keyboard.press("Control+z")
    expect(answer(page, "vision", "deserved")).to_have_text(before)
    page.keyboard.press("Control+y")
    expect(answer(page, "agents", "deserved")).to_have_text("13,000 cores")
    page.get_by_role("button", name="Undo").click()
    expect(answer(page, "vision", "deserved")).to_have_text(before)


def test_a_rule_is_broken_and_mended(page: Page) -> None:
    checks = page.locator("#review")
    line(page, "ci").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Guarantee cpu of ci").fill("600")
    page.keyboard.press("Enter")
    refused = checks.locator('tr[data-queue="ci"]').filter(has_text="refused")
    expect(refused.first).to_be_visible()
    mark = line(page, "ci").get_by_role("link", name=re.compile("check"))
    expect(mark).to_be_visible()
    page.keyboard.press("Enter")
    page.get_by_label("Guarantee cpu of ci").fill("100")
    page.get_by_label("Deserved cpu of ci").fill("100")
    page.keyboard.press("Enter")
    expect(refused).to_have_count(0)


def test_what_cannot_be_saved_says_why_beside_its_field(page: Page) -> None:
    line(page, "ci").focus()
    page.keyboard.press("Enter")
    field = page.get_by_label("Capability cpu of ci")
    field.fill("plenty")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Not saved.")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("256")
    page.keyboard.press("Enter")
    expect(answer(page, "ci", "real_capability")).to_have_text("256 cores")


def test_a_queue_is_dragged_below_another(page: Page) -> None:
    line(page, "agents").locator("th").drag_to(line(page, "product"))
    expect(page.locator("[id=queue-agents]")).to_have_attribute("data-parent", "product")
    expect(line(page, "agents")).to_be_focused()


def test_an_open_line_keeps_what_is_typed_while_another_is_saved(page: Page) -> None:
    page.get_by_role("link", name="Edit nlp").click()
    page.get_by_label("Weight of nlp").fill("9")
    page.get_by_role("link", name="Edit ads").click()
    page.get_by_label("Weight of ads").fill("5")
    page.keyboard.press("Enter")
    expect(line(page, "ads").locator("[data-field=weight]")).to_have_text("5")
    expect(page.get_by_label("Weight of nlp")).to_have_value("9")
    page.get_by_label("Weight of nlp").press("Enter")
    expect(line(page, "nlp").locator("[data-field=weight]")).to_have_text("9")


def test_the_tree_is_filtered_and_keeps_its_folds(page: Page) -> None:
    line(page, "platform").focus()
    page.keyboard.press("ArrowLeft")
    expect(line(page, "ci")).to_be_hidden()
    page.get_by_role("searchbox").fill("ci")
    expect(line(page, "ci")).to_be_visible()
    expect(line(page, "vision")).to_be_hidden()
    page.get_by_role("searchbox").fill("nobody")
    expect(page.get_by_text("No queue matches")).to_be_visible()
    page.get_by_role("searchbox").fill("")
    expect(page.get_by_text("No queue matches")).to_be_hidden()
    expect(line(page, "ci")).to_be_hidden()
    page.reload()
    expect(line(page, "platform")).to_have_attribute("aria-expanded", "false")


def test_the_menu_says_all_that_can_be_done_with_a_queue(page: Page) -> None:
    line(page, "ads").focus()
    page.keyboard.press(".")
    menu = page.get_by_role("menu")
    expect(menu.get_by_role("menuitem")).to_have_count(7)
    page.keyboard.press("ArrowDown")
    expect(menu.get_by_role("menuitem", name="Add child queue")).to_be_focused()
    page.keyboard.press("Escape")
    expect(line(page, "ads")).to_be_focused()
    line(page, "ads").get_by_role("button", name="More actions for ads").click()
    menu.get_by_role("menuitem", name=re.compile("Duplicate")).click()
    expect(line(page, "ads-copy")).to_be_focused()


def test_columns_of_another_resource_are_added(page: Page) -> None:
    page.get_by_label("Name of another resource").fill("amd.com/gpu")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="amd.com/gpu")).to_have_attribute("aria-current", "true")
    line(page, "ads").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Capability amd.com/gpu of ads").fill("3")
    page.keyboard.press("Enter")
    expect(line(page, "ads").locator('[data-field="capability.amd.com/gpu"]')).to_have_text("3 GPUs")
