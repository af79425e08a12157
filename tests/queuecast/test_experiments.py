"""Experiments in files: sweeps, searches, and problems with their lines."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from planning.experiments.figures import Figure
from queuecast.__main__ import main
from queuecast.experiment_tables import verdict_parts
from scheduler_core import Options, simulate_document
from tests.builders import conf, node, podgroup, pods, queue, scenario

SETTINGS = """\
name: more nodes or more weight
snapshot: {files: [cluster.json]}
settings:
- {queue: b, field: weight, values: [2, 4], price: 1}
- {like: n0, range: {from: 1, to: 2, step: 1}, price: 3}
"""
SWEEP = (
    SETTINGS
    + """\
figures:
- {figure: waiting_pods, better: less}
- {figure: evictions, better: less}
- {figure: allocated, queue: b, resource: cpu}
"""
)
SEARCH = (
    SETTINGS
    + """\
goals:
- {figure: waiting_pods, queue: b, at_most: 0}
- {figure: evictions, at_most: 0}
"""
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a cluster of one full node and a waiting gang."""
    monkeypatch.chdir(tmp_path)
    cluster = scenario(
        nodes=[node("n0", cpu=4, memory="64Gi")],
        queues=[queue("a"), queue("b")],
        podgroups=[
            podgroup("runs", queue="a", min_member=1, phase="Running"),
            podgroup("waits", queue="b", min_member=4),
        ],
        pods=[*pods("runs", 4, node="n0", phase="Running", cpu=1), *pods("waits", 4, cpu=1)],
        conf=conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates", "proportion"]),
    )
    (tmp_path / "cluster.json").write_text(json.dumps(cluster))
    return tmp_path


def json_output(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*words, "--local", "-o", "json"]) == code
    return json.loads(capsys.readouterr().out)


