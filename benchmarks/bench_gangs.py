"""Measures gangreclaim in a full cluster, for gangs that fit after evictions and gangs that never fit.

``python -m benchmarks.bench_gangs`` prints the seconds of the action for clusters of growing size: with every
trial from scratch, as in Volcano and as with a plugin that must handle each eviction, and with trials that
repeat the evictions of the previous one. Processor seconds, the fastest of several runs.
"""

from __future__ import annotations

import argparse
from time import process_time

from scheduler_core.actions.registry import ACTIONS
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from tests.builders import Object, conf, node, pod, podgroup, pods, queue, scenario, session_of

TIERS = (["priority", "gang"], ["drf", "predicates", "proportion", "nodeorder"])
GPUS = 8
GANGS = 4


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_gangs", description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="*", default=[25, 50, 100], help="numbers of nodes")
    parser.add_argument("--runs", type=int, default=3, help="number of runs, of which the fastest counts")
    options = parser.parse_args()
    print("| nodes | running pods | gangs | evictions | from scratch s | s |")
    print("|---:|---:|---|---:|---:|---:|")
    for count in options.nodes:
        for gpus, size in ((GPUS, "of whole nodes"), (GPUS + 1, "too large for any node")):
            document = full(count, gpus)
            scratch = min(seconds(document, from_scratch=True) for _ in range(options.runs))
            took = min(seconds(document, from_scratch=False) for _ in range(options.runs))
            sizes = f"{count} | {count * GPUS} | {GANGS} {size} | {evictions(document)}"
            print(f"| {sizes} | {scratch:.2f} | {took:.3f} |")


def full(count: int, gpus: int) -> Object:
    """Return nodes whose GPUs are all used by another queue, and waiting gangs whose pods request `gpus`."""
    names = [f"old-{number}" for number in range(count)]
    return scenario(
        nodes=[node(f"n{number:04}", cpu=64, memory="256Gi", gpu=GPUS) for number in range(count)],
        queues=[queue("a", weight=3), queue("b")],
        podgroups=[
            *(podgroup(name, queue="b", phase="Running") for name in names),
            *(podgroup(f"gang-{gang}", queue="a", min_member=2) for gang in range(GANGS)),
        ],
        pods=[
            *(
                pod(f"{name}-{rank}", group=name, node=f"n{(first + rank) % count:04}", cpu=4, gpu=1)
                for first, name in enumerate(names)
                for rank in range(GPUS)
            ),
            *(entry for gang in range(GANGS) for entry in pods(f"gang-{gang}", 2, cpu=32, gpu=gpus)),
        ],
        conf=conf("gangreclaim", *TIERS),
    )


def seconds(document: Object, *, from_scratch: bool) -> float:
    """Return the processor seconds of the action; `from_scratch`: a plugin handles each eviction."""
    session = session_of(document)
    if from_scratch:
        session.events.add_handler(allocate=no_effect, deallocate=no_effect)
    before = process_time()
    act(session)
    return process_time() - before


def evictions(document: Object) -> int:
    """Return the number of pods that the action evicts."""
    session = session_of(document)
    act(session)
    return sum(decision.op == "evict" for decision in session.decisions)


def act(session: Session) -> None:
    """Execute the action."""
    session.action = "gangreclaim"
    ACTIONS["gangreclaim"](session)


def no_effect(_task: TaskInfo) -> None:
    """Handle an event without any effect."""


if __name__ == "__main__":
    main()
