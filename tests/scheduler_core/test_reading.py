"""The command line reads the same scenarios from every file format."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from scheduler_core import Options, encode, simulate_document
from scheduler_core.__main__ import main
from scheduler_core.reading import entries
from tests.builders import Object, node, podgroup, pods, queue, scenario
from tests.shared import ROOT

SOME = [
    {
        **scenario(
            nodes=[node("n0", cpu=cores)],
            queues=[queue("a")],
            podgroups=[podgroup("g", queue="a", min_member=2)],
            pods=pods("g", 2, cpu=1),
        ),
        "name": f"{cores} cores",
    }
    for cores in (1, 2, 4)
]
LINES = "".join(json.dumps(document) + "\n" for document in SOME).encode()
RECORDED = "".join(
    json.dumps({"scenario": document, "result": {"name": "recorded"}}) + "\n" for document in SOME
).encode()
FORMS = {
    "lines": ("some.jsonl", LINES),
    "lines separated by blank lines": ("some.jsonl", LINES.replace(b"\n", b"\n\n \n")),
    "recorded lines": ("some.jsonl", RECORDED),
    "packed": ("some.jsonl.gz", gzip.compress(RECORDED)),
    "packed with a plain file name": ("some.jsonl", gzip.compress(LINES)),
}
EXPECTED = b"".join(encode(simulate_document(document, Options(explain=False))) for document in SOME)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_file_of_scenarios_in_each_format(
    form: tuple[str, bytes], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / form[0]
    path.write_bytes(form[1])
    assert main(["simulate", "--no-explain", str(path)]) == 0
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == EXPECTED


@pytest.mark.parametrize("text", [LINES, RECORDED, gzip.compress(LINES)], ids=["lines", "recorded", "packed"])
def test_scenarios_from_standard_input(text: bytes) -> None:
    command = [sys.executable, "-m", "scheduler_core", "simulate", "--no-explain", "-"]
    assert subprocess.run(command, cwd=ROOT, input=text, capture_output=True, check=True).stdout == EXPECTED


def test_pretty_printed_scenario(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(SOME[0], indent=1))
    assert main(["simulate", "--no-explain", str(path)]) == 0
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == EXPECTED.splitlines(keepends=True)[0]


def test_recorded_result_is_read_only_on_request(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_bytes(RECORDED)
    assert [entry.recorded for entry in entries(str(path))] == [{"name": "recorded"}] * 3
    assert [entry.recorded for entry in entries(str(path), with_recorded=False)] == [None] * 3


def test_broken_line_is_an_error_and_the_other_lines_are_simulated(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    lines = LINES.splitlines(keepends=True)
    path = tmp_path / "some.jsonl"
    path.write_bytes(lines[0] + b'{"nodes": [\n' + lines[2])
    assert main(["simulate", "--no-explain", str(path)]) == 1
    sys.stdout.flush()
    body: list[Object] = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert ["error" in result for result in body] == [False, True, False]


def with_events(*texts: str) -> bytes:
    events = ",".join(f'{{"at": 0, "create": {{"pods": [{{"spec": {text}}}]}}}}' for text in texts)
    return b'{"replay": {"events": [' + events.encode() + b"]}}"


def test_equal_specs_are_shared_with_the_sharing_option(tmp_path: Path) -> None:
    path = tmp_path / "replay.json"
    one, other = '{"containers": [{"name": "a"}]}', '{"containers": [{"name": "b"}]}'
    path.write_bytes(with_events(one, other, one))
    [shared], [plain] = (list(entries(str(path), sharing=sharing)) for sharing in (True, False))
    assert shared.scenario == plain.scenario

    def specs(scenario: Object) -> list[Object]:
        return [event["create"]["pods"][0]["spec"] for event in scenario["replay"]["events"]]

    first, second, third = specs(shared.scenario)
    assert first is third
    assert first is not second
    assert specs(plain.scenario)[0] is not specs(plain.scenario)[2]


def test_specs_of_different_types_are_not_shared_even_if_equal(tmp_path: Path) -> None:
    path = tmp_path / "replay.json"
    written = [f'{{"containers": [], "priority": {number}}}' for number in ("1", "1.0", "true")]
    path.write_bytes(with_events(*written))
    [entry] = entries(str(path), sharing=True)
    kinds = [
        type(event["create"]["pods"][0]["spec"]["priority"]) for event in entry.scenario["replay"]["events"]
    ]
    assert kinds == [int, float, bool]
