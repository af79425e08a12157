"""The topology spread filter.

Source: kube-scheduler ``plugins/podtopologyspread/filtering.go`` at 1.35.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.job import TaskInfo
from scheduler_core.model.k8s_nodes import K8sNodeSnapshot
from scheduler_core.model.topology_spread import SpreadConstraint


class SpreadRefusal(IntEnum):
    """Why a node is refused."""

    NONE = 0
    MISSING_LABEL = 1
    SKEW = 2


def spread_refusals(
    k8s_nodes: K8sNodeSnapshot, task: TaskInfo, constraints: Sequence[SpreadConstraint]
) -> NDArray[np.int8]:
    """Return each node's refusal by its first violated constraint, (N,) numbers of `SpreadRefusal`."""
    refusals = np.zeros(len(k8s_nodes.nodes), dtype=np.int8)
    eligible = k8s_nodes.labels.all_present(constraint.key for constraint in constraints)
    for constraint in reversed(constraints):
        column = k8s_nodes.labels.column(constraint.key)
        counted = eligible & k8s_nodes.counted_nodes(task.shape, constraint)
        matching = k8s_nodes.pods.spread_counts(task.namespace, constraint)
        totals = column.sums(np.where(counted, matching, 0))
        registered = np.bincount(column.codes[counted], minlength=len(totals)) > 0
        fewest = int(totals[registered].min()) if registered.sum() >= constraint.min_domains else 0
        existing = np.where(registered, totals, 0)[column.codes]
        itself = constraint.matches_itself(task.labels())
        refusals[existing + itself - fewest > constraint.max_skew] = SpreadRefusal.SKEW
        refusals[~column.present()] = SpreadRefusal.MISSING_LABEL
    return refusals
