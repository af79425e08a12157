"""axe finds nothing serious on any page, light or dark, wide or narrow."""

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.urls import URLPattern
from playwright.sync_api import Browser, Page

from planner.urls import pages, urlpatterns
from tests.e2e.legibility import WIDTHS, illegible
from tests.e2e.product import Product
from tests.e2e.tour import PAGES, Tour

SERIOUS = ("serious", "critical")
NO_PAGES = {
    "planner:experiment-cancel", "planner:experiment-delete", "planner:experiment-cell",
    "planner:members-here", "planner:scenario-labels", "planner:run-labels", "planner:compare-parent",
    "logout", "sign-on", "sign-on-back", "planner:sample", "planner:scenario-remove",
    "planner:import-save", "planner:import-begin", "planner:import-cancel",
    "planner:rebase-cancel",
    "planner:branch", "planner:difference-revert", "planner:changes-walk", "planner:change-revert",
    "planner:nodes-add", "planner:nodes-change", "planner:workloads-add", "planner:undo", "planner:redo",
    "planner:queue-move", "planner:queue-duplicate", "planner:run-submit", "planner:run-cancel",
    "planner:run-job-try", "planner:link-add", "planner:link-remove",
    "planner:token-create", "planner:token-revoke",
    "planner:member", "planner:invite", "planner:uninvite", "planner:offer",
    "planner:workspace-make", "planner:workspace-switch", "planner:workspace-rename",
    "planner:workspace-leave", "planner:password", "planner:sessions", "planner:second-factor",
    "planner:review", "planner:queues-preview", "planner:queues-edit",
    "planner:export-download", "planner:conf-edit", "planner:release",
    "planner:scenario-upgrade", "planner:run-upgrade-report",
    "planner:trace-delete", "planner:scenario-targets", "planner:forecast-figures",
    "planner:forecast-cancel", "planner:forecast-delete", "planner:forecast-changes",
    "planner:forecast-prices", "planner:forecast-backtests",
}  # fmt: skip
"""Routes that redirect to a page, return a fragment, or send a file (export, report)."""

OF_SWAGGER_UI = {
    "nested-interactive": "Swagger UI puts a button to copy the path inside the button that unfolds a call; "
    "its script makes both, and unfolding works by keyboard all the same",
}
"""Serious findings that the page cannot fix, with the reason."""


REMEMBER_COLOURS = """() => {
  const { prototype } = axe.commons.color.Color;
  const { parseString } = prototype;
  const parsed = new Map();
  prototype.parseString = function (text) {
    if (parsed.has(text)) return Object.assign(this, parsed.get(text));
    parseString.call(this, text);
    const { r, g, b, alpha } = this;
    parsed.set(text, { r, g, b, alpha });
    return this;
  };
}"""
"""axe parses the same few colours for every text and all that is behind it, a third of its time."""
OPTIONS = "resultTypes: ['violations'], selectors: false"
"""To find a selector for each element takes a sixth of the time; a failure shows the elements themselves."""
UNASKED = """Object.fromEntries(axe._audit.rules
  .filter((rule) => ["minor", "moderate"].includes(rule.impact) && !rule.id.startsWith("landmark"))
  .map((rule) => [rule.id, { enabled: false }]))"""
"""The rules whose findings no test reads: axe gives each finding the impact of its rule."""
FITTING_TRIES = 300
WIDE, NARROW = 1400, 390
MOST_TRANSFERRED = 300_000
TRANSFERRED = """() => ["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind))
  .reduce((sum, entry) => sum + entry.transferSize, 0)"""
"""Transferred bytes, compressed and with headers."""
TABS = 60
RING = """() => {
  const focused = document.activeElement;
  if (focused === document.body || focused.shadowRoot) return "";
  const { outlineStyle, outlineWidth } = getComputedStyle(focused);
  const rings = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
  const isLined = focused.matches("tr") && getComputedStyle(focused.cells[0]).boxShadow !== "none";
  return rings || isLined ? "" : focused.outerHTML.slice(0, 120);
}"""
"""The focused element if it shows no focus; each cell of a line of the tree draws its part of the ring."""
BEFORE_KEYS = f"""() => {{
  document.activeElement.blur();
  window.ringless = new Set();
  addEventListener("keydown", () => ringless.add(({RING})()), true);
}}"""
"""Note at each key, before it moves the focus, whether the focused element shows no focus."""
LOOKS = ((WIDE, "light"), (NARROW, "dark"))


