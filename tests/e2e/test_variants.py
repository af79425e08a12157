"""The scripts of docs/scripts.md, with the client and with curl, and the command line against a server."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from queuecast.__main__ import main
from tests import factories
from tests.e2e.product import Product
from tests.needs import unavailable
from tests.processes.installation import ROOT

Command = Callable[..., str]
PAGE = (ROOT / "docs" / "scripts.md").read_text(encoding="utf-8")


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """Twelve queues, the first of which fills every node."""
    document = factories.cluster(nodes=2, waiting=3)
    for number in range(10):
        document["queues"].append(factories.queue(f"q{number}"))
        document["podgroups"].append(factories.podgroup(f"g{number}", f"q{number}", phase="Inqueue"))
        document["pods"].append(factories.pod(f"p{number}", f"g{number}"))
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({**document, "scheduler_conf": factories.CONF}))
    return path


@pytest.fixture(scope="module")
def token(running: Product) -> str:
    return running.token()


def environment(running: Product, token: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "QUEUECAST_URL": running.address,
        "QUEUECAST_TOKEN": token,
        "API": f"{running.address}api/v1",
        "TOKEN": token,
    }


def script(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)
    assert len(found.splitlines()) <= 30
    return found


def run_script(command: list[str], folder: Path, variables: dict[str, str]) -> str:
    done = subprocess.run(
        command, cwd=folder, env=variables,
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def queuecast(
    running: Product,
    token: str,
    cluster: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Command:
    """The command line in this process: what it prints, where its user works."""
    monkeypatch.chdir(cluster.parent)
    for name, value in environment(running, token).items():
        monkeypatch.setenv(name, value)

    def printed(*words: str) -> str:
        capsys.readouterr()
        assert main(words) == 0, (words, capsys.readouterr())
        return capsys.readouterr().out

    return printed


def test_ten_variants_are_run_with_the_client(running: Product, token: str, cluster: Path) -> None:
    output = run_script(
        [sys.executable, "-c", script("python"), str(cluster)], cluster.parent, environment(running, token)
    )
    assert len(re.findall(r"^more for \w+ \d+ victims, \d+ of them new$", output, flags=re.MULTILINE)) == 5
    assert "{'succeeded'}" in output
    assert "kind: Queue" in output
    assert "weight: 2" in output


def test_ten_variants_are_run_with_curl(running: Product, token: str, cluster: Path) -> None:
    if missing := [tool for tool in ("bash", "curl", "jq") if not shutil.which(tool)]:
        unavailable(f"{', '.join(missing)} not installed")
    command = ["bash", "-euo", "pipefail", "-c", script("sh"), "script", str(cluster)]
    output = run_script(command, cluster.parent, environment(running, token))
    assert len(re.findall(r"^more for \w+ \d+ victims, \d+ of them new$", output, flags=re.MULTILINE)) == 5
    assert '"field":"weight","before":1,"after":2' in output


def test_the_command_line_works_with_a_server(
    running: Product, token: str, cluster: Path, queuecast: Command
) -> None:
    assert "12 queues" in queuecast("import", str(cluster), "--name", "by hand")
    queuecast("scenario", "create", "by hand", "--snapshot", "by hand")
    queuecast("scenario", "branch", "by hand", "less")
    assert "train" in queuecast("job", "add", "less", "ml/train", "--queue", "waits", "--cpu", "2")
    assert "cpu=4" in queuecast("queue", "set", "less", "busy", "capability.cpu=4", "weight=1")
    runs = [run["id"] for run in json.loads(queuecast("run", "by hand", "less", "-o", "json"))]
    assert "spec.capability.cpu" in queuecast("compare", *runs)
    assert "capability.cpu" in queuecast("scenario", "diff", "less")
    assert "Job default/wait of queue waits" in queuecast("explain", runs[0], "job", "default/wait")
    assert queuecast("open", "runs", runs[0], "--print").strip() == f"{running.address}runs/{runs[0]}/"
    patch = cluster.parent / "patch.json"
    patch.write_text('[{"op": "replace", "path": "/actions", "value": "enqueue, allocate"}]')
    queuecast("conf", "patch", "less", str(patch))
    assert "enqueue, allocate" in queuecast("scenario", "export", "less")
    queuecast("scenario", "remove", "less")
    assert "less" not in queuecast("scenario", "list")
    refused = subprocess.run(
        [sys.executable, "-m", "queuecast", "scenario", "list", "--token", "wrong"],
        env=environment(running, ""), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert refused.returncode == 4


def test_a_plan_is_applied_to_a_server_once(cluster: Path, queuecast: Command) -> None:
    plan = cluster.parent / "plan.yaml"
    plan.write_text(
        f"name: kept in git\nsnapshot: {{files: [{cluster.name}], name: for plans}}\n"
        "queues: {waits: {weight: 3}, q9: null}\n"
        "nodes: {add: [{like: n0, count: 2, prefix: spare}], remove: [n1]}\n"
        "jobs: {remove: [default/g9]}\n"
        "assert: [{max_evictions: 99}]\n"
    )
    first, again = (json.loads(queuecast("apply", "-f", str(plan), "-o", "json")) for _ in range(2))
    assert (first["status"], again["status"]) == ("created", "unchanged")
    assert (first["scenario"]["id"], first["run"]["id"]) == (again["scenario"]["id"], again["run"]["id"])
    assert first["report"] == again["report"]
    assert {one["name"] for one in first["report"]["changes"]} >= {
        "waits", "q9", "spare-1", "spare-2", "n1", "default/g9",
    }  # fmt: skip
    assert json.loads(queuecast("diff", "-f", str(plan), "--exit-code", "-o", "json")) == []
    queuecast("queue", "set", "kept in git", "waits", "weight=7")
    (found,) = json.loads(queuecast("diff", "-f", str(plan), "-o", "json"))
    assert (found["field"], found["before"], found["after"]) == ("spec.weight", 7, 3)
    exported = cluster.parent / "again.yaml"
    exported.write_text(queuecast("scenario", "export", "kept in git", "--plan"))
    assert json.loads(queuecast("diff", "-f", str(exported), "--exit-code", "-o", "json")) == []
    queue = cluster.parent / "queue.yaml"
    queue.write_text(
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: waits}\nspec: {weight: 2}\n"
    )
    (cluster.parent / "rules.yaml").write_text("- max_evictions: 99\n")
    rules = str(cluster.parent / "rules.yaml")
    actual = queuecast("check", str(queue), "--against", "for plans", "--assert", rules)
    assert "the rule holds" in actual
