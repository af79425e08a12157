"""Taints of nodes and tolerations of pods.

Source: component-helpers ``scheduling/corev1/helpers.go``, api ``core/v1/toleration.go`` at 1.35.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.labels import Mask

HARD_EFFECTS = frozenset({"NoSchedule", "NoExecute"})
SOFT_EFFECT = "PreferNoSchedule"
Tolerations = Sequence[Mapping[str, Any]]


class Taint(NamedTuple):
    """A taint of a node."""

    key: str
    value: str
    effect: str


UNSCHEDULABLE_TAINT = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


def tolerations_of(spec: Mapping[str, Any]) -> Tolerations:
    """Return the tolerations of a pod."""
    tolerations: Tolerations = spec.get("tolerations") or ()
    return tolerations


def tolerates(tolerations: Tolerations, taint: Taint) -> bool:
    """Return whether any toleration tolerates a taint."""
    return any(_matches(toleration, taint) for toleration in tolerations)


def _matches(toleration: Mapping[str, Any], taint: Taint) -> bool:
    if (toleration.get("effect") or taint.effect) != taint.effect:
        return False
    if (toleration.get("key") or taint.key) != taint.key:
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Equal":
        return (toleration.get("value") or "") == taint.value
    return bool(operator == "Exists")


class NodeTaints:
    """The taints of all nodes, evaluated once per distinct set.

    Attributes
    ----------
    codes : (N,) intp
        The index of each node's set of taints among the distinct sets.
    unschedulable : (N,) bool
        Which nodes are cordoned.

    """

    def __init__(self, nodes: Sequence[Mapping[str, Any]]) -> None:
        index: dict[tuple[Taint, ...], int] = {}
        specs = [node.get("spec") or {} for node in nodes]
        self.codes = np.array([index.setdefault(_taints(spec), len(index)) for spec in specs], dtype=np.intp)
        self.sets = list(index)
        self.unschedulable = np.array([bool(spec.get("unschedulable")) for spec in specs], dtype=np.bool_)

    def has(self, effect: str) -> bool:
        """Return whether any node has a taint of this effect."""
        return any(taint.effect == effect for taints in self.sets for taint in taints)

    def untolerated(self, tolerations: Tolerations) -> Mask:
        """Return which nodes have a NoSchedule or NoExecute taint that is not tolerated, (N,)."""
        refused: Mask = self._per_node(lambda taint: taint.effect in HARD_EFFECTS, tolerations) > 0
        return refused

    def intolerable(self, tolerations: Tolerations) -> NDArray[np.int64]:
        """Return how many PreferNoSchedule taints of each node are not tolerated, (N,)."""
        return self._per_node(lambda taint: taint.effect == SOFT_EFFECT, tolerations)

    def _per_node(self, counts: Callable[[Taint], bool], tolerations: Tolerations) -> NDArray[np.int64]:
        per_set = [
            sum(counts(taint) and not tolerates(tolerations, taint) for taint in taints)
            for taints in self.sets
        ]
        per_node: NDArray[np.int64] = np.array(per_set, dtype=np.int64)[self.codes]
        return per_node


def _taints(spec: Mapping[str, Any]) -> tuple[Taint, ...]:
    return tuple(
        Taint(entry.get("key") or "", entry.get("value") or "", entry.get("effect") or "")
        for entry in spec.get("taints") or ()
    )
