"""Measures tables, search and comparison over a run of 50,000 pods.

``python -m benchmarks.bench_tables`` prints a table and returns 1 when a page exceeds its limit. The code of
a worker runs the generated cluster of `bench_explained`, and this process serves pages and API calls:
processor seconds, the median of several tries, and kilobytes before and after gzip.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.bench_explained import finished_run
from benchmarks.planner import browser_of, installed, middle

MOST_SECONDS = 0.5


def main() -> int:
    """Print the table; returns 1 when a limit is missed."""
    argparse.ArgumentParser(prog="python -m benchmarks.bench_tables", description=__doc__).parse_args()
    with installed():
        return int(not print_tables())


def print_tables() -> bool:
    """Print the seconds of each page and call; return whether all keep the limit."""
    from planner.runs.selectors.steps import decisions

    run = finished_run()
    pods = sum(run.job_outcomes.values_list("pods", flat=True))
    jobs, victims = run.job_outcomes.count(), run.victims.count()
    print(f"{pods:,} pods, {jobs:,} jobs, {len(decisions(run)):,} decisions, {victims:,} victims\n")
    print("| what | takes | may take | size | gzip |\n|---|---:|---:|---:|---:|")
    browser = browser_of(run.scenario.owner)
    kept = True
    for what, address in addresses(run):
        took = middle(partial(browser.get, address))
        body = browser.get(address).getvalue()
        kept = kept and took <= MOST_SECONDS
        sizes = f"{len(body) / 1e3:,.0f} kB | {len(gzip.compress(body)) / 1e3:,.0f} kB"
        print(f"| {what} | {took:.3f} s | {MOST_SECONDS:.1f} s | {sizes} |", flush=True)
    return kept


def addresses(run: Any) -> Iterator[tuple[str, str]]:
    """Yield pages and calls with long lists."""
    at = f"/runs/{run.pk}/"
    victim = run.victims.all()[0]
    pages = {
        "run": "",
        "jobs": "jobs/",
        "jobs, sorted by waiting": "jobs/?ordering=-pending",
        "waiting jobs by reason": "jobs/?pending=true&by=gate",
        "jobs by queue": "jobs/?by=queue",
        "victims": "victims/",
        "victims by job": "victims/?by=job",
        "decisions": "decisions/",
        "decisions of a node": f"decisions/?node={victim.node}",
        "decisions, sorted by pod": "decisions/?ordering=pod",
        "nodes": "nodes/",
        "nodes, what fits": "nodes/?requests.cpu=4",
        "queue": f"queues/{victim.queue}/",
    }
    for what, path in pages.items():
        yield f"page: {what}", f"{at}{path}"
    yield "page: first page", "/"
    yield "page: search for a pod", f"/search/?q={victim.pod.partition('/')[2]}"
    for what in ("jobs by queue", "victims by job"):
        name, _, by = what.partition(" by ")
        yield f"API: {what}", f"/api/v1{at}{name}/groups/?by={by}"
    yield "API: decisions of a node", f"/api/v1{at}decisions/?node={victim.node}"
    yield "API: nodes", f"/api/v1{at}nodes/"


if __name__ == "__main__":
    sys.exit(main())
