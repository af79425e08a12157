"""Measures the time and the memory of the core, and their growth.

``make bench`` prints four tables: recorded scenarios compared with the real scheduler, generated clusters as
large as Kubernetes supports and larger, many variants of one cluster, and growth curves. Every measurement
runs in its own process with a file as input; the fastest of several runs counts. All times are processor
seconds except `clock s`, which is equal on an idle machine.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

import manifests
from benchmarks.generator import Size, cluster
from benchmarks.measure import ROOT, Run, Runner

LARGE = Path(os.environ.get("QUEUECAST_SHARED", ROOT.parent / "shared")) / "golden" / "large"
SMALL = ROOT / "tests" / "fidelity" / "cases" / "mixed.jsonl.gz"
OPERATIONS = ("bind", "pipeline", "evict", "allocate")
DOUBLINGS = 5
FITTED = 4
DIMENSIONS = ("nodes", "pods", "queues", "levels", "pending")
HIGHEST_EXPONENT = 1.15
VARIANTS = 1_000


class Goal(NamedTuple):
    """The time of one session in the real scheduler, in Go on two cores, and the goals of ours.

    Attributes
    ----------
    sampling, all_nodes : float or None
        The real scheduler's seconds by default, and when it examines every node.
    session, process : float or None
        Ours, in seconds.
    peak : float or None
        Ours, in megabytes.

    """

    sampling: float | None = None
    all_nodes: float | None = None
    session: float | None = None
    process: float | None = None
    peak: float | None = None


GOALS = {
    "big1k": Goal(4.2, 8.8, 0.06, 0.4),
    "big5k": Goal(4.2, 22.9, 0.1, 1.0, 300),
    "bigfull1k": Goal(4.7, 10.8, 0.2, 0.8),
    "openb-burst-qos": Goal(32.5, 45.3, 0.4, 1.0),
    "openb-burst-hier-capacity-gpuspec33": Goal(36.2, 47.9, 0.5, 1.2),
    "mixed": Goal(0.006, 0.006, 0.003),
    "supported": Goal(process=3.0),
    "beyond": Goal(process=12.0, peak=4_000),
}
GENERATED = {
    "supported": Size(nodes=5_000, pods=150_000, queues=500, levels=3, pending=10_000),
    "beyond": Size(nodes=20_000, pods=500_000, queues=500, levels=3, pending=10_000),
}


class Simulated(NamedTuple):
    """The figures of one run of a file's scenarios.

    Attributes
    ----------
    session : float
        Seconds, the sum over all scenarios.
    operations : int
        Placements and evictions decided.

    """

    session: float
    operations: int
    scenarios: int


def main() -> int:
    """Print the tables; return 1 when a growth curve is steeper than its limit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_simulate", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="number of runs, of which the fastest counts")
    parser.add_argument("--only", nargs="*", help="names of scenarios (default: all that exist)")
    parser.add_argument("--no-growth", action="store_true", help="omit the growth curves")
    parser.add_argument("--no-beyond", action="store_true", help="omit 20,000 nodes and 500,000 pods")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runner = Runner(folder / "compiled", options.runs)
        print_recorded(runner, folder, options.only)
        print_generated(runner, folder, options.only, beyond=not options.no_beyond)
        if not options.only or "variants" in options.only:
            print_variants(runner)
        return 0 if options.no_growth else print_growth(runner, folder)


# measurements


def simulate(runner: Runner, path: Path, *, explain: bool) -> tuple[Run, Simulated]:
    """Simulate a file's scenarios.

    Sessions report wall-clock seconds, which are scaled by the processor's share of the whole run.
    """
    switches = ["--timing", *([] if explain else ["--no-explain"])]
    run, figures = runner.fastest(["-m", "scheduler_core", "simulate", *switches, str(path)], _simulated)
    return run, figures._replace(session=figures.session * min(1.0, run.cpu / run.wall))


def _simulated(out: IO[bytes]) -> Simulated:
    session, operations, scenarios = 0.0, 0, 0
    for line in out:
        scenarios += 1
        for cycle in json.loads(line)["cycles"]:
            session += cycle["timing"]["session_ms"] / 1000
            operations += sum(entry["op"] in OPERATIONS for entry in cycle["decisions"])
    return Simulated(session, operations, scenarios)


def floor_of(runner: Runner, path: Path) -> float:
    """Return the seconds of starting, reading the file and visiting every object once."""
    run, _ = runner.fastest(["-m", "benchmarks.floor", str(path)], IO.read)
    return run.cpu


