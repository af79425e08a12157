"""Comparison of two versions of the core, byte by byte, on randomly changed recorded scenarios.

``python -m tests.fidelity.versus FOLDER`` runs the core in FOLDER, a checkout of another commit, and this one
on the same scenarios, plain and explained. Scenarios of every recorded family are changed at random and made
up to 16 times as large. It prints how many results have the same bytes and each other's first difference,
and returns 1 if any differs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

from tests.builders import GROUP_NAME, Object
from tests.scheduler_core.mutations import CASES, mutated

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = tuple(
    sorted(
        path.name.removesuffix(".jsonl.gz")
        for path in CASES.glob("*.jsonl.gz")
        if not path.name.startswith("big")
    )
)
TIMES = (1, 1, 1, 2, 2, 4, 8, 16)
MOST_PODS = 1_500
TOGETHER = 25
WAYS = {"plain": ["--no-explain"], "explained": []}


def grown(scenario: Object, times: int) -> Object:
    """Return a scenario with multiplied nodes, PodGroups and pods that share the queues."""
    if times == 1:
        return scenario
    larger = dict(scenario)
    for kind in ("nodes", "podgroups", "pods"):
        objects = scenario.get(kind) or []
        larger[kind] = [_copied(entry, copy) for copy in range(times) for entry in objects]
    return larger


def _copied(entry: Object, copy: int) -> Object:
    """Return a numbered copy of an object that refers to copies with the same number."""
    made: Object = json.loads(json.dumps(entry))
    if not copy:
        return made
    metadata, spec = made["metadata"], made.get("spec") or {}
    annotations, labels = metadata.get("annotations") or {}, metadata.get("labels") or {}
    places = (
        *((metadata, name) for name in ("name", "uid")),
        *((annotations, GROUP_NAME), (labels, "kubernetes.io/hostname"), (spec, "nodeName")),
        (made.get("status") or {}, "nominatedNodeName"),
    )
    for where, name in places:
        if where.get(name):
            where[name] = f"{where[name]}-copy-{copy}"
    return made


def changed(number: int) -> Object:
    """Return a recorded scenario of any family, changed and grown, deterministic by number."""
    scenario = mutated(number, FAMILIES)
    most = max(1, MOST_PODS // max(len(scenario.get("pods") or ()), 1))
    return grown(scenario, min(Random(number).choice(TIMES), most))


def answers(core: Path, scenarios: Path, switches: list[str]) -> list[bytes]:
    """Return the lines that the core in a folder prints for the scenarios of a file."""
    command = [sys.executable, "-m", "scheduler_core", "simulate", *switches, str(scenarios)]
    return subprocess.run(command, cwd=core, capture_output=True, check=False).stdout.splitlines()


def compared(core: Path, numbers: range) -> Iterator[tuple[str, int, str]]:
    """Yield the way, the number and the first difference (empty if none) of each comparison."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "changed.jsonl"
        path.write_text("".join(json.dumps(changed(number)) + "\n" for number in numbers))
        for way, switches in WAYS.items():
            theirs, ours = (answers(tree, path, switches) for tree in (core, ROOT))
            if len(theirs) != len(ours) or len(ours) != len(numbers):
                yield way, numbers[0], f"{len(theirs)} and {len(ours)} answers to {len(numbers)} scenarios"
                continue
            for number, before, after in zip(numbers, theirs, ours, strict=True):
                yield way, number, "" if before == after else difference(before, after)


def difference(before: bytes, after: bytes) -> str:
    """Return the first difference of two results."""
    found = next(_differences("", json.loads(before), json.loads(after)), None)
    return found or "the order of keys, or how a number is written"


def _differences(where: str, before: Any, after: Any) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            yield from _differences(f"{where}.{name}", before.get(name), after.get(name))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _differences(f"{where}[{number}]", one, other)
    elif before != after:
        yield f"{where}: {str(before)[:300]} became {str(after)[:300]}"


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.fidelity.versus", description=__doc__)
    parser.add_argument("folder", type=Path, help="a checkout of another commit")
    parser.add_argument("--first", type=int, default=0, help="the number of the first scenario")
    parser.add_argument("--count", type=int, default=3_000, help="how many scenarios")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so long, by the clock")
    options = parser.parse_args()
    started, total, equal = monotonic(), Counter[str](), Counter[str]()
    for first in range(options.first, options.first + options.count, TOGETHER):
        if monotonic() - started > options.seconds:
            break
        numbers = range(first, min(first + TOGETHER, options.first + options.count))
        for way, number, found in compared(options.folder.resolve(), numbers):
            total[way] += 1
            equal[way] += not found
            if found:
                print(f"{way}, scenario {number}: {found}", flush=True)
    for way in WAYS:
        print(f"{way}: {equal[way]:,} of {total[way]:,} answers are the same bytes")
    return int(total != equal)


if __name__ == "__main__":
    sys.exit(main())
