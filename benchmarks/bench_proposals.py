"""Measures how often a search over forecasts finds the smallest change, and how often it holds.

``python -m benchmarks.bench_proposals`` searches in 200 planted problems, whose smallest answer is known:
equal jobs that fill a node each arrive at once, so that on n nodes the job of rank r starts after
floor(r / n) run times, which gives the fewest nodes. Then it searches in 40 problems over drawn workloads:
the search sees 8 seeds, its proposal is verified on 10 others, and a verified proposal is tested on 10 more.
Jobs arrive in the first two of three hours; with ``--until-the-end`` they arrive until the end, so that goals
on waits may stay open. With ``--strict`` it returns 1 when fewer than 95 % of the answers are found or hold,
or when a wrong answer is called the smallest.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from math import ceil
from typing import Any

from planning.experiments.definition import Definition, grid_of, written_problems
from planning.experiments.forecast_cells import ForecastGrid
from planning.experiments.outcomes import Measurer
from planning.experiments.search import smallest
from planning.experiments.verification import verified

PLANTED, DRAWN = 200, 40
LEAST = 0.95
CORES = 4
HORIZON_HOURS = 3
CONF = {
    "actions": "enqueue, allocate, backfill",
    "tiers": [
        {"plugins": [{"name": "priority"}, {"name": "gang"}]},
        {"plugins": [{"name": "predicates"}, {"name": "proportion"}]},
    ],
}
Json = dict[str, Any]


def cluster() -> Json:
    """Return an empty cluster of one node and one queue."""
    amounts = {"cpu": str(CORES), "memory": "64Gi", "pods": "110"}
    node = {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n0"},
        "status": {"allocatable": amounts, "capacity": amounts},
    }  # fmt: skip
    queue = {
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "a"},
        "spec": {"weight": 1}, "status": {"state": "Open"},
    }  # fmt: skip
    return {"scheduler_conf": CONF, "nodes": [node], "queues": [queue], "podgroups": [], "pods": []}


def grid_and_question(
    most: int, limit: float, work: Json, trace: str = ""
) -> tuple[ForecastGrid, Definition]:
    """Return the search for the fewest further nodes with which the p95 of waits is within a limit."""
    written: Json = {
        "name": "nodes",
        "scenario": "planted",
        "settings": [{"like": "n0", "range": {"from": 1, "to": most, "step": 1}}],
        "forecast": work,
        "goals": [{"figure": "wait_p95", "queue": "a", "at_most": limit}],
    }
    assert not written_problems(written), written_problems(written)
    grid, problems = grid_of(cluster(), written, trace)
    assert isinstance(grid, ForecastGrid), problems
    assert not problems, problems
    return grid, Definition.of(written)


def planted(dice: random.Random) -> str:
    """Search in a problem whose answer is known; return `found`, `missed` or `wrong`."""
    jobs, most, run = dice.randint(4, 20), dice.randint(1, 7), 600
    rounds = dice.randint(0, 4)
    limit = run * rounds + run / 2
    rows = [f"j{number:02d},a,0,{run},1,1,{CORES},1Gi" for number in range(jobs)]
    trace = "\n".join(["name,queue,submit_seconds,run_seconds,pods,min_member,cpu,memory", *rows])
    rank = ceil(0.95 * jobs) - 1
    nodes = next(count for count in range(1, jobs + 1) if rank // count <= rounds)
    work = {"trace": "planted", "horizon_seconds": run * (jobs + 1), "period_seconds": 10}
    grid, asked = grid_and_question(most, limit, work, trace)
    found = smallest(grid, asked.goals, limit=100)
    if nodes - 1 > most:
        return "found" if found.status == "impossible" else "wrong"
    if found.status != "found" or found.cell is None:
        return "missed"
    return "found" if found.cell.combination == (nodes - 1,) else "wrong"


def drawn(dice: random.Random, *, until_the_end: bool = False) -> tuple[str, bool | None]:
    """Search over a drawn workload; return the status, and whether a verified proposal holds again."""
    rate = dice.randint(10, 30)
    busy = HORIZON_HOURS if until_the_end else HORIZON_HOURS - 1
    work = {
        "patterns": [
            {
                "queue": "a",
                # The rate is the mean over the hours of a day.
                "jobs_per_hour": rate * busy / 24,
                "by_hour": [1] * busy + [0] * (24 - busy),
                "run_median": dice.randint(200, 600),
                "run_spread": dice.choice([0.3, 0.6, 1.0]),
                "requests": {"cpu": str(dice.choice([1, 2, 4]))},
            }
        ],
        "horizon_seconds": HORIZON_HOURS * 3600,
        "period_seconds": 60,
        "seeds": 8,
    }
    grid, asked = grid_and_question(6, dice.choice([120, 300, 600]), work)
    measurer = Measurer(grid, asked)
    found = smallest(grid, asked.goals, limit=100, acceptable=lambda cell: not measurer.refused(cell))
    if found.cell is None or found.status != "found":
        return found.status, None
    if not measurer.verification(found.cell.combination)["holds"]:
        return "not verified", None
    further = range(1001, 1011)
    cell = grid.over(found.cell.combination, asked.figures, further)
    return "verified", verified(cell, asked.goals, asked.figures, len(further)).holds


def dice_of(seed: int) -> random.Random:
    """Return the random numbers of a problem."""
    return random.Random(seed)  # noqa: S311 - problems, not secrets


def main() -> int:
    """Print both tables; return 1 if a goal is missed and ``--strict`` is given."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--planted", type=int, default=PLANTED, help="planted problems (%(default)s)")
    parser.add_argument(
        "--drawn", type=int, default=DRAWN, help="problems with drawn workloads (%(default)s)"
    )
    parser.add_argument("--until-the-end", action="store_true", help="jobs arrive for all three hours")
    options = parser.parse_args()
    answers = Counter(planted(dice_of(seed)) for seed in range(options.planted))
    print(
        f"planted: {answers['found']} of {options.planted} answered as planted, {answers['missed']} missed, "
        f"{answers['wrong']} wrong",
        flush=True,
    )
    outcomes = [
        drawn(dice_of(5000 + seed), until_the_end=options.until_the_end) for seed in range(options.drawn)
    ]
    counts = Counter(status for status, _ in outcomes)
    again = [holds for _, holds in outcomes if holds is not None]
    print(f"over drawn workloads: {dict(sorted(counts.items()))}")
    print(f"verified proposals that hold on 10 further seeds: {sum(again)} of {len(again)}")
    proposals = counts["verified"] + counts["not verified"]
    print(f"proposals that held on the 10 unseen seeds of the search: {counts['verified']} of {proposals}")
    is_missed = (
        answers["wrong"] > 0
        or answers["found"] < LEAST * options.planted
        or counts["verified"] < LEAST * proposals
        or sum(again) < LEAST * len(again)
    )
    return int(options.strict and is_missed)


if __name__ == "__main__":
    sys.exit(main())
