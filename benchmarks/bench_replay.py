"""How fast is a replay, and how does its time grow with what is replayed?

``python -m benchmarks.bench_replay`` prints a table of replays of the Philly trace. Their documents are made
by ``data/tools/philly_replay.py`` of the folder that `QUEUECAST_SHARED` names. Each runs in a process of its
own, with the garbage collector as seldom at work as in the command, and its seconds are the processor's,
without reading and writing files. ``--long`` adds the week and 109 days, ``--growth`` doubles jobs, nodes,
queues and hours, and with ``--strict`` it returns 1 when a replay takes longer than it must.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from benchmarks.bench_simulate import LARGE
from scheduler_core.__main__ import COLLECTOR
from scheduler_core.replay import Replay
from scheduler_core.validate import Inspection

TOOL = LARGE.parents[1] / "data" / "tools" / "philly_replay.py"
DAY = ("--day", "47", "--hours", "24", "--nodes", "64")
WEEK = ("--day", "43", "--hours", "168", "--nodes", "64")
STORM_LIMITS = (0.0005, 0.0001)
Object = dict[str, Any]


class Row(NamedTuple):
    """A replay to measure.

    Attributes
    ----------
    arguments : sequence of str
        Those of the tool that makes the document.
    must, goal : float or None
        Processor seconds that it must, and should, not exceed; None: there is no limit.
    per_decision : bool
        The limits are those of one decision.
    long : bool
        It takes minutes.

    """

    name: str
    arguments: Sequence[str]
    must: float | None = None
    goal: float | None = None
    per_decision: bool = False
    long: bool = False


ROWS = (
    Row(
        "8 nodes, 60 jobs, 600 s",
        ("--day", "47.5", "--hours", "1", "--nodes", "8", "--limit", "60", "--horizon", "600"),
        0.05,
        0.02,
    ),
    Row("day 47, 64 nodes, no reclaim", (*DAY, "--conf", "capacity-plain")),
    Row("day 47, 64 nodes, reclaim", DAY, 0.8, 0.3),
    Row("day 47, 64 nodes, Volcano's default plugins", (*DAY, "--conf", "default"), 2.4),
    Row("day 47, 64 nodes, proportion with reclaim", (*DAY, "--conf", "proportion")),
    Row("day 47, 64 nodes, tree with preempt and reclaim", (*DAY, "--conf", "tree"), 2.4),
    Row(
        "2 h of day 47.5, 12 nodes, reclaim",
        ("--day", "47.5", "--hours", "2", "--nodes", "12"),
    ),
    Row("week, 64 nodes, no reclaim", (*WEEK, "--conf", "capacity-plain"), 3.0, 1.0, long=True),
    Row("109 days, 352 nodes, reclaim", ("--nodes", "352"), 20.0, 8.0, long=True),
    Row(
        "109 days, 48 nodes, no reclaim",
        ("--nodes", "48", "--conf", "capacity-plain"),
        25.0,
        10.0,
        long=True,
    ),
    Row(
        "eviction storm: 3.5 days from day 43 on, 64 nodes, reclaim",
        ("--day", "43", "--hours", "84", "--nodes", "64"),
        *STORM_LIMITS,
        per_decision=True,
        long=True,
    ),
)

GROWTH: Mapping[str, Sequence[Sequence[str]]] = {
    "jobs (a day of 500 to 4,000)": [
        (*DAY, "--conf", "capacity-plain", "--limit", str(count)) for count in (500, 1000, 2000, 4000)
    ],
    "nodes (44 to 352)": [
        ("--day", "47", "--hours", "12", "--nodes", str(count)) for count in (44, 88, 176, 352)
    ],
    "hours (3 to 24)": [
        ("--day", "47", "--hours", str(hours), "--nodes", "64", "--horizon", str(3600 * hours))
        for hours in (3, 6, 12, 24)
    ],
}
QUEUES = (1, 2, 4, 8)


class Measured(NamedTuple):
    """What a replay took: seconds of the processor and megabytes, and what it did."""

    seconds: float
    megabytes: float
    sessions: int
    decisions: int
    evictions: int
    events: int

    def each(self, count: int) -> str:
        """Return the microseconds for each of so many things."""
        return f"{1e6 * self.seconds / max(count, 1):,.0f}"


def document_of(arguments: Sequence[str], parts: int) -> Object:
    """Return a document of the tool; each of its queues becomes so many, which share what it deserves."""
    made = subprocess.run([sys.executable, str(TOOL), *arguments], capture_output=True, check=True)
    document: Object = json.loads(made.stdout)
    if parts > 1:
        _divide_queues(document, parts)
    return document


def _divide_queues(document: Object, parts: int) -> None:
    document["queues"] = [
        {
            **queue,
            "metadata": {**queue["metadata"], "name": f"{queue['metadata']['name']}-{part}"},
            "spec": {**queue["spec"], "deserved": _part(queue["spec"]["deserved"], parts)},
        }
        for queue in document["queues"]
        for part in range(parts)
    ]
    for number, event in enumerate(document["replay"]["events"]):
        for group in event["create"]["podgroups"]:
            group["spec"]["queue"] += f"-{number % parts}"


def _part(amounts: Object, parts: int) -> Object:
    """Return one of equal parts of amounts in the tool's units."""
    return {
        name: f"{int(text.rstrip('mMi')) // parts}{text[len(text.rstrip('mMi')) :]}"
        for name, text in amounts.items()
    }


