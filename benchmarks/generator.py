"""Generates clusters of a given size. The same sizes give the same objects on any machine.

Running jobs have ten pods. The free resources of the nodes, of at least four cores each, are six tenths of
the requests of the pending jobs, so that enqueue, allocate, preempt and reclaim all have decisions to make.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

Object = dict[str, Any]

SEED = 20260101
CLASSES = {"low": 10, "mid": 100, "high": 1000}
SHAPES = (("500m", "1Gi"), ("1", "2Gi"), ("1", "4Gi"), ("2", "2Gi"), ("250m", "512Mi"), ("1500m", "3Gi"))
CORES = (0.5, 1.0, 1.0, 2.0, 0.25, 1.5)
CONF: Object = {
    "actions": "enqueue, allocate, preempt, reclaim, backfill",
    "tiers": [
        {"plugins": [{"name": "priority"}, {"name": "gang"}, {"name": "conformance"}]},
        {
            "plugins": [
                {"name": "overcommit"},
                {"name": "drf", "enablePreemptable": False},
                {"name": "predicates"},
                {"name": "capacity", "enableHierarchy": True},
                {"name": "nodeorder"},
                {"name": "binpack"},
            ]
        },
    ],
}


@dataclass(frozen=True)
class Size:
    """The size of a cluster.

    Attributes
    ----------
    queues : int
        The number of leaves of the tree.
    levels : int
        The number of queues on the path from root to a leaf, without root.
    pending : int
        The number of waiting jobs, of one to four pods each.

    """

    nodes: int = 500
    pods: int = 5_000
    queues: int = 16
    levels: int = 2
    pending: int = 500

    def grown(self, dimension: str, factor: int) -> Size:
        """Return the size with one dimension multiplied."""
        return replace(self, **{dimension: getattr(self, dimension) * factor})


class Dice:
    """Pseudo-random numbers that are the same on any machine (a linear congruential generator)."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, limit: int) -> int:
        """Return the next number from 0 to `limit`, exclusive."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % limit


def cluster(size: Size) -> Object:
    """Return a scenario document of this size."""
    dice = Dice(SEED)
    waiting = list(_waiting_jobs(size, dice))
    running = [_running_job(size, number, dice) for number in range(-(-size.pods // 10))]
    cores = max(4, ceil((_cores_of(running) + 0.6 * _cores_of(waiting)) / size.nodes))
    places = _places(size, cores, [shape for _, shapes in running for shape in shapes])
    podgroups = [group for group, _ in [*running, *waiting]]
    pods = [
        pod
        for group, shapes in [*running, *waiting]
        for pod in _pods_of(group, shapes, places if group["status"]["phase"] == "Running" else None)
    ]
    return {
        "name": f"{size.nodes} nodes, {size.pods} pods, {size.queues} queues, {size.levels} levels",
        "scheduler_conf": CONF,
        "nodes": [_node(number, cores, size) for number in range(size.nodes)],
        "queues": list(_queues(size)),
        "podgroups": podgroups,
        "pods": pods,
        "priorityclasses": [{"metadata": {"name": name}, "value": value} for name, value in CLASSES.items()],
        "now": "2026-01-02T00:00:00Z",
    }


def _cores_of(jobs: Sequence[tuple[Object, list[int]]]) -> float:
    return sum(CORES[shape] for _, shapes in jobs for shape in shapes)


def _node(number: int, cores: int, size: Size) -> Object:
    amounts = {
        "cpu": str(cores),
        "memory": f"{4 * cores}Gi",
        "pods": str(max(110, 4 * size.pods // size.nodes)),
    }
    name = f"node-{number:05d}"
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "zone": f"z{number % 4}"}},
        "spec": {},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def _queues(size: Size) -> Iterator[Object]:
    """Yield a chain of parents, one for each level above the leaves, and the leaves below the last one."""
    parent = "root"
    for level in range(1, size.levels):
        yield _queue(f"level-{level:02d}", parent, {})
        parent = f"level-{level:02d}"
    for number in range(size.queues):
        part = {"cpu": str(5 * size.pods // (4 * size.queues)), "memory": f"{5 * size.pods // size.queues}Gi"}
        yield _queue(_leaf(number), parent, {"deserved": part, "reclaimable": number % 4 != 3})


def _queue(name: str, parent: str, spec: Object) -> Object:
    return {
        "metadata": {"name": name, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"weight": 1, "parent": parent, **spec},
        "status": {"state": "Open"},
    }


def _leaf(number: int) -> str:
    return f"queue-{number:05d}"


def _running_job(size: Size, number: int, dice: Dice) -> tuple[Object, list[int]]:
    count = min(10, size.pods - 10 * number)
    group = _podgroup(f"run-{number:06d}", size, dice, phase="Running", minimum=1 + dice.below(count))
    return group, [dice.below(len(SHAPES))] * count


def _waiting_jobs(size: Size, dice: Dice) -> Iterator[tuple[Object, list[int]]]:
    for number in range(size.pending):
        count = 1 + dice.below(4)
        group = _podgroup(f"wait-{number:06d}", size, dice, phase="Pending", minimum=count)
        yield group, [dice.below(len(SHAPES))] * count


def _podgroup(name: str, size: Size, dice: Dice, *, phase: str, minimum: int) -> Object:
    made = dice.below(86_400)
    return {
        "metadata": {
            "name": name,
            "namespace": "default",
            "creationTimestamp": f"2026-01-01T{made // 3600:02d}:{made // 60 % 60:02d}:{made % 60:02d}Z",
        },
        "spec": {
            "minMember": minimum,
            "queue": _leaf(dice.below(size.queues)),
            "priorityClassName": [*CLASSES][dice.below(len(CLASSES))],
            "minResources": {"cpu": str(minimum), "memory": f"{minimum}Gi"},
        },
        "status": {"phase": phase},
    }


def _pods_of(group: Object, shapes: list[int], places: Iterator[str] | None) -> Iterator[Object]:
    name, created = group["metadata"]["name"], group["metadata"]["creationTimestamp"]
    for number, shape in enumerate(shapes):
        cpu, memory = SHAPES[shape]
        requests = {"cpu": cpu, "memory": memory}
        spec: Object = {
            "schedulerName": "volcano",
            "containers": [{"name": "main", "image": "busybox", "resources": {"requests": requests}}],
            "priorityClassName": group["spec"]["priorityClassName"],
        }
        if places is not None:
            spec["nodeName"] = next(places)
        yield {
            "metadata": {
                "name": f"{name}-{number}",
                "namespace": "default",
                "uid": f"{name}-{number}",
                "creationTimestamp": created,
                "annotations": {"scheduling.k8s.io/group-name": name},
            },
            "spec": spec,
            "status": {"phase": "Pending" if places is None else "Running"},
        }


def _places(size: Size, cores: int, shapes: list[int]) -> Iterator[str]:
    """Yield a node for each running pod, in turn, skipping full nodes."""
    free = [float(cores)] * size.nodes
    position = 0
    for shape in shapes:
        while free[position % size.nodes] < CORES[shape]:
            position += 1
        number = position % size.nodes
        free[number] -= CORES[shape]
        position += 1
        yield f"node-{number:05d}"
