"""The commands of each documentation page, run one after the other as written, on a fresh installation."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner.clusters.sample import sample_document
from tests import factories
from tests.e2e.product import Product
from tests.e2e.test_api_examples import DOCS_ADDRESS, program
from tests.e2e.test_scripts import call
from tests.kept import DATABASE, empty_database
from tests.needs import unavailable
from tests.processes.installation import ROOT

ELSEWHERE = (
    "make run",
    "queuecast import --cluster",
    "queuecast --local scenario create plan --snapshot production",
)
"""Prefixes of blocks that other tests run: they start the product, or need a live cluster or its snapshot."""
PAGES = (
    "README.md", "docs/importing.md", "docs/checks.md", "docs/client.md", "docs/plans.md", "docs/releases.md",
    "docs/replay.md", "docs/operations.md", "docs/forecasting.md", "docs/forecasts.md",
)  # fmt: skip
ON_THEIR_OWN = {"docs/api.md", "docs/scripts.md", "docs/tutorial.md"}
"""Pages that other tests run: separate examples, ten variants, and the start of the product."""
WORDS = {"docs/operations.md": {"USER": "admin", "ROLE": "admin", "NAME": "default"}}
"""Values for the placeholders in capitals of a page."""
TYPED = {"docs/operations.md": "another-long-phrase-8\nanother-long-phrase-8\n"}
"""Input for prompts of a page, where it is not the token."""
MANAGE = """\
case "$1 $2" in "restore queuecast"*) export QUEUECAST_VAR={empty};; esac
exec {python} {manage} "$@"\
"""
"""`restore` uses an empty installation with tables; all other commands use the running one."""
QUEUE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: search}
spec: {weight: 2}
"""


def blocks_of(page: str, language: str) -> list[str]:
    """Return the code blocks of a page in a language, in order."""
    text = (ROOT / page).read_text("utf-8")
    return [
        body for head, body in re.findall(r"```(\w*)\n(.*?)```", text, flags=re.DOTALL) if head == language
    ]


def commands(page: str) -> str:
    """Return the commands of a page, in order."""
    text = "".join(block for block in blocks_of(page, "sh") if not block.startswith(ELSEWHERE))
    for word, meant in WORDS.get(page, {}).items():
        text = re.sub(rf"\b{word}\b", meant, text)
    return text


def sessions(page: str) -> list[tuple[str, str]]:
    """Return the commands whose output a page shows, each with that output."""
    shown = [block for block in blocks_of(page, "") if block.startswith("$ ")]
    return [(line.removeprefix("$ "), entry) for line, _, entry in (block.partition("\n") for block in shown)]


def experiments() -> Iterator[Any]:
    """Yield the commands of the experiments; the last one replays hours of work for every combination."""
    marks = {"sweep": (), "search": (), "nodes": pytest.mark.long}
    for name, shown in zip(marks, sessions("docs/experiments.md"), strict=True):
        yield pytest.param(*shown, id=name, marks=marks[name])


