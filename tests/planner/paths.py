"""The files on the path of an import, an edit and a run through the product.

Each flow is driven as a browser does it; a profile hook sees every call into `planner` and `planning`. A
*file* is a module that is entered, a *room* a folder of `planner`, or `planning`, and a *return* is a file in
a room that was entered and left before, in the order in which files are entered first. The frame of every
page is not counted: what the pages of the glossary and of the status enter, what no feature owns
(`planner.web`, `planner.api`, `planner.accounts`, and `planner.rules`, by which all keep their rows), and
what has no rules of its own: models, rows, addresses, and the cache of a process, which a page enters or not
by what was read before.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import NamedTuple

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from planner.scenarios.models import Scenario
from planner.work.kinds import kinds
from tests import factories
from tests.worker import do_work

OURS = ("planner.", "planning.")
FRAME = re.compile(
    r"planner\.(web|api|accounts|errors|rules|middleware|templatetags)\b|.*\.(models|rows|urls)\b|planner\.work\.models"
    r"|planning\.memory_cache"
)


class Path(NamedTuple):
    """The number of files and rooms of a flow, and of its returns to a room."""

    files: int
    rooms: int
    returns: int


def entered_by(flow: Callable[[], object]) -> list[str]:
    """Return the project's modules that a flow enters, in the order of first entry."""
    modules: dict[str, None] = {}

    def watch(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            module = frame.f_globals.get("__name__", "")
            if module.startswith(OURS) and not _is_import(frame):
                modules.setdefault(module)

    sys.setprofile(watch)
    try:
        flow()
    finally:
        sys.setprofile(None)
    return list(modules)


def _is_import(frame: FrameType) -> bool:
    """Return whether a module or the body of a class is executed, as an import does."""
    return not frame.f_code.co_flags & CO_OPTIMIZED


def path_of(modules: Iterable[str]) -> Path:
    """Return the path of a reader who reads the modules in this order.

    >>> path_of(["planner.runs.views.a", "planner.runs.tasks", "planning.nodes", "planner.runs.views.b"])
    Path(files=4, rooms=2, returns=1)
    """
    passed: list[str] = []
    returns = 0
    modules = list(modules)
    for room in map(_room, modules):
        returns += room in passed[:-1] and room != passed[-1]
        if not passed or room != passed[-1]:
            passed.append(room)
    return Path(len(modules), len(set(passed)), returns)


def _room(module: str) -> str:
    package, folder, *_ = module.split(".")
    return package if package == "planning" else folder


def import_a_file(browser: Client, _scenario: Scenario) -> None:
    """Preview a file, then save it."""
    document = json.dumps({**factories.cluster(), "scheduler_conf": factories.CONF}).encode()
    sent = {"files": [SimpleUploadedFile("cluster.json", document)], "name": "", "documents": ""}
    page = browser.post("/import/", sent).content.decode()
    draft = re.search(r'name="draft" value="([^"]+)"', page)
    assert draft
    assert browser.post(reverse("planner:import-save"), {"draft": draft[1]}).status_code == 302


def edit_a_weight(browser: Client, scenario: Scenario) -> None:
    """Save a new weight in the row of a queue."""
    line = reverse("planner:queue", args=[scenario.pk, "waits"])
    sent = {"revision": scenario.revision, "name": "waits", "weight": "4"}
    saved = browser.post(line, sent, headers={"HX-Request": "true"})
    assert saved.status_code in (200, 302)
    assert scenario.queues.get(name="waits").weight == 4


def run_to_victims(browser: Client, scenario: Scenario) -> None:
    """Start a run, let a worker execute it, and open its victims."""
    assert browser.post(reverse("planner:run-submit", args=[scenario.pk])).status_code == 302
    run = scenario.runs.get()
    do_work(run)
    assert browser.get(reverse("planner:run-victims", args=[run.pk])).status_code == 200


FLOWS = {"import": import_a_file, "edit": edit_a_weight, "run": run_to_victims}


def modules_of(browser: Client, name: str) -> list[str]:
    """Return the modules of a flow in order, without those that every page uses."""
    kinds()  # features register their work once in a process
    browser.get(reverse("planner:glossary"))  # the first page of a process imports what all pages need
    frame = {*entered_by(lambda: browser.get(reverse("planner:glossary")))}
    frame |= {*entered_by(lambda: browser.get(reverse("planner:status")))}
    scenario = factories.scenario()
    modules = entered_by(lambda: FLOWS[name](browser, scenario))
    return [module for module in modules if module not in frame and not FRAME.match(module)]
