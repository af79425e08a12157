"""A sweep of two settings of the sample in the browser, from the form to the run of a combination."""

import json
import re
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, expect

from planning.experiments.figures import figure_of
from tests.e2e.product import Product, open_sample

pytestmark = pytest.mark.browser
PATIENCE = 120_000


def api_get(running: Product, path: str) -> Any:
    """Return a response of the API."""
    request = Request(  # noqa: S310 - our own address
        f"{running.address}api/v1/{path}", headers={"Authorization": f"Token {running.token()}"}
    )
    with urlopen(request) as answer:  # noqa: S310 - the same
        return json.load(answer)


def test_a_sweep_from_the_form_to_the_run_of_a_combination(page: Page, running: Product) -> None:
    open_sample(page)
    page.get_by_role("link", name="Experiments", exact=True).last.click()
    page.get_by_label("Name of the experiment").fill("weight and nodes")
    page.get_by_label("Setting", exact=True).select_option(label="weight")
    page.get_by_label("Queue of the setting").select_option("agents")
    page.get_by_label("Values of the setting").fill("2, 3, 4")
    page.get_by_label("Second setting", exact=True).select_option(label="further nodes like gpu-h100-01")
    page.get_by_label("Values of the second setting").fill("1, 2")
    page.get_by_role("button", name="Start the experiment").click()
    expect(page.get_by_role("status").first).to_have_text("Succeeded", timeout=PATIENCE)

    id_of = re.search(r"/experiments/([0-9a-f-]+)/", page.url)[1]  # type: ignore[index]
    experiment = api_get(running, f"experiments/{id_of}/")
    cells = api_get(running, f"experiments/{id_of}/cells/?page_size=100")["results"]
    assert len(cells) == experiment["planned"] == 12
    page.locator("[data-figure=heat] .main-svg").first.wait_for()
    rows = page.get_by_role("region", name="Combinations").locator("tbody tr")
    expect(rows).to_have_count(12)
    page.get_by_role("link", name="evictions (pods)").click()
    page.locator("[data-figure=heat] .main-svg").first.wait_for()
    expect(page.locator("figcaption").first).to_contain_text("Evictions (pods)")

    number = cells[-1]["number"]
    page.get_by_role("button", name=f"Open combination {number} as a scenario and run it").last.click()
    page.wait_for_url("**/runs/*/", timeout=PATIENCE)
    expect(page.get_by_text("Succeeded").first).to_be_attached(timeout=PATIENCE)
    run = re.search(r"/runs/([0-9a-f-]+)/", page.url)[1]  # type: ignore[index]
    result = api_get(running, f"runs/{run}/result/")
    alone = [float(figure_of(one).of(result)) for one in experiment["figures"]]
    assert alone == list(cells[-1]["figures"].values())
