"""Measures the workbench with 500 queues and 20,000 jobs, from a click to new figures.

``python -m benchmarks.bench_workbench`` imports a generated cluster into a new database, and measures the
page and the calls in the process that serves them, without network and browser: processor seconds, the median
of several tries. Returns 1 when a limit is missed.
"""

from __future__ import annotations

import sys

from benchmarks.generator import Size, cluster
from benchmarks.planner import browser_of, installed, middle, scenario_of, seconds

SIZE = Size(nodes=1_000, pods=20_000, queues=498, levels=3, pending=18_000)
GOALS = {"first load": 1.0, "page": 1.0, "edit to new figures": 0.5, "preview by API": 0.5}
"""The limits in seconds."""


def main() -> int:
    """Print the table; return 1 when a limit is missed."""
    with installed():
        return print_table(measured())


def measured() -> dict[str, float]:
    """Return the seconds of every kind of response."""
    scenario = scenario_of(cluster(SIZE))
    browser = browser_of(scenario.owner)
    page = f"/scenarios/{scenario.pk}/"
    first = seconds(lambda: browser.get(page))
    weights = iter(range(2, 60_000))

    def edit() -> object:
        scenario.refresh_from_db()
        typed = {"weight": str(next(weights)), "deserved.cpu": "40", "revision": str(scenario.revision)}
        return browser.post(
            f"{page}queues/queue-00007/",
            typed,
            headers={"HX-Request": "true", "HX-Target": "queue-queue-00007"},
        )

    return {
        "first load": first,
        "page": middle(lambda: browser.get(page)),
        "edit to new figures": middle(edit),
        "preview by API": middle(lambda: browser.get(f"/api/v1/scenarios/{scenario.pk}/preview/")),
    }


def print_table(seconds: dict[str, float]) -> int:
    """Print the seconds and limits; return 1 when one is missed."""
    print("500 queues, 20,000 jobs, 38,000 pods\n")
    print("| step | seconds | limit |\n|---|---:|---:|")
    for what, took in seconds.items():
        print(f"| {what} | {took:.3f} | {GOALS[what]:.1f} |")
    return int(any(took > GOALS[what] for what, took in seconds.items()))


if __name__ == "__main__":
    sys.exit(main())
