"""The command line on a server: everything that the API can do, by names, in every output format."""

import io
import json
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml
from pytest_django.live_server_helper import LiveServer

from planner.accounts.models import Role
from planner.runs.models import PublicLink, Run
from planner.scenarios.models import Scenario
from planner.scenarios.services.scenarios import scenario_create
from queuecast import Client
from queuecast.__main__ import main
from queuecast.completion import NAMES
from tests import factories
from tests.worker import do_all_work

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def plan(
    live_server: LiveServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Scenario:
    """A scenario `plan` on a server to which the user has logged in, and an empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("QUEUECAST_URL", "QUEUECAST_TOKEN", "QUEUECAST_CONFIG", "QUEUECAST_CONTEXT"):
        monkeypatch.delenv(name, raising=False)
    token = factories.token(factories.user("admin", role=Role.ADMIN), Role.ADMIN)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{token}\n"))
    assert main(["login", live_server.url, "--name", "test"]) == 0
    scenario = scenario_create(snapshot=factories.snapshot(), name="plan")
    capsys.readouterr()
    return scenario


def json_output(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    """Return the JSON output of a command."""
    return json.loads(text_output(capsys, *words, "-o", "json", code=code))


def text_output(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """Return the output of a command."""
    capsys.readouterr()
    assert main(words) == code, (words, capsys.readouterr())
    return capsys.readouterr().out


def finished_run_id(capsys: pytest.CaptureFixture[str], scenario: str = "plan") -> str:
    """Run a scenario as a worker would; return the run's id."""
    run = json_output(capsys, "run", scenario, "--no-wait")[0]["id"]
    do_all_work()
    return str(run)


def test_a_login_is_readable_only_by_its_user_and_its_token_is_never_shown(
    plan: Scenario, tmp_path: Path, live_server: LiveServer, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "config" / "queuecast" / "config.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert json_output(capsys, "context", "list") == [
        {"name": "test", "server": live_server.url, "current": True}
    ]
    token = json.loads(kept.read_text())["contexts"]["test"]["token"]
    assert token not in text_output(capsys, "context", "list", "-o", "yaml")
    assert [one["name"] for one in json_output(capsys, "scenario", "list")] == ["plan"]
    assert [one["name"] for one in Client().scenarios()] == ["plan"]

    kept.chmod(0o644)
    capsys.readouterr()
    assert main(["scenario", "list"]) == 2
    assert "chmod 600" in capsys.readouterr().err
    kept.chmod(0o600)
    text_output(capsys, "context", "remove", "test")
    assert main(["context", "use", "test"]) == 2
    assert main(["scenario", "list", "--context", "test"]) == 2


def test_a_wrong_token_is_not_stored(
    plan: Scenario,
    live_server: LiveServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("wrong\n"))
    assert main(["login", live_server.url, "--name", "other"]) == 4
    assert [one["name"] for one in json_output(capsys, "context", "list")] == ["test"]


def test_a_stored_token_is_sent_only_to_its_own_server(
    plan: Scenario, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["scenario", "list", "--context", "test", "--server", "http://127.0.0.1:1"]) == 2
    assert "not both" in capsys.readouterr().err
    assert Client("http://127.0.0.1:1").server._token == ""
    monkeypatch.setenv("QUEUECAST_URL", "http://127.0.0.1:1")
    assert Client().server._token == ""


def test_an_ambiguous_name_refers_to_the_newest_object_and_lists_the_others(
    plan: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    newer = scenario_create(snapshot=plan.snapshot, name="plan")
    capsys.readouterr()
    assert main(["queue", "set", "plan", "busy", "weight=3"]) == 0
    output = capsys.readouterr().err
    assert f"2 scenarios are named 'plan'; the newest is used. Others: {plan.pk}" in output
    newer.refresh_from_db()
    assert (newer.revision, Scenario.objects.get(pk=plan.pk).revision) == (2, 1)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["queue", "list", "plam"], "No scenario 'plam'. Did you mean 'plan'?"),
        (["queue", "set", "plan", "bsy", "weight=1"], "No queue 'bsy' in the scenario. Did you mean 'busy'?"),
        (["node", "set", "plan", "n9", "--cordon"], "No node 'n9' in the scenario."),
        (["job", "set", "plan", "wiat", "minMember=1"], "No job 'wiat' in the scenario."),
        (["victims", "plan"], "Scenario 'plan' has no run yet"),
        (["token", "revoke", "nobody"], "No token 'nobody'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_unknown_name_is_reported_with_suggestions_also_as_json(
    plan: Scenario, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    assert main(words) == 2
    assert says in capsys.readouterr().err
    assert main([*words, "-o", "json"]) == 2
    failure = json.loads(capsys.readouterr().err)
    assert failure["code"] == "not_found"
    assert says in failure["message"]
    assert failure["problems"] == []


def test_every_part_of_a_scenario_is_edited_and_undone(
    plan: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    text_output(capsys, "queue", "add", "plan", "team", "weight=2")
    text_output(capsys, "queue", "remove", "plan", "team")
    nodes = text_output(capsys, "node", "list", "plan", "-o", "name").split()
    assert json_output(capsys, "node", "add", "plan", "--like", nodes[0], "--count", "2")["names"]
    text_output(
        capsys, "node", "add", "plan", "--capacity", "cpu=8", "--capacity", "memory=32Gi", "--prefix", "new"
    )
    assert json_output(capsys, "node", "set", "plan", "new-1", "--cordon")["spec"]["unschedulable"] is True
    assert "unschedulable" not in json_output(capsys, "node", "set", "plan", "new-1", "--uncordon")["spec"]
    before = Scenario.objects.get(pk=plan.pk).revision
    text_output(capsys, "node", "remove", "plan", f"{nodes[0]}-1", f"{nodes[0]}-2", "new-1")
    assert Scenario.objects.get(pk=plan.pk).revision == before + 1, "many nodes in one revision"
    assert text_output(capsys, "node", "list", "plan", "-o", "name").split() == nodes

    text_output(capsys, "job", "add", "plan", "ml/train", "--queue", "busy", "--replicas", "2")
    assert json_output(capsys, "job", "set", "plan", "ml/train", "replicas=3", "minMember=1")["replicas"] == 3
    assert json_output(capsys, "job", "copy", "plan", "ml/train", "--count", "2")["added"]
    assert "ml/train" in text_output(capsys, "job", "list", "plan", "-o", "name").split()
    text_output(capsys, "job", "remove", "plan", "ml/train")
    assert "ml/train" not in text_output(capsys, "job", "list", "plan", "-o", "name").split()
    text_output(capsys, "undo", "plan")
    assert "ml/train" in text_output(capsys, "job", "list", "plan", "-o", "name").split()
    text_output(capsys, "redo", "plan")
    text_output(capsys, "queue", "set", "plan", "busy", "weight=9")
    text_output(capsys, "revert", "plan", "queues", "busy", "weight")
    assert [
        one["name"] for one in json_output(capsys, "scenario", "diff", "plan") if one["kind"] == "queues"
    ] == []
    text_output(capsys, "queue", "set", "plan", "busy", "guarantee.cpu=1")
    diff = json_output(capsys, "scenario", "diff", "plan")
    (found,) = (one for one in diff if one["kind"] == "queues")
    assert (found["field"], found["before"], found["after"]) == ("guarantee.resource.cpu", None, "1")
    text_output(capsys, "undo", "plan")
    kinds = {one["way"] for one in json_output(capsys, "history", "plan")}
    assert {"edit", "undo", "redo"} <= kinds
    assert json_output(capsys, "preview", "plan")["queues"]
    arguments = ("reach", "plan", "deserved", "--queue", "waits", "--at-least", "1")
    assert json_output(capsys, *arguments)["met"]
    assert "Nothing needs to change." in text_output(capsys, *arguments)
    assert json_output(capsys, "release", "plan", "v1.14.4")["rules_of"] == "v1.14.4"
    assert json_output(capsys, "release", "plan", "imported")["release"] == ""
    assert json_output(capsys, "scenario", "rename", "plan", "renamed")["name"] == "renamed"
    assert json_output(capsys, "scenario", "list", "--query", "[].name") == ["renamed"]


def test_reach_repeats_the_request_until_every_kind_of_change_is_decided(
    plan: Scenario, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("reach", "plan", "placed", "--job", "default/wait", "--at-least", "2")
    whole = json_output(capsys, *arguments)
    monkeypatch.setattr("planner.scenarios.selectors.reach.SECONDS", 0.0)
    assert json_output(capsys, *arguments) == whole
    assert sum(change["tried"] for change in whole["changes"]) > len(whole["changes"])


@pytest.mark.parametrize(
    "words",
    [
        ["queue", "set", "plan", "busy", "weight=7"],
        ["queue", "remove", "plan", "busy"],
        ["node", "add", "plan", "--capacity", "cpu=8", "--prefix", "new"],
        ["job", "add", "plan", "ml/train", "--queue", "nope"],
        ["scenario", "rename", "plan", "other"],
        ["token", "create", "--scope", "viewer"],
    ],
    ids=" ".join,
)
def test_a_dry_run_returns_its_result_and_saves_nothing(
    plan: Scenario, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    tokens = json_output(capsys, "token", "list")
    capsys.readouterr()
    assert main([*words, "--dry-run"]) == 0
    assert "note: Nothing was saved." in capsys.readouterr().err
    plan.refresh_from_db()
    assert (plan.revision, plan.name) == (1, "plan")
    assert json_output(capsys, "token", "list") == tokens


def test_a_dry_run_shows_the_problems_that_the_edit_would_cause(
    plan: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    body = json_output(
        capsys, "queue", "set", "plan", "busy", "deserved.cpu=9", "capability.cpu=1", "--dry-run"
    )
    assert "queue.deserved_above_capability" in {one["rule"] for one in body["problems"]}


def test_a_run_is_awaited_read_shared_and_cancelled(
    plan: Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = finished_run_id(capsys)
    assert json_output(capsys, "wait", run, "--for", "succeeded", "--timeout", "5")[0]["state"] == "succeeded"
    text_output(capsys, "wait", "plan", "--for", "failed", "--timeout", "1", code=1)
    assert text_output(capsys, "runs", "plan", "-o", "name").split() == [run]
    victims = json_output(capsys, "victims", "plan")
    evicted = json_output(capsys, "decisions", "plan", "--op", "evict")
    assert [one["pod"] for one in evicted] == [one["pod"] for one in victims]
    assert len(text_output(capsys, "victims", "plan", "-o", "csv").splitlines()) == len(victims) + 1
    assert all(one["pending"] for one in json_output(capsys, "jobs", "plan", "--query", "[?pending > `0`]"))
    made = json_output(capsys, "link", "create", "plan", "--label", "for review")
    assert "/shared/" in made["address"]
    text_output(capsys, "link", "revoke", "plan", "for review")
    assert json_output(capsys, "link", "list", "plan") == []
    assert not PublicLink.objects.exists()
    text_output(capsys, "bundle", "export", "plan", "--to", "run.zip")
    again = json_output(capsys, "bundle", "import", "run.zip")
    assert again["result_sha256"] == Run.objects.get(pk=run).result_id
    cancelled = json_output(capsys, "cancel", again["run"]["id"])
    assert cancelled["state"] == "cancelled"
    text_output(capsys, "wait", again["run"]["id"], "--for", "succeeded", code=1)


def test_a_watched_run_shows_its_progress_and_lists_its_victims(
    plan: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    stopping = threading.Event()
    started = json_output(capsys, "run", "plan", "--no-wait")
    do_all_work(stopping)
    assert started
    assert main(["--local", "import", str(_cluster()), "--name", "prod"]) == 0
    assert main(["--local", "scenario", "create", "base", "--snapshot", "prod"]) == 0
    capsys.readouterr()
    assert main(["--local", "run", "base", "--watch"]) == 0
    output = capsys.readouterr()
    assert "run 1 of 1" in output.err
    assert "VICTIMS" in output.out


def _cluster() -> Path:
    path = Path("cluster.json")
    path.write_text(json.dumps({**factories.cluster(), "scheduler_conf": factories.CONF}))
    return path


def test_every_output_format_shows_the_same_rows(plan: Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json_output(capsys, "queue", "list", "plan")
    names = [row["name"] for row in rows]
    assert yaml.safe_load(text_output(capsys, "queue", "list", "plan", "-o", "yaml")) == rows
    assert text_output(capsys, "queue", "list", "plan", "-o", "name").split() == names
    csv = text_output(capsys, "queue", "list", "plan", "-o", "csv").splitlines()
    assert csv[0].startswith("QUEUE,PARENT,WEIGHT")
    assert [line.split(",")[0] for line in csv[1:]] == names
    assert text_output(capsys, "queue", "list", "plan").splitlines()[0].split()[-1] == "CAPABILITY"
    assert text_output(capsys, "queue", "list", "plan", "-o", "wide").splitlines()[0].split()[-1] == "STATE"
    assert text_output(capsys, "queue", "list", "plan", "--query", "[].name").split() == names
    capsys.readouterr()
    assert main(["queue", "list", "plan", "--query", "[?"]) == 2
    assert "--query" in capsys.readouterr().err
    assert main(["scenario", "export", "plan", "-o", "csv"]) == 2
    assert "not a table" in capsys.readouterr().err


def test_problems_of_an_edit_are_shown_beside_names_and_csv(
    plan: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    for form in ("name", "csv"):
        capsys.readouterr()
        words = [
            "queue",
            "set",
            "plan",
            "busy",
            f"deserved.cpu={len(form) + 5}",
            "capability.cpu=1",
            "-o",
            form,
        ]
        assert main(words) == 0
        output = capsys.readouterr()
        assert "queue.deserved_above_capability" not in output.out
        assert "queue.deserved_above_capability" in output.err


def test_names_are_completed(plan: Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    def offered(*words: str) -> list[str]:
        return text_output(capsys, NAMES, *words).split()

    assert offered("scenario", "diff") == ["plan"]
    assert "busy" in offered("queue", "set", "plan")
    assert offered("queue", "set", "plan", "busy") == []
    assert offered("node", "remove", "plan") == sorted(
        text_output(capsys, "node", "list", "plan", "-o", "name").split()
    )
    assert offered("context", "use") == ["test"]
    assert offered("queue", "list", "-o", "json") == ["plan"]
    assert offered("nonsense") == []
