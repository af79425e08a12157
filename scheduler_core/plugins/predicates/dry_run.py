"""The inter-pod affinity filter in dry runs of topology-aware preemption."""

from __future__ import annotations

import numpy as np

from scheduler_core.errors import CoreError
from scheduler_core.framework.dry_run import DryRun
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.k8s_nodes import K8sNodeSnapshot
from scheduler_core.plugins.predicates.inter_pod import PodCounters, Refusal, change_counters
from scheduler_core.plugins.predicates.pod_state import NAME, PodState


class DryRuns:
    """The filter on copied counters; dry runs call no other filter."""

    def __init__(self, k8s_nodes: K8sNodeSnapshot) -> None:
        self.k8s_nodes = k8s_nodes

    def add_task(self, dry_run: DryRun, task: TaskInfo) -> None:
        """Count a pod that is restored to the node."""
        self._change(dry_run, task, 1)

    def remove_task(self, dry_run: DryRun, task: TaskInfo) -> None:
        """Stop counting a pod that is removed from the node."""
        self._change(dry_run, task, -1)

    def _change(self, dry_run: DryRun, task: TaskInfo, sign: int) -> None:
        other = self.k8s_nodes.pods.kind_of(task)
        if other.affinity.problem:
            raise CoreError(f"failed to create pod info of {task.key}: {other.affinity.problem}")
        counters = _counters_in(dry_run)
        if counters is not None:
            kind = self.k8s_nodes.pods.kind_of(dry_run.preemptor)
            change_counters(counters, self.k8s_nodes, kind, other, dry_run.node, sign)

    def predicate(self, dry_run: DryRun, _preemptor: TaskInfo) -> bool:
        """Return whether the filter accepts the preemptor."""
        counters = _counters_in(dry_run)
        if counters is None:
            return True
        return bool(counters.refusals(np.array([dry_run.node], dtype=np.intp))[0] == Refusal.NONE)


def _counters_in(dry_run: DryRun) -> PodCounters | None:
    state: PodState | None = dry_run.state.get(NAME)
    return None if state is None else state.active_counters