def error_output(folder: Path, capsys: pytest.CaptureFixture[str], text: str, command: str = "sweep") -> str:
    (folder / "wrong.yaml").write_text(text)
    capsys.readouterr()
    assert main([command, "wrong.yaml", "--local"]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_sweep_lists_every_combination(
    folder: Path, capsys: pytest.CaptureFixture[str], processes: str
) -> None:
    (folder / "sweep.yaml").write_text(SWEEP)
    body = json_output(capsys, "sweep", "sweep.yaml", "--processes", processes, "--to", "cells.csv")
    assert body["grid_size"] == len(body["cells"]) == 9
    settings = [tuple(cell["settings"].values()) for cell in body["cells"]]
    assert settings == [(weight, nodes) for weight in (1, 2, 4) for nodes in (0, 1, 2)]
    waiting = [cell["figures"]["waiting_pods"] for cell in body["cells"]]
    assert waiting == [4, 0, 0] * 3
    assert [cell["front"] for cell in body["cells"]] == [True, True, *[False] * 7]
    rows = list(csv.DictReader((folder / "cells.csv").read_text().splitlines()))
    assert [float(row["waiting_pods"]) for row in rows] == waiting
    assert [row["front"] for row in rows] == ["1", "1", *"0000000"]


def test_a_cell_equals_the_run_of_the_changed_cluster_on_its_own(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "sweep.yaml").write_text(SWEEP)
    cell = json_output(capsys, "sweep", "sweep.yaml", "--processes", "1")["cells"][4]
    assert cell["settings"] == {"b.weight": 2, "nodes like n0": 1}
    document = json.loads((folder / "cluster.json").read_text())
    document["queues"][1]["spec"]["weight"] = 2
    document["nodes"].append(node("n0-1", cpu=4, memory="64Gi"))
    alone = simulate_document(document, Options(explain=False))
    figures = (Figure("waiting_pods"), Figure("evictions"), Figure("allocated", "b", "cpu"))
    assert list(cell["figures"].values()) == [figure.of(alone) for figure in figures]


def test_a_search_finds_and_lists_the_smallest_change(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "search.yaml").write_text(SEARCH)
    body = json_output(capsys, "search", "search.yaml", "--processes", "1")
    assert body["status"] == "found"
    assert body["smallest"]["settings"] == {"b.weight": 1, "nodes like n0": 1}
    assert body["smallest"]["price"] == 3
    assert [(one["kind"], one["name"]) for one in body["changes"]] == [("nodes", "n0-1")]


def test_a_search_without_a_result_names_the_closest_combination_and_its_misses(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "search.yaml").write_text(
        SEARCH.replace("at_most: 0}\n- {figure: ev", "at_most: -1}\n- {figure: ev")
    )
    body = json_output(capsys, "search", "search.yaml", "--processes", "1", code=1)
    assert body["status"] == "impossible"
    assert body["tried"] == body["grid_size"] == 9
    assert body["closest"]["settings"] == {"b.weight": 1, "nodes like n0": 1}
    assert body["missed"] == [{"goal": "waiting_pods of b at most -1", "by": 1.0}]
    assert "run: {cycles: 3}" in body["remark"]


def test_a_change_that_the_webhook_rejects_is_not_proposed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = json.loads((folder / "cluster.json").read_text())
    cluster["queues"][0]["spec"]["deserved"] = {"cpu": "2"}
    (folder / "cluster.json").write_text(json.dumps(cluster))
    below_deserved = "{queue: a, field: capability, resource: cpu, values: ['1']}"
    setting = "{queue: b, field: weight, values: [5], price: 2}"
    goal = "{figure: deserved, queue: b, resource: cpu, at_least: '3'}"
    head = f"name: x\nsnapshot: {{files: [cluster.json]}}\ngoals: [{goal}]\n"
    (folder / "search.yaml").write_text(f"{head}settings: [{below_deserved}, {setting}]\n")
    body = json_output(capsys, "search", "search.yaml", "--processes", "1")
    assert body["smallest"]["settings"] == {"a.capability.cpu": None, "b.weight": 5}
    sweep = head.replace("goals", "figures").replace(", at_least: '3'", "")
    (folder / "sweep.yaml").write_text(f"{sweep}settings: [{below_deserved}, {setting}]\n")
    cells = json_output(capsys, "sweep", "sweep.yaml", "--processes", "1")["cells"]
    assert (1, 3000) in [(cell["price"], cell["figures"]["deserved cpu of b"]) for cell in cells]


def test_the_scenario_of_a_folder_can_be_swept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    json_output(capsys, "import", "cluster.json", "--name", "prod")
    json_output(capsys, "scenario", "create", "heavier", "--snapshot", "prod")
    (folder / "sweep.yaml").write_text(
        SWEEP.replace("snapshot: {files: [cluster.json]}", "scenario: heavier")
    )
    assert len(json_output(capsys, "sweep", "sweep.yaml", "--processes", "1")["cells"]) == 9


def test_the_rules_of_a_server_hold_without_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = SEARCH.replace("figure: evictions, at_most: 0", "figure: evictions, at_most: few")
    assert "wrong.yaml:8: error: 'few' is not a number." in error_output(folder, capsys, few, "search")
    waits = SWEEP.replace("figure: evictions", "figure: wait_p95")
    assert "wrong.yaml:8: error: a run has no figure wait_p95." in error_output(folder, capsys, waits)


def test_a_file_with_figures_and_goals_serves_sweeps_and_searches(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = SWEEP + SEARCH.removeprefix(SETTINGS) + "sample: {count: 2}\n"
    (folder / "both.yaml").write_text(both)
    assert len(json_output(capsys, "sweep", "both.yaml", "--processes", "1")["cells"]) == 2
    assert json_output(capsys, "search", "both.yaml", "--processes", "1")["status"] == "found"


def test_a_goal_of_an_unknown_queue_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It would be reached as it is: a queue that does not exist has no evictions."""
    output = error_output(folder, capsys, SWEEP.replace("allocated, queue: b,", "allocated, queue: nobody,"))
    assert "there is no queue 'nobody'" in output


def test_every_problem_is_reported_with_its_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = error_output(
        folder,
        capsys,
        SWEEP.replace("queue: b, field: weight", "queue: nobody, field: weight").replace(
            "like: n0", "like: n9"
        ),
    )
    assert "wrong.yaml" in output
    assert "there is no queue 'nobody'" in output
    assert "there is no node 'n9'" in output
    assert ":4" in output
    assert ":5" in output


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("values: [2, 4], price: 1", "values: [2], range: {from: 1, to: 2, step: 1}", "exclude each other"),
        ("price: 3", "prize: 3", "prize"),
        ("evictions, better: less", "evictions, resource: cpu", "does not belong here"),
        ("queue: b, resource: cpu}", "queue: b}", "resource"),
        ("figure: waiting_pods", "figure: waiting", "waiting"),
        ("snapshot: {files: [cluster.json]}\n", "", "snapshot"),
    ],
)
def test_keys_outside_the_schema_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, says: str
) -> None:
    assert old in SWEEP
    assert says in error_output(folder, capsys, SWEEP.replace(old, new, 1))


def test_a_grid_beyond_the_limit_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "9 combinations are more than the limit of 3" in error_output(folder, capsys, SWEEP + "limit: 3\n")
    (folder / "sweep.yaml").write_text(SWEEP + "limit: 3\nsample: {count: 3, seed: 1}\n")
    assert len(json_output(capsys, "sweep", "sweep.yaml", "--processes", "1")["cells"]) == 3


def test_a_search_needs_goals(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "has no goals" in error_output(folder, capsys, SWEEP, "search")


FORECAST = """\
name: nodes until waits are short
snapshot: {files: [cluster.json]}
settings:
- {like: n0, range: {from: 1, to: 4, step: 1}, price: 3}
forecast:
  trace: {file: trace.csv}
  horizon_seconds: 1800
  period_seconds: 20
"""
TRACE = """\
name,queue,submit_seconds,run_seconds,pods,min_member,cpu,memory
one,b,0,600,4,4,1,1Gi
two,b,60,900,3,3,1,1Gi
three,b,700,300,4,4,1,1Gi
"""


def test_forecast_cells_are_swept_by_several_processes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "trace.csv").write_text(TRACE)
    (folder / "sweep.yaml").write_text(FORECAST + "figures: [{figure: wait_p95, queue: b, better: less}]\n")
    alone = json_output(capsys, "sweep", "sweep.yaml", "--processes", "1")["cells"]
    both = json_output(capsys, "sweep", "sweep.yaml", "--processes", "2", "--to", "cells.csv")["cells"]
    assert alone == both
    waits = [cell["figures"]["wait_p95 of b"] for cell in alone]
    assert waits == sorted(waits, reverse=True)
    assert waits[0] > waits[-1]


def test_a_search_over_seeds_reports_whether_its_proposal_holds(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "trace.csv").write_text(TRACE)
    goals = "  seeds: 3\n  unseen_seeds: 4\ngoals: [{figure: wait_p95, queue: b, at_most: 25m}]\n"
    (folder / "search.yaml").write_text(FORECAST + goals)
    capsys.readouterr()
    code = main(["search", "search.yaml", "--local", "--processes", "1", "-o", "json"])
    body = json.loads(capsys.readouterr().out)
    assert body["status"] == "found"
    assert body["verification"]["seeds"] == 4
    assert code == (0 if body["verification"]["holds"] else 1)
    interval = body["smallest"]["intervals"]["wait_p95 of b"]
    assert interval["low"] <= body["smallest"]["figures"]["wait_p95 of b"] <= interval["high"] <= 1500
    main(["search", "search.yaml", "--local", "--processes", "1"])
    assert "the search did not see" in capsys.readouterr().out


def test_a_proposal_that_does_not_hold_is_reported_first() -> None:
    row = {"settings": {"a.weight": 2}, "price": 1.0, "figures": {"evictions": 4.0}, "error": ""}
    holds = {"holds": True, "seeds": 2, "reached": 2, "missed": [], "open": "", "error": ""}
    fails = {**holds, "holds": False, "reached": 1, "missed": [{"goal": "evictions at most 5", "by": 1.0}]}
    found = {"status": "found", "tried": 3, "grid_size": 9, "cell": row}
    first, second, _ = verdict_parts({**found, "verification": fails}, is_of_forecasts=True)
    assert str(first).startswith("The proposal does not hold: over 2 workloads")
    assert "reaches every goal under the workloads of the search." in str(second)
    first, _, last = verdict_parts({**found, "verification": holds}, is_of_forecasts=True)
    assert str(first).startswith("The smallest change that reaches every goal. 3 of 9")
    assert str(last).startswith("Verified")


def test_a_trace_of_a_server_cannot_be_read_locally(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = FORECAST.replace("{file: trace.csv}", "today") + "figures: [{figure: evictions}]\n"
    assert "trace 'today' is on a server" in error_output(folder, capsys, text)
