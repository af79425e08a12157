"""The pipelines of docs/checks.md and the pull request of the README, run as written, with a real git."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests import factories
from tests.needs import unavailable
from tests.queuecast.test_live import TOKEN, ApiServer, running_api_server

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
QUEUE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: waits}
spec: {weight: 1, capability: {cpu: "1m"}}
"""
RULES = "- no_victim_in: busy\n"


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, str]:
    """An environment with `queuecast` and `git` in its PATH."""
    if missing := [tool for tool in ("bash", "git") if not shutil.which(tool)]:
        unavailable(f"{', '.join(missing)} not installed")
    command = tmp_path / "bin" / "queuecast"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m queuecast "$@"\n')
    command.chmod(0o755)
    author = {
        f"GIT_{who}_{what}": "team@example.com"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    return {**author, "PATH": f"{command.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}


@pytest.fixture
def clone(tmp_path: Path, tools: dict[str, str]) -> Path:
    """A clone whose origin has a good pull request, 16, and a bad one, 17."""
    origin = tmp_path / "origin"
    origin.mkdir()
    cluster = {**factories.cluster(), "scheduler_conf": factories.CONF}
    narrow(cluster["queues"])
    for name, text in (
        ("queues/waits.yaml", QUEUE),
        ("rules.yaml", RULES),
        ("snapshot/cluster.json", json.dumps(cluster)),
    ):
        (origin / name).parent.mkdir(exist_ok=True)
        (origin / name).write_text(text)
    shell("git init -q -b main . && git add . && git commit -qm begin", origin, tools)
    for number, queue in ((16, QUEUE.replace("weight: 1", "weight: 2")), (17, QUEUE.replace("1m", "12"))):
        (origin / "queues" / "waits.yaml").write_text(queue)
        refs = f"git update-ref refs/pull/{number}/head HEAD && git reset -q --hard HEAD~1"
        shell(f"git commit -qam change && {refs}", origin, tools)
    shell(f"git clone -q {origin} clone", tmp_path, tools)
    return tmp_path / "clone"


def narrow(queues: list[Any]) -> None:
    """Give queue `waits` the small capability of the repository, for which nothing is evicted."""
    (waits,) = [queue for queue in queues if queue["metadata"]["name"] == "waits"]
    waits["spec"]["capability"] = {"cpu": "1m"}


def shell(script: str, folder: Path, tools: dict[str, str], code: int = 0) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=tools,
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == code, (script, done.stdout, done.stderr)
    return done.stdout


def pipelines() -> list[Any]:
    return [yaml.safe_load(text) for text in re.findall(r"```yml\n(.*?)```", PAGE, flags=re.DOTALL)]


def at(clone: Path, tools: dict[str, str], number: int) -> None:
    shell(f"git fetch -q origin pull/{number}/head && git checkout -q FETCH_HEAD", clone, tools)


@pytest.mark.parametrize(
    ("number", "code", "says"), [(16, 0, "the rule holds"), (17, 1, "the rule is broken")]
)
def test_the_github_workflow_comments_on_a_pull_request(
    clone: Path, tools: dict[str, str], number: int, code: int, says: str
) -> None:
    (workflow, _) = pipelines()
    _, check, summary = [step["run"] for step in workflow["jobs"]["queuecast"]["steps"] if "run" in step]
    at(clone, tools, number)
    shell(check, clone, tools, code=code)
    page = clone / "summary.md"
    shell(summary, clone, tools | {"GITHUB_STEP_SUMMARY": str(page)})
    output = page.read_text()
    assert output.startswith(f"### Queuecast: {says}")
    assert "| queues | waits | spec." in output


@pytest.mark.parametrize(("number", "code"), [(16, 0), (17, 1)])
def test_the_gitlab_job_writes_a_report(clone: Path, tools: dict[str, str], number: int, code: int) -> None:
    (_, pipeline) = pipelines()
    job = pipeline["queuecast"]
    _, check = job["script"]
    at(clone, tools, number)
    shell(check, clone, tools, code=code)
    suite = ElementTree.parse(clone / job["artifacts"]["reports"]["junit"]).getroot()  # noqa: S314 - our own
    assert (suite.get("tests"), suite.get("failures")) == ("2", str(code))


@pytest.fixture
def server() -> Iterator[ApiServer]:
    yield from running_api_server()


def test_the_commands_of_the_readme_list_the_evictions(
    clone: Path, tools: dict[str, str], server: ApiServer, tmp_path: Path
) -> None:
    narrow(server.lists["apis/scheduling.volcano.sh/v1beta1/queues"])
    (block,) = re.findall(r"## Who would be evicted.*?```sh\n(.*?)```", README, flags=re.DOTALL)
    commands = block.splitlines()
    assert len(commands) <= 10
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(
        yaml.safe_dump({
            "apiVersion": "v1", "kind": "Config", "current-context": "fake",
            "clusters": [{"name": "fake", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
            "users": [{"name": "reader", "user": {"token": TOKEN}}],
            "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "reader"}}],
        })
    )  # fmt: skip
    actual = shell(block, clone, tools | {"KUBECONFIG": str(kubeconfig)}, code=1)
    assert "FAIL  no_victim_in: busy" in actual
    assert re.search(r"default/run-\d+ +busy +default/wait-\d+ +by the change", actual)


def test_the_commands_of_the_readme_compare_two_forecasts(tmp_path: Path, tools: dict[str, str]) -> None:
    cluster = {**factories.cluster(), "scheduler_conf": factories.CONF}
    cluster["queues"].append({"metadata": {"name": "research"}, "spec": {"weight": 1}})
    (tmp_path / "cluster.json").write_text(json.dumps(cluster))
    lines = ["name,queue,submit_seconds,run_seconds,cpu,memory"]
    lines += [
        f"job-{number},{queue},{number},7200,1,1Gi" for number, queue in enumerate(["research", "b"] * 6)
    ]
    (tmp_path / "trace.csv").write_text("\n".join(lines))
    (block,) = re.findall(r"## How long will each team wait.*?```sh\n(.*?)```", README, flags=re.DOTALL)
    shell("queuecast --local import cluster.json --name production", tmp_path, tools)
    shown = shell(block, tmp_path, tools)
    assert re.search(r"Queue research \w+ its wait target of 10 min", shown)
    assert "plan (A) and wider (B), job by job" in shown
