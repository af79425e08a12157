"""Importing a cluster that runs v1.14, and reading the effects of an upgrade and their causes."""

import json

from playwright.sync_api import Page, expect

import manifests
from tests.e2e.product import Product
from tests.scheduler_core.test_release import EXAMPLE

KINDS = {
    "nodes": ("v1", "Node"),
    "queues": ("scheduling.volcano.sh/v1beta1", "Queue"),
    "podgroups": ("scheduling.volcano.sh/v1beta1", "PodGroup"),
    "pods": ("v1", "Pod"),
}
SCHEDULER = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "volcano-scheduler", "namespace": "volcano-system"},
    "spec": {
        "template": {"spec": {"containers": [{"name": "s", "image": "volcanosh/vc-scheduler:v1.14.3"}]}}
    },
}


def cluster() -> str:
    """Return the example of the page about releases as `kubectl get -o json` writes it."""
    objects = [
        {"apiVersion": version, "kind": kind, **thing}
        for name, (version, kind) in KINDS.items()
        for thing in EXAMPLE[name]
    ]
    conf = manifests.dump(EXAMPLE["scheduler_conf"])
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": manifests.CONF_MAP, "namespace": "volcano-system"},
        "data": {manifests.CONF_KEY: conf},
    }
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [*objects, config_map, SCHEDULER]})


def test_the_release_is_imported_and_the_upgrade_explained(tab: Page, running: Product) -> None:
    tab.goto(f"{running.address}import/")
    tab.get_by_label("Or paste the text").fill(cluster())
    tab.get_by_label("Name").fill("older cluster")
    tab.get_by_role("button", name="Preview").click()
    expect(tab.get_by_text("the cluster runs Volcano v1.14.3")).to_be_visible()
    tab.get_by_role("button", name="Save and open the scenario").click()
    tab.get_by_role("link", name="Configuration").click()
    expect(tab.get_by_label("Release that decides")).to_contain_text("As imported: v1.14.3")
    expect(tab.get_by_text("Runs follow the rules of Volcano v1.14.4.")).to_be_visible()
    tab.get_by_role("button", name="Upgrade impact").click()
    causes = tab.get_by_role("region", name="Volcano v1.14.3 to v1.15.1")
    causes.wait_for(timeout=60_000)
    expect(causes).to_contain_text("reclaim evicts at least one victim on a node")
    differences = tab.get_by_role("region", name="Differences").first
    expect(differences).to_contain_text("pod default/run-0")
    expect(differences).to_contain_text("reclaim-rollback")
    with tab.expect_download() as download:
        tab.get_by_role("link", name="Download report").click()
    report = download.value.path().read_text()
    assert "Volcano v1.14.4 to v1.15.1" in report
    assert "reclaim-rollback" in report
