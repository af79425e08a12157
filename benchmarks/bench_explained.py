"""Measures the cost of explanations: time of the session, storage, and time of the pages that show them.

``python -m benchmarks.bench_explained`` prints two tables and returns 1 when a limit is missed. The first one
runs recorded scenarios with explanations off and on, in turn, each file in a process of its own; the fastest
of each counts. An answer is a session and what is shown of it. For the second one a worker's own code runs a
made-up cluster of 50,000 pods, and the pages and the API answer in this process: of several tries the middle
one. Seconds are the processor's.
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
    parser.add_argument("--runs", type=int, default=7, help="runs of each, of which the fastest counts")
    parser.add_argument("--only", nargs="*", default=SCENARIOS, help="names of recorded scenarios")
    parser.add_argument("--no-pages", action="store_true", help="leave what is kept and shown out")
    options = parser.parse_args()
    kept = print_sessions(options.only, options.runs)
    if not options.no_pages:
        with installed():
            kept = print_pages() and kept
    return int(not kept)


# the session


def print_sessions(names: list[str], runs: int) -> bool:
    """Print what sessions take with explanations off and on; is each within its limit?"""
    print(f"| scenario | session s | explained | times (of {MOST_TIMES}) | answer s | explained |")
    print("|---|---:|---:|---:|---:|---:|")
    kept = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runner = Runner(folder / "compiled", 1)
        for scenario, path in recorded():
            if scenario in names:
                file = written(path, folder / f"{scenario}.jsonl")
                _, told = runner.fastest(["-m", "benchmarks.explained", str(file), str(runs)], json.load)
                off, on = told["off"], told["on"]
                times = on["session"] / off["session"]
                kept = kept and times <= MOST_TIMES
                cells = f"{off['session']:.3f} | {on['session']:.3f} | {times:.2f}"
                print(f"| {scenario} | {cells} | {off['answer']:.3f} | {on['answer']:.3f} |", flush=True)
    return kept


# what is kept and shown


def print_pages() -> bool:
    """Print what a run of many pods keeps of why it decided so, and what its pages take."""
    from planner.runs.selectors.steps import decisions

    run = finished_run()
    pods, victims = sum(run.job_outcomes.values_list("pods", flat=True)), run.victims.count()
    assert pods >= PODS
    assert victims, "the cluster is made so that somebody must go"
    held = sum(len(trace.packed) for trace in run.traces.all())
    print(f"\n{pods:,} pods, {len(decisions(run)):,} decisions, {victims:,} victims\n")
    print("| what | takes | may take |\n|---|---:|---:|")
    print(f"| kept | {held / 1e6:.2f} MB | {MOST_BYTES / 1e6:.0f} MB |")
    kept = held <= MOST_BYTES
    browser = browser_of(run.scenario.owner)
    for what, address in addresses(run):
        took = middle(partial(browser.get, address))
        kept = kept and took <= MOST_SECONDS
        print(f"| {what} | {took:.3f} s | {MOST_SECONDS:.1f} s |", flush=True)
    return kept


def crowded() -> dict[str, Any]:
    """Return a cluster in which many must go for others, and one job waits: no node is large enough."""
    document = cluster(SIZE)
    for pod in document["pods"]:
        if pod["metadata"]["name"].startswith("wait-000000-"):
            pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1000"
    return document


def finished_run() -> Any:
    """Return a run of the made-up cluster, as a worker ends it."""
    from planner.runs.models import Run
    from planner.runs.services.runs import run_create
    from tests.worker import do_work

    scenario = scenario_of(crowded())
    run = run_create(scenario=scenario, user=scenario.owner)
    do_work(run)
    assert run.state == Run.State.SUCCEEDED, run.error
    return run


def addresses(run: Any) -> Iterator[tuple[str, str]]:
    """Yield the pages that say why, and the same for scripts, each of the thing with most to tell."""
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
