"""Pods and PodGroups of a scenario, as the scheduler finds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import inf
from typing import Any

from scheduler_core.model.pod_info import creation_of
from scheduler_core.model.pods import Pods

Object = Mapping[str, Any]
NodePods = Mapping[str, list[Object]]
"""By node, the pods that belong to it."""


class Workloads:
    """Pods and PodGroups as the scheduler finds them.

    Attributes
    ----------
    sources : tuple
        The parts of the document from which they were derived.
    pods, podgroups : mapping
        All of them by namespace/name, including those that controllers created.
    unmodelled : list of str
        Notes on the features that they use and the core does not model.
    of_nodes : mapping
        The pods of the scenario that belong to their node, for each node with a pod of a DaemonSet.
    twins : mapping
        For each copied node without such pods an equal one, like whose pods it got its own.

    """

    def __init__(self, sources: tuple[Any, ...], pods: Pods) -> None:
        self.sources = sources
        self.pods = pods
        self.podgroups: dict[str, Object] = {}
        self.changes: Counter[str] = Counter()
        self.unmodelled: list[str] = []
        self.of_nodes: NodePods = {}
        self.twins: dict[str, str] = {}

    def newest(self) -> float:
        """Return the newest creationTimestamp, seconds since 1970; minus infinity without any."""
        times = [info.creation for info in self.pods.infos.values()]
        return max((*times, *map(creation_of, self.podgroups.values())), default=-inf)
