"""Commands about what a server stores besides scenarios: verdicts, searches, experiments, labels, prices."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from pytest_django.live_server_helper import LiveServer

from planner.accounts.models import Role
from planner.experiments.models import Experiment
from planner.runs.models import Run
from queuecast import Client, Refused
from queuecast.__main__ import main
from tests import factories
from tests.worker import do_all_work

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(live_server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A finished run of scenario `plan`, on a server where its user is admin."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("QUEUECAST_URL", live_server.url)
    monkeypatch.setenv("QUEUECAST_TOKEN", factories.token(factories.user("admin", role=Role.ADMIN)))
    run = factories.run(factories.scenario("plan"))
    work()
    return run


def work() -> None:
    """Execute all queued work, as a worker does."""

    def do() -> None:
        do_all_work()
        connection.close()

    worker = threading.Thread(target=do)
    worker.start()
    worker.join()


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*words, "-o", "json"]) == code, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(list(words)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_the_outcome_of_a_run_is_shown_in_sentences_and_by_node(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict = told(capsys, "verdict", "plan")
    assert verdict["lines"][0]["sentence"] in said(capsys, "verdict", "plan")
    nodes = told(capsys, "nodes", "plan")
    assert [node["node"] for node in nodes] == ["n0", "n1"]
    assert said(capsys, "nodes", "plan", "-o", "name").split() == ["n0", "n1"]


def test_a_server_searches_for_changes_that_unblock_a_job(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "job", "add", "plan", "ml/big", "--queue", "waits", "--cpu", "9")
    told(capsys, "run", "plan", "--no-wait")
    work()
    assert told(capsys, "unblock", "plan", "ml/big", "--no-wait")["state"] == "queued"
    work()
    found = told(capsys, "unblock", "plan", "ml/big")
    assert (found["job"], found["state"], found["found"]["waits"]) == ("ml/big-ml-big", "succeeded", True)
    table = said(capsys, "unblock", "plan", "ml/big")
    assert found["found"]["changes"]
    assert all(one["reason"]["sentence"] in table for one in found["found"]["changes"])
    assert main(["unblock", "plan", "ml/bgi"]) == 2
    assert main(["unblock", "plan", "ml/big", "--local"]) == 2


def test_experiments_are_followed_opened_cancelled_and_deleted(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    name = factories.SWEEP["name"]
    Client().experiment_start({**factories.SWEEP, "scenario": "plan"})
    assert [one["name"] for one in told(capsys, "experiments", "list")] == [name]
    work()
    assert told(capsys, "experiments", "show", name)["progress"]["share"] == 1.0
    cells = told(capsys, "experiments", "cells", name)
    number = str(cells[-1]["number"])
    opened = told(capsys, "experiments", "open", name, number, "--name", "the last one")
    assert opened["name"] == "the last one"
    assert told(capsys, "experiments", "cancel", name)["state"] == "succeeded", "it was finished before"
    assert told(capsys, "delete", "experiment", name, "--dry-run") == {"deleted": False, "with": {}}
    assert told(capsys, "delete", "experiment", name)["deleted"]
    assert not Experiment.objects.exists()


def test_labels_are_saved_without_a_new_revision(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    labelled = told(
        capsys, "label", "scenario", "plan", "--note", "for the review", "--tag", "q3", "--tag", "ml"
    )
    assert (labelled["note"], labelled["tags"], labelled["revision"]) == ("for the review", ["ml", "q3"], 1)
    assert told(capsys, "label", "scenario", "plan", "--tag", "")["tags"] == []
    archived = told(capsys, "label", "run", str(run.pk), "--archive")
    assert archived["archived"]
    assert not told(capsys, "label", "run", str(run.pk), "--unarchive")["archived"]
    assert main(["label", "run", str(run.pk)]) == 2


def test_actions_in_a_workspace_are_listed(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "queue", "set", "plan", "waits", "weight=3")
    told(capsys, "link", "create", "plan", "--label", "for the board")
    (change,) = told(capsys, "workspace", "changes")
    assert (change["scenario_name"], change["field"], change["after"]) == ("plan", "weight", 3)
    assert "for the board" in said(capsys, "workspace", "history")
    assert told(capsys, "cluster", "list")[0]["name"] in said(capsys, "cluster", "list")
    assert told(capsys, "imports", "list") == []
    assert set(told(capsys, "status")) >= {"runs", "workers"}


def test_prices_of_a_workspace_are_set_from_a_file(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "prices.yaml").write_text("resources: {cpu: 0.04}\ncurrency: EUR\n")
    told(capsys, "price", "set", "prices.yaml")
    assert told(capsys, "price", "list") == {"pools": {}, "resources": {"cpu": 0.04}, "currency": "EUR"}
    (tmp_path / "prices.yaml").write_text("resources: {cpu: -1}\n")
    assert main(["price", "set", "prices.yaml"]) == 2


def test_an_import_is_cancelled_by_its_name(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    factories.large_import()
    (queued,) = told(capsys, "imports", "list")
    assert told(capsys, "imports", "cancel", queued["name"])["state"] == "cancelled"
    with pytest.raises(Refused):
        Client().import_cancel("nothing of this name")
