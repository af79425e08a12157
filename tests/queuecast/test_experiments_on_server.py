"""`sweep` and `search` on a server with a worker give the same answers as on this machine."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import yaml
from django.db import connection
from pytest_django.live_server_helper import LiveServer

from planner.accounts.models import Role
from planner.experiments.models import Experiment
from planner.work.execution import work_execute_next
from queuecast import Client
from queuecast.__main__ import main
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def folder(live_server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a cluster, and the settings of a server that has scenario `plan` of that cluster."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("QUEUECAST_URL", live_server.url)
    monkeypatch.setenv("QUEUECAST_TOKEN", factories.token(factories.user("admin", role=Role.ADMIN)))
    factories.scenario("plan")
    (tmp_path / "cluster.json").write_text(json.dumps(factories.cluster()))
    return tmp_path


@pytest.fixture
def worker() -> Iterator[None]:
    """Execute queued work, as a worker does."""
    stopping = threading.Event()

    def work() -> None:
        while not stopping.wait(0.1):
            work_execute_next(worker="here", stopping=stopping)
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    stopping.set()
    thread.join()


def written(folder: Path, experiment: dict[str, Any], **base: Any) -> str:
    (folder / "experiment.yaml").write_text(yaml.safe_dump({**experiment, **base}))
    return "experiment.yaml"


def json_output(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*words, "-o", "json"]) == code, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def test_a_sweep_on_a_server_equals_a_local_one(
    folder: Path, worker: None, capsys: pytest.CaptureFixture[str]
) -> None:
    there = json_output(
        capsys, "sweep", written(folder, factories.SWEEP, scenario="plan"), "--to", "cells.csv"
    )
    here = json_output(capsys, "sweep", "experiment.yaml", "--processes", "1")
    assert [{key: row[key] for key in here["cells"][0]} for row in there["cells"]] == here["cells"]
    assert len((folder / "cells.csv").read_text().splitlines()) == 13
    assert Client().experiment(factories.SWEEP["name"])["id"] == there["experiment"]


def test_a_server_writes_the_cells_as_parquet(
    folder: Path, worker: None, capsys: pytest.CaptureFixture[str]
) -> None:
    there = json_output(
        capsys, "sweep", written(folder, factories.SWEEP, scenario="plan"), "--to", "cells.parquet"
    )
    table = pyarrow.parquet.read_table(folder / "cells.parquet")
    assert table["number"].to_pylist() == [row["number"] for row in there["cells"]]
    assert table["figures.evictions"].to_pylist() == [row["figures"]["evictions"] for row in there["cells"]]
    json_output(capsys, "experiments", "cells", there["experiment"], "--to", "again.parquet")
    assert (folder / "again.parquet").read_bytes() == (folder / "cells.parquet").read_bytes()
    json_output(capsys, "experiments", "cells", there["experiment"], "--to", "again.csv")
    assert len((folder / "again.csv").read_text().splitlines()) == 13


def test_parquet_is_refused_without_a_server(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = written(folder, factories.SWEEP, scenario="plan")
    assert main(["sweep", name, "--processes", "1", "--to", "cells.parquet"]) == 2
    assert "Only a server writes Parquet." in capsys.readouterr().err
    assert not (folder / "cells.parquet").exists()


def test_a_search_on_a_server_equals_a_local_one(
    folder: Path, worker: None, capsys: pytest.CaptureFixture[str]
) -> None:
    there = json_output(capsys, "search", written(folder, factories.SEARCH, scenario="plan"))
    here = json_output(capsys, "search", "experiment.yaml", "--processes", "1")
    assert (there["status"], there["tried"]) == (here["status"], here["tried"])
    assert there["smallest"]["settings"] == here["smallest"]["settings"]
    opened = Client().experiment_open(there["experiment"], there["smallest"]["number"], "the answer")
    assert opened["name"] == "the answer"


def test_the_files_of_a_cluster_are_imported_first(
    folder: Path, worker: None, capsys: pytest.CaptureFixture[str]
) -> None:
    name = written(folder, factories.SWEEP, snapshot={"files": ["cluster.json"]})
    assert len(json_output(capsys, "sweep", name)["cells"]) == 12
    assert Experiment.objects.get().scenario.snapshot.name == factories.SWEEP["name"]


def test_problems_found_by_a_server_have_line_numbers_of_the_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = [{"queue": "nobody", "field": "weight", "values": [1]}]
    name = written(folder, {**factories.SWEEP, "settings": settings}, scenario="plan")
    capsys.readouterr()
    assert main(["sweep", name]) == 2
    output = capsys.readouterr().err
    assert "experiment.yaml" in output
    assert "there is no queue 'nobody'" in output


def test_a_server_sweeps_forecasts_under_an_uploaded_trace(
    folder: Path, worker: None, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "trace.csv").write_text(factories.TRACE)
    forecast = {**factories.FORECAST_SWEEP["forecast"], "trace": {"file": "trace.csv"}}
    name = written(folder, {**factories.FORECAST_SWEEP, "forecast": forecast}, scenario="plan")
    there = json_output(capsys, "sweep", name)
    here = json_output(capsys, "sweep", name, "--processes", "1")
    assert [{key: row[key] for key in here["cells"][0]} for row in there["cells"]] == here["cells"]
    begun = json_output(capsys, "experiments", "forecast", there["experiment"], "0")
    assert {"forecast", "scenario", "trace"} == set(begun)


def test_a_server_verifies_a_proposal_on_unseen_seeds(
    folder: Path, worker: None, capsys: pytest.CaptureFixture[str]
) -> None:
    name = written(folder, factories.FORECAST_SEARCH, scenario="plan")
    answers = []
    for words in ((), ("--processes", "1")):
        capsys.readouterr()
        code = main(["search", name, "-o", "json", *words])
        answers.append(json.loads(capsys.readouterr().out))
        assert code == (0 if answers[-1]["verification"]["holds"] else 1)
    there, here = answers
    assert there["verification"] == here["verification"]
    assert there["smallest"]["intervals"] == here["smallest"]["intervals"]
