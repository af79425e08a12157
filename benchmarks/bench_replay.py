"""Measures the time of replays, and its growth.

``python -m benchmarks.bench_replay`` prints a table of replays of the Philly trace. Their documents are made
by ``data/tools/philly_replay.py`` in the folder that `QUEUECAST_SHARED` names. Each runs in its own process,
which reads the document and runs the garbage collector as the command does. Processor seconds without reading
and writing files, and the peak memory of the process. A second table shows sessions in which a pod waits
whose node depends on other pods. ``--long`` adds a week and 109 days, ``--growth`` doubles jobs, nodes,
queues and hours, and with ``--strict`` it returns 1 when a replay exceeds its limit.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from benchmarks.bench_simulate import LARGE
from scheduler_core.reading import COLLECTOR, entries
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
        The arguments of the tool that makes the document.
    must, goal : float or None
        The limit and the goal in processor seconds; None: there is none.
    per_decision : bool
        Whether the limits are those of one decision.
    long : bool
        Whether it takes minutes.

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
        "eviction storm: 66 h from day 43 on, 64 nodes, reclaim",
        ("--day", "43", "--hours", "66", "--nodes", "64"),
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

HOURS_AT_NOON = ("--day", "47.5", "--hours", "2", "--nodes", "64")
ZONE, HOST, APP = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "app"
ZONES = 4
ONE_IN = 10
MS_A_SESSION = 10.0


class Dependence(NamedTuple):
    """A constraint by which the nodes of some pods depend on other pods.

    Attributes
    ----------
    spec : mapping
        The fields that it adds to the pod's specification.

    """

    name: str
    spec: Object


SAME_APP = {"matchLabels": {APP: "dependent"}}
DEPENDENCES = (
    Dependence(
        "spread over 4 zones",
        {
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": ZONE,
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": SAME_APP,
                }
            ]
        },
    ),
    Dependence(
        "apart, on different nodes",
        {
            "affinity": {
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": HOST, "labelSelector": SAME_APP}
                    ]
                }
            }
        },
    ),
)


class Measured(NamedTuple):
    """The processor seconds and megabytes of a replay, and its counts."""

    seconds: float
    megabytes: float
    sessions: int
    decisions: int
    evictions: int
    events: int
    dependent: int
    dependent_seconds: float

    def each(self, count: int) -> str:
        """Return the microseconds per item, given the number of items."""
        return f"{1e6 * self.seconds / max(count, 1):,.0f}"


def document_of(arguments: Sequence[str]) -> Object:
    """Return a document made by the tool, read as by the command."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([sys.executable, str(TOOL), *arguments], stdout=file, check=True)
        return next(entries(file.name, sharing=True)).scenario


def _divide_queues(document: Object, parts: int) -> None:
    """Divide each queue into several, among which its deserved amounts are divided equally."""
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
            group["spec"] = {**group["spec"], "queue": f"{group['spec']['queue']}-{number % parts}"}


def _part(amounts: Object, parts: int) -> Object:
    """Return amounts in the tool's units, divided by a number of parts."""
    return {
        name: f"{int(text.rstrip('mMi')) // parts}{text[len(text.rstrip('mMi')) :]}"
        for name, text in amounts.items()
    }


def _make_dependent(document: Object, dependence: Dependence) -> set[str]:
    """Add the constraint to one pod in ten; return the keys of their jobs."""
    for number, node in enumerate(document["nodes"]):
        node["metadata"]["labels"] = {HOST: node["metadata"]["name"], ZONE: f"zone-{number % ZONES}"}
    jobs = set()
    for event in document["replay"]["events"][::ONE_IN]:
        for pod in event["create"]["pods"]:
            pod["metadata"]["labels"] = {APP: "dependent"}
            pod["spec"] = {**pod["spec"], **dependence.spec}
        jobs |= {f"trace/{group['metadata']['name']}" for group in event["create"]["podgroups"]}
    return jobs


def measure(arguments: Sequence[str], parts: int, dependence: int | None) -> Measured:
    """Run a replay in this process; `dependence` is a position in `DEPENDENCES`."""
    COLLECTOR.before()
    document = document_of(arguments)
    if parts > 1:
        _divide_queues(document, parts)
    jobs = set() if dependence is None else _make_dependent(document, DEPENDENCES[dependence])
    replay = Replay(document, Inspection(document))
    COLLECTOR.after(document)
    dependent, dependent_seconds = 0, 0.0
    started = last = process_time()
    for step in replay.steps():
        now = process_time()
        if jobs and not jobs.isdisjoint(step.session.snapshot.index.waiting):
            dependent, dependent_seconds = dependent + 1, dependent_seconds + now - last
        last = now
    seconds = process_time() - started
    decided = [decision for _, decisions in replay.records.decided for decision in decisions]
    return Measured(
        seconds,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        replay.computed,
        len(decided),
        sum(decision.op == "evict" for decision in decided),
        len(document["replay"]["events"]),
        dependent,
        dependent_seconds,
    )


def measured(
    arguments: Sequence[str], runs: int, *, parts: int = 1, dependence: int | None = None
) -> Measured:
    """Return the fastest of several runs, each in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.bench_replay", "--measure", str(parts)]
    command += [] if dependence is None else ["--dependence", str(dependence)]
    command += ["--", *arguments]
    outputs = [subprocess.run(command, capture_output=True, check=True).stdout for _ in range(runs)]
    return min((Measured(*json.loads(text)) for text in outputs), key=lambda run: run.seconds)


def print_rows(rows: Iterable[Row], runs: int) -> bool:
    """Print the table of replays; return whether all keep their limits."""
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


def print_dependent(runs: int) -> bool:
    """Print the sessions in which a dependent pod waits; return whether all keep the limit."""
    print("| two hours of day 47.5, 64 nodes, Volcano's default plugins; one pod in ten", end="")
    print(" | sessions | ms each | with such a pod waiting | ms each (of 10) |\n|---|---:|---:|---:|---:|")
    kept = True
    for number, dependence in enumerate(DEPENDENCES):
        run = measured((*HOURS_AT_NOON, "--conf", "default"), runs, dependence=number)
        each = 1e3 * run.dependent_seconds / max(run.dependent, 1)
        kept = kept and each <= MS_A_SESSION
        print(
            f"| {dependence.name} | {run.sessions:,} | {1e3 * run.seconds / max(run.sessions, 1):.2f}"
            f" | {run.dependent:,} | {each:.2f} |",
            flush=True,
        )
    print()
    return kept


def print_growth(runs: int) -> None:
    """Print how the seconds of a replay grow when one of its dimensions is doubled."""
    print("| doubled | s | exponent |\n|---|---|---:|")
    for name, sizes in GROWTH.items():
        _print_curve(name, [measured(arguments, runs).seconds for arguments in sizes], 2)
    _print_curve("queues (12 to 96)", [measured(DAY, runs, parts=parts).seconds for parts in QUEUES], 2)
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
    parser.add_argument("--dependence", type=int, help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        print(json.dumps(measure(options.arguments, options.measure, options.dependence)))
        return 0
    if not Path(TOOL).exists():
        print(f"The trace's tool is not there: {TOOL.name}; QUEUECAST_SHARED names its folder.")
        return 0
    rows = [row for row in ROWS if options.long or not row.long]
    if options.only is not None:
        rows = [ROWS[number] for number in options.only]
    kept = print_rows(rows, options.runs)
    if options.only is None:
        kept = print_dependent(options.runs) and kept
    if options.growth:
        print_growth(options.runs)
    return 1 if options.strict and not kept else 0


if __name__ == "__main__":
    sys.exit(main())
