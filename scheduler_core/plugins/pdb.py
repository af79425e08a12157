"""Plugin pdb: evict no more pods at once than PodDisruptionBudgets allow.

Source: volcano ``pkg/scheduler/plugins/pdb/pdb.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.conf import Arguments
from scheduler_core.decision import Why
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.labels import Selector, SelectorError, parse_selector

NAME = "pdb"


class Budget:
    """One PodDisruptionBudget with a non-empty selector.

    Attributes
    ----------
    allowed : int
        How many disruptions its status allows; 0 if the status does not say.
    disrupted : mapping
        Pods by name whose disruption is already counted.

    """

    def __init__(self, budget: Mapping[str, Any], selector: Selector) -> None:
        status = budget.get("status") or {}
        self.name: str = budget["metadata"]["name"]
        self.namespace: str = budget["metadata"]["namespace"]
        self.selector = selector
        self.allowed = int(status.get("disruptionsAllowed") or 0)
        self.disrupted: Mapping[str, Any] = status.get("disruptedPods") or {}

    def guards(self, task: TaskInfo) -> bool:
        """Return whether evicting the task counts against the budget."""
        return (
            task.namespace == self.namespace
            and task.name not in self.disrupted
            and self.selector.matches(task.labels())
        )


def open_session(session: Session, _arguments: Arguments) -> None:
    """Register the callbacks of pdb."""
    budgets = budgets_of(session.snapshot.cluster.pod_disruption_budgets)

    def within_budgets(
        _preemptor: TaskInfo, candidates: Sequence[TaskInfo], why: Why | None
    ) -> list[TaskInfo]:
        return tasks_within(budgets, candidates, why)

    session.registry.add_evictable(Point.PREEMPTABLE, NAME, within_budgets)
    session.registry.add_evictable(Point.RECLAIMABLE, NAME, within_budgets)
    session.registry.add_victim_tasks(NAME, lambda running: tasks_within(budgets, running, None))


def budgets_of(objects: Sequence[Mapping[str, Any]]) -> list[Budget]:
    """Return the budgets, without those whose selector is absent, empty or malformed."""
    budgets = []
    for entry in objects:
        try:
            selector = parse_selector((entry.get("spec") or {}).get("selector"))
        except SelectorError:
            continue
        if selector is not None and selector.requirements:
            budgets.append(Budget(entry, selector))
    return budgets


def tasks_within(
    budgets: Sequence[Budget], candidates: Sequence[TaskInfo], why: Why | None
) -> list[TaskInfo]:
    """Return, in order, the candidates whose eviction violates no budget; never a pod without labels.

    Every call starts from the budgets' status, regardless of earlier calls.
    """
    left = [budget.allowed for budget in budgets]
    accepted = []
    for task in candidates:
        broken: Budget | None = None
        for position, budget in enumerate(budgets if task.labels() else ()):
            if budget.guards(task):
                left[position] -= 1
                if left[position] < 0 and broken is None:
                    broken = budget
        if task.labels() and broken is None:
            accepted.append(task)
        if why is not None:
            why[task.uid] = _reason(task, broken)
    return accepted


def _reason(task: TaskInfo, broken: Budget | None) -> tuple[str, dict[str, Any]]:
    if not task.labels():
        return "pods without labels are never evicted", {}
    if broken is None:
        return "no disruption budget would be violated", {}
    text = f"disruption budget {broken.namespace}/{broken.name} would be violated"
    return text, {"disruptionsAllowed": broken.allowed}
