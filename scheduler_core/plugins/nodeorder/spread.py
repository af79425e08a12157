"""The topology spread score.

Source: kube-scheduler ``plugins/podtopologyspread/scoring.go`` at 1.35.3.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.job import TaskInfo
from scheduler_core.model.k8s_nodes import K8sNodeSnapshot
from scheduler_core.model.labels import Mask
from scheduler_core.model.selector_classes import Counts
from scheduler_core.model.topology_spread import (
    HOSTNAME,
    SOFT,
    SpreadConstraint,
    constraints_of,
    default_constraints,
    raw_constraints,
)
from scheduler_core.plugins.nodeorder.normalise import BEST


def spreads(k8s_nodes: K8sNodeSnapshot, task: TaskInfo) -> bool:
    """Return whether any constraint scores nodes for a pod."""
    raw = raw_constraints(task.shape.spec)
    if raw:
        return any(entry.get("whenUnsatisfiable") == SOFT for entry in raw)
    return bool(k8s_nodes.services) and bool(k8s_nodes.services.selector_of(task).requirements)


def soft_constraints(k8s_nodes: K8sNodeSnapshot, task: TaskInfo) -> tuple[SpreadConstraint, ...]:
    """Return the constraints that only score: the pod's own, or the default ones if a service selects it.

    Raises
    ------
    SelectorError
        If a selector is malformed.

    """
    if raw_constraints(task.shape.spec):
        return constraints_of(task.shape.spec, task.labels(), SOFT)
    if not k8s_nodes.services:
        return ()
    selector = k8s_nodes.services.selector_of(task)
    return default_constraints(selector) if selector.requirements else ()


def spread_score(
    k8s_nodes: K8sNodeSnapshot, task: TaskInfo, nodes: NDArray[np.intp], *, counts_hosts: bool = True
) -> Counts:
    """Return the score of each candidate, (K,): 100 for the fewest matching pods.

    A node without one of the labels is ignored and scores 0, unless the constraints are the default ones.
    Without `counts_hosts` a constraint by hostname counts no pods.
    """
    constraints = soft_constraints(k8s_nodes, task)
    strict = bool(raw_constraints(task.shape.spec))
    everywhere = np.ones(len(k8s_nodes.nodes), dtype=np.bool_)
    eligible = k8s_nodes.labels.all_present(c.key for c in constraints) if strict else everywhere
    counting = eligible[nodes]
    raw = np.zeros(len(nodes))
    for constraint in constraints:
        raw += _weighted_matches(k8s_nodes, task, nodes, constraint, eligible, counts_hosts=counts_hosts)
    return _normalized(_rounded(raw), counting)


def _weighted_matches(
    k8s_nodes: K8sNodeSnapshot,
    task: TaskInfo,
    nodes: NDArray[np.intp],
    constraint: SpreadConstraint,
    eligible: Mask,
    *,
    counts_hosts: bool,
) -> NDArray[np.float64]:
    """Return the weighted number of matching pods for each candidate by one constraint, (K,)."""
    counts = k8s_nodes.pods.spread_counts(task.namespace, constraint)
    column = k8s_nodes.labels.column(constraint.key)
    codes = column.codes[nodes]
    counting = eligible[nodes]
    if constraint.key == HOSTNAME:
        domains, matching = int(counting.sum()), counts[nodes] * counts_hosts
    else:
        counted = eligible & k8s_nodes.counted_nodes(task.shape, constraint)
        domains, matching = (
            int(np.count_nonzero(np.bincount(codes[counting]))),
            column.sums(counts * counted)[codes],
        )
    rated = matching * math.log(domains + 2) + (constraint.max_skew - 1)
    return np.where(codes < len(column.values), rated, 0.0)


def _rounded(amounts: NDArray[np.float64]) -> Counts:
    """Round to whole numbers, halves up; amounts are never negative."""
    whole = np.floor(amounts)
    return (whole + (amounts - whole >= 0.5)).astype(np.int64)


def _normalized(raw: Counts, counting: Mask) -> Counts:
    if not counting.any():
        return np.zeros_like(raw)
    smallest, largest = raw[counting].min(), max(int(raw[counting].max()), 0)
    score = np.full_like(raw, BEST) if largest == 0 else BEST * (largest + smallest - raw) // largest
    return np.where(counting, score, 0)
