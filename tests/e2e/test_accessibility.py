"""Does axe find anything serious on any page, light or dark, wide or narrow?"""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from tests.e2e.product import Product
from tests.e2e.tour import PAGES, Tour

pytestmark = pytest.mark.browser
SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def tour(running: Product, browser_window: Browser) -> Tour:
    return Tour(running, browser_window)


@pytest.mark.parametrize(("width", "theme"), [(1400, "light"), (390, "dark")])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(tour: Tour, name: str, width: int, theme: str) -> None:
    with tour.visit(name, width=width, theme=theme) as page:
        found = Axe().run(page).response["violations"]
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert [
        (rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found if rule["impact"] in SERIOUS
    ] == []
