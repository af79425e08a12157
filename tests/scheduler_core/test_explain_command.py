"""The output of `python -m scheduler_core explain`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scheduler_core.__main__ import main
from tests.builders import Object, conf, node, podgroup, pods, priority_class, queue, scenario
from tests.shared import ROOT


@pytest.fixture
def path(tmp_path: Path) -> str:
    document = scenario(
        nodes=[node("n1", cpu=4, memory="16Gi")],
        queues=[queue("q")],
        podgroups=[
            podgroup("low", queue="q", min_member=3, phase="Running"),
            podgroup("high", queue="q", min_member=1, priority_class="high"),
            podgroup("lost", queue="nowhere"),
        ],
        pods=[
            *pods("low", 4, node="n1", cpu=1),
            *pods("high", 2, cpu=1, spec={"priorityClassName": "high"}),
            *pods("lost", 1, cpu=1),
        ],
        priorityclasses=[priority_class("high", 1000)],
        conf=conf("allocate, preempt", ["priority", "gang"], ["predicates", "proportion"]),
    )
    return written(tmp_path, document)


def written(folder: Path, document: Object) -> str:
    file = folder / "scenario.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return str(file)


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["explain", *arguments]) == 0
    return capsys.readouterr().out


def test_job_output_shows_gate_victims_and_preempt_checklist(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = output_of(capsys, path, "--job", "high")
    assert text.startswith("Job default/high of queue q\n")
    assert re.search(r"^Why it waits: .* \(plugin proportion\)$", text, re.MULTILINE)
    assert (
        "preempt evicted default/low-0 of queue q from n1 for default/high-0 of queue q (committed)" in text
    )
    assert "[ ] Action reclaim is not configured." in text
    assert "[x] Evicting 1 pod makes room for 1 pod of the job." in text


def test_notes_go_to_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claims: Object = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}
    document = scenario(
        nodes=[node("n1", cpu=4)], podgroups=[podgroup("j")], pods=pods("j", 1, cpu=1, spec=claims)
    )
    assert main(["explain", written(tmp_path, document), "--job", "j"]) == 0
    output = capsys.readouterr()
    assert "note: Not modelled: resource claims of pod default/j-0. " in output.err
    assert "note: " not in output.out


def test_victim_output_shows_every_vote(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = output_of(capsys, path, "--pod", "low-0")
    assert "tier 1: permit: priority: job priority is lower than the preemptor's" in text
    assert "tier 1: permit: gang: the job keeps its minMember without it (ready 4, minAvailable 3)" in text
    assert "default/low-3: gang: minMember would no longer be met" in text


def test_queue_and_node_output(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = output_of(capsys, path, "--queue", "q", "--node", "n1")
    assert "Queue q deserves 4 cores: weight 1 of 1, in" in text
    assert "Node n1 has 16 GiB idle and 1 core being released" in text


def test_output_without_a_name_covers_every_waiting_job(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = output_of(capsys, path)
    assert "Job default/high of queue q" in text
    assert "Job default/low" not in text


def test_unblock_option_on_a_satisfied_job(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = output_of(capsys, path, "--job", "default/high", "--unblock")
    assert "Job default/high has, or is pipelined to, what it needs." in text


def test_missing_queue_is_reported_as_the_gate(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = output_of(capsys, path, "--job", "lost")
    assert (
        "Job default/lost names queue nowhere, which does not exist: the scheduler ignores the job." in text
    )


@pytest.mark.parametrize("option", ["--job", "--queue", "--pod", "--node"])
def test_unknown_name_is_an_error(path: str, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", path, option, "nobody"]) == 1
    assert "nobody" in capsys.readouterr().err


def test_invalid_scenario_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, {"scheduler_conf": {"actions": "sleep", "tiers": []}})
    assert main(["explain", path]) == 1
    assert "sleep" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["scheduler_core", "explain", "SCENARIO"],
        ["scheduler_core", "simulate", "SCENARIO"],
        ["queuecast", "completion", "bash"],
    ],
    ids=" ".join,
)
def test_closed_pipe_is_not_an_error(path: str, command: list[str]) -> None:
    """As in ``explain … | head -1``: the pipe is closed before anything is written."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        ended = subprocess.run(
            [sys.executable, "-m", *(path if word == "SCENARIO" else word for word in command)],
            stdout=closed,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            check=False,
        )
    assert (b"Traceback" in ended.stderr, ended.returncode) == (False, 141)
