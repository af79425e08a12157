"""One running product, account and browser per module, one window per journey.

The account has its own workspace with the sample, so that modules are isolated. A browser
closes with its module: while open it keeps an event loop, in which Django refuses queries.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.product import CHROMIUM, Product, chromium, product, watched_page
from tests.needs import unavailable

expect.set_options(timeout=30_000)  # like the timeout of a click, for slow machines
collect_ignore = ["generated_journey.py"]
"""It runs in an environment of its own, see test_generated_client."""


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    folder: Path = tmp_path_factory.mktemp("product")
    with product(folder) as started:
        yield started


@pytest.fixture(scope="module")
def running(started: Product, request: pytest.FixtureRequest) -> Product:
    return started.newcomer(request.module.__name__.rpartition(".")[2])


@pytest.fixture(scope="module")
def browser_window() -> Iterator[Browser]:
    if CHROMIUM is None:
        unavailable("Chromium is not installed (scripts/install-test-services installs it)")
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser_window: Browser, running: Product) -> Iterator[Page]:
    """A window with a logged-in account; it must close without an error in its console."""
    complaints: list[str] = []
    with browser_window.new_context(viewport={"width": 1400, "height": 900}) as context:
        window = watched_page(context, complaints)
        running.log_in(window)
        yield window
    assert complaints == [], "".join(running.output[-60:])
