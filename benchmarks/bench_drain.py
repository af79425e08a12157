"""Measures the runs per minute of 1, 2 and 4 workers, and the time to drain a queue of ten thousand.

``python -m benchmarks.bench_drain`` starts PostgreSQL, Redis and workers on this machine and prints two
tables. Each worker computes one run at a time. In the first table all runs have different inputs, so each is
computed. In the second one a hundred inputs are repeated, as users and scripts do: equal inputs share a
result.
"""

import argparse
import tempfile
import time
from pathlib import Path

from tests.processes.topology import topology

WORKERS = (1, 2, 4)
COMPUTED = 60
DIFFERENT = 100
PERCENTILES = (50, 95, 99)
PATIENCE = 3600.0


def drained(workers: int, runs: int, different: int) -> tuple[float, list[float], dict[str, int]]:
    """Queue runs, then start workers; return the seconds until all ended, of each, and how they ended."""
    with (
        tempfile.TemporaryDirectory(prefix="queuecast-drain-") as folder,
        topology(Path(folder), QUEUECAST_LEASE_SECONDS="30") as running,
    ):
        running.installation.patience = PATIENCE
        ids = running.installation.drive("queue_repeated", str(runs), str(different))
        began = time.monotonic()
        for _ in range(workers):
            running.installation.start_worker(QUEUECAST_CONCURRENCY="1")
        answer = running.installation.drive("await_scenario", *ids[:1])
        return time.monotonic() - began, answer["seconds"], answer["ends"]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_drain", description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000, help="runs of the second table (%(default)s)")
    runs = parser.parse_args().runs
    print("| workers | runs, all different | took | runs per minute |\n|---|---|---|---|")
    for workers in WORKERS:
        took, _, ends = drained(workers, COMPUTED, COMPUTED)
        assert ends == {"succeeded": COMPUTED}, ends
        print(f"| {workers} | {COMPUTED} | {took:.1f} s | {60 * COMPUTED / took:.0f} |", flush=True)
    percents = " | ".join(f"{percent} %" for percent in PERCENTILES)
    print(f"\n| workers | runs, {DIFFERENT} different | took | runs per minute | waited: {percents} |")
    print("|---" * (4 + len(PERCENTILES)) + "|")
    took, seconds, ends = drained(2, runs, DIFFERENT)
    assert ends == {"succeeded": runs}, ends
    waited = " | ".join(f"{_percentile(seconds, percent):.1f} s" for percent in PERCENTILES)
    print(f"| 2 | {runs} | {took:.1f} s | {60 * runs / took:.0f} | {waited} |", flush=True)


def _percentile(values: list[float], percent: int) -> float:
    """Return the value that `percent` of the sorted `values` do not exceed."""
    return values[min(len(values) * percent // 100, len(values) - 1)]


if __name__ == "__main__":
    main()
