"""The main workflow on files, without a server: import, branch, change, run, compare, export."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import manifests
from planning.outcomes import rows_of
from queuecast.__main__ import main
from queuecast.arguments import EXIT_CODES, parser
from queuecast.completion import chains, script
from queuecast.local import Local
from tests import factories

ROOT = Path(__file__).parents[2]


def run_local(*words: str, code: int = 0) -> None:
    assert main([*words, "--local"]) == code, words


def json_output(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    run_local(*words, "-o", "json")
    return json.loads(capsys.readouterr().out)


def test_a_branch_is_changed_run_and_compared(backend: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_local("scenario", "branch", "base", "more")
    run_local("queue", "set", "more", "waits", "weight=3", "capability.cpu=4", "guarantee.cpu=1")
    run_local("job", "add", "more", "ml/train", "--queue", "waits", "--replicas", "2", "--cpu", "2")
    run_local("job", "remove", "more", "default/wait")
    assert [
        (one["name"], one["field"], one["after"]) for one in json_output(capsys, "scenario", "diff", "more")
    ][:3] == [
        ("waits", "weight", 3),
        ("waits", "capability.cpu", "4"),
        ("waits", "guarantee.resource.cpu", "1"),
    ]
    assert json_output(capsys, "scenario", "diff", "base") == []
    first, second = json_output(capsys, "run", "base", "more")
    assert [run["state"] for run in (first, second)] == ["succeeded", "succeeded"]
    assert len(second["victims"]) > len(first["victims"])
    body = json_output(capsys, "compare", first["id"], second["id"])
    assert body["runs"][1]["victims_new"] == len(second["victims"]) - len(first["victims"])
    assert body["queues"][0]["differs"]
    waiting = next(line for line in body["jobs"] if line["name"] == "default/wait")["runs"][0]
    store = json.loads((backend / ".queuecast" / "runs" / f"{first['id']}.json").read_text())
    rows = rows_of(store["result"], manifests.resolve(store["document"])).jobs
    row = next(row for row in rows if row["job"] == "default/wait")
    assert (waiting["gate"], waiting["message"]) == (row["gate"], row["message"])
    run_local("compare", first["id"], second["id"])
    out = capsys.readouterr().out
    assert "Queues that differ: share" in out
    assert re.search(r"Victims that differ.*not evicted +evicted for ", out, re.DOTALL)


def test_the_queues_of_a_run_have_their_real_capability(
    backend: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_local("run", "base")
    capsys.readouterr()
    run_local("queues", "1", "-o", "wide")
    head, *lines = capsys.readouterr().out.splitlines()
    place = head.index("REAL CAPABILITY")
    assert lines[0][place:].startswith("16 cores, 64 GiB")
    run_local("queues", "1", "-o", "csv")
    assert "cpu=16 memory=64Gi" in capsys.readouterr().out


def test_a_change_that_reaches_an_amount_is_found_and_applied(
    backend: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("reach", "base", "placed", "--job", "default/wait", "--at-least", "3")
    found = json_output(capsys, *arguments)
    change = next(one for one in found["changes"] if one["status"] == "found")
    run_local(*arguments, "--use", change["name"])
    assert json_output(capsys, *arguments)["met"]
    run_local(*arguments, "--use", "weight:none", code=2)
    run_local("reach", "base", "deserved", "--queue", "gone", "--at-least", "3", code=2)
    run_local("reach", "base", "deserved", "--queue", "waits", "--at-least", "900", code=1)
    capsys.readouterr()
    run_local("reach", "base", "share", "--queue", "busy", "--at-most", "1%", code=1)
    out = capsys.readouterr().out
    assert "CHANGE" in out
    assert "none" in out


def test_an_export_has_the_clock_of_its_heartbeats(backend: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-27T09:00:00Z"}
    listed = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {"conditions": [ready]}}
    ]
    file = backend / "live.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": listed}))
    run_local("import", str(file), "--name", "live")
    capsys.readouterr()
    assert Local(backend / ".queuecast").snapshot_document("live")["now"] == "2026-11-27T09:00:00Z"


def test_a_pod_of_a_live_cluster_gets_its_podgroup(backend: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"schedulerName": "volcano"}}
    (backend / "live.json").write_text(json.dumps(pod))
    run_local("import", "live.json", "--name", "live")
    assert "pod.no_podgroup" not in capsys.readouterr().out
    assert Local(backend / ".queuecast").snapshot_document("live")["controllers"] is True


def test_an_exported_change_is_read_back(backend: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_local("queue", "set", "base", "busy", "weight=7")
    (backend / "conf.yaml").write_text(factories.CONF.replace("nodeorder", "binpack"))
    run_local("conf", "set", "base", "conf.yaml")
    capsys.readouterr()
    run_local("scenario", "export", "base")
    reading = manifests.read([("export", capsys.readouterr().out.encode())])
    assert [(queue["metadata"]["name"], queue["spec"]["weight"]) for queue in reading.document["queues"]] == [
        ("busy", 7)
    ]
    assert "binpack" in (reading.scheduler_conf_text or "")


def test_a_run_stores_the_result_of_the_core(backend: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_local("run", "base", "--cycles", "2")
    kept = json.loads((backend / ".queuecast" / "runs" / "1.json").read_text())
    (backend / "input.json").write_text(json.dumps(kept["document"]))
    command = [sys.executable, "-m", "scheduler_core", "simulate", str(backend / "input.json")]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    assert json.loads(printed) == kept["result"]


def test_a_configuration_is_patched_line_by_line(backend: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (backend / "conf.yaml").write_text(f"# ours\n{factories.CONF}")
    run_local("conf", "set", "base", "conf.yaml")
    actions = manifests.parse_conf(factories.CONF)["actions"]
    (backend / "patch.json").write_text(
        json.dumps([{"op": "replace", "path": "/actions", "value": f"{actions}, shuffle"}])
    )
    run_local("conf", "patch", "base", "patch.json")
    ((_, after),) = [
        (one["before"], one["after"])
        for one in json_output(capsys, "scenario", "diff", "base")
        if not one["field"]
    ]
    assert after.startswith("# ours\n")
    assert manifests.parse_conf(after)["actions"] == f"{actions}, shuffle"
    (backend / "patch.json").write_text('[{"op": "remove", "path": "/nowhere"}]')
    run_local("conf", "patch", "base", "patch.json", code=2)
    assert "[0]: " in capsys.readouterr().err


def test_removing_a_scenario_removes_its_runs(backend: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_local("scenario", "branch", "base", "other")
    first, second = json_output(capsys, "run", "base", "other")
    run_local("scenario", "remove", "base")
    assert [one["name"] for one in json_output(capsys, "scenario", "list")] == ["other"]
    run_local("queues", first["id"], code=2)
    (third,) = json_output(capsys, "run", "other")
    assert third["id"] not in (first["id"], second["id"])


def test_explain_states_why_a_job_waits(backend: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_local("run", "base")
    capsys.readouterr()
    run_local("explain", "1", "job", "default/wait")
    assert "Job default/wait of queue waits" in capsys.readouterr().out
    assert json_output(capsys, "explain", "1", "queue", "busy")["queue"] == "busy"
    run_local("explain", "1", "job", "default/wiat", code=2)
    assert capsys.readouterr().err == "No job 'default/wiat' in the run. Did you mean 'default/wait'?\n"


@pytest.mark.parametrize(("name", "error"), [("", "cannot be empty"), ("x" * 300, "is too long for a name")])
def test_a_name_that_no_file_can_have_is_refused(
    backend: Path, capsys: pytest.CaptureFixture[str], name: str, error: str
) -> None:
    run_local("scenario", "create", name, "--snapshot", "prod", code=2)
    assert error in capsys.readouterr().err


def test_a_run_that_cannot_be_simulated_is_not_recorded(
    backend: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_local("run", "base", "--cycles", "0", code=2)
    assert "cycles is out of range" in capsys.readouterr().err
    assert json_output(capsys, "runs") == []


def test_an_added_job_is_explained_by_its_given_name(
    backend: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_local("job", "add", "base", "ml/big", "--queue", "waits", "--replicas", "2", "--cpu", "1")
    run_local("run", "base")
    story = json_output(capsys, "explain", "base", "job", "ml/big")
    assert (story["job"], story["queue"]) == ("ml/big-ml-big", "waits")
    steps = json_output(capsys, "decisions", "base", "--job", "ml/big")
    assert steps
    assert {step["job"] for step in steps} == {"ml/big-ml-big"}
    run_local("decisions", "base", "--job", "ml/bgi", code=2)


def test_a_difference_exits_with_1_on_request(backend: Path) -> None:
    run_local("scenario", "diff", "base", "--exit-code")
    run_local("queue", "set", "base", "waits", "weight=3")
    run_local("scenario", "diff", "base")
    run_local("scenario", "diff", "base", "--exit-code", code=1)


def test_notes_of_a_run_are_printed_on_standard_error(
    backend: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pod = factories.pod("claimed", "wait")
    pod["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "gpu"}]
    (backend / "claimed.json").write_text(json.dumps(pod))
    run_local("job", "add", "base", "--file", "claimed.json")
    capsys.readouterr()
    for words in (["run", "base"], ["explain", "1", "job", "default/wait"], ["compare", "1", "1"]):
        run_local(*words)
        output = capsys.readouterr()
        assert "note: Not modelled: resource claims of pod default/claimed. " in output.err, words
        assert "Not modelled" not in output.out
    (found,) = json.loads((backend / ".queuecast" / "runs" / "1.json").read_text())["notes"][:1]
    assert found.startswith("Not modelled: ")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["queue", "set", "base", "waits", "weight=lots"], "spec.weight"),
        (["queue", "set", "base", "waits", "weight"], "field=value"),
        (
            ["queue", "set", "base", "nobody", "weight=1"],
            "No queue 'nobody' in the scenario. Choose one of",
        ),
        (["run", "nothing"], "No scenario 'nothing'"),
        (["scenario", "create", "base", "--snapshot", "prod"], "already"),
        (["import", "missing.yaml"], "missing.yaml"),
        (["open", "runs", "1"], "open requires a server"),
        (["scenario", "rebase", "base", "prod"], "requires a server"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_errors_are_reported_and_nothing_is_changed(
    backend: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    before = (backend / ".queuecast" / "scenarios" / "base.json").read_text()
    run_local(*words, code=2)
    assert says in capsys.readouterr().err
    assert (backend / ".queuecast" / "scenarios" / "base.json").read_text() == before


def test_lint_exits_with_1_for_files_that_volcano_cannot_read(
    backend: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (backend / "good.yaml").write_text(factories.CONF)
    (backend / "bad.yaml").write_text("actions: [")
    run_local("conf", "lint", "good.yaml")
    run_local("conf", "lint", "bad.yaml", code=1)


def test_output_is_a_table_json_or_yaml(backend: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_local("queue", "list", "base")
    assert capsys.readouterr().out.splitlines()[0].split() == [
        "QUEUE", "PARENT", "WEIGHT", "RECLAIMABLE", "GUARANTEE", "DESERVED", "CAPABILITY",
    ]  # fmt: skip
    rows = json_output(capsys, "queue", "list", "base")
    run_local("queue", "list", "base", "-o", "yaml")
    assert yaml.safe_load(capsys.readouterr().out) == rows


def test_the_package_needs_no_django() -> None:
    program = "import queuecast, queuecast.__main__, sys; assert 'django' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


@pytest.mark.parametrize(
    "words",
    [[], ["--help"], ["queue", "set", "--help"], ["runs", "--help"], ["run", "--help"], ["login", "--help"]],
)
def test_commands_of_a_server_import_neither_core_nor_numpy(words: list[str]) -> None:
    program = (
        "import sys; from queuecast.__main__ import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: assert not {'scheduler_core', 'numpy'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", program, *words], cwd=ROOT, check=True, capture_output=True)


def test_the_list_of_commands_has_the_summaries_of_the_commands() -> None:
    assert parser().format_help() == parser([]).format_help()


def test_completion_offers_commands_options_and_choices() -> None:
    bash = script(parser(), "bash")
    program = bash + '\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _queuecast; echo "${COMPREPLY[@]}"'

    def offered(*words: str) -> list[str]:
        command = ["bash", "-c", program, "bash", "queuecast", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    assert offered("sce") == ["scenario"]
    assert offered("scenario", "br") == ["branch"]
    assert offered("run", "--cy") == ["--cycles"]
    assert offered("explain", "1", "j") == ["job"]
    assert "bashcompinit" in script(parser(), "zsh")
    assert "__fish_seen_subcommand_from scenario" in script(parser(), "fish")


def test_every_command_and_exit_code_is_documented() -> None:
    page = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")
    for line in EXIT_CODES.splitlines()[1:]:
        code, says = line.split(maxsplit=1)
        assert f"| {code} | {says} |" in page
    for chain in chains(parser()):
        assert f"queuecast {' '.join(chain)}" in page


def test_manifests_in_files_are_linted_with_line_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "queue.yaml"
    plan.write_text(
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata:\n  name: a\n"
        "spec:\n  deserved: {cpu: 8}\n  capability:\n    cpu: 4\n"
    )
    run_local("lint", str(plan), "--output", "json", code=1)
    first = json.loads(capsys.readouterr().out)[0]
    assert (first["rule"], first["queue"], first["line"]) == ("queue.deserved_above_capability", "a", 6)


def test_import_and_configuration_report_the_findings_of_lint(
    backend: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = {
        one["rule"] for one in json_output(capsys, "import", "cluster.json", "--name", "again")["problems"]
    }
    assert "conf.no_backfill" in rules
    (backend / "conf.yaml").write_text(factories.CONF)
    assert "conf.no_backfill" in {
        one["rule"] for one in json_output(capsys, "conf", "set", "base", "conf.yaml")
    }
    (backend / "conf.yaml").write_text("tiers: [\n")
    run_local("conf", "set", "base", "conf.yaml", code=2)
    assert "conf.yaml:2: error: not YAML" in capsys.readouterr().err


def test_a_snapshot_whose_name_has_a_dot_is_found_by_a_check(
    backend: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_local("import", "cluster.json", "--name", "prod-1.15")
    Path("rules.yaml").write_text("- max_evictions: 9\n")
    Path("change.json").write_text(json.dumps(factories.queue("waits", weight=2)))
    check = ("check", "change.json", "--assert", "rules.yaml", "--against")
    run_local(*check, "prod-1.15")
    run_local(*check, "nowhere.yaml", code=2)
    assert "nowhere.yaml: No such file" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", '{"id": "base", "na', "[1]", "\xff"])
def test_a_damaged_file_of_the_folder_is_named(
    backend: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    (backend / ".queuecast/scenarios/base.json").write_text(content, encoding="latin-1")
    assert main(["queue", "list", "base", "--local"]) == 2
    damaged = Path(".queuecast/scenarios/base.json")
    assert f"{damaged} is damaged. Restore it from a copy, or remove it." in capsys.readouterr().err
