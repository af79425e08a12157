"""The number of pods on each node by kind, as far as selectors can distinguish them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.job import TaskInfo
from scheduler_core.model.labels import SelectorError, parse_selector
from scheduler_core.model.pod import PodShape
from scheduler_core.model.pod_affinity import (
    AffinityReader,
    PodAffinity,
    has_pod_affinity,
    namespace_labels,
    pod_affinity_key,
    prefers_pods,
    raw_terms,
)
from scheduler_core.model.pod_info import PodInfo
from scheduler_core.model.services import Services
from scheduler_core.model.topology_spread import SpreadConstraint, raw_constraints

if TYPE_CHECKING:
    from scheduler_core.model.snapshot import Cluster


Counts = NDArray[np.int64]
NO_AFFINITY = PodAffinity()


class SelectorClass:
    """Pods that no selector of the session can tell apart.

    Attributes
    ----------
    labels : mapping
        Only the labels that some selector reads.
    identity : tuple
        Namespace and labels: everything that selectors read.
    deleting : bool
        Whether the pods were terminating when the session opened.
    relates : bool
        Whether the pods have affinity or anti-affinity to pods.
    on_nodes : dict
        The number of such pods, by node number.

    """

    __slots__ = (
        "affinity",
        "deleting",
        "identity",
        "labels",
        "listeners",
        "namespace",
        "on_nodes",
        "relates",
    )

    def __init__(
        self,
        namespace: str,
        labels: Mapping[str, str],
        affinity: PodAffinity,
        *,
        deleting: bool,
        relates: bool,
    ) -> None:
        self.identity = namespace, tuple(labels.items())
        self.namespace = namespace
        self.labels = labels
        self.deleting = deleting
        self.affinity = affinity
        self.relates = relates
        self.on_nodes: dict[int, int] = {}
        self.listeners: list[tuple[Counts, int]] = []


class SelectorClasses:
    """The kinds of pods of one session, and the nodes they are on.

    Attributes
    ----------
    selecting, preferring : bool
        Whether anything in the session selects pods by labels, and whether any pod has preferred affinity or
        anti-affinity to other pods.
    repelling, relating : (N,) bool
        The nodes that had a pod with required anti-affinity, or with any affinity to pods, when the session
        opened. Volcano considers no other nodes for such pods until the session ends.
    repelling_keys, preferring_keys : dict
        The topology keys of pods' required anti-affinity terms, and of their preferred terms of either kind,
        in order of first occurrence.
    namespaces : mapping
        The labels of each namespace, by name.

    Parameters
    ----------
    shapes : sequence of PodShape
        The shapes of all pods that may be added.
    cluster : Cluster
        The cluster whose namespaces selectors may match.
    services : Services
        The services, which also select pods.
    nodes : int
        The number of nodes.

    """

    def __init__(self, shapes: Sequence[PodShape], cluster: Cluster, services: Services, nodes: int) -> None:
        keys = {key for shape in shapes for key in shape.fact("selected", _selected_keys)}
        self._keys = tuple(sorted(keys | services.labels()))
        self.selecting = bool(self._keys) or any(has_pod_affinity(shape.spec) for shape in shapes)
        self.preferring = any(prefers_pods(shape.spec) for shape in shapes)
        self.namespaces = namespace_labels(cluster.namespaces)
        self._reader = AffinityReader(self.namespaces, merges_label_keys=cluster.pods.reader.default_requests)
        self.repelling = np.zeros(nodes, dtype=np.bool_)
        self.relating = np.zeros(nodes, dtype=np.bool_)
        self.repelling_keys: dict[str, None] = {}
        self.preferring_keys: dict[str, None] = {}
        self._kinds: dict[Hashable, SelectorClass] = {}
        self._kinds_on: list[set[SelectorClass]] = [set() for _ in range(nodes)]
        self._listeners: dict[Hashable, tuple[Counts, Callable[[SelectorClass], int]]] = {}

    def __len__(self) -> int:
        """Return the number of stored kinds and counts."""
        return len(self._kinds) + len(self._listeners)

    def knows(self, shape: PodShape) -> bool:
        """Return whether the selectors and preferences of a shape were all known at the start."""
        return (
            shape.fact("selected", _selected_keys).issubset(self._keys)
            and (self.selecting or not has_pod_affinity(shape.spec))
            and (self.preferring or not prefers_pods(shape.spec))
        )

    def relations(self) -> tuple[bool, bool]:
        """Return whether any node has a pod with required anti-affinity, and one with any affinity."""
        if not self.selecting:
            return False, False
        return bool(self.repelling.any()), bool(self.relating.any())

    def add_found(self, info: PodInfo, shape: PodShape, node: int) -> None:
        """Count a pod that the session found on a node."""
        kind = self._kind(info, shape)
        self._count(kind, node, 1)
        if kind.affinity.repels:
            self.repelling[node] = True
        if kind.relates:
            self.relating[node] = True

    def forget(self, node: int) -> None:
        """Stop counting all pods on a node."""
        self.repelling[node] = self.relating[node] = False
        for kind in self._kinds_on[node]:
            pods = kind.on_nodes.pop(node)
            for counts, weight in kind.listeners:
                counts[node] -= weight * pods
        self._kinds_on[node].clear()

    def count(self, task: TaskInfo, sign: int) -> None:
        """Add (1) or subtract (-1) a pod on the node of its task."""
        self._count(self.kind_of(task), task.node, sign)

    def _count(self, kind: SelectorClass, node: int, sign: int) -> None:
        kind.on_nodes[node] = kind.on_nodes.get(node, 0) + sign
        self._kinds_on[node].add(kind)
        for counts, weight in kind.listeners:
            counts[node] += sign * weight

    def kind_of(self, task: TaskInfo) -> SelectorClass:
        """Return the kind of a task."""
        return self._kind(task.info, task.shape)

    def _kind(self, info: PodInfo, shape: PodShape) -> SelectorClass:
        """Return the kind of a pod."""
        metadata = info.given["metadata"]
        all_labels: Mapping[str, str] = metadata.get("labels") or {}
        labels = tuple([(key, all_labels[key]) for key in self._keys if key in all_labels])
        deleting = bool(metadata.get("deletionTimestamp"))
        affinity_key = shape.fact("pod_affinity_key", pod_affinity_key)
        key = (info.namespace, labels, deleting, affinity_key)
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._make_kind(
                info.namespace, dict(labels), shape, deleting=deleting, relates=bool(affinity_key)
            )
            self._kinds[key] = kind
            for counts, weight_of in self._listeners.values():
                _listen(kind, counts, weight_of)
        return kind

    def _make_kind(
        self, namespace: str, labels: Mapping[str, str], shape: PodShape, *, deleting: bool, relates: bool
    ) -> SelectorClass:
        affinity = self._reader.read(shape.spec, namespace, labels) if relates else NO_AFFINITY
        self.repelling_keys.update((term.key, None) for term in affinity.required_anti)
        preferred = (*affinity.preferred, *affinity.preferred_anti)
        self.preferring_keys.update((term.key, None) for term in preferred)
        return SelectorClass(namespace, labels, affinity, deleting=deleting, relates=relates)

    def live_counts(self, name: Hashable, weight_of: Callable[[SelectorClass], int]) -> Counts:
        """Return the weighted number of pods on each node, (N,), kept up to date from now on.

        Parameters
        ----------
        name : hashable
            The key of the count; the same key gives the same array.
        weight_of : callable
            The weight of each pod of a kind; must never change.

        """
        known = self._listeners.get(name)
        if known is not None:
            return known[0]
        counts: Counts = np.zeros(len(self._kinds_on), dtype=np.int64)
        self._listeners[name] = counts, weight_of
        for kind in self._kinds.values():
            _listen(kind, counts, weight_of)
        return counts

    def spread_counts(self, namespace: str, constraint: SpreadConstraint) -> Counts:
        """Return the live number of pods on each node for a constraint of pods of a namespace, (N,)."""

        def weight_of(other: SelectorClass) -> int:
            return int(
                other.namespace == namespace and not other.deleting and constraint.counts(other.labels)
            )

        return self.live_counts(("spread", namespace, constraint), weight_of)


def _listen(kind: SelectorClass, counts: Counts, weight_of: Callable[[SelectorClass], int]) -> None:
    """Keep a count up to date with the pods of a kind."""
    weight = weight_of(kind)
    if weight:
        kind.listeners.append((counts, weight))
        for number, pods in kind.on_nodes.items():
            counts[number] += weight * pods


def _selected_keys(spec: Mapping[str, Any]) -> set[str]:
    """Return the pod labels that a specification's selectors read."""
    keys: set[str] = set()
    for entry in [*raw_terms(spec), *raw_constraints(spec)]:
        keys.update(entry.get("matchLabelKeys") or (), entry.get("mismatchLabelKeys") or ())
        try:
            selector = parse_selector(entry.get("labelSelector"))
        except SelectorError:
            continue  # a malformed selector never selects
        if selector is not None:
            keys |= selector.labels()
    return keys
