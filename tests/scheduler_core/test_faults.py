"""A failure of the core on one scenario does not affect the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scheduler_core import Options, prepare, simulate_document
from scheduler_core.__main__ import main
from scheduler_core.actions import backfill
from scheduler_core.framework.session import Session
from tests.builders import Object, conf, node, podgroup, pods, scenario

FAULTY = "the faulty one"


def small(name: str) -> Object:
    return scenario(
        name=name,
        nodes=[node("n0", cpu=4)],
        podgroups=[podgroup("a")],
        pods=pods("a", 1, cpu=9),
        conf=conf("allocate, backfill", ["gang"], ["predicates"]),
        queues=[{"metadata": {"name": name.replace(" ", "-")}, "spec": {"weight": 1}}],
    )


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make an action fail in the cluster with the faulty scenario's queue."""

    def broken(session: Session) -> None:
        if FAULTY.replace(" ", "-") in session.queues:
            session.jobs["nobody's job"]

    monkeypatch.setattr(backfill, "execute", broken)


@pytest.fixture
def lines(tmp_path: Path) -> str:
    path = tmp_path / "scenarios.jsonl"
    path.write_text("".join(json.dumps(small(name)) + "\n" for name in ("first", FAULTY, "last")))
    return str(path)


@pytest.mark.usefixtures("fault")
def test_fault_becomes_an_error_with_reference_and_call_stack() -> None:
    result = simulate_document(small(FAULTY))
    assert result["name"] == FAULTY
    assert f"(KeyError, {result['fault']['reference']})" in result["error"]
    assert "nobody's job" in result["fault"]["says"]
    assert "simulate.py" in result["fault"]["calls"][-2]
    assert result["fault"]["calls"][-1].endswith(" broken")
    assert prepare(small(FAULTY)).simulate({"cycles": 2})["error"] == result["error"], (
        "the same fault has the same reference"
    )


@pytest.mark.usefixtures("fault")
def test_simulate_continues_after_a_fault(lines: str, capsysbinary: Any) -> None:
    assert main(["simulate", lines]) == 1
    body = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert [(entry["name"], "error" in entry) for entry in body] == [
        ("first", False),
        (FAULTY, True),
        ("last", False),
    ]


@pytest.mark.usefixtures("fault")
def test_explain_continues_after_a_fault(lines: str, capsys: Any) -> None:
    assert main(["explain", lines]) == 1
    output = capsys.readouterr()
    assert output.out.count("default/a") >= 2
    assert "a bug of Queuecast" in output.err


@pytest.mark.usefixtures("fault")
def test_parity_continues_after_a_fault(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "recorded.jsonl"
    names = ("first", FAULTY, "last")
    recorded = [
        {"scenario": small(name), "result": simulate_document(small(name.replace("faulty", "same")))}
        for name in names
    ]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in recorded))
    assert main(["parity", str(path)]) == 1
    assert "2 of 3 equal" in capsys.readouterr().out


def test_os_error_of_a_progress_callback_is_propagated() -> None:
    def full(_done: float, _what: str) -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        simulate_document(small("first"), Options(progress=full))


@pytest.mark.usefixtures("fault")
def test_replay_continues_after_a_fault(tmp_path: Path, capsysbinary: Any) -> None:
    path = tmp_path / "replays.jsonl"
    documents = [{**small(name), "replay": {"horizon_seconds": 5}} for name in ("first", FAULTY, "last")]
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    assert main(["replay", str(path)]) == 1
    body = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert [(entry["name"], "error" in entry) for entry in body] == [
        ("first", False),
        (FAULTY, True),
        ("last", False),
    ]
    assert f"(KeyError, {body[1]['fault']['reference']})" in body[1]["error"]
    assert body[1]["fault"]["calls"][-1].endswith(" broken")
