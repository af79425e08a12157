"""How much of a node would be requested with one more pod, and how evenly?

Scores from 0 to 100 in whole numbers; divisions cut off. A container that mentions no cpu or memory counts
with a small amount, except for the balance.

Source: kube-scheduler ``plugins/noderesources/least_allocated.go``, ``most_allocated.go``,
``balanced_allocation.go`` at 1.35.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.mirror import Counts, Mirror
from scheduler_core.model.pod import PodShape
from scheduler_core.plugins.nodeorder.normalise import BEST

Nodes = NDArray[np.intp]

_ASSUMED = slice(0, 2)
_REQUESTED = slice(2, 5)
_GPU = 2


def least_requested(mirror: Mirror, shape: PodShape, nodes: Nodes) -> Counts:
    """Return the mean of what would stay free of cpu and memory, (K,)."""
    allocatable, used = _cpu_and_memory(mirror, shape, nodes)
    return _mean_of_parts(np.maximum(allocatable - used, 0), allocatable)


def most_requested(mirror: Mirror, shape: PodShape, nodes: Nodes) -> Counts:
    """Return the mean of what would be taken of cpu and memory, (K,)."""
    allocatable, used = _cpu_and_memory(mirror, shape, nodes)
    return _mean_of_parts(np.minimum(used, allocatable), allocatable)


def _cpu_and_memory(mirror: Mirror, shape: PodShape, nodes: Nodes) -> tuple[Counts, Counts]:
    used = mirror.sums[_ASSUMED, nodes] + mirror.incoming(shape)[_ASSUMED, None]
    return mirror.allocatable[:2, nodes], used


def _mean_of_parts(parts: Counts, allocatable: Counts) -> Counts:
    """Return the mean over the resources that a node has, (K,); 0 for a node that has neither."""
    has = allocatable > 0
    if has.all():
        half: Counts = np.add.reduce(BEST * parts // allocatable, axis=0) // 2
        return half
    scores = np.where(has, BEST * parts // np.maximum(allocatable, 1), 0)
    mean: Counts = np.add.reduce(scores, axis=0) // np.maximum(np.count_nonzero(has, axis=0), 1)
    return mean


def balanced_allocation(mirror: Mirror, shape: PodShape, nodes: Nodes) -> Counts:
    """Return how evenly cpu, memory and requested GPUs would be used, (K,); 0 for a pod that asks for none.

    A resource that the node lacks does not count; a node with fewer than two is perfectly even.
    """
    request = mirror.incoming(shape)[_REQUESTED]
    if not request.any():
        return np.zeros(len(nodes), dtype=np.int64)
    kinds = 3 if request[_GPU] > 0 else 2
    allocatable = mirror.allocatable[:kinds, nodes]
    used = mirror.sums[2 : 2 + kinds, nodes] + request[:kinds, None]
    has = allocatable > 0
    fractions = np.minimum(used / np.maximum(allocatable, 1), 1.0)
    if kinds == 2 or not has[_GPU].any():
        uneven = np.where(has[:2].all(axis=0), np.abs((fractions[0] - fractions[1]) / 2), 0.0)
    else:
        uneven = _deviation(fractions, has)
    return ((1.0 - uneven) * BEST).astype(np.int64)


def _deviation(fractions: NDArray[np.float64], has: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the standard deviation of the fractions that count, (K,)."""
    cpu, memory, gpu = fractions
    mean = (cpu + memory + gpu) / 3
    of_three = np.sqrt(((cpu - mean) ** 2 + (memory - mean) ** 2 + (gpu - mean) ** 2) / 3)
    first = np.where(has[0], cpu, memory)
    second = np.where(has[2], gpu, memory)
    count = has.sum(axis=0)
    return np.where(count == 3, of_three, np.where(count == 2, np.abs((first - second) / 2), 0.0))
