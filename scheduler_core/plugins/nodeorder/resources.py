"""How much of a node would be requested with one more pod, and how evenly?

Scores from 0 to 100 in whole numbers; divisions cut off. A container that mentions no cpu or memory counts
with a small amount, except for the balance.

Source: kube-scheduler ``plugins/noderesources/least_allocated.go``, ``most_allocated.go``,
``balanced_allocation.go`` at 1.35.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.choices import MOST_STATES, ClassAnswers
from scheduler_core.model.changes import as_array
from scheduler_core.model.mirror import Counts, Mirror
from scheduler_core.model.pod import PodShape
from scheduler_core.plugins.nodeorder.normalise import BEST

Nodes = NDArray[np.intp]
Fractions = NDArray[np.float64]
Amounts = Counts | np.int64 | int

# The rows of what nodes have; what is taken of the first two is known in two ways.
CPU, MEMORY, GPU = range(3)


class ResourceWeights(NamedTuple):
    """What each of the three scores counts; 0: it is not asked for."""

    least: int
    most: int
    balanced: int


class Part(NamedTuple):
    """What one resource adds to scores.

    Attributes
    ----------
    free, full : (M,) int64
        The part of it that would be free, or used, from 0 to 100; 0 where it is not asked for.
    fraction : (M,) float64
        The part that would be used, from 0 to 1.
    exists : int64, or (M,) of them
        1 where the node has any of it, else 0.

    """

    free: Amounts
    full: Amounts
    fraction: Fractions
    exists: Amounts

    def of(self, rows: NDArray[np.intp]) -> Part:
        """Return what the balance of some of the M needs; they are about one node."""
        return self._replace(fraction=self.fraction[rows])


class ResourceScores:
    """The scores of one session that read amounts only."""

    def __init__(self, mirror: Mirror, weights: ResourceWeights) -> None:
        self.mirror = mirror
        self.weights = weights
        self._complete = bool((mirror.allocatable[:2] > 0).all())
        self._allocatable: list[list[int]] = mirror.allocatable.T.tolist()
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
        incoming = self.mirror.incoming(shape)
        has = self.mirror.allocatable[:, nodes]
        used = [held + more for held, more in zip(self.mirror.sums[:, nodes], incoming, strict=True)]
        cpu, memory = (self._part(has[kind], used[kind], used[kind + 2]) for kind in (CPU, MEMORY))
        total = self._of_amounts(cpu, memory)
        if self.weights.balanced and any(incoming[2:]):
            parts = [cpu, memory, self._part(has[GPU], used[4], used[4])] if incoming[4] else [cpu, memory]
            total = total + self.weights.balanced * self._balance(parts)
        return total

    def of_shapes(self, shapes: Sequence[PodShape], rest: int) -> ClassAnswers:
        """Return the same for several shapes, with the rest of their scores."""
        incoming = np.array([self.mirror.incoming(shape) for shape in shapes], dtype=np.int64).T.copy()
        asks_gpu = np.flatnonzero(incoming[4])
        worth = self.weights.balanced * incoming[2:].any(axis=0)
        balances = bool(worth.any())
        rows = self._allocatable
        taken_of = self.mirror.taken_of

        @lru_cache(maxsize=MOST_STATES)
        def part(kind: int, has: int, near: int, used: int) -> Part:
            return self._part(has, near + incoming[kind], used + incoming[kind + 2])

        @lru_cache(maxsize=MOST_STATES)
        def gpu_part(has: int, used: int) -> Part:
            asked = used + incoming[4, asks_gpu]
            return self._part(has, asked, asked)

        def score(node: int) -> Counts:
            has_cpu, has_memory, has_gpu = rows[node]
            near_cpu, near_memory, used_cpu, used_memory, used_gpu = taken_of[node]
            cpu = part(CPU, has_cpu, near_cpu, used_cpu)
            memory = part(MEMORY, has_memory, near_memory, used_memory)
            total = self._of_amounts(cpu, memory) + rest
            if balances:
                balance = self._balance([cpu, memory])
                if has_gpu and len(asks_gpu):
                    parts = [cpu.of(asks_gpu), memory.of(asks_gpu), gpu_part(has_gpu, used_gpu)]
                    balance[asks_gpu] = self._balance(parts)
                balance *= worth
                total += balance
            return total

        return ClassAnswers(
            score, fixed=[tuple(row) for row in rows], moving=lambda node: tuple(taken_of[node])
        )

    # Every number below is one for all M nodes or shapes, or an array of M of them.

    def _part(self, has: Amounts, near: Amounts, used: Amounts) -> Part:
        """Return what one resource adds: `near` and `used` are what would be taken of what nodes have."""
        divisor = np.maximum(has, 1)
        return Part(
            BEST * np.maximum(has - near, 0) // divisor if self.weights.least else 0,
            BEST * np.minimum(near, has) // divisor if self.weights.most else 0,
            np.minimum(used / divisor, 1.0),
            np.int64(1) * (has > 0),
        )

    def _of_amounts(self, cpu: Part, memory: Part) -> Counts:
        """Return the weighted scores for what is free and what is used, (M,); means over what nodes have."""
        least, most, _ = self.weights
        kinds = 2 if self._complete else np.maximum(cpu.exists + memory.exists, 1)
        total: Counts = np.zeros_like(cpu.fraction, dtype=np.int64)
        if least:
            total = total + least * ((cpu.free + memory.free) // kinds)
        if most:
            total = total + most * ((cpu.full + memory.full) // kinds)
        return total

    def _balance(self, parts: Sequence[Part]) -> Counts:
        """Return how evenly each node would be used, (M,)."""
        even = (1.0 - self._deviations(parts)) * BEST
        score: Counts = even.astype(np.int64)
        return score

    def _deviations(self, parts: Sequence[Part]) -> Fractions:
        """Return how unevenly each node would be used: the standard deviation of its fractions, (M,)."""
        if len(parts) == 2:
            return self._of_two(parts)
        cpu, memory, gpu = (part.fraction for part in parts)
        mean = (cpu + memory + gpu) / 3
        of_three: Fractions = np.sqrt(((cpu - mean) ** 2 + (memory - mean) ** 2 + (gpu - mean) ** 2) / 3)
        count = sum(part.exists for part in parts)
        if np.all(count == 3):
            return of_three
        return np.where(count == 3, of_three, self._of_two(parts))

    def _of_two(self, parts: Sequence[Part]) -> Fractions:
        """Return the same where at most two of the resources exist."""
        if self._complete and len(parts) == 2:
            half: Fractions = np.abs((parts[0].fraction - parts[1].fraction) / 2)
            return half
        first = np.where(parts[0].exists, parts[0].fraction, parts[1].fraction)
        second = np.where(parts[-1].exists, parts[-1].fraction, parts[1].fraction)
        return np.where(sum(part.exists for part in parts) == 2, np.abs((first - second) / 2), 0.0)


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
