"""The steps for authors of scripts in the README and the docs."""

import json
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.product import Product
from tests.needs import unavailable
from tests.processes.installation import ROOT


@pytest.fixture
def token(running: Product) -> str:
    return running.token()


def test_the_script_of_the_readme_lists_the_pods_that_would_be_evicted(running: Product, token: str) -> None:
    if missing := [tool for tool in ("bash", "curl", "jq") if not shutil.which(tool)]:
        unavailable(f"{', '.join(missing)} not installed")
    (script,) = re.findall(r"```sh\n(api\(\) .*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert len(script.splitlines()) == 5
    api = f"{running.address}api/v1"
    sample = call(f"{api}/scenarios/?ordering=created", token)["results"][0]
    scenario = call(f"{api}/scenarios/", token, {"name": "by script", "snapshot": sample["snapshot"]})

    result = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        env={**running.installation.environment, "API": api, "TOKEN": token},
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip

    (run,) = call(f"{api}/scenarios/{scenario['id']}/runs/", token)["results"]
    assert (run["state"], run["scenario_revision"]) == ("succeeded", 2)
    victims = call(f"{api}/runs/{run['id']}/victims/", token)["results"]
    assert victims
    assert result.stdout.splitlines() == [
        f"{victim['pod']} of {victim['queue']} is evicted for {victim['for_pod']}" for victim in victims
    ]


def test_concurrent_calls_with_one_key_create_one_scenario(running: Product, token: str) -> None:
    api = f"{running.address}api/v1"
    snapshot = call(f"{api}/scenarios/", token)["results"][0]["snapshot"]
    body = {"name": "only one", "snapshot": snapshot}
    with ThreadPoolExecutor(4) as callers:
        made = [
            callers.submit(call, f"{api}/scenarios/", token, body, **{"Idempotency-Key": "one"})
            for _ in range(4)
        ]
    assert len({answer.result()["id"] for answer in made}) == 1
    assert call(f"{api}/scenarios/?name=only", token)["count"] == 1


def test_an_overlong_address_returns_414_in_the_error_shape(running: Product, token: str) -> None:
    with pytest.raises(HTTPError) as refused:
        call(f"{running.address}api/v1/scenarios/?name={'a' * 9000}", token)
    with refused.value as answer:
        assert (answer.code, json.load(answer)["code"]) == (414, "uri_too_long")


@pytest.mark.browser
def test_the_api_docs_execute_a_call_in_the_browser(tab: Page, running: Product) -> None:
    tab.goto(f"{running.address}api/v1/docs/")
    expect(tab.get_by_role("heading", name="Queuecast")).to_be_visible()
    call_line = tab.locator("#operations-runs-runs_list")
    for _ in range(300):  # Swagger UI renders only visible operations
        if call_line.count():
            break
        tab.mouse.wheel(0, 600)
        tab.wait_for_timeout(200)
    call_line.get_by_role("button").first.click()
    call_line.get_by_role("button", name="Try it out").click()
    call_line.get_by_role("button", name="Execute").click()
    expect(call_line.locator(".responses-table.live-responses-table")).to_contain_text('"count"')


def call(address: str, token: str, body: Any = None, **more: str) -> Any:
    """Call the API."""
    headers = {"Authorization": f"Token {token}", "Content-Type": "application/json", **more}
    sent = None if body is None else json.dumps(body).encode()
    request = Request(address, sent, headers)  # noqa: S310 - our own address
    with urlopen(request, timeout=30) as answer:  # noqa: S310 - our own address
        return json.load(answer)
