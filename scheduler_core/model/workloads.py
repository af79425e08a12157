"""Pods and PodGroups of a scenario, as the scheduler finds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from math import inf
from typing import Any

from scheduler_core.model.pod_info import creation_of
from scheduler_core.model.pods import Pods
from scheduler_core.model.unmodelled import is_of_daemonset

Object = Mapping[str, Any]


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

    """

    def __init__(self, sources: tuple[Any, ...], pods: Pods) -> None:
        self.sources = sources
        self.pods = pods
        self.podgroups: dict[str, Object] = {}
        self.changes: Counter[str] = Counter()
        self.unmodelled: list[str] = []

    @cached_property
    def nodes_with_daemons(self) -> frozenset[str]:
        """Return the nodes that hold a pod of a DaemonSet."""
        infos = self.pods.infos.values()
        return frozenset(info.node_name for info in infos if info.node_name and is_of_daemonset(info.given))

    def newest(self) -> float:
        """Return the newest creationTimestamp, seconds since 1970; minus infinity without any."""
        times = [info.creation for info in self.pods.infos.values()]
        return max((*times, *map(creation_of, self.podgroups.values())), default=-inf)
