"""Plugin conformance: protect critical pods from eviction.

Source: volcano ``pkg/scheduler/plugins/conformance/conformance.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from scheduler_core.conf import Arguments
from scheduler_core.decision import Why
from scheduler_core.framework.bounds import StaticBound
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.living_view import nothing_to_renew
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.pod_kind import PodKind

NAME = "conformance"

SYSTEM_CLASSES = frozenset({"system-cluster-critical", "system-node-critical"})
SYSTEM_NAMESPACE = "kube-system"


def open_session(session: Session, _arguments: Arguments) -> None:
    """Register the callbacks of conformance."""
    session.registry.add_evictable(
        Point.PREEMPTABLE,
        NAME,
        non_critical_tasks,
        bound=StaticBound(is_not_critical),
        same_for_equal_tasks=True,
        same_for_equal_jobs=True,
    )
    session.registry.add_evictable(
        Point.RECLAIMABLE,
        NAME,
        non_critical_tasks,
        bound=StaticBound(is_not_critical),
        same_for_equal_tasks=True,
        same_for_equal_jobs=True,
    )
    session.registry.add_unified_evictable(
        NAME,
        lambda preemptor, candidates, _action, why: non_critical_tasks(preemptor, candidates, why),
    )
    session.renewals[NAME] = nothing_to_renew


def non_critical_tasks(
    _preemptor: TaskInfo, candidates: Sequence[TaskInfo], why: Why | None
) -> list[TaskInfo]:
    """Return the candidates that are not critical, in order; of the priority class only the name counts."""
    accepted = []
    for task in candidates:
        critical = critical_by(task.kind, task.namespace)
        if critical is None:
            accepted.append(task)
        if why is not None:
            why[task.uid] = _reason(critical)
    return accepted


@lru_cache(maxsize=16)
def _reason(critical: str | None) -> tuple[str, dict[str, Any]]:
    """Return the reason of a vote, one object for all candidates with the same cause."""
    text = "not critical for the cluster" if critical is None else f"critical for the cluster: {critical}"
    return text, {}


def is_not_critical(kind: PodKind, namespace: str) -> bool:
    """Return whether pods of a kind in a namespace are not critical for the cluster."""
    return critical_by(kind, namespace) is None


def critical_by(kind: PodKind, namespace: str) -> str | None:
    """Return what makes a pod critical for the cluster, None if nothing does."""
    name = kind.priority_class
    if name in SYSTEM_CLASSES:
        return f"priority class {name}"
    return f"namespace {SYSTEM_NAMESPACE}" if namespace == SYSTEM_NAMESPACE else None
