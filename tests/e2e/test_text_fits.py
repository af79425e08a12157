"""Every text of the run page and the workbench fits, with large amounts and at any width."""

import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, expect

from tests import factories
from tests.e2e.product import Product

WIDTHS = (390, 768, 1440, 2560)
RESOURCE = "alibabacloud.com/gpu-milli"
OUTSIDE = """() => [...document.querySelectorAll(
  "#verdict .verdict__said, #amounts td, #amounts th, #tree td, #tree th, .facts dd")]
  .filter((place) => place.offsetParent !== null && place.textContent.trim() !== "")
  .filter((place) => {
    const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    const box = place.getBoundingClientRect();
    while (texts.nextNode()) {
      if (texts.currentNode.parentElement.closest(".visually-hidden, [popover]")) continue;
      const range = document.createRange();
      range.selectNodeContents(texts.currentNode);
      const text = range.getBoundingClientRect();
      if (text.width && (text.right > box.right + 1 || text.left < box.left - 1)) return true;
    }
    return false;
  }).map((place) => place.textContent.trim().slice(0, 60))"""
"""The elements whose text is wider than the element, so that it overlaps or is cut off."""


def crowded(leaves: int = 36) -> dict[str, Any]:
    """Return a cluster of queues in four teams, with amounts in the millions."""
    teams = [factories.queue(f"team-{number}", parent="root") for number in range(4)]
    deserved = {RESOURCE: "2003662", "cpu": "125513", "memory": "597683Gi"}
    leaves = [
        factories.queue(f"research-group-{number}", parent=f"team-{number % 4}", deserved=deserved)
        for number in range(leaves)
    ]
    groups = [factories.podgroup("job", "research-group-7", phase="Inqueue")]
    return {
        "nodes": [factories.node("n0", cpu="4000000", memory="9000000Gi", **{RESOURCE: "80000000"})],
        "queues": [*teams, *leaves],
        "podgroups": groups,
        "pods": [factories.pod("job-0", "job", cpu="5000000")],
        "scheduler_conf": factories.CONF.replace("proportion", "capacity"),
    }


@pytest.fixture(scope="module")
def places(running: Product) -> dict[str, str]:
    """The addresses of a run page and a workbench of a crowded cluster."""
    headers = {"Authorization": f"Token {running.token()}", "Content-Type": "application/json"}

    def call(method: str, path: str, body: Any = None, more: Mapping[str, str] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        url = f"{running.address.rstrip('/')}/api/v1/{path}"
        requested = Request(url, data, {**headers, **(more or {})}, method=method)  # noqa: S310 - the product under test
        with urlopen(requested) as got:  # noqa: S310
            return json.load(got)

    snapshot = call("POST", "snapshots/", {"name": "crowded", "scenario": crowded()})["id"]
    scenario = call("POST", "scenarios/", {"name": "crowded", "snapshot": snapshot})["id"]
    run = call("POST", f"scenarios/{scenario}/runs/", {})["id"]
    until = time.monotonic() + 60
    while not call("GET", f"runs/{run}/")["finished"]:
        assert time.monotonic() < until
        time.sleep(0.3)
    many = call("POST", "snapshots/", {"name": "many", "scenario": crowded(leaves=496)})["id"]
    wide = call("POST", "scenarios/", {"name": "many", "snapshot": many})["id"]
    edits = {
        f"research-group-{number}": {"weight": 60_000, "deserved": {RESOURCE: "1.5x"}}
        for number in range(0, 496, 3)
    }
    call("PATCH", f"scenarios/{wide}/queues/", {"queues": edits}, {"If-Match": "1"})
    home = running.address.rstrip("/")
    return {
        "run": f"{home}/runs/{run}/",
        "workbench": f"{home}/scenarios/{scenario}/",
        "500 queues": f"{home}/scenarios/{wide}/",
    }


@pytest.mark.parametrize(
    ("name", "resource"),
    [
        ("run", RESOURCE),
        ("run", "memory"),
        ("workbench", RESOURCE),
        ("workbench", "memory"),
        ("500 queues", RESOURCE),
        pytest.param("500 queues", "memory", marks=pytest.mark.long),
    ],
)
def test_no_text_overlaps_or_is_cut_off_with_large_amounts(
    tab: Page, places: dict[str, str], name: str, resource: str
) -> None:
    tab.set_viewport_size({"width": WIDTHS[0], "height": 900})
    tab.goto(f"{places[name]}?resource={resource}&as=tree")
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate(OUTSIDE) == [], (name, resource, width)


def test_the_queue_with_the_largest_deficit_is_named_on_the_first_screen(
    tab: Page, places: dict[str, str]
) -> None:
    tab.goto(places["run"])
    expect(tab.locator("#verdict")).to_be_in_viewport()
    expect(tab.locator("#verdict")).to_contain_text("research-group-7")


def test_header_and_names_of_the_workbench_stay_visible(tab: Page, places: dict[str, str]) -> None:
    tab.goto(f"{places['workbench']}?resource={RESOURCE}")
    gap = tab.evaluate(
        """() => {
          const sheet = document.querySelector(".tree__sheet");
          sheet.scrollTo(sheet.scrollWidth, sheet.scrollHeight);
          const place = sheet.getBoundingClientRect();
          const head = sheet.querySelector("thead").getBoundingClientRect();
          const name = sheet.querySelector("tbody:last-of-type .tree__name").getBoundingClientRect();
          return [sheet.scrollTop, head.top - place.top, name.left - place.left];
        }"""
    )
    scrolled, above, beside = gap
    assert scrolled > 100
    assert abs(above) <= 2
    assert abs(beside) <= 2
