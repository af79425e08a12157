"""Measures the time and the size of every page of a large cluster.

``python -m benchmarks.bench_pages`` prints a table and returns 1 when a page is slower or larger than its
limit. The clusters (`CLUSTERS`) are recorded or generated; ``--only`` selects some of them. The code of a
worker runs each, and this process serves the pages, without network and browser: processor seconds, the
fastest of several tries, and kilobytes after gzip. ``typing`` is the response to an unsaved edit; new figures
appear after this time and the 100 ms for which the page waits for the next character.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from benchmarks.bench_explained import crowded
from benchmarks.bench_simulate import recorded
from benchmarks.generator import Size, cluster
from benchmarks.planner import browser_of, fastest, installed, scenario_of

MOST_SECONDS, MOST_TYPING, MOST_BYTES = 0.5, 0.2, 300_000
"""The limits of a page, of the response to typing, and of a page's size after gzip."""


def _recorded(name: str) -> dict[str, Any]:
    import manifests

    [path] = [path for scenario, path in recorded() if scenario == name]
    with gzip.open(path) as lines:
        document: dict[str, Any] = manifests.resolve(json.loads(next(iter(lines)))["scenario"])
    document.pop("name", None)
    return document


def _spread(document: dict[str, Any], count: int) -> dict[str, Any]:
    """Return a cluster with `count` queues: copies of its leaves, each with a part of their jobs."""
    queues = document["queues"]
    parents = {queue["spec"].get("parent") for queue in queues} | {"root", "default"}
    leaves = [queue for queue in queues if queue["metadata"]["name"] not in parents]
    sharing = {leaf["metadata"]["name"]: [leaf["metadata"]["name"]] for leaf in leaves}
    for number in range(count - len(queues)):
        twin = copy.deepcopy(leaves[number % len(leaves)])
        name = twin["metadata"]["name"]
        twin["metadata"] = {"name": f"{name}-{number:02d}"}
        sharing[name].append(twin["metadata"]["name"])
        queues.append(twin)
    for group in document["podgroups"]:
        if names := sharing.get(group["spec"].get("queue")):
            group["spec"]["queue"] = names[zlib.crc32(group["metadata"]["name"].encode()) % len(names)]
    return document


OPENB = "openb-burst-hier-capacity-gpuspec33"
CLUSTERS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "openb": partial(_recorded, OPENB),
    "openb, 102 queues": lambda: _spread(_recorded(OPENB), 102),
    "500 queues": lambda: cluster(Size(nodes=1_000, pods=20_000, queues=498, levels=3, pending=18_000)),
    "big5k": partial(_recorded, "big5k"),
    "50,000 pods": crowded,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; returns 1 when a limit is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_pages", description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(CLUSTERS), choices=list(CLUSTERS))
    options = parser.parse_args(arguments)
    with installed():
        columns = {name: _measured(name) for name in options.only}
    print_table(columns)
    return int(any(is_missed(what, *cell) for column in columns.values() for what, cell in column.items()))


def _measured(name: str) -> dict[str, tuple[float, int]]:
    """Return the seconds and bytes of each page of one cluster."""
    from planner.runs.models import Run
    from planner.runs.services.runs import run_create
    from tests.worker import do_work

    scenario = scenario_of(CLUSTERS[name]())
    run = run_create(scenario=scenario, user=scenario.owner)
    do_work(run)
    assert run.state == Run.State.SUCCEEDED, run.error
    return pages_of(scenario, run)


def pages_of(scenario: Any, run: Any) -> dict[str, tuple[float, int]]:
    """Return the seconds and gzipped bytes of every page of a scenario and a run of it."""
    browser = browser_of(scenario.owner)
    found = {}
    for what, address in addresses(scenario, run):
        body = browser.get(address).getvalue()
        took = fastest(partial(browser.get, address))
        found[what] = took, len(gzip.compress(body))
    queue = scenario.queues.exclude(name="root").order_by("-position")[0].name
    typed = {"resource": "cpu", "lines": json.dumps({queue: {"name": queue, "weight": "7"}})}
    typing = partial(browser.post, f"/scenarios/{scenario.pk}/preview/", typed)
    found["typing"] = fastest(typing), len(gzip.compress(typing().getvalue()))
    return found


def addresses(scenario: Any, run: Any) -> Iterator[tuple[str, str]]:
    """Yield the pages of a scenario and of a run, with one object of each kind."""
    yield "home", "/"
    for tab in ("", "conf", "nodes", "workloads", "forecasts", "changes", "export", "review"):
        yield f"scenario: {tab or 'queues'}", f"/scenarios/{scenario.pk}/{tab and f'{tab}/'}"
    at = f"/runs/{run.pk}/"
    yield "run", at
    for tab in ("jobs", "victims", "decisions", "nodes", "flow", "fit"):
        yield f"run: {tab}", f"{at}{tab}/"
    things = {"queue": run.job_outcomes.values_list("queue", flat=True).order_by("queue").first()}
    if waiting := run.job_outcomes.filter(pending__gt=0).first():
        things["job"] = waiting.job
    if victim := run.victims.first():
        things |= {"victim": victim.order, "pod": victim.for_pod, "node": victim.node}
    for kind, thing in things.items():
        yield f"run: one {kind}", f"{at}{kind}s/{thing}/"
    yield "run: one step", f"{at}steps/1/"
    yield "search", "/search/?q=pod"


def is_missed(what: str, took: float, size: int) -> bool:
    """Return whether a page is slower or larger than its limit."""
    return took > (MOST_TYPING if what == "typing" else MOST_SECONDS) or size > MOST_BYTES


def print_table(columns: Mapping[str, Mapping[str, tuple[float, int]]]) -> None:
    """Print a row for each page, a column for each cluster."""
    print(f"| page | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")
    for what in dict.fromkeys(what for column in columns.values() for what in column):
        print(f"| {what} | {' | '.join(_cell(what, column.get(what)) for column in columns.values())} |")


def _cell(what: str, cell: tuple[float, int] | None) -> str:
    if cell is None:
        return "–"
    took, size = cell
    shown = f"{took:.3f} s, {size / 1e3:,.0f} kB"
    return f"**{shown}**" if is_missed(what, took, size) else shown


if __name__ == "__main__":
    sys.exit(main())
