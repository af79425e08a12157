"""Compares the time of forecasts with their estimates.

``python -m benchmarks.bench_estimates`` replays windows of the Philly trace and prints for each the processor
seconds, the estimate and their ratio; ``--long`` adds a day and a week.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from time import process_time
from typing import Any

from benchmarks.bench_replay import TOOL
from planning.forecasts.estimate import estimated
from planning.forecasts.record import record_of
from scheduler_core.replay import Replay
from scheduler_core.validate import Inspection

NOON = ("--day", "47.5")
WINDOWS = {
    "2 h, 64 nodes, capacity": (*NOON, "--hours", "2", "--nodes", "64", "--conf", "capacity-plain"),
    "2 h, 12 nodes, default plugins": (*NOON, "--hours", "2", "--nodes", "12", "--conf", "default"),
    "24 h, 64 nodes, capacity": (*NOON, "--hours", "24", "--nodes", "64", "--conf", "capacity-plain"),
    "24 h, 64 nodes, default plugins": (*NOON, "--hours", "24", "--nodes", "64", "--conf", "default"),
    "168 h, 352 nodes, capacity": (
        *("--day", "47", "--hours", "168"),
        *("--nodes", "352", "--conf", "capacity-plain"),
    ),
}


def window(name: str) -> dict[str, Any]:
    """Return the document of a window, whose horizon is its number of hours."""
    arguments = WINDOWS[name]
    made = subprocess.run([sys.executable, str(TOOL), *arguments], check=True, capture_output=True)
    document: dict[str, Any] = json.loads(made.stdout)
    document["replay"]["horizon_seconds"] = float(arguments[3]) * 3600
    return document


def main() -> None:
    """Print a line for each window."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--long", action="store_true", help="also a day and a week")
    is_long = parser.parse_args().long
    print(f"{'window':34}{'sessions':>10}{'estimate':>10}{'s':>8}{'estimate':>10}{'ratio':>7}")
    for name in WINDOWS:
        if not is_long and not name.startswith("2 h"):
            continue
        document = window(name)
        expected = estimated(document)
        began = process_time()
        replay = Replay(document, Inspection(document))
        record_of(document, replay.run())
        seconds = process_time() - began
        print(
            f"{name:34}{replay.computed:10,}{expected.sessions:10,}{seconds:8.2f}{expected.seconds:10.2f}"
            f"{expected.seconds / seconds:7.2f}"
        )


if __name__ == "__main__":
    main()
