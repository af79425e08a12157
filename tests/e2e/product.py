"""The whole product as `manage.py up` starts it (web server, worker, broker), and a browser."""

import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    expect,
    sync_playwright,
)

from tests.processes.installation import ROOT, Installation
from tests.processes.services import free_port

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
"""The shell is Chromium without its user interface: journeys take a quarter less processor time."""
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--renderer-process-limit=1",
)  # fmt: skip
"""One process renders all tabs, which take a tenth less processor time than with one each."""
PATIENCE = 120.0
RUN_PATIENCE = 60_000
ADMIN = "admin"
"""The account created at the first start."""
EXPECTED = r"status of (412|422)"
"""A refused edit is expected, but the browser logs it as an error."""


class Product:
    """A running product: its address, an account with its password or a session, and its output so far.

    Attributes
    ----------
    sample : str
        The address of the sample in the workspace of a newcomer; empty for the first account.

    """

    def __init__(
        self, address: str, username: str, installation: Installation, actual: list[str], password: str = ""
    ) -> None:
        self.address = address
        self.username = username
        self.installation = installation
        self.output = actual
        self.sample = ""
        self._password = password
        self._session: list[Any] = []
        self._token = ""

    def newcomer(self, username: str) -> "Product":
        """Return the product for a new account with its own workspace and the sample, already logged in."""
        name, value, scenario = self.installation.drive("create_account", username)
        newcomer = Product(self.address, username, self.installation, self.output)
        newcomer.sample = f"{self.address}scenarios/{scenario}/"
        newcomer._session = [{"name": name, "value": value, "url": self.address}]
        return newcomer

    def token(self) -> str:
        """Return an API token of the account."""
        self._token = self._token or self.installation.drive("token", self.username)
        return self._token

    def enter(self, context: BrowserContext) -> None:
        """Let the tabs of a window continue the session of the account, if it has one."""
        context.add_cookies(self._session)

    def log_in(self, page: Page) -> None:
        """Open the home page; without a session log in through the form, once for all windows."""
        self.enter(page.context)
        page.goto(self.address)
        if not self._session:
            page.get_by_label("User name").fill(self.username)
            page.get_by_label("Password").fill(self._password)
            page.get_by_role("button", name="Log in").click()
        page.get_by_role("heading", name="What happens if…").wait_for()
        self._session = list(page.context.cookies())


@contextmanager
def product(folder: Path) -> Iterator[Product]:
    """Start everything in `folder` on a free port, and stop it at the end as Ctrl-C does."""
    installation = Installation(folder, {}, rhythm={})
    environment = {**installation.environment, "PORT": str(free_port()), "PYTHONUNBUFFERED": "1"}
    up = subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), "up"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        actual: list[str] = []
        lines = _lines(up, actual)
        password = _wait_for_line(lines, r"with the password (\S+) ")
        address = _wait_for_line(lines, r"ready at (http://\S+)")
        yield Product(address, ADMIN, installation, actual, password)
    finally:
        installation.close()
        up.send_signal(signal.SIGINT)
        try:
            up.wait(30)
        finally:
            up.kill()
            up.wait()
            assert up.stdout is not None
            up.stdout.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the real browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def watched_page(context: BrowserContext, complaints: list[str]) -> Page:
    """Return a page whose errors, including blocked styles and scripts, are collected in `complaints`."""

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error" and not re.search(EXPECTED, message.text):
            complaints.append(f"{page.url}: {message.text}")

    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", hear)
    return page


def wait_for_page(content: Locator) -> None:
    """Wait until a page with this content accepts keys: its content is visible before its scripts run.

    The same applies to a fragment from htmx, which is marked until its links and forms are processed.
    """
    expect(content).to_be_visible()
    content.page.wait_for_load_state("domcontentloaded")
    expect(content.page.locator(".htmx-added, .htmx-settling")).to_have_count(0)


def open_sample(page: Page) -> None:
    """Open the sample scenario of a new workspace."""
    page.get_by_role("button", name="Open the sample").click()
    wait_for_page(page.get_by_role("heading", name="Sample", level=1))


def run_sample(page: Page) -> str:
    """Run the sample scenario of a new workspace; return the address of the run."""
    open_sample(page)
    page.get_by_role("button", name="Run this scenario").click()
    wait_for_run(page)
    return page.url


def wait_for_run(page: Page) -> None:
    """Wait until a run has finished and its page accepts keys."""
    victims = page.get_by_role("heading", name="Victims")
    victims.wait_for(timeout=RUN_PATIENCE)
    wait_for_page(victims)


def conf_editor(page: Page) -> Locator:
    """Return the editor of volcano-scheduler.conf, which replaces the plain field."""
    return page.locator(".cm-content").and_(page.get_by_role("textbox", name="volcano-scheduler.conf"))


def _lines(up: "subprocess.Popen[str]", actual: list[str]) -> "Queue[str]":
    """Read the output of the product until it ends, and append it to `said`."""
    lines: Queue[str] = Queue()
    assert up.stdout is not None
    stream = up.stdout

    def read() -> None:
        for line in stream:
            actual.append(line)
            lines.put(line)

    threading.Thread(target=read, daemon=True).start()
    return lines


def _wait_for_line(lines: "Queue[str]", pattern: str) -> str:
    """Wait for a line that matches; return its group."""
    received = []
    while True:
        try:
            line = lines.get(timeout=PATIENCE)
        except Empty:
            raise AssertionError(f"nothing like {pattern!r} in {''.join(received)}") from None
        received.append(line)
        if found := re.search(pattern, line):
            return found[1]
