"""Runs while random parts of the production setup are repeatedly killed.

``python -m tests.processes.storm [runs] [pause]`` prints the row of the table in docs/faults.md.
"""

import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tests.processes.attempts import HEAD, Attempt, Row, attempt
from tests.processes.installation import Driver
from tests.processes.topology import Topology, topology

WORKERS = 3
VARIABLES = {
    # The kills are not caused by the runs themselves.
    "QUEUECAST_MAX_LOSSES": "50",
    "QUEUECAST_BACK_OFF_SECONDS": "0.1",
    # So that a worker's only child belongs to its only run.
    "QUEUECAST_CONCURRENCY": "1",
}
PARTS = ("worker", "simulation", "Redis", "PostgreSQL")
WEIGHTS = (5, 4, 1, 1)
RUNS = 1000
PAUSE = 3.0
"""Seconds between two kills. A machine with slower worker starts needs longer pauses."""
AWAY = 1.0
"""The downtime of broker and database in seconds."""


def random_kills(running: Topology, long: bool) -> Row:
    """A random part is killed every few seconds; in the short form each part once."""
    if long:
        return storm(running, RUNS, PAUSE)
    with attempt(running) as on:
        kills = _Kills(on, pause=None)
        return _reckoned(kills, on, on.submit_long(4, seconds=3.0), "each part killed -9 once")


def storm(running: Topology, count: int, pause: float) -> Row:
    """Submit `count` runs and kill random parts until all are over."""
    with attempt(running) as on:
        runs = on.installation.drive("queue_small_runs", str(count))
        return _reckoned(_Kills(on, pause=pause), on, runs, f"a random part killed -9 every {pause:g} s")


def _reckoned(kills: "_Kills", on: Attempt, runs: list[str], fault: str) -> Row:
    kills.start()
    try:
        on.installation.drive("await_all", *runs)
    finally:
        kills.stop()
    row = on.row(fault, runs)
    killed = ", ".join(f"{kills.killed[part]} × {part}" for part in PARTS)
    assert all(kills.killed[part] for part in PARTS), killed
    return replace(row, remark=f"killed: {killed}; {row.remark}")


class _Kills(threading.Thread):
    """Kills random parts and replaces them until stopped; without a pause, each part once.

    Its random sequence is fixed.
    """

    def __init__(self, on: Attempt, *, pause: float | None) -> None:
        super().__init__(daemon=True)
        self._on, self._pause = on, pause
        self._workers = [on.installation.start_worker(**VARIABLES) for _ in range(WORKERS)]
        self._over = threading.Event()
        self._dice = random.Random(7)
        self.killed: Counter[str] = Counter()

    def run(self) -> None:
        driver = Driver(self._on.installation)
        try:
            for part in self._parts():
                self.killed[part] += self._kill(part, driver)
        finally:
            driver.end()

    def stop(self) -> None:
        self._over.set()
        self.join()

    def _parts(self) -> Iterator[str]:
        if self._pause is None:
            # The simulation first, while one is running.
            while not (self.killed["simulation"] or self._over.is_set()):
                yield "simulation"
            yield from ("PostgreSQL", "Redis", "worker")
            return
        while not self._over.wait(self._pause):
            yield self._dice.choices(PARTS, WEIGHTS)[0]

    def _kill(self, part: str, driver: Driver) -> int:
        """Kill a part and restart it; return the number of killed processes."""
        match part:
            case "worker":
                place = self._dice.randrange(WORKERS)
                self._workers[place].kill()
                self._workers[place] = self._on.installation.start_worker(**VARIABLES)
            case "simulation":
                return int(driver.answer("kill_simulation"))
            case "Redis":
                self._on.running.redis.kill()
                time.sleep(AWAY)
                self._on.running.redis.start()
            case "PostgreSQL":
                self._on.running.database.stop()
                time.sleep(AWAY)
                self._on.running.database.start()
        return 1


def main(count: int, pause: float) -> int:
    """Print the row; exit with 0 if the storm was harmless."""
    with tempfile.TemporaryDirectory(prefix="queuecast-storm-") as folder, topology(Path(folder)) as running:
        running.installation.patience = 3600.0
        row = storm(running, count, pause)
    sys.stdout.write(f"{HEAD}\n{row}\n")
    return 0 if row.is_harmless else 1


if __name__ == "__main__":
    arguments = dict(enumerate(sys.argv[1:]))
    sys.exit(main(int(arguments.get(0, RUNS)), float(arguments.get(1, PAUSE))))
