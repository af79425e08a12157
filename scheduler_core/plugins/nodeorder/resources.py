"""The resource scores: least requested, most requested and balanced allocation.

Scores are whole numbers from 0 to 100; divisions truncate. A container without a request for cpu or memory
counts with a small default, except for the balance. A hundred times an amount above a hundredth of 2^63
overflows like the 64-bit integers of kube-scheduler, so that a node that large scores about 0.

Source: kube-scheduler ``plugins/noderesources/least_allocated.go``, ``most_allocated.go``,
``balanced_allocation.go`` at 1.35.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.class_scores import ClassAnswers
from scheduler_core.framework.numbering import distinct_rows
from scheduler_core.model.changes import as_array
from scheduler_core.model.k8s_nodes import K8sNodeSnapshot
from scheduler_core.model.pod import PodShape
from scheduler_core.model.selector_classes import Counts
from scheduler_core.plugins.nodeorder.normalise import BEST

Nodes = NDArray[np.intp]
Fractions = NDArray[np.float64]
Mask = NDArray[np.bool_]

# The rows of `allocatable`; taken amounts have two more rows, for cpu and memory with defaults.
CPU, MEMORY, GPU = range(3)
LARGEST = np.iinfo(np.int64).max


class ResourceWeights(NamedTuple):
    """The weight of each of the three scores; 0 turns it off."""

    least: int
    most: int
    balanced: int


class ResourceScores:
    """The scores of one session that depend on amounts only.

    Parameters
    ----------
    rates_improvement : bool
        Whether the balance score rates the improvement by the pod instead of the balance with the pod.

    """

    def __init__(
        self, k8s_nodes: K8sNodeSnapshot, weights: ResourceWeights, *, rates_improvement: bool = False
    ) -> None:
        self.k8s_nodes = k8s_nodes
        self.weights = weights
        self.rates_improvement = rates_improvement
        self._complete = bool((k8s_nodes.allocatable[:GPU] > 0).all())
        self._overflows = bool((k8s_nodes.allocatable[:GPU] > LARGEST // BEST).any())
        self._allocatable: list[list[int]] = k8s_nodes.allocatable.T.tolist()
        self._kept: dict[int, tuple[int, Counts]] = {}

    def cached_score(self, shape: PodShape, nodes: Nodes) -> Counts:
        """Return `score`, (K,), cached for all nodes and recomputed for those that changed."""
        table = self.k8s_nodes.nodes
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

    def score_node(self, shape: PodShape, rest: int = 0) -> Callable[[int], int]:
        """Return a function that returns `score` plus `rest` for one node."""
        if self._overflows:
            return lambda node: rest + int(self.score(shape, np.array([node]))[0])
        least, most, balanced = self.weights
        allocatable, taken_of = self._allocatable, self.k8s_nodes.taken_of
        assumed_cpu, assumed_memory, cpu, memory, gpu = self.k8s_nodes.incoming(shape)
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
            if balances and self.rates_improvement:
                total += balanced * self._improvement(
                    allocatable[node], taken_of[node][2:], (cpu, memory, gpu)
                )
            elif balances and kinds == 2 and not (gpu > 0 and has_gpu > 0):
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
        incoming = self.k8s_nodes.incoming(shape)
        has = self.k8s_nodes.allocatable[:, nodes]
        taken = self.k8s_nodes.sums[:, nodes] + np.array([incoming]).T
        counts_gpu = (has[GPU] > 0) & (incoming[GPU + 2] > 0)
        return self._weighted(has, taken, np.array([incoming]).T, counts_gpu, np.array([any(incoming[2:])]))

    def of_shapes(self, shapes: Sequence[PodShape], rest: int) -> ClassAnswers:
        """Return `score` plus `rest` for several shapes."""
        amounts = np.array([self.k8s_nodes.incoming(shape) for shape in shapes], dtype=np.int64)
        distinct, whose = distinct_rows(amounts)
        incoming = distinct.T[:, np.newaxis]
        requests_gpu = incoming[GPU + 2] > 0
        balances: Mask = np.any(incoming[2:] > 0, axis=0)
        rows, taken_of, allocatable = self._allocatable, self.k8s_nodes.taken_of, self.k8s_nodes.allocatable

        def score(nodes: Nodes) -> Counts:
            has = allocatable[:, nodes, np.newaxis]
            taken = np.array([taken_of[node] for node in nodes.tolist()]).T[:, :, np.newaxis]
            counts_gpu = requests_gpu & (has[GPU] > 0)
            weighted = self._weighted(has, taken + incoming, incoming, counts_gpu, balances) + rest
            return weighted.take(whose, axis=1)

        return ClassAnswers(
            score, fixed=[tuple(row) for row in rows], changing=lambda node: tuple(taken_of[node])
        )

    # one shape on several nodes, (K,), or several shapes on each of them, (K, C)

    def _weighted(
        self, has: Counts, taken: Counts, incoming: Counts, counts_gpu: Mask, balances: Mask
    ) -> Counts:
        """Return the weighted sums of the scores, (...).

        Parameters
        ----------
        has : (3, ...) int64
            Cpu, memory and GPUs of the nodes.
        taken : (5, ...) int64
            The amounts taken with the pods: cpu and memory with small defaults, then all three as requested.
        incoming : (5, ...) int64
            The part of these that the pods request.
        counts_gpu, balances : (...) bool
            Where the balance includes GPUs, and where it counts at all.

        """
        least, most, balanced = self.weights
        basic, near = has[:GPU], taken[:GPU]
        divisor = basic if self._complete else np.maximum(basic, 1)
        kinds = 2 if self._complete else np.maximum(np.count_nonzero(basic > 0, axis=0), 1)
        total: Counts = np.zeros(taken.shape[1:], dtype=np.int64)
        if least:
            free = self._quotient(BEST * np.maximum(basic - near, 0), divisor)
            total += least * self._quotient(free[CPU] + free[MEMORY], kinds)
        if most:
            full = self._quotient(BEST * np.minimum(near, basic), divisor)
            total += most * self._quotient(full[CPU] + full[MEMORY], kinds)
        if balanced:
            even = self._balances(has, taken[GPU:], counts_gpu)
            if self.rates_improvement:
                before = self._balances(has, taken[GPU:] - incoming[GPU:], counts_gpu)
                even = _improvements(even, before)
            total += balanced * even * balances
        return total

    def _quotient(self, numerator: Counts, divisor: Counts | int) -> Counts:
        """Return a quotient truncated towards zero; a numerator is below zero only if it has overflowed."""
        quotient: Counts = numerator // divisor
        if self._overflows:
            quotient += (numerator < 0) & (quotient * divisor != numerator)
        return quotient

    def _balances(self, has: Counts, used: Counts, counts_gpu: Mask) -> Counts:
        """Return how evenly nodes would be used, (...): 100 if all fractions are equal."""
        even: Counts = ((1.0 - self._deviations(has, used, counts_gpu)) * BEST).astype(np.int64)
        return even

    def _improvement(self, has: Sequence[int], used: Sequence[int], incoming: Sequence[int]) -> int:
        """Return by how much a pod improves the balance of one node."""
        counted = [kind for kind in range(GPU + 1) if has[kind] > 0 and (kind != GPU or incoming[GPU] > 0)]
        before = [min(used[kind] / has[kind], 1.0) for kind in counted]
        after = [min((used[kind] + incoming[kind]) / has[kind], 1.0) for kind in counted]
        balance_before, balance_after = (int((1.0 - deviation(parts)) * BEST) for parts in (before, after))
        return BEST // 2 + (BEST // 2 + balance_after - balance_before) // 2

    def _deviations(self, has: Counts, used: Counts, counts_gpu: Mask) -> Fractions:
        """Return how unevenly nodes would be used: the standard deviation of their fractions, (...)."""
        if self._complete and not np.count_nonzero(counts_gpu):
            cpu, memory = np.minimum(used[:GPU] / has[:GPU], 1.0)
            of_two: Fractions = np.abs((cpu - memory) / 2)
            return of_two
        fractions = np.minimum(used / np.maximum(has, 1), 1.0)
        cpu, memory, gpu = fractions
        if self._complete:
            return np.where(counts_gpu, _of_three(fractions), np.abs((cpu - memory) / 2))
        has_cpu, has_memory = has[:GPU] > 0
        kinds = np.add(has_cpu, has_memory, dtype=np.int64) + counts_gpu
        of_two = np.abs((np.where(has_cpu, cpu, memory) - np.where(counts_gpu, gpu, memory)) / 2)
        return np.where(kinds == 3, _of_three(fractions), np.where(kinds == 2, of_two, 0.0))


def _improvements(after: Counts, before: Counts) -> Counts:
    """Return the scores of improved balances: 75 if nothing changes; divisions truncate."""
    improved: Counts = BEST // 2 + (BEST // 2 + after - before) // 2
    return improved


def _of_three(fractions: Fractions) -> Fractions:
    """Return the standard deviations of three fractions each, (...)."""
    cpu, memory, gpu = fractions
    mean = (cpu + memory + gpu) / 3
    squares = (fractions - mean) ** 2
    deviations: Fractions = np.sqrt((squares[CPU] + squares[MEMORY] + squares[GPU]) / 3)
    return deviations


def deviation(fractions: Sequence[float]) -> float:
    """Return the standard deviation of the used fractions of one node; 0 for fewer than two.

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
