"""How much of a node would be requested with one more pod, and how evenly?

Scores from 0 to 100 in whole numbers; divisions cut off. A container that mentions no cpu or memory counts
with a small amount, except for the balance.

Source: kube-scheduler ``plugins/noderesources/least_allocated.go``, ``most_allocated.go``,
``balanced_allocation.go`` at 1.35.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.changes import as_array
from scheduler_core.model.mirror import Counts, Mirror
from scheduler_core.model.pod import PodShape
from scheduler_core.plugins.nodeorder.normalise import BEST

Nodes = NDArray[np.intp]
Fractions = NDArray[np.float64]


class ResourceWeights(NamedTuple):
    """What each of the three scores counts; 0: it is not asked for."""

    least: int
    most: int
    balanced: int


class ResourceScores:
    """The scores of one session that read amounts only."""

    def __init__(self, mirror: Mirror, weights: ResourceWeights) -> None:
        self.mirror = mirror
        self.weights = weights
        self._allocatable = mirror.allocatable.T.tolist()
        self._complete = bool((mirror.allocatable[:2] > 0).all())
        self._kept: dict[int, tuple[int, Counts]] = {}

    def kept_score(self, shape: PodShape, nodes: Nodes) -> Counts:
        """Return the same as `score`, kept for all nodes and worked out again where they changed, (K,)."""
        table = self.mirror.nodes
        known = self._kept.get(shape.number)
        if known is None:
            kept = self.score(shape, np.arange(len(table), dtype=np.intp))
        else:
            seen, kept = known
            changed = as_array(table.changes.since(seen))
            if len(changed):
                kept[changed] = self.score(shape, changed)
        self._kept[shape.number] = len(table.changes), kept
        return kept[nodes]

    def of_one(self, shape: PodShape, rest: int = 0) -> Callable[[int], int]:
        """Return a function that gives the same as `score` for one node, with the rest of its score."""
        least, most, balanced = self.weights
        allocatable, taken_of = self._allocatable, self.mirror.taken_of
        assumed_cpu, assumed_memory, cpu, memory, gpu = self.mirror.incoming(shape)
        balances = balanced != 0 and bool(cpu or memory or gpu)

        def score(node: int) -> int:
            has_cpu, has_memory, has_gpu = allocatable[node]
            near_cpu, near_memory, used_cpu, used_memory, used_gpu = taken_of[node]
            near_cpu += assumed_cpu
            near_memory += assumed_memory
            kinds = (has_cpu > 0) + (has_memory > 0)
            total = rest
            if least and kinds:
                parts = BEST * (has_cpu - near_cpu) // has_cpu if has_cpu > near_cpu else 0
                if has_memory > near_memory:
                    parts += BEST * (has_memory - near_memory) // has_memory
                total += least * (parts // kinds)
            if most and kinds:
                parts = BEST * min(has_cpu, near_cpu) // has_cpu if has_cpu > 0 else 0
                if has_memory > 0:
                    parts += BEST * min(has_memory, near_memory) // has_memory
                total += most * (parts // kinds)
            if balances and kinds == 2 and not (gpu > 0 and has_gpu > 0):
                first = min((used_cpu + cpu) / has_cpu, 1.0)
                second = min((used_memory + memory) / has_memory, 1.0)
                total += balanced * int((1.0 - abs((first - second) / 2)) * BEST)
            elif balances:
                fractions = []
                if has_cpu > 0:
                    fractions.append(min((used_cpu + cpu) / has_cpu, 1.0))
                if has_memory > 0:
                    fractions.append(min((used_memory + memory) / has_memory, 1.0))
                if gpu > 0 and has_gpu > 0:
                    fractions.append(min((used_gpu + gpu) / has_gpu, 1.0))
                total += balanced * int((1.0 - deviation(fractions)) * BEST)
            return total

        return score

    def score(self, shape: PodShape, nodes: Nodes) -> Counts:
        """Return the weighted sum of the scores, (K,)."""
        least, most, balanced = self.weights
        incoming = np.array(self.mirror.incoming(shape), dtype=np.int64)
        allocatable = self.mirror.allocatable[:, nodes]
        used = self.mirror.sums[:, nodes] + incoming[:, None]
        total = np.zeros(len(nodes), dtype=np.int64)
        if least:
            total += least * self._mean(np.maximum(allocatable[:2] - used[:2], 0), allocatable[:2])
        if most:
            total += most * self._mean(np.minimum(used[:2], allocatable[:2]), allocatable[:2])
        if balanced and incoming[2:].any():
            kinds = 3 if incoming[4] > 0 else 2
            uneven = self._deviations(used[2 : 2 + kinds], allocatable[:kinds])
            total += balanced * ((1.0 - uneven) * BEST).astype(np.int64)
        return total

    def _mean(self, parts: Counts, allocatable: Counts) -> Counts:
        """Return the mean score over the resources that a node has, (K,); 0 for a node that has neither."""
        if self._complete:
            cpu, memory = BEST * parts // allocatable
            half: Counts = (cpu + memory) // 2
            return half
        has = allocatable > 0
        cpu, memory = np.where(has, BEST * parts // np.maximum(allocatable, 1), 0)
        mean: Counts = (cpu + memory) // np.maximum(np.count_nonzero(has, axis=0), 1)
        return mean

    def _deviations(self, used: Counts, allocatable: Counts) -> Fractions:
        """Return how unevenly each node would be used, (K,)."""
        if self._complete and len(used) == 2:
            cpu, memory = np.minimum(used / allocatable, 1.0)
            half: Fractions = np.abs((cpu - memory) / 2)
            return half
        has = allocatable > 0
        fractions = np.minimum(used / np.maximum(allocatable, 1), 1.0)
        count = np.count_nonzero(has, axis=0)
        first = np.where(has[0], fractions[0], fractions[1])
        second = np.where(has[-1], fractions[-1], fractions[1])
        uneven = np.where(count == 2, np.abs((first - second) / 2), 0.0)
        if len(used) == 2:
            return uneven
        cpu, memory, gpu = fractions
        mean = (cpu + memory + gpu) / 3
        of_three = np.sqrt(((cpu - mean) ** 2 + (memory - mean) ** 2 + (gpu - mean) ** 2) / 3)
        return np.where(count == 3, of_three, uneven)


def deviation(fractions: Sequence[float]) -> float:
    """Return the standard deviation of the used fractions of one node; fewer than two are even.

    Examples
    --------
    >>> deviation([0.5, 0.375])
    0.0625

    """
    if len(fractions) == 2:
        return abs((fractions[0] - fractions[1]) / 2)
    if len(fractions) < 2:
        return 0.0
    mean = (fractions[0] + fractions[1] + fractions[2]) / 3
    squares = [(fraction - mean) ** 2 for fraction in fractions]
    return math.sqrt((squares[0] + squares[1] + squares[2]) / 3)
