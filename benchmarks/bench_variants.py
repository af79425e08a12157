"""Measures variants of a Philly day by number of workers, and the gain of a shared prefix.

``python -m benchmarks.bench_variants`` forecasts 12 variants of day 47 of the Philly trace on 64 nodes, one
session per second, with one process and with two (`--workers`). Then it forecasts 4 variants of a weight that
changes at 18:00, which share the replay until then, and 2 of them separately. It prints wall-clock and
processor seconds per variant, and the time of 1,000 variants at this pace. The day is made by
`data/tools/philly_replay.py` in the folder that `QUEUECAST_SHARED` names.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.bench_forecast import ROW, line_of
from benchmarks.bench_replay import DAY, TOOL
from planning.collecting import collected_seldom
from planning.experiments.definition import grid_of
from planning.experiments.figures import Figure
from planning.experiments.forecast_cells import ForecastGrid
from planning.experiments.space import Combination

VARIANTS, LATE, WANTED = 12, 4, 1000
FIGURES = (Figure("wait_p50"), Figure("wait_p95"), Figure("evictions"), Figure("lost_hours"))
_grid: ForecastGrid | None = None


def day(conf: str) -> tuple[dict[str, Any], str]:
    """Return the cluster and the trace of the day."""
    made = subprocess.run([sys.executable, str(TOOL), *DAY, "--conf", conf], check=True, capture_output=True)
    document = json.loads(made.stdout)
    return document, "\n".join([ROW, *map(line_of, document.pop("replay")["events"])])


def grid(document: dict[str, Any], trace: str, *, late: bool) -> ForecastGrid:
    """Return the variants of a day: weights of a queue and added nodes, or a weight that changes at 18:00."""
    name = document["queues"][0]["metadata"]["name"]
    node = document["nodes"][0]["metadata"]["name"]
    queue = {"queue": name, "field": "weight", "range": {"from": 21, "to": 20 + LATE, "step": 1}}
    settings = [{**queue, "at": "18h"}] if late else [queue, {"like": node, "values": [1, 2]}]
    forecast = {"trace": "day", "horizon_seconds": 86_400, "period_seconds": 1}
    found, problems = grid_of(document, {"settings": settings, "forecast": forecast}, trace)
    assert isinstance(found, ForecastGrid), problems
    assert not problems, problems
    return found


def begin(of: ForecastGrid) -> None:
    """Set the grid of this process."""
    global _grid
    _grid = of
    gc.freeze()


def cell(combination: Combination) -> tuple[Any, float]:
    """Return the figures of a variant and its processor seconds."""
    assert _grid is not None, "the process begins with the grid"
    began = process_time()
    found = _grid.cell(combination, FIGURES)
    assert not found.error, found.error
    return found.figures, process_time() - began


def by_workers(
    of: ForecastGrid, combinations: list[Combination], workers: int
) -> tuple[list[Any], float, float]:
    """Return the figures of variants, the wall-clock seconds and the processor seconds."""
    began = perf_counter()
    with ProcessPoolExecutor(workers, initializer=begin, initargs=(of,)) as pool:
        measured = list(pool.map(cell, combinations))
    return [figures for figures, _ in measured], perf_counter() - began, sum(used for _, used in measured)


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--variants", type=int, default=VARIANTS)
    parser.add_argument("--conf", default="capacity-plain", help="the tool's configuration (%(default)s)")
    options = parser.parse_args()
    if not Path(TOOL).exists():
        print(f"{TOOL.name} was not found; set QUEUECAST_SHARED to the folder with data/tools.")
        return 0
    document, trace = day(options.conf)
    many = grid(document, trace, late=False)
    combinations = list(many.product())[: options.variants]
    print(f"| workers | {len(combinations)} variants, s | processor s each | {WANTED:,}, s | goal, s |")
    print("|---|---:|---:|---:|---:|")
    figures = []
    for workers in options.workers:
        found, took, used = by_workers(many, combinations, workers)
        figures.append(found)
        each, pace = used / len(combinations), took / len(combinations) * WANTED
        print(
            f"| {workers} | {took:.1f} | {each:.2f} | {pace:,.0f} | {800 / workers + 10:,.0f} |", flush=True
        )
    assert all(found == figures[0] for found in figures), "the figures do not depend on the workers"
    shared = grid(document, trace, late=True)
    moved = [one for one in shared.product() if any(one)]
    together, _, used = by_workers(shared, moved, 1)
    began = process_time()
    alone = [grid(document, trace, late=True).cell(one, FIGURES).figures for one in moved[:2]]
    each = (process_time() - began) / len(alone)
    assert together[: len(alone)] == alone
    print(
        f"\na weight from 18:00 on: {used / len(moved):.2f} s each of {len(moved)}, {each:.2f} s separately:"
    )
    print(f"sharing the first 18 hours is {each * len(moved) / used:.2f} times as fast")
    return 0


if __name__ == "__main__":
    with collected_seldom():  # as in the processes that measure cells
        sys.exit(main())