# tables


HEAD = (
    "scenario | session s | explained | process s | explained | clock s | floor s | peak MB | decided/s | "
    "real s | times faster | real, all nodes s | times faster"
)


def print_recorded(runner: Runner, folder: Path, only: Sequence[str] | None) -> None:
    """Print the available recorded scenarios with the real scheduler's seconds."""
    print(f"Recorded scenarios (fastest of {runner.runs}; times faster: the session)\n")
    _print_head(HEAD)
    for name, path in recorded():
        if not only or name in only:
            print_row(runner, name, written(path, folder / f"{name}.jsonl"))


def recorded() -> Iterator[tuple[str, Path]]:
    """Yield the available recordings, the small one first."""
    yield "mixed", SMALL
    for path in sorted(LARGE.glob("*.jsonl.gz")):
        yield path.name.removesuffix(".jsonl.gz"), path


def written(recording: Path, path: Path) -> Path:
    """Write the scenarios of a recording without their results, one per line."""
    with gzip.open(recording, "rb") as lines, path.open("w") as out:
        for line in lines:
            scenario = manifests.resolve(json.loads(line)["scenario"])
            out.write(json.dumps(scenario, separators=(",", ":")) + "\n")
    return path


def print_row(runner: Runner, name: str, path: Path) -> None:
    """Measure one file with explanations off and on, and print its line."""
    run, plain = simulate(runner, path, explain=False)
    explained_run, explained = simulate(runner, path, explain=True)
    goal = GOALS.get(name, Goal())
    each = 1 / plain.scenarios
    cells = [
        name,
        _against(plain.session * each, goal.session),
        _seconds(explained.session * each),
        _against(run.cpu, goal.process),
        _seconds(explained_run.cpu),
        _seconds(run.wall),
        _seconds(floor_of(runner, path)) if plain.scenarios == 1 else "",
        f"{run.peak:,.0f}" + (f" (of {goal.peak:,.0f})" if goal.peak else ""),
        f"{plain.operations / plain.session:,.0f}",
        *_ratio(goal.sampling, plain.session * each),
        *_ratio(goal.all_nodes, plain.session * each),
    ]
    print(" | ".join(cells), flush=True)


def _ratio(real: float | None, session: float) -> list[str]:
    return ["", ""] if real is None else [f"{real:g}", f"{real / session:.1f}"]


def print_generated(runner: Runner, folder: Path, only: Sequence[str] | None, *, beyond: bool) -> None:
    """Print generated clusters as large as Kubernetes supports, and larger."""
    print("\nGenerated clusters\n")
    _print_head(HEAD)
    for name, size in GENERATED.items():
        if (not only or name in only) and (beyond or name != "beyond"):
            print_row(runner, name, _generate(size, folder))


def print_variants(runner: Runner) -> None:
    """Print the time of many variants of one cluster of a hundred nodes."""
    run, took = runner.fastest(["-m", "benchmarks.variants", str(VARIANTS)], _loaded)
    print(f"\nVariants of a cluster of 100 nodes, read once: {VARIANTS:,} in {took['seconds']:.1f} s (of 10)")
    print(f"From scratch each would take {1000 * took['from_scratch']:.1f} ms; peak {run.peak:.0f} MB")


def _loaded(out: IO[bytes]) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(out.read())
    return loaded


def print_growth(runner: Runner, folder: Path) -> int:
    """Print the processor seconds while one dimension is doubled; return 1 when a curve is too steep."""
    start, _ = runner.fastest(["-c", "import scheduler_core.__main__"], IO.read)
    print(f"\nGrowth from {Size()}, seconds of the whole process less {start.cpu:.2f} for its start")
    print(f"(the exponent is fitted over the last {FITTED} points)\n")
    factors = [2**step for step in range(DOUBLINGS + 1)]
    _print_head(" | ".join(["doubled", *(f"x {factor}" for factor in factors), "exponent"]))
    steep = False
    for dimension in DIMENSIONS:
        times = []
        for factor in factors:
            run, _ = simulate(runner, _generate(Size().grown(dimension, factor), folder), explain=False)
            times.append(run.cpu - start.cpu)
        exponent = float(np.polyfit(np.log(factors[-FITTED:]), np.log(times[-FITTED:]), 1)[0])
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
    return f"{seconds:.4f}" if seconds < 0.1 else f"{seconds:.2f}"


if __name__ == "__main__":
    sys.exit(main())
