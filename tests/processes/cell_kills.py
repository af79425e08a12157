"""Cells of an experiment while its workers are repeatedly killed.

``python -m tests.processes.cell_kills [cells]`` prints the row of the table in docs/faults.md.
"""

import random
import sys
import tempfile
import time
from pathlib import Path

from tests.processes.attempts import HEAD, Row, attempt
from tests.processes.installation import Installation
from tests.processes.topology import Topology, topology

WORKERS = 2
VARIABLES = {
    "QUEUECAST_CONCURRENCY": "1",
    "QUEUECAST_BACK_OFF_SECONDS": "0.1",
    # More kills than by default are possible before a group of cells stores its first one.
    "QUEUECAST_MAX_LOSSES": "50",
}
FURTHER_CELLS = (4, 24)
"""A worker is killed after a random number of further cells, so that the trial always ends."""
DELAY = 1.5
"""The maximum delay of a kill in seconds, so that workers also die while they claim, read and store."""
STILL = 240.0
"""A trial fails if no cell is measured for this many seconds."""
CELLS, SHORT_CELLS = 500, 20


def cell_workers_killed(running: Topology, long: bool) -> Row:
    """Random workers are killed while they measure the cells of an experiment."""
    with attempt(running):
        return sweep_with_kills(running.installation, CELLS if long else SHORT_CELLS)


def sweep_with_kills(installation: Installation, count: int) -> Row:
    """Run a sweep of `count` cells, a multiple of five, while random workers are killed and replaced."""
    began, experiment = time.monotonic(), installation.drive("begin_experiment", str(count))
    kills = _killed(installation, experiment)
    output = installation.drive("count_failed_cells", experiment)
    assert output["state"] == "succeeded", output
    assert output["planned"] == count, output
    remark = f"{kills} workers killed; {output['taken_again']} attempts at groups of cells lost"
    seconds = time.monotonic() - began
    fault = "a random one of two workers killed -9, over cells of an experiment"
    return Row(fault, count, output["lost"], output["doubled"], output["wrong"], seconds, remark)


def _killed(installation: Installation, experiment: str) -> int:
    """Kill random workers until the experiment is over; return the number of kills."""
    dice, kills, measured = random.Random(7), 0, -1
    workers = [installation.start_worker(**VARIABLES) for _ in range(WORKERS)]
    due, until = dice.randint(*FURTHER_CELLS), time.monotonic() + STILL
    while (at := installation.drive("experiment_progress", experiment))["state"] == "running":
        if at["measured"] > measured:
            measured, until = at["measured"], time.monotonic() + STILL
        assert time.monotonic() < until, f"nothing was measured for {STILL:.0f} s: {at}, {kills} kills"
        if measured < due:
            time.sleep(0.5)
            continue
        time.sleep(dice.uniform(0.0, DELAY))
        chosen = dice.randrange(WORKERS)
        workers[chosen].kill()
        workers[chosen] = installation.start_worker(**VARIABLES)
        kills, due = kills + 1, measured + dice.randint(*FURTHER_CELLS)
    return kills


def main(count: int) -> int:
    """Print the row; exit with 0 if the kills were harmless."""
    with tempfile.TemporaryDirectory(prefix="queuecast-cells-") as folder, topology(Path(folder)) as running:
        running.installation.patience = 3600.0
        with attempt(running) as on:
            row = sweep_with_kills(on.installation, count)
    sys.stdout.write(f"{HEAD}\n{row}\n")
    return 0 if row.is_harmless else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else CELLS))
