"""What is known of nodes as long as their objects are the same?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.labels import NodeLabels
from scheduler_core.model.pod_amounts import GPU
from scheduler_core.model.taints import NodeTaints
from scheduler_core.quantity import milli_value, whole_value

Counts = NDArray[np.int64]


class NodeFacts:
    """What Kubernetes reads of nodes, by name; one serves all sessions over the same nodes.

    Attributes
    ----------
    labels, taints
        Those of all nodes.
    allocatable : (3, N) int64
        Cpu, memory, GPUs of each node, without oversubscription; never changed.
    pod_limits : (N,) int64
        How many pods each node takes; never changed.

    """

    def __init__(self, nodes: Sequence[Mapping[str, Any]]) -> None:
        self.labels = NodeLabels([node["metadata"]["name"] for node in nodes], nodes)
        self.taints = NodeTaints(nodes)
        tables = [(node.get("status") or {}).get("allocatable") or {} for node in nodes]
        self.allocatable: Counts = np.array(
            [
                [_bounded(value(table.get(name, 0))) for table in tables]
                for name, value in (("cpu", milli_value), ("memory", whole_value), (GPU, whole_value))
            ],
            dtype=np.int64,
        ).reshape(3, len(nodes))
        limits = [_bounded(whole_value(table.get("pods", 0))) for table in tables]
        self.pod_limits: Counts = np.array(limits, dtype=np.int64)


def _bounded(amount: float) -> int:
    return min(int(amount), 2**62)
