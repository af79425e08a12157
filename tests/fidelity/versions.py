"""Comparison of every recorded scenario with the results of the other releases of Volcano.

``python -m tests.fidelity.versions`` prints the figures.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from scheduler_core import Options, simulate_document
from scheduler_core.parity import first_difference
from scheduler_core.reading import entries
from scheduler_core.release import DEFAULT_RELEASE, RELEASES
from tests.fidelity.recorded import picked
from tests.shared import SHARED

GOLDEN = SHARED / "golden"
VERSIONS = GOLDEN / "versions"
NAMED = re.compile(rb'\{"scenario":\s*\{"name":\s*("(?:[^"\\]|\\.)*")')
OTHERS = [release.name for release in RELEASES if release != DEFAULT_RELEASE]


class Recording(NamedTuple):
    """A scenario, its result under a release, and the differences of that release."""

    scenario: Mapping[str, Any]
    result: Mapping[str, Any]
    causes: tuple[str, ...] = ()


def recordings(release: str, *, with_same: bool, step: int = 1) -> Iterator[Recording]:
    """Yield each `step`-th recording of a release that differs, and of the others with `with_same`."""
    numbers = count()
    different = {}
    with gzip.open(VERSIONS / f"{release}.jsonl.gz", "rt") as lines:
        for line in lines:
            entry = json.loads(line)
            different[entry["family"], entry["scenario_name"]] = entry
    families = {family for family, _ in different}
    same = set((VERSIONS / f"{release}.same.txt").read_text().split())
    for path in sorted(GOLDEN.glob("*.jsonl.gz")):
        family = path.name.removesuffix(".jsonl.gz")
        if not with_same and family not in families:
            continue
        names = {name for other, name in different if other == family} | (same if with_same else set())
        each = partial(_each, names=names, step=step, numbers=numbers)
        for entry in picked(path, each, with_recorded=with_same):
            name = entry.scenario.get("name")
            recorded = different.get((family, name))
            scenario = {**entry.scenario, "release": release}
            if recorded is not None:
                yield Recording(scenario, recorded["result"], tuple(recorded["causes"]))
            elif with_same and name in same and entry.recorded is not None:
                yield Recording(scenario, entry.recorded)
    yield from (recording for recording in minimal(release) if next(numbers) % step == 0)


def _each(
    lines: Iterable[bytes], *, names: Container[str], step: int, numbers: Iterator[int]
) -> Iterator[bytes]:
    """Yield each `step`-th line of a listed scenario; numbers continue from file to file."""
    for line in lines:
        begins = NAMED.match(line)
        assert begins, "a recording begins with the name of its scenario"
        if json.loads(begins[1]) in names and next(numbers) % step == 0:
            yield line


def minimal(release: str) -> Iterator[Recording]:
    """Yield the smallest scenarios that show a difference, with their results under a release."""
    answers = [json.loads(line)["results"] for line in (VERSIONS / "minimal.jsonl").read_text().splitlines()]
    scenarios = [entry.scenario for entry in entries(str(VERSIONS / "minimal.jsonl"))]
    for scenario, results in zip(scenarios, answers, strict=True):
        yield Recording({**scenario, "release": release}, results[release])


def differences(release: str, *, with_same: bool = True, step: int = 1) -> tuple[int, list[str]]:
    """Compare each `step`-th recording; return how many were compared, and the differences."""
    compared, parted = 0, []
    for recording in recordings(release, with_same=with_same, step=step):
        compared += 1
        ours = simulate_document(recording.scenario, Options(explain=False))
        difference = first_difference(ours, recording.result)
        if difference is not None:
            parted.append(f"{recording.scenario.get('name')} {recording.causes}: {difference}")
    return compared, parted


def main() -> int:
    """Print, per release, how many recordings are equal; return 1 if any is not."""
    status = 0
    if not Path(VERSIONS).is_dir():
        print(f"no recordings of other releases at {VERSIONS}")
        return status
    for release in OTHERS:
        total, parted = differences(release)
        for line in parted:
            print(f"  {line}")
        print(f"{release}: {total - len(parted)} of {total} equal ({100 * (1 - len(parted) / total):.1f} %)")
        status = status or int(bool(parted))
    return status


if __name__ == "__main__":
    sys.exit(main())