def yaml_of(page: str, key: str) -> str:
    """Return the first YAML file on a page with a line that starts with `key`."""
    return next(text for text in blocks_of(page, "yaml") if re.search(rf"^{key}", text, flags=re.MULTILINE))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout of the repository with the files and programs that the pages use."""
    (tmp_path / "manage.py").symlink_to(ROOT / "manage.py")
    python = f'PYTHONPATH={ROOT} exec {sys.executable} "$@"'
    program(tmp_path / ".venv" / "bin" / "python", python)
    for name, text in files().items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    programs = tmp_path / "bin"
    cluster = (
        'case "$*" in *configmap*) of=scheduler;; *) of=cluster;; esac; exec cat of-the-cluster-$of.yaml'
    )
    program(programs / "kubectl", cluster)
    empty = tmp_path / "empty"
    empty.mkdir()
    shutil.copy(empty_database(), empty / DATABASE)
    manage = MANAGE.format(python=sys.executable, manage=ROOT / "manage.py", empty=empty)
    for name, line in (
        ("queuecast", python.replace('"$@"', '-m queuecast "$@"')),
        ("helm", "exec cat scheduler.yaml"),
        ("pip", "exit 0"),  # tests/queuecast/test_local.py installs the client
        ("manage.py", manage),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    return tmp_path


def files() -> dict[str, str]:
    """Return the files that the pages use: the sample, a change of it, and files shown on the pages."""
    document = sample_document()
    conf = document.pop("scheduler_conf")
    items = [thing for listed in document.values() if isinstance(listed, list) for thing in listed]
    cluster = json.dumps({"kind": "List", "apiVersion": "v1", "items": items})
    scheduler = json.dumps(config_map(conf))
    replayed = {**document, "scheduler_conf": conf, "replay": {"horizon_seconds": 7200}}
    return {
        "cluster.yaml": cluster, "of-the-cluster-cluster.yaml": cluster,
        "scheduler.yaml": scheduler, "of-the-cluster-scheduler.yaml": scheduler,
        "queues.yaml": QUEUE, "queues/search.yaml": QUEUE, "rules.yaml": "- max_evictions: 100\n",
        "document.json": json.dumps(replayed), "trace.csv": factories.TRACE,
        "plan.yaml": yaml_of("docs/plans.md", "snapshot:"),
        "prices.yaml": yaml_of("docs/forecasting.md", "pools:"),
        "sweep.yaml": yaml_of("docs/experiments.md", "figures:"),
        "search.yaml": yaml_of("docs/experiments.md", "goals:"),
        "nodes.yaml": yaml_of("docs/experiments.md", "forecast:"),
    }  # fmt: skip


LOGGED_IN = {"docs/forecasts.md"}
"""Pages whose commands follow `queuecast login`."""


def config_map(conf: str) -> dict[str, Any]:
    """Return the scheduler's ConfigMap as `kubectl` prints it."""
    return {
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"volcano-scheduler.conf": conf},
        "metadata": {"name": "volcano-scheduler-configmap", "namespace": "volcano-system"},
    }  # fmt: skip


def shell(script: str, folder: Path, environment: dict[str, str], typed: str = "") -> str:
    """Run commands up to the first failure; return their output."""
    if missing := [tool for tool in ("bash", "curl", "jq") if not shutil.which(tool)]:
        unavailable(f"{', '.join(missing)} not installed")
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder, input=typed, env={**environment, "XDG_CONFIG_HOME": str(folder), "PATH": path},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_the_commands_of_every_page_are_tested() -> None:
    pages = ["README.md", *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
    assert {page for page in pages if blocks_of(page, "sh")} == {*PAGES, *ON_THEIR_OWN}


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run_as_written(page: str, running: Product, folder: Path) -> None:
    api, token = f"{running.address}api/v1", running.token()
    sample = call(f"{api}/scenarios/?ordering=created", token)["results"][0]["snapshot"]
    plan = call(f"{api}/scenarios/", token, {"name": "plan", "snapshot": sample})["id"]
    named = {"API": api, "TOKEN": token, "SCENARIO": plan}
    if page in LOGGED_IN:
        named |= {"QUEUECAST_URL": running.address, "QUEUECAST_TOKEN": token}
    script = commands(page).replace(DOCS_ADDRESS, running.address.rstrip("/"))
    typed = TYPED.get(page, f"{token}\n")
    assert shell(script, folder, {**running.installation.environment, **named}, typed).strip()


@pytest.mark.parametrize(("command", "shown"), list(experiments()))
def test_a_command_of_the_experiments_page_prints_the_documented_output(
    command: str, shown: str, running: Product, folder: Path
) -> None:
    server = {"QUEUECAST_URL": running.address, "QUEUECAST_TOKEN": running.token()}
    actual = shell(command, folder, {**running.installation.environment, **server})
    assert actual.splitlines() == shown.splitlines()
