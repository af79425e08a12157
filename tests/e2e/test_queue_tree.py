"""The queue tree in a real browser: building it by keyboard, fixing errors, dragging, undoing."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.product import Product, wait_for_page

pytestmark = pytest.mark.browser


@pytest.fixture
def page(tab: Page, running: Product) -> Page:
    """A tab with the queues of the sample and their CPU."""
    tab.goto(f"{running.sample}?resource=cpu")
    wait_for_page(tab.locator('[data-tree][data-resource="cpu"]'))
    expect(tab.locator("#review")).to_be_visible()
    return tab


def show_resource(page: Page, link: str, resource: str) -> None:
    """Show the columns of another resource in the tree."""
    page.get_by_role("navigation", name="Resource").get_by_role("link", name=link).click()
    wait_for_page(page.locator(f'[data-tree][data-resource="{resource}"]'))


def line(page: Page, queue: str) -> Locator:
    """Return the row of a queue."""
    return page.locator(f'[id="queue-{queue}"] .tree__line')


def answer(page: Page, queue: str, name: str) -> Locator:
    """Return a figure beside a queue's fields."""
    return page.locator(f'[id="queue-{queue}"] [data-answer={name}] data')


def add(page: Page, key: str, name: str) -> None:
    """Add a queue from the focused row, by keyboard."""
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
    expect(page.get_by_label("labs-night: Weight slider")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Priority of labs-night")).to_be_focused()
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    expect(line(page, "labs-night").locator("[data-field=weight] data")).to_have_text("7")
    expect(line(page, "labs-night").locator("[data-field=priority] data")).to_have_text("2")

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


def test_figures_of_all_queues_follow_an_edit_and_are_restored_by_undo(page: Page) -> None:
    before = answer(page, "vision", "deserved").inner_text()
    line(page, "agents").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Guarantee cpu of agents").fill("13000")
    page.keyboard.press("Enter")
    # Until the row is saved, the figures are a preview and Ctrl+Z belongs to the field.
    expect(line(page, "agents")).to_be_focused()
    expect(answer(page, "agents", "deserved")).to_have_text("13.0 k")
    expect(answer(page, "vision", "real_capability")).to_have_text("1,456")
    expect(answer(page, "vision", "deserved")).not_to_have_text(before)
    page.keyboard.press("Control+z")
    expect(answer(page, "vision", "deserved")).to_have_text(before)
    page.keyboard.press("Control+Shift+z")
    expect(answer(page, "agents", "deserved")).to_have_text("13.0 k")
    page.keyboard.press("Control+z")
    expect(answer(page, "vision", "deserved")).to_have_text(before)
    page.keyboard.press("Control+y")
    expect(answer(page, "agents", "deserved")).to_have_text("13.0 k")
    page.get_by_role("button", name="Undo").click()
    expect(answer(page, "vision", "deserved")).to_have_text(before)


def test_a_rule_is_broken_and_fixed(page: Page) -> None:
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


def test_an_invalid_value_shows_its_error_beside_the_field(page: Page) -> None:
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
    expect(answer(page, "ci", "real_capability")).to_have_text("256")


def test_a_queue_is_dragged_below_another(page: Page) -> None:
    line(page, "agents").locator("th").drag_to(line(page, "product"))
    expect(page.locator("[id=queue-agents]")).to_have_attribute("data-parent", "product")
    expect(line(page, "agents")).to_be_focused()


def test_an_open_row_keeps_its_input_while_another_is_saved(page: Page) -> None:
    page.get_by_role("link", name="Edit nlp").click()
    page.get_by_label("Weight of nlp").fill("9")
    page.get_by_role("link", name="Edit ads").click()
    page.get_by_label("Weight of ads").fill("5")
    page.keyboard.press("Enter")
    expect(line(page, "ads").locator("[data-field=weight] data")).to_have_text("5")
    expect(page.get_by_label("Weight of nlp")).to_have_value("9")
    page.get_by_label("Weight of nlp").press("Enter")
    expect(line(page, "nlp").locator("[data-field=weight] data")).to_have_text("9")


def test_filtering_the_tree_keeps_collapsed_queues_collapsed(page: Page) -> None:
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


def test_the_menu_lists_every_action_on_a_queue(page: Page) -> None:
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
    wait_for_page(page.locator('[data-tree][data-resource="amd.com/gpu"]'))
    line(page, "ads").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Capability amd.com/gpu of ads").fill("3")
    page.keyboard.press("Enter")
    expect(line(page, "ads").locator('[data-field="capability.amd.com/gpu"] data')).to_have_text("3")


def test_figures_of_other_queues_update_while_typing_and_are_restored(page: Page) -> None:
    before = answer(page, "vision", "deserved").inner_text()
    line(page, "agents").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Guarantee cpu of agents").fill("13000")
    cell = page.locator("[id=queue-vision] [data-answer=deserved]")
    expect(cell).to_have_class(re.compile("tree__live"))
    expect(cell).to_contain_text(f"{before} →")
    page.get_by_label("Weight of agents").fill("many")
    expect(page.locator("[id=queue-agents] [data-computed=weight]")).to_contain_text("not a whole number")
    page.keyboard.press("Escape")
    expect(cell).to_have_text(before)


def test_several_queues_are_edited_by_keyboard_with_arithmetic(page: Page) -> None:
    weights = {
        queue: int(line(page, queue).locator("[data-field=weight] data").inner_text())
        for queue in ("ads", "nlp")
    }
    for queue in weights:
        line(page, queue).focus()
        page.keyboard.press("Space")
    page.get_by_text("Edit several queues").click()
    page.get_by_label("Value", exact=True).fill("2x")
    expect(page.get_by_text(re.compile("2 queues edited"))).to_be_visible()
    expect(line(page, "ads").locator("[data-field=weight]")).to_have_text(re.compile("→"))
    page.get_by_label("Value", exact=True).press("Enter")
    for queue, weight in weights.items():
        # The previewed figure has no raw value; the saved one has.
        saved = line(page, queue).locator("[data-field=weight] data[value]")
        expect(saved).to_have_text(str(2 * weight))
    page.get_by_role("button", name="Undo").click()
    for queue, weight in weights.items():
        expect(line(page, queue).locator("[data-field=weight] data")).to_have_text(str(weight))


def test_a_block_of_a_spreadsheet_is_pasted_into_the_table(page: Page) -> None:
    block = "Queue\tWeight\nads\t7\nnobody\t1"
    line(page, "ads").focus()
    page.evaluate(
        """text => {
          const data = new DataTransfer();
          data.setData("text/plain", text);
          const pasted = new ClipboardEvent("paste", {clipboardData: data, bubbles: true});
          document.activeElement.dispatchEvent(pasted);
        }""",
        block,
    )
    pasted = page.get_by_label(re.compile("paste rows"))
    expect(pasted).to_be_focused()
    expect(page.locator("[data-live-problems]")).to_contain_text("Row 3, column Queue")
    pasted.fill(block.rpartition("\n")[0])
    expect(page.locator("[data-live-problems]")).to_be_hidden()
    page.get_by_role("button", name="Apply").click()
    expect(line(page, "ads").locator("[data-field=weight] data")).to_have_text("7")


def test_the_smallest_change_for_a_figure_is_found_and_applied_in_the_tree(page: Page) -> None:
    show_resource(page, "nvidia.com/gpu", "nvidia.com/gpu")
    before = answer(page, "agents", "deserved").inner_text()
    answer(page, "agents", "deserved").click()
    field = page.get_by_label("Make the deserved nvidia.com/gpu of agents")
    expect(field).to_be_focused()
    field.fill("much")
    page.keyboard.press("Enter")
    expect(page.locator("#reach [role=alert]")).to_contain_text("'much' is not an amount of deserved.")
    field.fill("70")
    page.keyboard.press("Enter")
    weight = page.locator('#reach [data-change="weight:agents"]')
    expect(weight).to_have_attribute("data-status", "found")
    weight.get_by_role("button", name="Use this change").click()
    expect(page.locator('[id="queue-agents"] [data-field=weight] .tree__was')).to_be_visible()
    show_resource(page, "nvidia.com/gpu", "nvidia.com/gpu")
    after = answer(page, "agents", "deserved")
    expect(after).not_to_have_text(before)
    assert float(after.get_attribute("value") or 0) >= 70_000