def visits() -> Iterator[Any]:
    """Yield every page in one of the looks in turn; `make test-long` adds the other one."""
    for number, name in enumerate(PAGES):
        for place, look in enumerate(LOOKS):
            yield pytest.param(name, *look, marks=() if place == number % 2 else pytest.mark.long)


def violations(page: Page) -> list[dict[str, Any]]:
    """Return the rules of axe that the page breaks, with the elements that break them."""
    page.evaluate(AXE_SCRIPT)
    page.evaluate(REMEMBER_COLOURS)
    run = f"axe.run({{ {OPTIONS}, rules: {UNASKED} }})"
    found: list[dict[str, Any]] = page.evaluate(f"{run}.then((results) => results.violations)")
    return found


def is_cut_off(page: Page) -> bool:
    """Return whether the page is wider than the window."""
    return bool(page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))


def fits_in_the_end(page: Page) -> bool:
    """Return whether the page fits its window after charts are resized."""
    for _ in range(FITTING_TRIES):
        if not is_cut_off(page):
            return True
        page.wait_for_timeout(100)
    return False


@pytest.fixture(scope="module")
def tour(started: Product, browser_window: Browser) -> Tour:
    """The pages of the first account, which logs in through the form."""
    return Tour(started, browser_window)


@pytest.mark.browser
@pytest.mark.parametrize(("name", "width", "theme"), list(visits()))
def test_axe_finds_nothing_serious(tour: Tour, name: str, width: int, theme: str) -> None:
    with tour.visit(name, width=width, theme=theme) as page:
        found = violations(page)
        assert not is_cut_off(page)
        page.set_viewport_size({"width": NARROW, "height": 900})
        assert fits_in_the_end(page)
    assert [
        (rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found if rule["impact"] in SERIOUS
    ] == []


@pytest.mark.browser
@pytest.mark.parametrize("name", ["home", "scenario", "scenario-conf", "scenario-nodes", "run", "compare"])
def test_the_focused_element_has_a_ring(tour: Tour, name: str) -> None:
    with tour.visit(name, width=WIDE, theme="dark") as page:
        page.evaluate(BEFORE_KEYS)
        for _ in range(TABS):
            page.keyboard.press("Tab")
        without = page.evaluate(f"[...ringless, ({RING})()]")
    assert set(without) == {""}


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_no_text_is_cut_off_or_overlaps_at_any_width(tour: Tour, name: str) -> None:
    found = {}
    with tour.visit(name, width=WIDE, theme="light") as page:
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert fits_in_the_end(page), (name, width)
            if faults := illegible(page):
                found[width] = faults
    assert found == {}


@pytest.mark.browser
@pytest.mark.parametrize("name", ["home", "import", "scenario", "run"])
def test_a_first_visit_loads_less_than_300_kilobytes(tour: Tour, browser_window: Browser, name: str) -> None:
    """Transferred bytes with styles, scripts and images, and an empty browser cache."""
    with tour.visit(name, width=WIDE, theme="light") as known:
        address, cookies = known.url, known.context.cookies()
    with browser_window.new_context() as context:
        context.add_cookies(cookies)
        page = context.new_page()
        page.goto(address)
        page.wait_for_load_state("networkidle")
        weight = page.evaluate(TRANSFERRED)
    assert 10_000 < weight < MOST_TRANSFERRED


@pytest.mark.browser
def test_axe_finds_only_problems_of_swagger_ui_on_the_page_of_the_api(tour: Tour) -> None:
    with tour.visit("home", width=WIDE, theme="light") as page:
        page.get_by_role("link", name="API", exact=True).click()
        page.locator(".opblock").first.wait_for()
        for width in (WIDE, NARROW):
            page.set_viewport_size({"width": width, "height": 900})
            assert not is_cut_off(page), width
            found = violations(page)
            serious = {rule["id"] for rule in found if rule["impact"] in SERIOUS}
            assert serious == set(OF_SWAGGER_UI), width
            assert not [rule["id"] for rule in found if rule["id"].startswith("landmark")], width


def test_every_route_is_in_the_tour_or_listed_as_no_page() -> None:
    own = {route.name for route in urlpatterns if isinstance(route, URLPattern)}
    routes = own | {f"planner:{page.name}" for page in pages}
    toured = {route for route in PAGES.values() if route}
    assert toured | NO_PAGES == routes
    assert toured & NO_PAGES == set()
