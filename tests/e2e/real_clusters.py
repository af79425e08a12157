"""Real clusters in a running product: a scenario and a run of each, created through the API."""

import gzip
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import APIRequestContext, Browser

from benchmarks.bench_pages import CLUSTERS
from tests.e2e.product import Product

REAL = ("openb", "openb, 102 queues", "big5k")
PATIENCE = 300


@dataclass(frozen=True)
class Cluster:
    """The addresses of a cluster's pages, without a trailing slash."""

    scenario: str
    run: str


def upload_of(name: str) -> bytes:
    """Return a recorded cluster as a gzipped file for an import."""
    return gzip.compress(json.dumps(CLUSTERS[name]()).encode(), 1)


def real_clusters(running: Product, browser: Browser, names: Sequence[str] = REAL) -> dict[str, Cluster]:
    """Import recorded clusters, create and run a scenario of each; return their addresses."""
    headers = {"Authorization": f"Token {running.token()}", "Prefer": "wait=60"}
    with browser.new_context(base_url=f"{running.address}api/v1/", extra_http_headers=headers) as script:
        script.set_default_timeout(PATIENCE * 1_000)
        return {name: _imported(running, script.request, name) for name in names}


def _imported(running: Product, api: APIRequestContext, name: str) -> Cluster:
    file = {"name": f"{name}.json.gz", "mimeType": "application/gzip", "buffer": upload_of(name)}
    sent = _answer(api.post("snapshots/", multipart={"files": file, "name": name}))
    snapshot = sent["id"] if "state" not in sent else _over(api, f"imports/{sent['id']}/")["snapshot"]
    scenario = _answer(api.post("scenarios/", data={"name": name, "snapshot": snapshot}))["id"]
    run = _answer(api.post(f"scenarios/{scenario}/runs/", data={}))["id"]
    _over(api, f"runs/{run}/")
    home = running.address.rstrip("/")
    return Cluster(scenario=f"{home}/scenarios/{scenario}", run=f"{home}/runs/{run}")


def _over(api: APIRequestContext, address: str) -> dict[str, Any]:
    """Return work once it has succeeded."""
    until = time.monotonic() + PATIENCE
    while True:
        found = _answer(api.get(address))
        if found["state"] == "succeeded":
            return found
        assert found["state"] in ("queued", "running"), found
        assert time.monotonic() < until, f"{address} takes more than {PATIENCE} s"
        time.sleep(0.3)


def _answer(response: Any) -> Any:
    assert response.ok, (response.url, response.status, response.text()[:2_000])
    return response.json()
