"""On a phone names, tabs and buttons stay in sight and charts keep their height; paper is white."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.product import Product, open_sample, wait_for_page, watched_page

pytestmark = pytest.mark.browser
WIDTH, HEIGHT = 390, 844
LEGEND_PLOT = 160
"""The height in pixels that a chart with a long legend keeps for its plot, of 190 on a wide screen."""
LEFT_OF_NAMES = """(region) => {
  region.scrollLeft = 120;
  const edge = region.getBoundingClientRect().left;
  const names = [...region.querySelectorAll("tr > th:first-child")];
  return [region.scrollLeft, ...names.map((name) => name.getBoundingClientRect().left - edge)];
}"""
"""How far a table was scrolled, and where its first header and the names of its rows then are."""


@pytest.fixture
def phone(browser_window: Browser, running: Product) -> Iterator[Page]:
    """A window of a phone in dark colours, with a logged-in account."""
    complaints: list[str] = []
    look = {"viewport": {"width": WIDTH, "height": HEIGHT}, "color_scheme": "dark", "has_touch": True}
    with browser_window.new_context(**look) as context:
        window = watched_page(context, complaints)
        running.log_in(window)
        yield window
    assert complaints == []


def test_the_menu_of_a_queue_is_beside_its_name_and_its_forms_fit_the_screen(phone: Page) -> None:
    open_sample(phone)
    queue = phone.locator("[id=queue-agents]")
    queue.get_by_role("button", name="More actions for agents").tap()
    phone.get_by_role("menuitem", name="Edit").tap()
    expect(phone.get_by_label("Weight of agents")).to_be_focused()
    form = phone.locator("[id=queue-agents]").get_by_role("button", name="Save")
    form.scroll_into_view_if_needed()
    expect(form).to_be_in_viewport(ratio=1)
    phone.get_by_role("link", name="Cancel").tap()

    queue.locator(".tree__reach").first.tap()
    expect(phone.get_by_label("or at most")).to_be_in_viewport(ratio=1)
    expect(phone.get_by_role("button", name="Find the smallest change")).to_be_in_viewport(ratio=1)
    phone.get_by_role("button", name="Close").tap()

    phone.locator(".tree__columns summary").tap()
    expect(phone.get_by_role("button", name="Show these columns")).to_be_in_viewport(ratio=1)
    assert phone.evaluate("document.documentElement.scrollWidth") == WIDTH


def test_names_stay_in_sight_and_the_current_tab_is_in_sight(phone: Page) -> None:
    open_sample(phone)
    scenario = phone.url
    phone.get_by_role("button", name="Run this scenario").tap()
    phone.get_by_role("heading", name="Victims").wait_for(timeout=60_000)
    for table in ("Victims", "Waiting jobs"):
        scrolled, *lefts = phone.get_by_role("region", name=table).locator(".sheet").evaluate(LEFT_OF_NAMES)
        assert scrolled == 120
        assert all(abs(left) <= 1 for left in lefts), table
    phone.goto(f"{scenario}export/")
    wait_for_page(phone.get_by_role("link", name="Export", exact=True))
    expect(phone.get_by_role("link", name="Export", exact=True)).to_be_in_viewport(ratio=0.9)
    expect(phone.get_by_role("link", name="Queues", exact=True)).not_to_be_in_viewport()


def test_a_chart_keeps_its_height_below_a_legend_of_many_rows(phone: Page, running: Product) -> None:
    queues = [f"research-group-{number}" for number in range(8)]
    patterns = [{"queue": queue, "jobs_per_hour": 3, "run_median": 600} for queue in queues]
    body = {"name": "many queues", "generate": {"patterns": patterns, "seconds": 7200, "seed": 1}}
    headers = {"Authorization": f"Token {running.token()}"}
    made = phone.request.post(f"{running.address}api/v1/traces/", headers=headers, data=body)
    phone.goto(f"{running.address}traces/{made.json()['id']}/")
    plot = phone.locator(".over-time .nsewdrag").first
    plot.wait_for()
    box = plot.bounding_box()
    assert box is not None
    assert box["height"] >= LEGEND_PLOT
    assert phone.locator(".over-time .legendtext").count() == len(queues)


def test_a_dark_page_is_printed_in_light_colours(phone: Page) -> None:
    theme = "document.documentElement.dataset.bsTheme"
    phone.evaluate(f"addEventListener('beforeprint', () => {{ window.printed = {theme}; }})")
    phone.pdf()
    assert phone.evaluate("window.printed") == "light"
    assert phone.evaluate(theme) == "dark"
