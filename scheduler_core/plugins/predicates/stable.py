"""The filters whose result for a shape is fixed for the session.

Source: kube-scheduler ``plugins/nodeunschedulable``, ``plugins/nodeaffinity``,
``plugins/tainttoleration`` at 1.35.3.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.model.fit import POD_NUMBER, Code, Status, StatusTable, Why
from scheduler_core.model.k8s_nodes import K8sNodeSnapshot
from scheduler_core.model.pod import PodShape
from scheduler_core.model.taints import UNSCHEDULABLE_TAINT, tolerates, tolerations_of
from scheduler_core.plugins.predicates.findings import Findings

_UNRESOLVABLE = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
UNSCHEDULABLE = Status(_UNRESOLVABLE, "node(s) were unschedulable", "NodeUnschedulable", permanent=True)
NODE_AFFINITY = Status(
    _UNRESOLVABLE, "node(s) didn't match Pod's node affinity/selector", "NodeAffinity", permanent=True
)
TAINT = Status(_UNRESOLVABLE, "node(s) had untolerated taint(s)", "TaintToleration", permanent=True)


class StableFilters:
    """The filters whose result for a shape is fixed for the session, computed once over all nodes."""

    def __init__(
        self, k8s_nodes: K8sNodeSnapshot, statuses: StatusTable, *, node_affinity: bool, taints: bool
    ) -> None:
        self.k8s_nodes = k8s_nodes
        self.statuses = statuses
        self.checks_node_affinity = node_affinity
        self.checks_taints = taints
        self._answers: dict[int, tuple[Why, Why]] = {}
        self._by_demand: dict[bytes, tuple[Why, Why]] = {}

    def answers(self, shape: PodShape) -> tuple[Why, Why]:
        """Return the refusals of each node for a shape, (N,): with room for one more pod, and without."""
        known = self._answers.get(shape.number)
        if known is None:
            demand = shape.fact("stable_demand", _demand)
            known = self._by_demand.get(demand)
            if known is None:
                known = self._by_demand[demand] = (
                    self._evaluate(shape, full=False),
                    self._evaluate(shape, full=True),
                )
            self._answers[shape.number] = known
        return known

    def distinct(self, shapes: Sequence[PodShape]) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """Return the index of each shape's answer, (C,), and the distinct answers with room, (D, N)."""
        answers = [self.answers(shape)[0] for shape in shapes]
        rows = {id(answer): answer for answer in answers}
        positions = {key: position for position, key in enumerate(rows)}
        whose = np.array([positions[id(answer)] for answer in answers], dtype=np.intp)
        return whose, np.array(list(rows.values()))

    def _evaluate(self, shape: PodShape, *, full: bool) -> Why:
        findings = Findings.empty(self.statuses, len(self.k8s_nodes.nodes))
        findings.add(np.full(len(self.k8s_nodes.nodes), full), POD_NUMBER)
        taints = self.k8s_nodes.taints
        if taints.unschedulable.any() and not tolerates(tolerations_of(shape.spec), UNSCHEDULABLE_TAINT):
            findings.add(taints.unschedulable, UNSCHEDULABLE)
        if self.checks_node_affinity:
            findings.add(~self.k8s_nodes.required_nodes(shape), NODE_AFFINITY)
        if self.checks_taints:
            findings.add(self.k8s_nodes.untolerated_nodes(shape), TAINT)
        return findings.why


def _demand(spec: Mapping[str, Any]) -> bytes:
    """Return the parts of a specification that these filters read, as one key."""
    affinity = (spec.get("affinity") or {}).get("nodeAffinity")
    return marshal.dumps((spec.get("nodeSelector"), affinity, spec.get("tolerations")), 2)
