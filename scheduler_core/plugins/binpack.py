"""Which node would be fullest? Fill nodes before opening new ones.

Source: volcano ``pkg/scheduler/plugins/binpack/binpack.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from scheduler_core.conf import Arguments
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import NodeTable
from scheduler_core.resource import CPU, MEMORY

NAME = "binpack"
MAX_NODE_SCORE = 100


def open_session(session: Session, arguments: Arguments) -> None:
    """Register what binpack answers; with weight 0 it answers nothing."""
    weight = arguments.get_int("binpack.weight", 1)
    if weight != 0:
        scorer = Binpack(session.nodes, weights_of(arguments), MAX_NODE_SCORE * weight)
        session.add_fn(Point.NODE_ORDER, NAME, scorer.score)


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


class Binpack:
    """The score of one session.

    Parameters
    ----------
    weights : mapping
        Of the resources that count, by name.
    scale : int
        The score of a node that the task would fill completely.

    """

    def __init__(self, nodes: NodeTable, weights: Mapping[str, int], scale: int) -> None:
        self.nodes = nodes
        self.weights = weights
        self.scale = scale

    def score(self, task: TaskInfo, nodes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return how full each node would be, (K,), from 0 to the scale; 0 where any resource is short.

        A resource that the node lacks counts in the weights, not in the sum. Used amounts include those of
        terminating pods and leave out pipelined ones.
        """
        total = np.zeros(len(nodes))
        enough = np.ones(len(nodes), dtype=np.bool_)
        weight_sum = 0
        for name in task.request.names():
            weight = self.weights.get(name)
            if weight is None:
                continue
            weight_sum += weight
            column = self.nodes.axis.index[name]
            allocatable = self.nodes.allocatable[nodes, column]
            filled = task.request.get(name) + self.nodes.used[nodes, column]
            counts = allocatable != 0
            if weight == 0 or not counts.any():
                continue
            enough &= (filled <= allocatable) | ~counts
            total += np.divide(filled * weight, allocatable, out=np.zeros(len(nodes)), where=counts)
        if weight_sum > 0:
            total /= weight_sum
        return np.where(enough, total * self.scale, 0.0)
