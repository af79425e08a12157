"""Plugin binpack: score nodes by how full they would be, so that used nodes are filled first.

Source: volcano ``pkg/scheduler/plugins/binpack/binpack.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.conf import Arguments
from scheduler_core.framework.class_scores import ClassAnswers
from scheduler_core.framework.living_view import nothing_to_renew
from scheduler_core.framework.plugin_fn import shape_only
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import NodeTable
from scheduler_core.resource import CPU, MEMORY

Scores = NDArray[np.float64]
Nodes = NDArray[np.intp]

NAME = "binpack"
MAX_NODE_SCORE = 100


def open_session(session: Session, arguments: Arguments) -> None:
    """Register the callbacks of binpack; there are none if its weight is 0."""
    weight = arguments.get_int("binpack.weight", 1)
    if weight != 0:
        scorer = Binpack(session.nodes, weights_of(arguments), MAX_NODE_SCORE * weight)
        session.registry.add_node_order(
            NAME,
            scorer.score,
            class_key=shape_only,
            score_node=scorer.score_node,
            score_classes=scorer.score_classes,
        )
    session.renewals[NAME] = nothing_to_renew


def weights_of(arguments: Arguments) -> dict[str, int]:
    """Return the weight of each resource that counts.

    Examples
    --------
    >>> weights_of(Arguments({"binpack.cpu": 5, "binpack.resources": "nvidia.com/gpu"}))
    {'nvidia.com/gpu': 1, 'cpu': 5, 'memory': 1}

    """
    listed = [name.strip() for name in arguments.get_str("binpack.resources").split(",")]
    weights = {name: arguments.get_int(f"binpack.resources.{name}", 1) for name in listed if name}
    weights[CPU] = arguments.get_int("binpack.cpu", 1)
    weights[MEMORY] = arguments.get_int("binpack.memory", 1)
    return {name: weight if weight >= 0 else 1 for name, weight in weights.items()}


class Dimension(NamedTuple):
    """One resource that counts for a task."""

    column: int
    amount: float
    weight: int


class Demand(NamedTuple):
    """The request of a task in the form that binpack scores.

    Attributes
    ----------
    dimensions : tuple of Dimension
        Cpu, memory, then scalars by name; those of weight 0 are left out.
    weight_sum : int
        The sum of the weights of all requested resources, including those that a node lacks.

    """

    dimensions: tuple[Dimension, ...]
    weight_sum: int


class Binpack:
    """The node scores of one session.

    A resource that a node lacks counts only in the weight sum. Used amounts include terminating pods, but not
    pipelined ones.

    Parameters
    ----------
    weights : mapping
        The weight of each resource that counts, by name.
    scale : int
        The score of a node that the task would fill completely.

    """

    def __init__(self, nodes: NodeTable, weights: Mapping[str, int], scale: int) -> None:
        self.nodes = nodes
        self.weights = weights
        self.scale = scale
        # x / inf = 0 and x > inf is False: a resource that the node lacks adds nothing and blocks nothing
        self._allocatable = np.where(nodes.allocatable == 0, np.inf, nodes.allocatable)
        self._rows: list[list[float]] = self._allocatable.tolist()
        self._demands: dict[int, Demand] = {}

    def score(self, task: TaskInfo, nodes: Nodes) -> NDArray[np.float64]:
        """Return how full each node would be, (K,), from 0 to the scale; 0 if any resource is short."""
        scores: Scores = self.scorer([self._demand(task)])(nodes, self.nodes.used[nodes])[:, 0]
        return scores

    def score_node(self, task: TaskInfo) -> Callable[[int], float]:
        """Return a function that scores one node in the same way."""
        return self.node_scorer(self._demand(task))

    def score_classes(self, tasks: Sequence[TaskInfo]) -> ClassAnswers:
        """Return the scores for several classes of tasks."""
        used_of, scores = self.nodes.used_of, self.scorer([self._demand(task) for task in tasks])
        return ClassAnswers(
            lambda nodes: scores(nodes, np.array([used_of[node] for node in nodes.tolist()])),
            fixed=[tuple(row) for row in self._rows],
            changing=lambda node: tuple(used_of[node]),
        )

    def _demand(self, task: TaskInfo) -> Demand:
        demand = self._demands.get(task.shape.number)
        if demand is None:
            index = self.nodes.axis.index
            counted = [name for name in task.request.names() if name in self.weights]
            dimensions = [Dimension(index[n], task.request.get(n), self.weights[n]) for n in counted]
            demand = self._demands[task.shape.number] = Demand(
                tuple(dimension for dimension in dimensions if dimension.weight != 0),
                sum(dimension.weight for dimension in dimensions),
            )
        return demand

    def node_scorer(self, demand: Demand) -> Callable[[int], float]:
        """Return a function that gives the score of one node."""
        rows, used_of, scale = self._rows, self.nodes.used_of, self.scale
        dimensions, weight_sum = demand

        def score(node: int) -> float:
            allocatable, used = rows[node], used_of[node]
            total = 0.0
            for column, amount, weight in dimensions:
                filled = amount + used[column]
                if filled > allocatable[column]:
                    return 0.0
                total += filled * weight / allocatable[column]
            if weight_sum > 0:
                total /= weight_sum
            return total * scale

        return score

    def scorer(self, demands: Sequence[Demand]) -> Callable[[Nodes, Scores], Scores]:
        """Return a function of nodes, (K,), and their used amounts, (K, R), to scores, (K, C)."""
        columns = sorted({dimension.column for demand in demands for dimension in demand.dimensions})
        if not columns:
            return lambda nodes, _used: np.zeros((len(nodes), len(demands)))
        distinct = {demand: row for row, demand in enumerate(dict.fromkeys(demands))}
        whose = np.array([distinct[demand] for demand in demands])
        amounts, weights = np.zeros((2, len(columns), 1, len(distinct)))
        for demand, row in distinct.items():
            for column, amount, weight in demand.dimensions:
                position = columns.index(column)
                amounts[position, 0, row], weights[position, 0, row] = amount, weight
        uncounted = weights == 0 if not weights.all() else None
        weight_sums = np.array([float(demand.weight_sum or 1) for demand in distinct])
        allocatable = np.ascontiguousarray(self._allocatable.T[columns, :, np.newaxis])

        def score(nodes: Nodes, used: Scores) -> Scores:
            filled = amounts + used.T[columns, :, np.newaxis]
            has = allocatable.take(nodes, axis=1)
            if uncounted is not None:
                has = np.where(uncounted, np.inf, has)
            total: Scores = reduce(add, filled * weights / has) / weight_sums
            total *= self.scale
            total *= np.logical_and.reduce(filled <= has)
            return total.take(whose, axis=1)

        return score
