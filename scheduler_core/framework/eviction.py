"""How does a task look for room that others hold? What preempt and reclaim have in common.

Source: volcano ``pkg/scheduler/actions/preempt/preempt.go``, ``actions/reclaim/reclaim.go`` at v1.15.1.
"""

from __future__ import annotations

from typing import Any

from scheduler_core.framework.placement import ErrorCache, Nodes
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.framework.victims import Verdict
from scheduler_core.model.job import TaskInfo


def never_evicts(task: TaskInfo) -> bool:
    """Tell whether the pod says that it never evicts others."""
    return bool(task.pod["spec"].get("preemptionPolicy") == "Never")


def promising_nodes(session: Session, task: TaskInfo, cache: ErrorCache) -> Nodes:
    """Return the nodes where evictions could help, by name.

    Left out are those that an earlier attempt of this session found hopeless, and those that the predicates refuse
    for good; resources are not compared.
    """
    among = None
    errors = task.job.fit_errors.get(task.uid) if task.job is not None else None
    hopeless = errors.unresolvable() if errors is not None else None
    if hopeless is not None and hopeless.any():
        among = session.placement.all[~hopeless]
    candidates, _ = session.placement.examine(task, resources=False, lenient=True, cache=cache, among=among)
    return candidates


def evict_for(statement: Statement, victim: TaskInfo, reason: str, for_task: TaskInfo, verdict: Verdict) -> None:
    """Evict a victim and keep what was said of it."""
    session = statement.session
    statement.evict(victim, reason, for_task)
    if session.trace is not None:
        order = sum(operation.kind == "evict" for operation in statement.operations)
        session.decisions[-1].explanation = explain_victim(victim, for_task, verdict, order)


def explain_victim(victim: TaskInfo, for_task: TaskInfo, verdict: Verdict, order: int) -> dict[str, Any]:
    """Return why a victim was handed out and what it frees, next to what is needed."""
    return {
        "tier": verdict.tier,
        "order": order,
        "votes": verdict.votes_on(victim),
        "freed": victim.request.as_dict(),
        "needed": for_task.request.as_dict(),
        "queue": victim.job.queue if victim.job is not None else "",
    }
