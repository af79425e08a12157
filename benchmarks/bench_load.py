"""Measures the response times for 50 clients that watch runs and 5 that edit.

``python -m benchmarks.bench_load`` starts the product with its defaults on this machine (SQLite, one web
process, two runs at a time) and imports the sample. Every client makes one call every two seconds, from this
process. Prints a table; returns 1 when a call fails or reads are slower than the limit.
"""

import argparse
import os
import platform
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from queuecast import Client, Failure, Unreachable
from tests.e2e.product import product

POLLING, EDITING, EVERY_SECONDS = 50, 5, 2.0
PERCENTILES = (50, 95, 99, 100)
READ_LIMIT_MS = 150

Call = Callable[[int], Any]


class Clients:
    """Threads that make calls repeatedly, and the duration of the calls in milliseconds."""

    def __init__(self) -> None:
        self.took: dict[str, list[float]] = {"read": [], "edit": []}
        self.errors: list[str] = []
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []

    def add(self, kind: str, number: int, call: Call) -> None:
        """Start another client; clients begin one after the other within the first two seconds."""
        thread = threading.Thread(target=self._work, args=(kind, number, call), daemon=True)
        self._threads.append(thread)
        thread.start()

    def stop(self) -> None:
        """Stop the clients after their current calls."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _work(self, kind: str, number: int, call: Call) -> None:
        pause = EVERY_SECONDS * number / (POLLING + EDITING)
        turn = 0
        while not self._over.wait(pause):
            began = time.monotonic()
            try:
                call(turn)
            except (Failure, Unreachable) as error:
                self.errors.append(str(error))
            took = time.monotonic() - began
            self.took[kind].append(took * 1000)
            turn, pause = turn + 1, max(EVERY_SECONDS - took, 0.0)


def main() -> int:
    """Print the table; return 1 when a call failed or reads were slower than the limit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0, help="duration (%(default)s)")
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory(prefix="queuecast-load-") as folder, product(Path(folder)) as running:
        token = running.token()
        clients = _started(lambda: Client(running.address, token))
        time.sleep(seconds)
        clients.stop()
    print("| calls | number | " + " | ".join(f"{percent} %" for percent in PERCENTILES) + " |")
    print("|---" * (2 + len(PERCENTILES)) + "|")
    for kind, took in clients.took.items():
        cells = " | ".join(f"{_percentile(took, percent):.0f} ms" for percent in PERCENTILES)
        print(f"| {kind} | {len(took)} | {cells} |")
    print(
        f"\n{len(clients.errors)} errors; {os.cpu_count()} processors, {platform.machine()}, {seconds:.0f} s"
    )
    for error in clients.errors[:5]:
        print(error)
    too_slow = _percentile(clients.took["read"], 95) > READ_LIMIT_MS
    return 1 if clients.errors or too_slow else 0


def _started(client: Callable[[], Client]) -> Clients:
    first = client()
    snapshot = first.scenarios()[0]["snapshot"]
    runs = [first.run_start(first.scenario_create(snapshot, "watched")["id"])["id"]]
    first.run_wait(runs[0])
    clients = Clients()
    for number in range(POLLING):
        clients.add("read", number, _watching(client(), runs[0], number))
    for number in range(EDITING):
        scenario = first.scenario_create(snapshot, f"edited {number}")["id"]
        clients.add("edit", POLLING + number, _editing(client(), scenario))
    return clients


def _watching(client: Client, run: str, number: int) -> Call:
    """Return the requests of a viewer: mostly the run, sometimes its lists."""
    paths = [f"runs/{run}/"] * 3 + [f"runs/{run}/queues/", f"runs/{run}/victims/", "scenarios/"]
    return lambda turn: client.server.get(paths[(turn + number) % len(paths)])


def _editing(client: Client, scenario: str) -> Call:
    """Return an edit by a client that knows the revision: one call."""
    path = f"scenarios/{scenario}/queues/agents/"

    def edit(turn: int) -> None:
        client.server.call("PATCH", path, {"weight": 1 + turn % 9 + 1}, headers={"If-Match": str(turn + 1)})

    return edit


def _percentile(values: list[float], percent: int) -> float:
    """Return the value that `percent` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)] if ordered else float("nan")


if __name__ == "__main__":
    sys.exit(main())
