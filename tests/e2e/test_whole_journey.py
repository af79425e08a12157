"""The whole journey: import, build a tree, break and fix it, lint, branch, run, compare, export."""

import json
import re
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

from tests import factories
from tests.e2e.product import conf_editor, wait_for_page
from tests.e2e.test_journeys import deserved, edit, line, press_run

pytestmark = pytest.mark.browser
FARTHEST = 60
"""The number of Tab presses after which a control counts as unreachable."""
BYPASSED = "conf.reclaim_bypasses_quota"
CONF_ONE_TIER = """\
actions: "enqueue, allocate, reclaim"
tiers:
- plugins:
  - name: priority
- plugins:
  - name: gang
  - name: conformance
  - name: proportion
  - name: predicates
  - name: nodeorder
"""


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """kubectl output of a cluster that queue `busy` fills, and of its scheduler."""
    cluster = factories.cluster(nodes=2, waiting=12)
    items = [item for kind in ("nodes", "queues", "podgroups", "pods") for item in cluster[kind]]
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "volcano-scheduler-configmap", "namespace": "volcano-system"},
        "data": {"volcano-scheduler.conf": factories.CONF},
    }
    paths = [tmp_path / "cluster.yaml", tmp_path / "scheduler.yaml"]
    paths[0].write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    paths[1].write_text(yaml.safe_dump(config_map))
    return paths


def test_a_cluster_is_imported_changed_compared_and_exported(page: Page, files: list[Path]) -> None:
    import_files(page, files)
    build_three_levels_by_keyboard(page)
    break_and_fix_by_keyboard(page)
    lint_and_fix_the_tiers(page)
    base = page.url.replace("conf/", "")
    branch_off(page, "more for those who wait")
    edit(page, "waits", "Weight", "3")
    branch = page.url
    run_in_branch = press_run(page)
    assert deserved(page)["waits"] == 12000
    page.goto(base)
    run_in_base = press_run(page)
    assert deserved(page)["waits"] == 8000
    compare(page, run_in_base, run_in_branch)
    page.goto(branch)
    export(page)


def import_files(page: Page, files: list[Path]) -> None:
    page.get_by_role("link", name="Import", exact=True).click()
    page.get_by_label("Name").fill("production")
    page.get_by_label("Files").set_input_files(files)
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Save and open the scenario").click()
    wait_for_page(page.get_by_role("heading", name="production", level=1))


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until the control is focused."""
    for _ in range(FARTHEST):
        if wanted.evaluate("control => control === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {wanted}")


def build_three_levels_by_keyboard(page: Page) -> None:
    tab_to(page, page.get_by_role("button", name="New queue"))
    page.keyboard.press("Enter")
    type_name(page, "team")
    page.keyboard.press("Insert")
    type_name(page, "team-a")
    page.keyboard.press("Insert")
    type_name(page, "day")
    page.keyboard.press("Shift+Insert")
    type_name(page, "night")
    levels = {
        name: int(line(page, name).get_attribute("aria-level") or 0) for name in ("team", "team-a", "day")
    }
    top = levels["team"]
    assert levels == {"team": top, "team-a": top + 1, "day": top + 2}
    expect(line(page, "night")).to_have_attribute("aria-level", str(top + 2))


def type_name(page: Page, name: str) -> None:
    expect(page.get_by_label("Name of the new queue")).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    expect(line(page, name)).to_be_focused()


def break_and_fix_by_keyboard(page: Page) -> None:
    refused = page.locator('#review tr[data-queue="night"]').filter(has_text="refused")
    write(page, {"Guarantee cpu of night": "6", "Capability cpu of night": "4"})
    expect(refused.first).to_contain_text("6")
    expect(line(page, "night").get_by_role("link", name=re.compile("check"))).to_be_visible()
    write(page, {"Guarantee cpu of night": ""})
    expect(refused).to_have_count(0)


def write(page: Page, fields: dict[str, str]) -> None:
    """Open the focused row, replace its fields, save it."""
    page.keyboard.press("Enter")
    for label, text in fields.items():
        tab_to(page, page.get_by_label(label))
        page.keyboard.press("Control+a")
        page.keyboard.press("Delete")
        page.keyboard.type(text)
    page.keyboard.press("Enter")
    expect(line(page, "night")).to_be_focused()
    expect(page.get_by_label(next(iter(fields)))).to_have_count(0)


def lint_and_fix_the_tiers(page: Page) -> None:
    page.get_by_role("link", name="Configuration", exact=True).click()
    expect(page.locator(f'[data-rule="{BYPASSED}"]')).to_contain_text("put proportion into tier 1")
    text = conf_editor(page)
    text.press("ControlOrMeta+a")
    text.press("Delete")
    page.keyboard.insert_text(CONF_ONE_TIER)
    page.get_by_role("button", name="Save configuration").click()
    expect(page.get_by_text(re.compile("^saved as revision"))).to_be_visible()
    expect(page.locator(f'[data-rule="{BYPASSED}"]')).to_have_count(0)


def branch_off(page: Page, name: str) -> None:
    page.get_by_role("link", name="Changes", exact=True).click()
    page.get_by_label("Name of the branch").fill(name)
    page.get_by_role("button", name="Branch this scenario").click()
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    page.get_by_role("link", name="Queues", exact=True).click()


def compare(page: Page, *runs: str) -> None:
    page.get_by_role("link", name="Scenarios", exact=True).first.click()
    for run in runs:
        page.locator(f'input[value="{run}"]').check()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="Compare 2 runs")).to_be_visible()
    setting = page.get_by_role("region", name="Settings that differ").locator("tbody tr")
    expect(setting).to_have_count(1)
    expect(setting).to_contain_text("waits")
    row = page.get_by_role("region", name="Queues side by side").get_by_role("row", name=re.compile("^waits"))
    expect(row).to_contain_text("differs")
    expect(row.get_by_role("cell", name="8", exact=True).first).to_be_visible()
    expect(row.get_by_role("cell", name="12", exact=True).first).to_be_visible()


def export(page: Page) -> None:
    page.get_by_role("link", name="Export", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="What changed (YAML)").click()
    *queues, config_map = yaml.safe_load_all(Path(download.value.path()).read_text())
    specs = {queue["metadata"]["name"]: queue["spec"] for queue in queues}
    names = list(specs)
    assert set(names) == {"team", "team-a", "day", "night", "waits"}
    assert names.index("team") < names.index("team-a") < min(names.index("day"), names.index("night"))
    assert (specs["night"]["parent"], specs["night"]["capability"]) == ("team-a", {"cpu": "4"})
    assert specs["waits"]["weight"] == 3
    assert config_map["data"] == {"volcano-scheduler.conf": CONF_ONE_TIER}
