"""One running product and browser, an account and its session per module, a tab per journey.

The account has its own workspace with the sample, so that modules are isolated. The browser closes
after the last journey: while open it keeps an event loop, in which Django refuses queries.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.product import (
    CHROMIUM,
    Product,
    chromium,
    product,
    run_sample,
    wait_for_page,
    wait_for_run,
    watched_page,
)
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


@pytest.fixture(scope="package")
def browser_window() -> Iterator[Browser]:
    if CHROMIUM is None:
        unavailable("Chromium is not installed (scripts/install-test-services installs it)")
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def session(browser_window: Browser) -> Iterator[BrowserContext]:
    """The cookies and the cache of the account's tabs, so that assets are loaded once."""
    with browser_window.new_context(viewport={"width": 1400, "height": 900}) as context:
        yield context


@pytest.fixture
def tab(session: BrowserContext, running: Product) -> Iterator[Page]:
    """An empty tab in which the account is logged in; it must close without an error in its console."""
    complaints: list[str] = []
    tab = watched_page(session, complaints)
    running.enter(session)
    yield tab
    for opened in session.pages:
        opened.close()
    assert complaints == [], "".join(running.output[-60:])


@pytest.fixture
def page(tab: Page, running: Product) -> Page:
    """A tab with the home page of the account."""
    running.log_in(tab)
    return tab


@pytest.fixture
def sample(tab: Page, running: Product) -> Page:
    """A tab with the sample of the account, opened by its address."""
    tab.goto(running.sample)
    wait_for_page(tab.get_by_role("heading", name="Sample", level=1))
    return tab


@pytest.fixture(scope="module")
def sample_run(session: BrowserContext, running: Product) -> str:
    """The address of a run of the sample, for tests that only read it."""
    tab = session.new_page()
    running.log_in(tab)
    address = run_sample(tab)
    tab.close()
    return address


@pytest.fixture
def run_of_sample(sample_run: str, tab: Page) -> str:
    """Open the run of the sample in the tab; return its address."""
    tab.goto(sample_run)
    wait_for_run(tab)
    return tab.url
