"""A prepared folder, in which the commands of the client run without a server."""

from __future__ import annotations

import json
import shutil
from contextlib import chdir
from pathlib import Path

import pytest

from queuecast.__main__ import main
from tests import factories


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a snapshot `prod` and its scenario `base`."""
    folder = tmp_path_factory.mktemp("prepared")
    cluster = {**factories.cluster(), "scheduler_conf": factories.CONF}
    (folder / "cluster.json").write_text(json.dumps(cluster))
    with chdir(folder):
        assert main(["import", "cluster.json", "--name", "prod", "--local"]) == 0
        assert main(["scenario", "create", "base", "--snapshot", "prod", "--local"]) == 0
    return folder


@pytest.fixture
def backend(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    """A copy of that folder, in which the commands run."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path
