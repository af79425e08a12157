"""The inter-pod affinity score.

Only preferred terms count: in Volcano the required affinity of other pods has weight 0.

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


def affinity_score(k8s_nodes: K8sNodeSnapshot, task: TaskInfo, nodes: NDArray[np.intp]) -> Counts:
    """Return each node's weights of matching preferred terms, affinity less anti-affinity, (K,).

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
        per_node = _weights_of_others(k8s_nodes, kind, key)
        if kind.affinity.prefers:
            name = ("preferred", kind.affinity.preferred, kind.affinity.preferred_anti, key)
            per_node = per_node + k8s_nodes.pods.live_counts(name, partial(own_weight, kind.affinity, key))
        else:
            per_node = per_node * k8s_nodes.pods.relating
        column = k8s_nodes.labels.column(key)
        sums = column.sums(per_node)
        sums[-1] = 0
        total += sums[column.codes[nodes]]
    return total


def _weights_of_others(k8s_nodes: K8sNodeSnapshot, kind: SelectorClass, key: str) -> Counts:
    namespace_labels = k8s_nodes.pods.namespaces.get(kind.namespace, {})
    return k8s_nodes.pods.live_counts(
        ("preferring", kind.identity, key), partial(incoming_weight, kind, namespace_labels, key)
    )


def own_weight(affinity: PodAffinity, key: str, other: SelectorClass) -> int:
    """Return the weight of a pod's own terms over one topology key that select `other`."""
    return _net_weight(affinity, key, lambda term: term.selects(other.namespace, other.labels))


def incoming_weight(
    kind: SelectorClass, namespace_labels: Mapping[str, str], key: str, other: SelectorClass
) -> int:
    """Return the weight of the terms of `other` over one topology key that select a pod of `kind`."""
    return _net_weight(
        other.affinity, key, lambda term: term.selects_incoming(kind.namespace, kind.labels, namespace_labels)
    )


def _net_weight(affinity: PodAffinity, key: str, applies: Callable[[AffinityTerm], bool]) -> int:
    weighted = [(1, term) for term in affinity.preferred] + [(-1, term) for term in affinity.preferred_anti]
    return sum(sign * term.weight for sign, term in weighted if term.key == key and applies(term))
