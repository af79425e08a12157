"""Sliders of the workbench by keyboard; figures update before anything is saved."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.product import wait_for_page

pytestmark = pytest.mark.browser


def test_a_slider_updates_its_field_and_the_figures(sample: Page) -> None:
    deserved = sample.locator("[id=queue-vision] [data-answer=deserved]")
    before = deserved.locator("data").inner_text()
    sample.locator("[id=queue-agents] .tree__line").focus()
    sample.keyboard.press("Enter")
    slider = sample.get_by_label("agents: Weight slider")
    expect(slider).to_have_value("1")
    slider.focus()
    sample.keyboard.press("ArrowRight")
    field = sample.get_by_label("Weight of agents")
    expect(field).to_have_value("2")
    expect(slider).to_have_attribute("aria-valuetext", "2")
    expect(deserved).to_have_class(re.compile("tree__live"))
    expect(deserved).to_contain_text(f"{before} →")
    field.fill("7")
    expect(slider).to_have_value("7")
    guarantee = sample.get_by_label("agents: Guarantee nvidia.com/gpu slider")
    guarantee.focus()
    sample.keyboard.press("ArrowRight")
    expect(sample.get_by_label("Guarantee nvidia.com/gpu of agents")).to_have_value("2")
    sample.keyboard.press("Escape")
    expect(deserved).to_have_text(before)


def test_the_findings_filter_shows_only_queues_with_findings(sample: Page) -> None:
    expect(sample.locator("#review")).to_be_visible()
    every = sample.locator("tbody[data-queue]").count()
    chosen = sample.get_by_role("link", name="With findings")
    chosen.click()
    wait_for_page(chosen.and_(sample.locator("[aria-current=true]")))
    assert sample.locator("tbody[data-queue]").count() < every
    sample.get_by_role("link", name="All queues").click()
    expect(sample.locator("tbody[data-queue]")).to_have_count(every)
