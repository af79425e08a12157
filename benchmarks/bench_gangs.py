"""Measures gangreclaim in a full cluster, for gangs that it can and cannot make room for.

``python -m benchmarks.bench_gangs`` prints, for clusters twice as large from row to row, the seconds of the
action: once every trial begins afresh, as Volcano's do and as a plugin asks for that has to hear of each
eviction, and as it is without such a plugin. Seconds are the processor's, the fastest of several runs.
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
    parser.add_argument("--nodes", type=int, nargs="*", default=[25, 50, 100], help="how many nodes")
    parser.add_argument("--runs", type=int, default=3, help="runs of each, of which the fastest counts")
    options = parser.parse_args()
    print("| nodes | running pods | gangs | evictions | afresh s | s |")
    print("|---:|---:|---|---:|---:|---:|")
    for count in options.nodes:
        for gpus, told in ((GPUS, "of whole nodes"), (GPUS + 1, "too large for any node")):
            document = full(count, gpus)
            afresh = min(seconds(document, afresh=True) for _ in range(options.runs))
            took = min(seconds(document, afresh=False) for _ in range(options.runs))
            sizes = f"{count} | {count * GPUS} | {GANGS} {told} | {evictions(document)}"
            print(f"| {sizes} | {afresh:.2f} | {took:.3f} |")


def full(count: int, gpus: int) -> Object:
    """Return nodes whose every GPU another queue's pod has, and gangs of pods of so many GPUs."""
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


def seconds(document: Object, *, afresh: bool) -> float:
    """Return how long the action takes; `afresh`: as a plugin has to hear of each eviction."""
    session = session_of(document)
    if afresh:
        session.events.add_handler(allocate=no_effect, deallocate=no_effect)
    before = process_time()
    act(session)
    return process_time() - before


def evictions(document: Object) -> int:
    """Return how many pods the action evicts."""
    session = session_of(document)
    act(session)
    return sum(decision.op == "evict" for decision in session.decisions)


def act(session: Session) -> None:
    """Perform the action."""
    session.action = "gangreclaim"
    ACTIONS["gangreclaim"](session)


def no_effect(_task: TaskInfo) -> None:
    """Hear that a task was placed or evicted."""


if __name__ == "__main__":
    main()
