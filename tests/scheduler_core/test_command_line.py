"""The core's command line given damaged, malformed or hostile files: a clear error and no traceback."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.__main__ import main
from tests.shared import ROOT

SCENARIO: dict[str, Any] = {
    "name": "small", "nodes": [], "queues": [], "podgroups": [], "pods": [], "replay": {"horizon_seconds": 2},
}  # fmt: skip
COMMANDS = ("simulate", "explain", "replay", "parity")


def written(folder: Path, content: str | bytes, name: str = "a.json") -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def ran(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "scheduler_core", *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("content", [gzip.compress(b"{}")[:-9], b"\x1f\x8b\x08\x00garbage of no use"])
def test_damaged_file_is_refused_by_name(command: str, content: bytes, tmp_path: Path, capfd: Any) -> None:
    path = written(tmp_path, content, "a.json.gz")
    assert main([command, path]) == 1
    output, errors = capfd.readouterr()
    assert f"{path}: the file is damaged, it cannot be unpacked" in output + errors


@pytest.mark.parametrize("command", COMMANDS)
def test_half_of_a_surrogate_pair_in_a_name_is_printed_as_its_escape(command: str, tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps({**SCENARIO, "name": "\ud800"}))
    status, output = ran(command, path)
    assert "Traceback" not in output
    if command in ("simulate", "replay"):
        assert (status, json.loads(output)["name"]) == (0, "\ud800")


@pytest.mark.parametrize("timeline", [5, [1], "soon", {"horizon_seconds": "10"}, {"horizon_seconds": [1]}])
def test_wrong_timeline_is_the_same_error_until_an_end(timeline: Any, tmp_path: Path, capfd: Any) -> None:
    path = written(tmp_path, json.dumps({**SCENARIO, "replay": timeline}))
    assert main(["replay", path]) == 1
    whole = capfd.readouterr().out
    assert main(["replay", "--until", "1", path]) == 1
    assert capfd.readouterr().out == whole
    assert "replay" in whole


@pytest.mark.parametrize("cycles", ["0", "-3", "10001", "99999999", "1e3", "x"])
def test_number_of_cycles_has_the_limits_of_a_scenario(cycles: str, tmp_path: Path, capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["simulate", "--cycles", cycles, written(tmp_path, json.dumps(SCENARIO))])
    assert ended.value.code == 2
    assert "is not a number of cycles: write 1 to 10,000" in capsys.readouterr().err


@pytest.mark.parametrize(
    "recorded",
    [
        {"result": {"cycles": 5}},
        {"result": {"cycles": [{"decisions": None}]}},
        {"result": {"cycles": [5]}},
        {"result": "x"},
        {"result": [1]},
        {"result": {"cycles": []}, "expected": 7},
    ],
    ids=str,
)
def test_recorded_results_of_another_form_are_differences(recorded: Any, tmp_path: Path, capsys: Any) -> None:
    path = written(tmp_path, json.dumps({"scenario": SCENARIO, **recorded}) + "\n", "a.jsonl")
    assert main(["parity", path]) == 1
    assert "0 of 1 equal" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "says"), [("[1, 2]", "cannot be read"), (json.dumps(SCENARIO), "no recorded results")]
)
def test_parity_of_nothing_is_no_success(content: str, says: str, tmp_path: Path, capsys: Any) -> None:
    assert main(["parity", written(tmp_path, content)]) == 1
    output = capsys.readouterr()
    assert output.out == f"a.json: {says}\n"
    assert ("a list found where an object was expected" in output.err) == (says == "cannot be read")


def test_fault_names_the_line_of_the_file(tmp_path: Path, capfd: Any) -> None:
    path = written(tmp_path, f"{json.dumps(SCENARIO)}\n\n[1]\n", "a.jsonl")
    assert main(["simulate", path]) == 1
    assert f"{path}:3: a list found where an object was expected" in capfd.readouterr().out


@pytest.mark.parametrize("content", ["null", gzip.compress(b"0" * 210_000_000)], ids=["null", "210 MB"])
def test_fault_of_a_whole_file_names_no_line(content: Any, tmp_path: Path, capfd: Any) -> None:
    name = "a.json" if isinstance(content, str) else "a.json.gz"
    path = written(tmp_path, content, name)
    assert main(["simulate", path]) == 1
    output = capfd.readouterr().out
    assert f'"error":"{path}: ' in output
    assert ":None" not in output
