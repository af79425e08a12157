"""Measures the cost of explanations: time of the session, storage, and time of the pages that show them.

``python -m benchmarks.bench_explained`` prints two tables and returns 1 when a limit is missed. The first one
alternates between recorded scenarios with explanations off and on, each file in its own process, and shows
the fastest of several runs; an answer is a session with its result. For the second one the code of a worker
runs a generated cluster of 50,000 pods, and this process serves its pages and API calls: the median of
several tries. All times are processor seconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.bench_simulate import recorded, written
from benchmarks.generator import Size, cluster
from benchmarks.measure import Runner
from benchmarks.planner import browser_of, installed, middle, scenario_of

SCENARIOS = ("big1k", "bigfull1k", "openb-burst-qos", "philly-day47-12h-capacity-borrow", "mixed")
SIZE = Size(nodes=5_000, pods=42_500, queues=100, levels=3, pending=3_000)
PODS = 50_000

MOST_TIMES = 1.3
MOST_BYTES = 20_000_000
MOST_SECONDS = 1.0


def main() -> int:
    """Print the tables; returns 1 when a limit is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_explained", description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="number of runs, of which the fastest counts")
    parser.add_argument("--only", nargs="*", default=SCENARIOS, help="names of recorded scenarios")
    parser.add_argument("--no-pages", action="store_true", help="omit the second table")
    options = parser.parse_args()
    kept = print_sessions(options.only, options.runs)
    if not options.no_pages:
        with installed():
            kept = print_pages() and kept
    return int(not kept)


# the session


def print_sessions(names: list[str], runs: int) -> bool:
    """Print the seconds of sessions with explanations off and on; return whether all keep their limits."""
    print(f"| scenario | session s | explained | times (of {MOST_TIMES}) | answer s | explained |")
    print("|---|---:|---:|---:|---:|---:|")
    kept = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runner = Runner(folder / "compiled", 1)
        for scenario, path in recorded():
            if scenario in names:
                file = written(path, folder / f"{scenario}.jsonl")
                _, measured = runner.fastest(["-m", "benchmarks.explained", str(file), str(runs)], json.load)
                off, on = measured["off"], measured["on"]
                times = on["session"] / off["session"]
                kept = kept and times <= MOST_TIMES
                cells = f"{off['session']:.3f} | {on['session']:.3f} | {times:.2f}"
                print(f"| {scenario} | {cells} | {off['answer']:.3f} | {on['answer']:.3f} |", flush=True)
    return kept


# storage and pages


def print_pages() -> bool:
    """Print the size of a large run's stored explanations, and the seconds of its pages."""
    from planner.runs.selectors.steps import decisions

    run = finished_run()
    pods, victims = sum(run.job_outcomes.values_list("pods", flat=True)), run.victims.count()
    assert pods >= PODS
    assert victims, "the cluster is made so that pods are evicted"
    stored = sum(len(trace.packed) for trace in run.traces.all())
    print(f"\n{pods:,} pods, {len(decisions(run)):,} decisions, {victims:,} victims\n")
    print("| what | measured | limit |\n|---|---:|---:|")
    print(f"| stored | {stored / 1e6:.2f} MB | {MOST_BYTES / 1e6:.0f} MB |")
    kept = stored <= MOST_BYTES
    browser = browser_of(run.scenario.owner)
    for what, address in addresses(run):
        took = middle(partial(browser.get, address))
        kept = kept and took <= MOST_SECONDS
        print(f"| {what} | {took:.3f} s | {MOST_SECONDS:.1f} s |", flush=True)
    return kept


def crowded() -> dict[str, Any]:
    """Return a cluster in which many pods are evicted, and one job waits because no node is large enough."""
    document = cluster(SIZE)
    for pod in document["pods"]:
        if pod["metadata"]["name"].startswith("wait-000000-"):
            pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1000"
    return document


def finished_run() -> Any:
    """Return a finished run of the generated cluster."""
    from planner.runs.models import Run
    from planner.runs.services.runs import run_create
    from tests.worker import do_work

    scenario = scenario_of(crowded())
    run = run_create(scenario=scenario, user=scenario.owner)
    do_work(run)
    assert run.state == Run.State.SUCCEEDED, run.error
    return run


def addresses(run: Any) -> Iterator[tuple[str, str]]:
    """Yield the pages and API calls that explain a run, of the objects with the longest explanations."""
    from django.db.models import Count

    from planner.runs.selectors.steps import decisions

    victim = run.victims.all()[run.victims.count() // 2]
    waiting = run.job_outcomes.filter(pending__gt=0).first()
    queue = run.victims.values("queue").annotate(times=Count("pk")).order_by("-times")[0]["queue"]
    steps = decisions(run)
    [(node, _)] = Counter(step.node for step in steps if step.node).most_common(1)
    things = {
        "queue": f"queues/{queue}/",
        "waiting job": f"jobs/{waiting.job}/",
        "pod": f"pods/{victim.for_pod}/",
        "node": f"nodes/{node}/",
        "victim": f"victims/{victim.order}/",
        "step": f"steps/{len(steps) // 2}/",
        "flow": "flow/",
    }
    for what, path in things.items():
        yield f"page of a {what}", f"/runs/{run.pk}/{path}"
    for what, path in things.items():
        yield f"API, {what}", f"/api/v1/runs/{run.pk}/explain/{path}"


if __name__ == "__main__":
    sys.exit(main())
