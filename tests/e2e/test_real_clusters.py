"""All text on pages of real clusters is readable at any width, with 102 queues and 50,000 pods."""

import pytest
from playwright.sync_api import Browser, Page

from benchmarks.bench_simulate import recorded
from tests.e2e.legibility import WIDTHS, illegible
from tests.e2e.product import Product
from tests.e2e.real_clusters import REAL, Cluster, real_clusters
from tests.needs import unavailable

pytestmark = [pytest.mark.browser, pytest.mark.long]
OF_SCENARIOS = ("", "conf/", "nodes/", "workloads/", "changes/", "export/", "forecasts/", "experiments/")
OF_RUNS = ("", "jobs/", "jobs/?by=gate", "victims/", "decisions/", "nodes/", "flow/", "fit/", "share/")


@pytest.fixture(scope="module")
def clusters(running: Product, browser_window: Browser) -> dict[str, Cluster]:
    if not list(recorded()):
        unavailable("the recorded clusters are not here")
    return real_clusters(running, browser_window)


@pytest.fixture(scope="module")
def window(running: Product, browser_window: Browser) -> Page:
    """A window with a logged-in account."""
    page = browser_window.new_page()
    running.log_in(page)
    return page


@pytest.mark.parametrize("name", REAL)
def test_all_text_is_readable_at_any_width(window: Page, clusters: dict[str, Cluster], name: str) -> None:
    cluster = clusters[name]
    pages = [f"{cluster.scenario}/{tab}" for tab in OF_SCENARIOS] + [
        f"{cluster.run}/{tab}" for tab in OF_RUNS
    ]
    found = {}
    for address in pages:
        window.goto(address)
        for width in WIDTHS:
            window.set_viewport_size({"width": width, "height": 900})
            window.wait_for_timeout(200)
            if faults := illegible(window):
                found[address, width] = faults
    assert found == {}
