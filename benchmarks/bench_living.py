"""Measures a further cycle on the kept state, and the growth of memory over many cycles.

``python -m benchmarks.bench_living`` prints a table of cycles of a cluster of 500 nodes with 5,000 pods:
before each, a few jobs end and arrive, or one arrives where nothing fits. ``--memory 10000`` adds the growth
of memory over 10,000 cycles. Processor time, the fastest and the median cycle.
"""

from __future__ import annotations

import argparse
import resource
import statistics
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

from benchmarks.generator import Size, cluster
from scheduler_core.admission import Admission
from scheduler_core.conf import parse_conf
from scheduler_core.options import Options
from scheduler_core.simulate import Simulation

SIZE = Size(nodes=500, pods=5_000, queues=16, levels=2, pending=0)
Object = dict[str, Any]


def steady_document(*, full: bool) -> Object:
    """Return a cluster that is half full, or one in which no further pod fits."""
    document = cluster(SIZE)
    for node in document["nodes"]:
        cores = 4 if full else 2 * int(node["status"]["allocatable"]["cpu"])
        amounts = {**node["status"]["allocatable"], "cpu": str(cores), "memory": "256Gi"}
        node["status"] = {"capacity": amounts, "allocatable": amounts}
    return document


def simulation_of(document: Object, cycles: int) -> Simulation:
    """Return a simulation without explanations."""
    conf = parse_conf(document["scheduler_conf"])
    return Simulation(
        document, conf, Admission(document), Options(explain=False, reasons=False, cycles=cycles)
    )


def job(number: int, pods: int, cpu: str) -> tuple[Object, list[Object]]:
    """Return the PodGroup and the pods of a further job."""
    name, created = f"new-{number:06d}", "2026-01-03T00:00:00Z"
    group = {
        "metadata": {"name": name, "namespace": "default", "creationTimestamp": created},
        "spec": {"minMember": pods, "queue": f"queue-{number % SIZE.queues:05d}"},
        "status": {"phase": "Pending"},
    }
    containers = [{"name": "main", "image": "busybox", "resources": {"requests": {"cpu": cpu}}}]
    return group, [
        {
            "metadata": {
                "name": f"{name}-{index}",
                "namespace": "default",
                "uid": f"{name}-{index}",
                "creationTimestamp": created,
                "annotations": {"scheduling.k8s.io/group-name": name},
            },
            "spec": {"schedulerName": "volcano", "containers": containers},
            "status": {"phase": "Pending"},
        }
        for index in range(pods)
    ]


def arrive(simulation: Simulation, group: Object, pods: list[Object]) -> None:
    """Write the objects of a job."""
    key = f"default/{group['metadata']['name']}"
    simulation.cluster.podgroups[key] = group
    for pod in pods:
        simulation.cluster.pods[f"default/{pod['metadata']['name']}"] = pod


def leave(simulation: Simulation, number: int, pods: int) -> None:
    """Delete the objects of a job."""
    for index in range(pods):
        del simulation.cluster.pods[f"default/new-{number:06d}-{index}"]
    del simulation.cluster.podgroups[f"default/new-{number:06d}"]


def cycles(simulation: Simulation, change: Callable[[int], None], warm: int) -> Iterator[tuple[float, int]]:
    """Yield the seconds of each cycle after the warm-up, with the changes before it, and its decisions."""
    steps = simulation.steps()
    for number in range(simulation.cycles):
        started = process_time()
        change(number)
        session = next(steps)
        if number >= warm:
            yield process_time() - started, len(session.decisions)


def steady(count: int) -> list[tuple[float, int]]:
    """Return the cycles of a half-full cluster where two jobs arrive, and two of earlier cycles end."""
    simulation = simulation_of(steady_document(full=False), count)

    def change(number: int) -> None:
        for position in (2 * number, 2 * number + 1):
            arrive(simulation, *job(position, 1 + position % 4, "500m"))
            old = position - 100
            if old >= 0:
                leave(simulation, old, 1 + old % 4)

    return list(cycles(simulation, change, warm=min(60, count // 2)))


def arrivals_that_fit_nothing(count: int) -> list[tuple[float, int]]:
    """Return the cycles of a full cluster in which another job arrives before each."""
    simulation = simulation_of(steady_document(full=True), count)

    def change(number: int) -> None:
        if number:
            leave(simulation, number - 1, 1)
        arrive(simulation, *job(number, 1, "64"))

    return list(cycles(simulation, change, warm=min(10, count // 2)))


def memory() -> float:
    """Return the peak memory of this process, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def print_cycles(count: int) -> None:
    """Print the table of cycles."""
    print("| cycles of 500 nodes, 5,000 pods | fastest ms | median ms | decisions, median |")
    print("|---|---|---|---|")
    for name, measured in (
        ("two jobs end, two arrive", steady(count)),
        ("one job arrives, nothing fits", arrivals_that_fit_nothing(count)),
    ):
        seconds = [entry[0] for entry in measured]
        decided = int(statistics.median(entry[1] for entry in measured))
        print(f"| {name} | {1e3 * min(seconds):.2f} | {1e3 * statistics.median(seconds):.2f} | {decided} |")
    print()


def print_memory(count: int) -> None:
    """Print how the peak memory grows over many cycles."""
    few = count // 10
    steady(few)
    before = memory()
    steady(count)
    print(f"memory: {before:.0f} MB after {few:,} cycles, {memory():.0f} MB after {count:,}\n")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=300)
    parser.add_argument("--memory", type=int, default=0, help="cycles over which memory is compared")
    options = parser.parse_args()
    print_cycles(options.cycles)
    if options.memory:
        print_memory(options.memory)


if __name__ == "__main__":
    main()
