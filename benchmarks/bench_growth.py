"""Measures the growth of the database with each run, with new and with known input.

``python -m benchmarks.bench_growth`` stores runs with 50,000 decisions on SQLite, or in the database that
DATABASE_URL names, and prints the megabytes per run and for 1,000 runs. Every other run repeats an input. The
code of a worker stores them.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from benchmarks.planner import installed, scenario_of

PODS = 50_000
NODES = 2_000
GANG = 50


def document() -> dict[str, Any]:
    """Return an empty cluster with room for exactly the waiting pods, which are gangs of two queues."""
    from tests import factories

    nodes = [factories.node(f"node-{number:05}", cpu="32", memory="256Gi") for number in range(NODES)]
    groups = [
        factories.podgroup(f"job-{number:05}", f"team-{number % 2}", min_member=GANG, phase="Inqueue")
        for number in range(PODS // GANG)
    ]
    pods = [
        factories.pod(f"job-{number // GANG:05}-worker-{number % GANG}", f"job-{number // GANG:05}")
        for number in range(PODS)
    ]
    queues = [factories.queue("team-0"), factories.queue("team-1")]
    conf = {
        "actions": "allocate",
        "tiers": [{"plugins": [{"name": "gang"}, {"name": "proportion"}, {"name": "predicates"}]}],
    }
    return {"nodes": nodes, "queues": queues, "podgroups": groups, "pods": pods, "scheduler_conf": conf}


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_growth", description=__doc__)
    parser.add_argument("--runs", type=int, default=6, help="number of runs, half of them repeated")
    options = parser.parse_args()
    with installed():
        grown(options.runs)
    return 0


def grown(runs: int) -> None:
    """Store runs, and print the growth of the database for new and for repeated inputs."""
    from planner.runs.services.runs import run_create
    from tests.worker import do_work

    scenario = scenario_of(document())
    sizes: dict[str, list[int]] = {"another input": [], "the same input again": []}
    for number in range(runs):
        is_new = number % 2 == 0
        if is_new:
            scenario.name = f"what if {number}"
            scenario.save(update_fields=["name"])
        before = stored_bytes()
        run = run_create(scenario=scenario)
        do_work(run)
        assert run.result is not None, run.error
        sizes["another input" if is_new else "the same input again"].append(stored_bytes() - before)
    decided = sum(len(cycle["decisions"]) for cycle in json.loads(run.result.content())["cycles"])
    sys.stdout.write("| run of | decisions | MB a run | GB for 1,000 runs |\n|---|---|---|---|\n")
    for what, found in sizes.items():
        mean = sum(found) / len(found) / 1e6
        sys.stdout.write(f"| {what} | {decided} | {mean:.2f} | {mean:.2f} |\n")


def stored_bytes() -> int:
    """Return the size of the database with its indexes."""
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        else:
            cursor.execute("SELECT pg_database_size(current_database())")
        row = cursor.fetchone()
    return int(row[0])


if __name__ == "__main__":
    sys.exit(main())