def measure(arguments: Sequence[str], parts: int) -> Measured:
    """Run a replay in this process."""
    COLLECTOR.before()
    document = document_of(arguments, parts)
    replay = Replay(document, Inspection(document))
    COLLECTOR.after(document)
    started = process_time()
    for _ in replay.steps():
        pass
    seconds = process_time() - started
    decided = [decision for entry in replay.records.log for decision in entry["decisions"]]
    return Measured(
        seconds,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        replay.computed,
        len(decided),
        sum(decision["op"] == "evict" for decision in decided),
        len(document["replay"]["events"]),
    )


def measured(arguments: Sequence[str], runs: int, parts: int = 1) -> Measured:
    """Return the fastest of several runs, each in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.bench_replay", "--measure", str(parts), "--", *arguments]
    told = [subprocess.run(command, capture_output=True, check=True).stdout for _ in range(runs)]
    return min((Measured(*json.loads(text)) for text in told), key=lambda run: run.seconds)


def print_rows(rows: Iterable[Row], runs: int) -> bool:
    """Print the table of replays; return whether each takes no longer than it must."""
    print(
        "| replay, period 1 s | s | must (goal) | sessions | us each | decisions (evictions) | us each",
        end="",
    )
    print(" | events | us each | MB |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    kept = True
    for row in rows:
        run = measured(row.arguments, 1 if row.long else runs)
        kept = kept and _is_kept(row, run)
        print(
            f"| {row.name} | {run.seconds:.3g} | {_limits(row)} | {run.sessions:,} | {run.each(run.sessions)}"
            f" | {run.decisions:,} ({run.evictions:,}) | {run.each(run.decisions)}"
            f" | {run.events:,} | {run.each(run.events)} | {run.megabytes:.0f} |",
            flush=True,
        )
    print()
    return kept


def _limits(row: Row) -> str:
    if row.must is None:
        return ""
    goal = f" ({row.goal:g})" if row.goal is not None and not row.per_decision else ""
    if row.per_decision and row.goal is not None:
        return f"{1e6 * row.must:.0f} ({1e6 * row.goal:.0f}) us a decision"
    return f"{row.must:g}{goal}"


def _is_kept(row: Row, run: Measured) -> bool:
    spent = run.seconds / max(run.decisions, 1) if row.per_decision else run.seconds
    return row.must is None or spent <= row.must


def print_growth(runs: int) -> None:
    """Print how the seconds of a replay grow when one thing of it is doubled."""
    print("| doubled | s | exponent |\n|---|---|---:|")
    for name, sizes in GROWTH.items():
        _print_curve(name, [measured(arguments, runs).seconds for arguments in sizes], 2)
    _print_curve("queues (12 to 96)", [measured(DAY, runs, parts).seconds for parts in QUEUES], 2)
    print()


def _print_curve(name: str, seconds: Sequence[float], factor: int) -> None:
    exponent = math.log(seconds[-1] / seconds[0], factor) / (len(seconds) - 1)
    print(f"| {name} | {', '.join(f'{value:.2f}' for value in seconds)} | {exponent:.2f} |", flush=True)


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_replay", description=__doc__)
    parser.add_argument("--long", action="store_true", help="the week and the 109 days, too")
    parser.add_argument("--growth", action="store_true", help="jobs, nodes, queues and hours doubled, too")
    parser.add_argument("--only", nargs="*", type=int, help="the rows with these numbers, from 0 on")
    parser.add_argument("--runs", type=int, default=3, help="runs of which the fastest counts")
    parser.add_argument("--strict", action="store_true", help="return 1 when a row takes longer than it must")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        print(json.dumps(measure(options.arguments, options.measure)))
        return 0
    if not Path(TOOL).exists():
        print(f"The trace's tool is not there: {TOOL.name}; QUEUECAST_SHARED names its folder.")
        return 0
    rows = [row for row in ROWS if options.long or not row.long]
    if options.only is not None:
        rows = [ROWS[number] for number in options.only]
    kept = print_rows(rows, options.runs)
    if options.growth:
        print_growth(options.runs)
    return 1 if options.strict and not kept else 0


if __name__ == "__main__":
    sys.exit(main())
