"""Causes of the waits of Philly's jobs in a replay: the share of their queue, or fragmentation.

A second that a job waits counts as fairness when its queue would be above deserved with it, in GPUs, and as
fragmentation otherwise, as Jeon et al. do (ATC 2019). ``python -m tests.fidelity.replay_shape`` prints it for
recorded windows; with ``week`` it replays a week on 64 nodes and prints which virtual clusters wait, beside
what the authors published.
"""

from __future__ import annotations

import json
import subprocess
import sys
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping

from scheduler_core.replay import replay_document
from tests.builders import GPU, Object
from tests.fidelity.replay_evidence import PHILLY
from tests.fidelity.replays import recordings

SIZES = ((1, "1 GPU"), (4, "2-4 GPUs"), (8, "5-8 GPUs"), (10**6, "more than 8 GPUs"))
WEEK = ("--day", "43", "--hours", "168", "--nodes", "64", "--conf", "capacity-plain")
LONG = 600.0

PUBLISHED: Mapping[str, int] = {
    "11cb48": 13, "6214e9": 40, "6c71a0": 12, "b436b2": 68, "ee9e8c": 9, "103959": 6, "0e4a51": 43,
    "2869ce": 6, "7f04ca": 14, "e13805": 10, "ed69ec": 13,
}  # fmt: skip
"""Of the waits for one GPU in a virtual cluster, the percentage above ten minutes: read off the curves of
Figure 3 (queueing delay) in the notebook that the authors publish with it, msr-fiddle/philly-traces."""


def causes(document: Object, result: Object) -> dict[str, Counter[str]]:
    """Return, by size, how many jobs waited longer than a period and the seconds of both causes."""
    rows: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in result["queues"]:
        unused = row["deserved"].get(GPU, 0) - row["allocated"].get(GPU, 0)
        rows[row["queue"]].append((row["t"], unused / 1000))
    period, actual = document["replay"]["period_seconds"], defaultdict[str, Counter[str]](Counter)
    for event in document["replay"]["events"]:
        for group in event.get("create", {}).get("podgroups", ()):
            metadata = group["metadata"]
            job = result["jobs"][f"{metadata['namespace']}/{metadata['name']}"]
            end = result["end_seconds"] if job["started"] is None else job["started"]
            gpus = int(group["spec"]["minResources"].get(GPU, 0))
            size = next(name for most, name in SIZES if gpus <= most)
            if end - job["submitted"] <= period:
                continue
            actual[size]["jobs"] += 1
            time = job["submitted"]
            while time < end:
                place = bisect_right(rows[job["queue"]], (time, float("inf"))) - 1
                unused = rows[job["queue"]][place][1] if place >= 0 else 0.0
                actual[size]["fragmentation" if gpus <= unused else "fairness"] += min(period, end - time)
                time += period
    return actual


def waiting_clusters(document: Object, result: Object) -> dict[str, tuple[int, float]]:
    """Return, by virtual cluster, how many jobs of one GPU there are, and the part that waits for long."""
    waits: dict[str, list[float]] = defaultdict(list)
    for event in document["replay"]["events"]:
        for group in event["create"]["podgroups"]:
            if int(group["spec"]["minResources"].get(GPU, 0)) == 1:
                job = result["jobs"][f"{group['metadata']['namespace']}/{group['metadata']['name']}"]
                end = result["end_seconds"] if job["started"] is None else job["started"]
                waits[job["queue"].removeprefix("q-")].append(end - job["submitted"])
    return {
        name: (len(seconds), sum(wait > LONG for wait in seconds) / len(seconds))
        for name, seconds in waits.items()
    }


def print_week() -> None:
    """Print which virtual clusters wait in a week, beside the published figures."""
    made = subprocess.run([sys.executable, str(PHILLY), *WEEK], capture_output=True, check=True)
    document: Object = json.loads(made.stdout)
    print("| virtual cluster | jobs of 1 GPU | wait above 10 minutes | published |\n|---|---:|---:|---:|")
    found = waiting_clusters(document, replay_document(document))
    for name in sorted(found, key=lambda name: (-PUBLISHED.get(name, 0), name)):
        count, part = found[name]
        published = f"{PUBLISHED[name]} %" if name in PUBLISHED else ""
        print(f"| {name} | {count:,} | {100 * part:.0f} % | {published} |")


def main(names: list[str]) -> None:
    """Print the table of each recorded window of Philly, or that of the week."""
    if names:
        print_week()
        return
    for entry in recordings("philly-confs"):
        assert entry.recorded is not None, "only recorded replays are counted"
        print(entry.scenario["name"])
        for size, counted in causes(entry.scenario, entry.recorded).items():
            both = ", ".join(f"{cause} {counted[cause]:,.0f} s" for cause in ("fairness", "fragmentation"))
            print(f"  {size}: {counted['jobs']} jobs wait, {both}")


if __name__ == "__main__":
    main(sys.argv[1:])
