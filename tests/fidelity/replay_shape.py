"""Why do Philly's jobs wait in a replay: for their queue's share, or for room that is in pieces?

A second that a job waits counts as fairness when its queue would be above deserved with it, in GPUs, and as
fragmentation otherwise, as Jeon et al. do (ATC 2019). ``python -m tests.fidelity.replay_shape`` prints it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict

from tests.builders import GPU, Object
from tests.fidelity.replays import recordings

SIZES = ((1, "1 GPU"), (4, "2-4 GPUs"), (8, "5-8 GPUs"), (10**6, "more than 8 GPUs"))


def causes(document: Object, result: Object) -> dict[str, Counter[str]]:
    """Return, by size, how many jobs waited longer than a period and the seconds of both causes."""
    rows: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in result["queues"]:
        unused = row["deserved"].get(GPU, 0) - row["allocated"].get(GPU, 0)
        rows[row["queue"]].append((row["t"], unused / 1000))
    period, told = document["replay"]["period_seconds"], defaultdict[str, Counter[str]](Counter)
    for event in document["replay"]["events"]:
        for group in event.get("create", {}).get("podgroups", ()):
            metadata = group["metadata"]
            job = result["jobs"][f"{metadata['namespace']}/{metadata['name']}"]
            end = result["end_seconds"] if job["started"] is None else job["started"]
            gpus = int(group["spec"]["minResources"].get(GPU, 0))
            size = next(name for most, name in SIZES if gpus <= most)
            if end - job["submitted"] <= period:
                continue
            told[size]["jobs"] += 1
            time = job["submitted"]
            while time < end:
                place = bisect_right(rows[job["queue"]], (time, float("inf"))) - 1
                unused = rows[job["queue"]][place][1] if place >= 0 else 0.0
                told[size]["fragmentation" if gpus <= unused else "fairness"] += min(period, end - time)
                time += period
    return told


def main() -> None:
    """Print the table of each recorded window of Philly."""
    for entry in recordings("philly-confs"):
        assert entry.recorded is not None, "only recorded replays are counted"
        print(entry.scenario["name"])
        for size, counted in causes(entry.scenario, entry.recorded).items():
            both = ", ".join(f"{cause} {counted[cause]:,.0f} s" for cause in ("fairness", "fragmentation"))
            print(f"  {size}: {counted['jobs']} jobs wait, {both}")


if __name__ == "__main__":
    main()
