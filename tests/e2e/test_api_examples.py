"""Every shell example of docs/api.md, run as written against a running product."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests import factories
from tests.e2e.product import Product
from tests.e2e.test_scripts import call
from tests.needs import unavailable
from tests.processes.installation import ROOT

EXAMPLES = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "api.md").read_text("utf-8"), flags=re.DOTALL)
DOCS_ADDRESS = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
def things(running: Product) -> dict[str, str]:
    """The variables of the examples: a scenario at revision 3, two finished runs, another installation."""
    api, token = f"{running.address}api/v1", running.token()
    sample = call(f"{api}/scenarios/?ordering=created", token)["results"][0]["snapshot"]
    scenario = call(f"{api}/scenarios/", token, {"name": "examples", "snapshot": sample})["id"]
    runs = []
    for seen in (1, 2):
        new = {"name": f"more-{seen}", "parent": "research"}
        call(f"{api}/scenarios/{scenario}/queues/", token, new, **{"If-Match": str(seen)})
        runs.append(call(f"{api}/scenarios/{scenario}/runs/", token, {}, Prefer="wait=30")["id"])
    return {
        **running.installation.environment,
        "PATH": os.environ["PATH"],
        "TOKEN": token,
        "API": api,
        "ELSEWHERE": api,
        "SCENARIO": scenario,
        "SNAPSHOT": sample,
        "BEFORE": runs[0],
        "AFTER": runs[1],
        "RUN": runs[1],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout of the repository, a `kubectl` of a small cluster, and a file large enough for a worker."""
    (tmp_path / "manage.py").symlink_to(ROOT / "manage.py")
    program(tmp_path / ".venv" / "bin" / "python", f'exec {sys.executable} "$@"')
    program(tmp_path / "bin" / "kubectl", "exec cat of-the-cluster.json")
    lists = ("nodes", "queues", "podgroups", "pods")
    items = [thing for name in lists for thing in factories.cluster()[name]]
    (tmp_path / "of-the-cluster.json").write_text(json.dumps({"kind": "List", "items": items}))
    with gzip.open(tmp_path / "cluster.json.gz", "wb", compresslevel=1) as large:
        large.write(json.dumps(factories.cluster()).encode() + b" " * settings.IMPORT_SYNCHRONOUS_BYTES)
    return tmp_path


def program(path: Path, line: str) -> None:
    """Write an executable one-line script."""
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: " ".join(text.split())[:60])
def test_a_documented_example_gets_a_response(
    example: str, running: Product, things: dict[str, str], folder: Path
) -> None:
    if missing := [tool for tool in ("bash", "curl", "jq") if not shutil.which(tool)]:
        unavailable(f"{', '.join(missing)} not installed")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", example.replace(DOCS_ADDRESS, running.address.rstrip("/"))],
        cwd=folder,
        env={**things, "PATH": f"{folder / 'bin'}:{things['PATH']}"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert '"code":' not in done.stdout, done.stdout
    assert not re.search(r'"code":|^null$', done.stdout, flags=re.MULTILINE), done.stdout
