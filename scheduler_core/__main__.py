"""The command line of the core: simulate scenarios, compare with recorded answers."""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import manifests
from extender_client import AllowedHosts, ExtenderClient
from scheduler_core import Options, encode, simulate_document
from scheduler_core.conf import UNMODELLED_PLUGINS, parse_conf
from scheduler_core.errors import InputError
from scheduler_core.parity import first_difference, first_message_difference, unmet


class Entry(NamedTuple):
    """One scenario of a file, what was recorded and is expected of it, and how long reading took.

    `fault` is what is wrong with the text itself; a text with a fault is not simulated.
    """

    scenario: dict[str, Any]
    load_ms: float
    recorded: dict[str, Any] | None = None
    expected: dict[str, Any] = {}
    fault: str = ""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m scheduler_core", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    simulate = commands.add_parser("simulate", help="print the result of each scenario, one line each")
    simulate.add_argument("--no-explain", action="store_true", help="leave the explanations out")
    simulate.add_argument("--timing", action="store_true", help="add how long reading and each action took")
    simulate.add_argument("--cycles", type=int, help="number of cycles instead of the scenario's own")
    simulate.add_argument(
        "--extender-host",
        action="append",
        default=[],
        metavar="HOST[:PORT]",
        help="a host that plugin extender may call (give it once per host; without it nobody is called)",
    )
    simulate.add_argument("scenarios", nargs="+", metavar="SCENARIO")
    parity = commands.add_parser("parity", help="compare with the recorded answers of golden files")
    parity.add_argument(
        "--failures", type=int, default=None, help="show at most so many failing scenarios a file"
    )
    parity.add_argument("files", nargs="+", metavar="FILE")
    options = parser.parse_args(arguments)
    for name in options.scenarios if options.command == "simulate" else options.files:
        if name != "-" and not Path(name).is_file():
            parser.error(f"there is no file {name}")
    return print_results(options) if options.command == "simulate" else print_parity(options)


def entries(name: str) -> Iterator[Entry]:
    """Yield the scenarios of a file (.json, .jsonl, .yaml, each optionally .gz; - for standard input)."""
    raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    plain_name = name.removesuffix(".gz")
    if plain_name.endswith((".yaml", ".yml")):
        yield _read_carefully(name, text)
        return
    for line in text.splitlines() if _is_lines(text, plain_name) else [text]:
        if line.strip():
            yield _read_quickly(name, line)


def _read_quickly(name: str, line: bytes) -> Entry:
    """Parse a scenario in JSON; one that is not what it should be is read again to say where."""
    started = _milliseconds()
    try:
        loaded = _without_collector(line)
        scenario = manifests.resolve(loaded.get("scenario", loaded))
    except (ValueError, AttributeError, TypeError, RecursionError):
        return _read_carefully(name, line)
    if "scenario" not in loaded:
        return Entry(scenario, _milliseconds() - started)
    expected = loaded.get("expected") or {}
    return Entry(scenario, _milliseconds() - started, loaded.get("result"), expected)


def _read_carefully(name: str, text: bytes) -> Entry:
    """Read a scenario or manifests with the line of every problem."""
    started = _milliseconds()
    reading = manifests.read([(name, text)])
    errors = [problem for problem in reading.problems if problem.severity == "error"]
    fault = f"{errors[0].document}:{errors[0].line}: {errors[0].message}" if errors else ""
    return Entry(reading.document, _milliseconds() - started, fault=fault)


def _is_lines(text: bytes, name: str) -> bool:
    if name.endswith(".jsonl"):
        return True
    first = text.split(b"\n", 1)[0].strip()
    return name == "-" and first.startswith(b"{") and first.endswith(b"}")


def _without_collector(line: bytes) -> dict[str, Any]:
    """Parse one line of JSON; the garbage collector would walk the growing tree again and again."""
    gc.disable()
    try:
        loaded: dict[str, Any] = json.loads(line)
        return loaded
    finally:
        gc.enable()


def print_results(options: argparse.Namespace) -> int:
    """Print one result per scenario; 1 when any of them could not be simulated."""
    status = 0
    how = Options(
        explain=not options.no_explain,
        cycles=options.cycles,
        timer=_milliseconds if options.timing else None,
        extender=ExtenderClient(AllowedHosts(options.extender_host)).post if options.extender_host else None,
    )
    for name in options.scenarios:
        for entry in entries(name):
            result = _refused(entry) if entry.fault else simulate_document(entry.scenario, how)
            if options.timing:
                result["load_ms"] = entry.load_ms
            sys.stdout.buffer.write(encode(result))
            status = status or int("error" in result)
    return status


def _refused(entry: Entry) -> dict[str, Any]:
    return {"name": str(entry.scenario.get("name") or ""), "error": entry.fault}


class Tally:
    """How the scenarios of one recorded file compare.

    Attributes
    ----------
    total, equal, messages : int
        Scenarios compared, equal ones, and those whose texts are equal too.
    apart : Counter
        Scenarios that name a plugin which is not modelled, by plugin; they do not count.
    told : list of str
        What differs, one line a scenario.

    """

    def __init__(self) -> None:
        self.total = self.equal = self.messages = 0
        self.apart: Counter[str] = Counter()
        self.told: list[str] = []

    def add(self, entry: Entry) -> None:
        """Simulate a recorded scenario and compare."""
        assert entry.recorded is not None, "only recorded scenarios are compared"
        unmodelled = unmodelled_plugins(entry.scenario)
        if unmodelled:
            self.apart.update(unmodelled)
            return
        name = entry.scenario.get("name")
        ours = simulate_document(entry.scenario, Options(explain=False))
        difference = first_difference(ours, entry.recorded)
        message = first_message_difference(ours, entry.recorded)
        self.total += 1
        self.equal += difference is None
        self.messages += difference is None and message is None
        if difference is not None or message is not None:
            kind = "differs" if difference is not None else "message"
            self.told.append(f"{name}: {kind}: {difference or message}")
        self.told += [f"{name}: expected by Volcano's test: {text}" for text in unmet(ours, entry.expected)]

    def line(self) -> str:
        """Return the figures in one line."""
        parts = [
            f"{self.equal} of {self.total} equal ({_percent(self.equal, self.total)})",
            f"messages {_percent(self.messages, self.total)}",
        ]
        parts += [f"{count} apart for {plugin}" for plugin, count in sorted(self.apart.items())]
        return ", ".join(parts)


def unmodelled_plugins(scenario: dict[str, Any]) -> list[str]:
    """Return the plugins of a scenario's configuration that the core accepts but does not model."""
    try:
        conf = parse_conf(scenario.get("scheduler_conf"))
    except InputError:
        return []
    return sorted({option.name for option in conf.options()} & set(UNMODELLED_PLUGINS))


def print_parity(options: argparse.Namespace) -> int:
    """Print, per file, how many scenarios are equal to the recorded answers; 1 when any is not."""
    status = 0
    for name in options.files:
        tally = Tally()
        for entry in entries(name):
            if entry.recorded is not None:
                tally.add(entry)
        for told in tally.told[: options.failures]:
            print(f"  {told}")
        print(f"{Path(name).name}: {tally.line()}", flush=True)
        status = status or int(tally.equal != tally.total)
    return status


def _percent(part: int, whole: int) -> str:
    return f"{100.0 * part / whole if whole else 100.0:.1f} %"


def _milliseconds() -> float:
    return time.perf_counter() * 1000.0


if __name__ == "__main__":
    sys.exit(main())
