"""How strongly do the pods that are there draw one more pod, or push it away?

Only preferences count: in Volcano the required affinity of other pods has weight 0.

Source: kube-scheduler ``plugins/interpodaffinity/scoring.go`` at 1.35.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.job import TaskInfo
from scheduler_core.model.k8s_nodes import K8sNodeSnapshot
from scheduler_core.model.labels import SelectorError
from scheduler_core.model.pod_affinity import AffinityTerm, PodAffinity
from scheduler_core.model.selector_classes import Counts, SelectorClass


def attraction(k8s_nodes: K8sNodeSnapshot, task: TaskInfo, nodes: NDArray[np.intp]) -> Counts:
    """Return the weights of all preferences that speak for each node less those against it, (K,).

    Raises
    ------
    SelectorError
        If a term of the pod is malformed.

    """
    kind = k8s_nodes.pods.kind_of(task)
    if kind.affinity.problem:
        raise SelectorError(kind.affinity.problem)
    total = np.zeros(len(nodes), dtype=np.int64)
    if not kind.affinity.prefers and not k8s_nodes.pods.relating.any():
        return total
    for key in k8s_nodes.pods.preferring_keys:
        per_node = _wishes_of_others(k8s_nodes, kind, key)
        if kind.affinity.prefers:
            name = ("drawn", kind.affinity.preferred, kind.affinity.preferred_anti, key)
            per_node = per_node + k8s_nodes.pods.live_counts(name, partial(own_wish, kind.affinity, key))
        else:
            per_node = per_node * k8s_nodes.pods.relating
        column = k8s_nodes.labels.column(key)
        sums = column.sums(per_node)
        sums[-1] = 0
        total += sums[column.codes[nodes]]
    return total


def _wishes_of_others(k8s_nodes: K8sNodeSnapshot, kind: SelectorClass, key: str) -> Counts:
    namespace_labels = k8s_nodes.pods.namespaces.get(kind.namespace, {})
    return k8s_nodes.pods.live_counts(
        ("draws", kind.identity, key), partial(wish, kind, namespace_labels, key)
    )


def own_wish(affinity: PodAffinity, key: str, other: SelectorClass) -> int:
    """Return how much a pod wants to be where `other` is, by its terms over one topology key."""
    return _balance(affinity, key, lambda term: term.selects(other.namespace, other.labels))


def wish(kind: SelectorClass, namespace_labels: Mapping[str, str], key: str, other: SelectorClass) -> int:
    """Return how much `other` wants a pod of `kind` beside it, by its terms over one topology key."""
    return _balance(
        other.affinity, key, lambda term: term.selects_incoming(kind.namespace, kind.labels, namespace_labels)
    )


def _balance(affinity: PodAffinity, key: str, applies: Callable[[AffinityTerm], bool]) -> int:
    weighted = [(1, term) for term in affinity.preferred] + [(-1, term) for term in affinity.preferred_anti]
    return sum(sign * term.weight for sign, term in weighted if term.key == key and applies(term))
