"""How long does the core take, how much memory, and how does that grow?

``make bench`` prints three tables: recorded scenarios beside the real scheduler's seconds, generated ones as
large as Kubernetes supports, and growth curves. Every measurement is a process of its own, fed with a file;
of several runs the fastest counts. Seconds are the wall clock's, `cpu s` the processor's: on a busy machine
look at those.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

import manifests
from benchmarks.generator import Size, cluster

ROOT = Path(__file__).resolve().parent.parent
LARGE = Path(os.environ.get("QUEUECAST_SHARED", ROOT.parent / "shared")) / "golden" / "large"
SMALL = ROOT / "tests" / "fidelity" / "cases" / "mixed.jsonl.gz"
OPERATIONS = ("bind", "pipeline", "evict", "allocate")
DOUBLINGS = 5
DIMENSIONS = ("nodes", "pods", "queues", "levels", "pending")
HIGHEST_EXPONENT = 1.15


class Goal(NamedTuple):
    """What one session took in the real scheduler, in Go on two cores, and what ours may take, in seconds."""

    sampling: float
    all_nodes: float
    session: float
    process: float | None


GOALS = {
    "big1k": Goal(4.2, 8.8, 0.06, 0.4),
    "big5k": Goal(4.2, 22.9, 0.1, 1.0),
    "bigfull1k": Goal(4.7, 10.8, 0.2, 0.8),
    "openb-burst-qos": Goal(32.5, 45.3, 0.4, 1.0),
    "openb-burst-hier-capacity-gpuspec33": Goal(36.2, 47.9, 0.5, 1.2),
    "mixed": Goal(0.006, 0.006, 0.003, None),
}
GENERATED = {
    "supported": Size(nodes=5_000, pods=150_000, queues=500, levels=3, pending=10_000),
    "beyond": Size(nodes=20_000, pods=500_000, queues=500, levels=3, pending=10_000),
}


@dataclass
class Measured:
    """What the fastest of several runs took.

    Attributes
    ----------
    session, process, cpu : float
        Seconds; `session` is the sum over the file's scenarios.
    peak : float
        Megabytes.
    operations : int
        Placements and evictions decided.

    """

    session: float
    process: float
    cpu: float
    peak: float
    operations: int
    scenarios: int


def main() -> int:
    """Print the tables; returns 1 when a growth curve is steeper than it may be."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_simulate", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of each, of which the fastest counts")
    parser.add_argument("--only", nargs="*", help="names of scenarios; default: all that are found")
    parser.add_argument("--no-growth", action="store_true", help="leave the growth curves out")
    parser.add_argument("--beyond", action="store_true", help="20,000 nodes and 500,000 pods too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print_recorded(Path(folder), options.runs, options.only)
        print_generated(Path(folder), options.runs, options.only, beyond=options.beyond)
        return 0 if options.no_growth else print_growth(Path(folder), options.runs)


# one file, one process


def measure(path: Path, runs: int, *, explain: bool) -> Measured:
    """Simulate a file's scenarios in a new process, several times."""
    command = [
        "-m",
        "scheduler_core",
        "simulate",
        "--timing",
        *([] if explain else ["--no-explain"]),
        str(path),
    ]
    return min((_run(command) for _ in range(runs)), key=lambda measured: measured.cpu)


def _run(command: Sequence[str]) -> Measured:
    with tempfile.TemporaryFile() as out:
        started = perf_counter()
        child = subprocess.Popen([sys.executable, *command], cwd=ROOT, stdout=out)
        _, status, used = os.wait4(child.pid, 0)
        process = perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode > 1:
            raise SystemExit(f"{' '.join(command)} ended with status {child.returncode}")
        out.seek(0)
        results = [json.loads(line) for line in out]
    cycles = [cycle for result in results for cycle in result["cycles"]]
    return Measured(
        session=sum(cycle["timing"]["session_ms"] for cycle in cycles) / 1000,
        process=process,
        cpu=used.ru_utime + used.ru_stime,
        peak=used.ru_maxrss / 1024,
        operations=sum(entry["op"] in OPERATIONS for cycle in cycles for entry in cycle["decisions"]),
        scenarios=len(results),
    )


def floor_of(path: Path, runs: int) -> float:
    """Return the seconds of starting, reading the file and looking at every object once."""
    times = []
    for _ in range(runs):
        started = perf_counter()
        subprocess.run(
            [sys.executable, "-m", "benchmarks.floor", str(path)], cwd=ROOT, capture_output=True, check=True
        )
        times.append(perf_counter() - started)
    return min(times)


# tables


HEAD = (
    "scenario | session s | explained | process s | explained | cpu s | floor s | peak MB | decided/s | "
    "real s | real, all nodes s | times faster"
)


def print_recorded(folder: Path, runs: int, only: Sequence[str] | None) -> None:
    """Print the recorded scenarios that are at hand beside the real scheduler's seconds."""
    print(f"Recorded scenarios (fastest of {runs}; times faster: session against all nodes)\n")
    _print_head(HEAD)
    for name, path in recorded():
        if not only or name in only:
            print_row(name, written(path, folder / f"{name}.jsonl"), runs)


def recorded() -> Iterator[tuple[str, Path]]:
    """Yield the recordings at hand, the small one first."""
    yield "mixed", SMALL
    for path in sorted(LARGE.glob("*.jsonl.gz")):
        yield path.name.removesuffix(".jsonl.gz"), path


def written(recording: Path, path: Path) -> Path:
    """Write the scenarios of a recording without their answers, one per line."""
    with gzip.open(recording, "rb") as lines, path.open("w") as out:
        for line in lines:
            out.write(
                json.dumps(manifests.resolve(json.loads(line)["scenario"]), separators=(",", ":")) + "\n"
            )
    return path


def print_row(name: str, path: Path, runs: int) -> None:
    """Measure one file with explanations off and on, and print its line."""
    plain, explained = (measure(path, runs, explain=explain) for explain in (False, True))
    goal = GOALS.get(name)
    each = 1 / plain.scenarios
    floor = floor_of(path, runs) if plain.scenarios == 1 else float("nan")
    cells = [
        name,
        _against(plain.session * each, goal.session if goal else None),
        _seconds(explained.session * each),
        _against(plain.process, goal.process if goal else None),
        _seconds(explained.process),
        _seconds(plain.cpu),
        _seconds(floor),
        f"{plain.peak:.0f}",
        f"{plain.operations / plain.session:,.0f}",
        f"{goal.sampling:g}" if goal else "",
        f"{goal.all_nodes:g}" if goal else "",
        f"{goal.all_nodes / (plain.session * each):.0f}" if goal else "",
    ]
    print(" | ".join(cells), flush=True)


def print_generated(folder: Path, runs: int, only: Sequence[str] | None, *, beyond: bool) -> None:
    """Print generated clusters as large as Kubernetes supports, and larger."""
    print("\nGenerated clusters\n")
    _print_head(HEAD)
    for name, size in GENERATED.items():
        if (only and name not in only) or (name == "beyond" and not beyond):
            continue
        print_row(name, _generate(size, folder), min(runs, 2))


def print_growth(folder: Path, runs: int) -> int:
    """Print the processor's seconds while one size is doubled at a time; 1 when one grows too steeply."""
    print(
        f"\nGrowth from {Size()} (cpu s of the whole process; the exponent is fitted over the last three)\n"
    )
    _print_head(" | ".join(["doubled", *(f"x {2**step}" for step in range(DOUBLINGS + 1)), "exponent"]))
    steep = False
    for dimension in DIMENSIONS:
        factors = [2**step for step in range(DOUBLINGS + 1)]
        sizes = [Size().grown(dimension, factor) for factor in factors]
        times = [measure(_generate(size, folder), runs, explain=False).cpu for size in sizes]
        exponent = float(np.polyfit(np.log(factors[-3:]), np.log(times[-3:]), 1)[0])
        steep = steep or exponent > HIGHEST_EXPONENT
        print(" | ".join([dimension, *map(_seconds, times), f"{exponent:.2f}"]), flush=True)
    return int(steep)


def _generate(size: Size, folder: Path) -> Path:
    path = folder / "generated.json"
    with path.open("w") as out:
        json.dump(cluster(size), out, separators=(",", ":"))
    return path


def _print_head(head: str) -> None:
    print(head)
    print(" | ".join("---" for _ in head.split(" | ")))


def _against(seconds: float, goal: float | None) -> str:
    return _seconds(seconds) if goal is None else f"{_seconds(seconds)} (of {goal:g})"


def _seconds(seconds: float) -> str:
    return "" if np.isnan(seconds) else f"{seconds:.4f}" if seconds < 0.1 else f"{seconds:.2f}"


if __name__ == "__main__":
    sys.exit(main())
