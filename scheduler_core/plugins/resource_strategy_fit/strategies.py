"""Score by a strategy per resource, MostAllocated or LeastAllocated."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.conf import Arguments
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import NodeTable
from scheduler_core.plugins.resource_strategy_fit.arguments import (
    MAX_NODE_SCORE,
    field_of,
    read_integer,
    read_mapping,
    read_text,
)
from scheduler_core.resource import CPU, MEMORY

Nodes = NDArray[np.intp]
Scores = NDArray[np.float64]


SCORING_TYPE = "volcano.sh/resource-strategy-scoring-type"


SCORING_WEIGHT = "volcano.sh/resource-strategy-weight"


MOST = "MostAllocated"


LEAST = "LeastAllocated"


class Strategy(NamedTuple):
    """The scoring strategy of one resource."""

    kind: str
    weight: int


DEFAULT_STRATEGIES: Mapping[str, Strategy] = {CPU: Strategy(LEAST, 1), MEMORY: Strategy(LEAST, 1)}


def own_strategy(task: TaskInfo) -> Hashable:
    """Return the scoring strategy and weights in a pod's annotations."""
    annotations = task.annotations()
    return annotations.get(SCORING_TYPE), annotations.get(SCORING_WEIGHT)


def read_strategies(table: object) -> dict[str, Strategy]:
    """Return the strategy of each resource or pattern; the default for an absent or empty mapping.

    A pattern is a prefix with one asterisk at its end; any other use of an asterisk is dropped.
    """
    entries = read_mapping(table, "resources")
    if not entries:
        return dict(DEFAULT_STRATEGIES)
    strategies = {name: _strategy(read_mapping(entry, name), name) for name, entry in entries.items()}
    return {name: found for name, found in strategies.items() if "*" not in name[:-1] and name != "*"}


def _strategy(entry: Mapping[str, Any], name: str) -> Strategy:
    kind = read_text(field_of(entry, "type"), f"resources.{name}.type")
    weight = read_integer(field_of(entry, "weight"), f"resources.{name}.weight")
    return Strategy(kind if kind in (MOST, LEAST) else LEAST, weight if weight > 0 else 1)


def strategy_of(name: str, strategies: Mapping[str, Strategy]) -> Strategy | None:
    """Return the strategy of a resource: by its name, else by the longest matching prefix.

    Examples
    --------
    >>> table = {"nvidia.com/*": Strategy(MOST, 2), "nvidia.com/gpu*": Strategy(LEAST, 3)}
    >>> strategy_of("nvidia.com/gpu-a100", table)
    Strategy(kind='LeastAllocated', weight=3)

    """
    if name in strategies:
        return strategies[name]
    prefixes = [key for key in strategies if key.endswith("*") and name.startswith(key[:-1])]
    return strategies[max(prefixes, key=len)] if prefixes else None


class StrategyScore(NamedTuple):
    """The score that fills or spreads nodes, resource by resource.

    Attributes
    ----------
    scale : int
        The maximum score of a node; 0 turns the score off.

    """

    nodes: NodeTable
    strategies: Mapping[str, Strategy]
    scale: int

    @classmethod
    def read(cls, nodes: NodeTable, arguments: Arguments) -> StrategyScore:
        """Return the score that the plugin's arguments define."""
        weight = read_integer(
            arguments.values.get("resourceStrategyFitWeight", 10), "resourceStrategyFitWeight"
        )
        weight = weight if weight >= 0 else 10
        return cls(nodes, read_strategies(arguments.values.get("resources")), MAX_NODE_SCORE * weight)

    def score(self, task: TaskInfo, nodes: Nodes) -> Scores:
        """Return the score of each node, (K,); 0 if a counted resource would not suffice.

        A resource that the node lacks counts only in the weights. Used amounts include terminating pods, but
        not pipelined ones.
        """
        total = np.zeros(len(nodes))
        if self.scale == 0:
            return total
        enough = np.ones(len(nodes), dtype=np.bool_)
        weight_sum = 0
        for name, strategy in self._strategies_of(task):
            weight_sum += strategy.weight
            column = self.nodes.axis.index[name]
            allocatable = self.nodes.allocatable[nodes, column]
            filled = task.request.get(name) + self.nodes.used[nodes, column]
            counts = allocatable != 0
            if strategy.weight == 0 or strategy.kind not in (MOST, LEAST):
                continue
            enough &= (filled <= allocatable) | ~counts
            part = filled if strategy.kind == MOST else allocatable - filled
            total += np.divide(part * strategy.weight, allocatable, out=np.zeros(len(nodes)), where=counts)
        if weight_sum > 0:
            total /= weight_sum
        return np.where(enough, total * self.scale, 0.0)

    def _strategies_of(self, task: TaskInfo) -> list[tuple[str, Strategy]]:
        kind, text = task.annotations().get(SCORING_TYPE), task.annotations().get(SCORING_WEIGHT)
        names = task.request.names()
        if kind:
            weights = own_weights(text)
            return [(name, Strategy(kind, weights[name])) for name in names if name in weights]
        found = [(name, strategy_of(name, self.strategies)) for name in names]
        return [(name, strategy) for name, strategy in found if strategy is not None]


def own_weights(text: str | None) -> dict[str, int]:
    """Return the weights in a pod's annotation; none if it is not a JSON map of whole numbers.

    Examples
    --------
    >>> own_weights('{"cpu": 2}'), own_weights('{"cpu": 2.5}')
    ({'cpu': 2}, {})

    """
    try:
        weights = json.loads(text or "")
    except ValueError:
        return {}
    if not isinstance(weights, dict):
        return {}
    if any(isinstance(weight, bool) or not isinstance(weight, int) for weight in weights.values()):
        return {}
    return weights
