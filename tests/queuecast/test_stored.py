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
    execute_queued_work()
    return run


def execute_queued_work() -> None:
    """Execute all queued work, as a worker does."""

    def do() -> None:
        do_all_work()
        connection.close()

    worker = threading.Thread(target=do)
    worker.start()
    worker.join()


def json_output(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*words, "-o", "json"]) == code, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def text_output(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(list(words)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_the_outcome_of_a_run_is_shown_in_sentences_and_by_node(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict = json_output(capsys, "verdict", "plan")
    assert verdict["lines"][0]["sentence"] in text_output(capsys, "verdict", "plan")
    nodes = json_output(capsys, "nodes", "plan")
    assert [node["node"] for node in nodes] == ["n0", "n1"]
    assert text_output(capsys, "nodes", "plan", "-o", "name").split() == ["n0", "n1"]


def test_a_server_searches_for_changes_that_unblock_a_job(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    json_output(capsys, "job", "add", "plan", "ml/big", "--queue", "waits", "--cpu", "9")
    json_output(capsys, "run", "plan", "--no-wait")
    execute_queued_work()
    assert json_output(capsys, "unblock", "plan", "ml/big", "--no-wait")["state"] == "queued"
    execute_queued_work()
    found = json_output(capsys, "unblock", "plan", "ml/big")
    assert (found["job"], found["state"], found["found"]["waits"]) == ("ml/big-ml-big", "succeeded", True)
    table = text_output(capsys, "unblock", "plan", "ml/big")
    assert found["found"]["changes"]
    assert all(one["reason"]["sentence"] in table for one in found["found"]["changes"])
    assert main(["unblock", "plan", "ml/bgi"]) == 2
    assert main(["unblock", "plan", "ml/big", "--local"]) == 2


def test_experiments_are_followed_opened_cancelled_and_deleted(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    name = factories.SWEEP["name"]
    Client().experiment_start({**factories.SWEEP, "scenario": "plan"})
    assert [one["name"] for one in json_output(capsys, "experiments", "list")] == [name]
    execute_queued_work()
    assert json_output(capsys, "experiments", "show", name)["progress"]["share"] == 1.0
    cells = json_output(capsys, "experiments", "cells", name)
    number = str(cells[-1]["number"])
    opened = json_output(capsys, "experiments", "open", name, number, "--name", "the last one")
    assert opened["name"] == "the last one"
    assert json_output(capsys, "experiments", "cancel", name)["state"] == "succeeded", (
        "it was finished before"
    )
    assert json_output(capsys, "delete", "experiment", name, "--dry-run") == {"deleted": False, "with": {}}
    assert json_output(capsys, "delete", "experiment", name)["deleted"]
    assert not Experiment.objects.exists()


def test_labels_are_saved_without_a_new_revision(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    labelled = json_output(
        capsys, "label", "scenario", "plan", "--note", "for the review", "--tag", "q3", "--tag", "ml"
    )
    assert (labelled["note"], labelled["tags"], labelled["revision"]) == ("for the review", ["ml", "q3"], 1)
    assert json_output(capsys, "label", "scenario", "plan", "--tag", "")["tags"] == []
    archived = json_output(capsys, "label", "run", str(run.pk), "--archive")
    assert archived["archived"]
    assert not json_output(capsys, "label", "run", str(run.pk), "--unarchive")["archived"]
    assert main(["label", "run", str(run.pk)]) == 2


def test_actions_in_a_workspace_are_listed(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    json_output(capsys, "queue", "set", "plan", "waits", "weight=3")
    json_output(capsys, "link", "create", "plan", "--label", "for the board")
    (change,) = json_output(capsys, "workspace", "changes")
    assert (change["scenario_name"], change["field"], change["after"]) == ("plan", "weight", 3)
    assert "for the board" in text_output(capsys, "workspace", "history")
    assert json_output(capsys, "cluster", "list")[0]["name"] in text_output(capsys, "cluster", "list")
    assert json_output(capsys, "imports", "list") == []
    assert set(json_output(capsys, "status")) >= {"runs", "workers"}


def test_prices_of_a_workspace_are_set_from_a_file(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "prices.yaml").write_text("resources: {cpu: 0.04}\ncurrency: EUR\n")
    json_output(capsys, "price", "set", "prices.yaml")
    assert json_output(capsys, "price", "list") == {
        "pools": {},
        "resources": {"cpu": 0.04},
        "currency": "EUR",
    }
    (tmp_path / "prices.yaml").write_text("resources: {cpu: -1}\n")
    assert main(["price", "set", "prices.yaml"]) == 2


def test_an_import_is_cancelled_by_its_name(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    factories.large_import()
    (queued,) = json_output(capsys, "imports", "list")
    assert json_output(capsys, "imports", "cancel", queued["name"])["state"] == "cancelled"
    with pytest.raises(Refused):
        Client().import_cancel("nothing of this name")
