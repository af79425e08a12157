"""Score that keeps scarce resources free."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.conf import Arguments
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import NodeTable
from scheduler_core.plugins.resource_strategy_fit.arguments import (
    MAX_NODE_SCORE,
    field_of,
    read_boolean,
    read_integer,
    read_mapping,
    read_names,
    read_text,
)

Nodes = NDArray[np.intp]
Scores = NDArray[np.float64]


class ScarceScore(NamedTuple):
    """The score that prefers nodes without the scarce resources.

    Attributes
    ----------
    weights : mapping
        The weight of each scarce resource, by name.
    scale : int
        The score of a node that has none of them; 0 turns the score off.

    """

    nodes: NodeTable
    weights: Mapping[str, int]
    scale: int

    @classmethod
    def read(cls, nodes: NodeTable, arguments: Arguments) -> ScarceScore:
        """Return the score that the plugin's arguments define."""
        table = read_mapping(arguments.values.get("sra"), "sra")
        stated = read_mapping(field_of(table, "resourceWeight"), "sra.resourceWeight")
        given = {name: read_integer(value, f"sra.resourceWeight.{name}") for name, value in stated.items()}
        listed = read_names(read_text(field_of(table, "resources"), "sra.resources"))
        weights = {name: given.get(name, 1) for name in listed}
        weight = read_integer(field_of(table, "weight"), "sra.weight")
        enabled = read_boolean(field_of(table, "enable"), "sra.enable")
        return cls(
            nodes,
            {name: own if own >= 0 else 1 for name, own in weights.items()},
            MAX_NODE_SCORE * weight if enabled and weight > 0 else 0,
        )

    def score(self, task: TaskInfo, nodes: Nodes) -> Scores:
        """Return the score of each node, (K,); 0 for a node that lacks anything the task requests."""
        total = sum(self.weights.values())
        if self.scale == 0 or total == 0:
            return np.zeros(len(nodes))
        index = self.nodes.axis.index
        owned = np.zeros(len(nodes))
        for name, weight in self.weights.items():
            if name in index:
                owned += weight * (self.nodes.allocatable[nodes, index[name]] > 0)
        suits = np.ones(len(nodes), dtype=np.bool_)
        for name in task.request.names():
            suits &= self.nodes.allocatable[nodes, index[name]] != 0
        return np.where(suits, (1 - owned / total) * self.scale, 0.0)
