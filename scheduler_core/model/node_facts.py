"""Facts about nodes that depend on nothing but their objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.labels import NodeLabels
from scheduler_core.model.pod_amounts import GPU
from scheduler_core.model.taints import NodeTaints
from scheduler_core.quantity import milli_value, whole_value

Counts = NDArray[np.int64]


class NodeFacts:
    """The facts that Kubernetes reads from nodes, by name, shared by all sessions over the same nodes.

    Attributes
    ----------
    labels, taints
        Those of all nodes.
    allocatable : (3, N) int64
        Cpu, memory, GPUs of each node, without oversubscription; never changed.
    pod_limits : (N,) int64
        The maximum number of pods of each node; never changed.

    """

    def __init__(self, nodes: Sequence[Mapping[str, Any]]) -> None:
        self.labels = NodeLabels([node["metadata"]["name"] for node in nodes], nodes)
        self.taints = NodeTaints(nodes)
        tables = [(node.get("status") or {}).get("allocatable") or {} for node in nodes]
        counts = np.array([_counts_of((*table.items(),)) for table in tables], dtype=np.int64)
        by_name: Counts = counts.reshape(len(nodes), 4).T.copy()
        self.allocatable, self.pod_limits = by_name[:3], by_name[3]


@lru_cache(maxsize=4096)
def _counts_of(allocatable: tuple[tuple[str, object], ...]) -> list[int]:
    """Return the cpu, memory, GPUs and pods that a node allows."""
    amounts = dict(allocatable)
    readers = (("cpu", milli_value), ("memory", whole_value), (GPU, whole_value), ("pods", whole_value))
    return [min(int(value(amounts.get(name, 0))), 2**62) for name, value in readers]
