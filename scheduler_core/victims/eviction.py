"""The common part of preempt and reclaim: node search, eviction, pipelining.

Source: volcano ``pkg/scheduler/actions/preempt/preempt.go``, ``actions/reclaim/reclaim.go`` at v1.15.1.
"""

from __future__ import annotations

from scheduler_core.framework.error_cache import ErrorCache
from scheduler_core.framework.node_columns import Nodes
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.model.job import TaskInfo
from scheduler_core.victims.selection import Verdict


def never_evicts(task: TaskInfo) -> bool:
    """Return whether the pod's preemption policy is Never."""
    return task.kind.never_evicts


def promising_nodes(session: Session, task: TaskInfo, cache: ErrorCache) -> Nodes:
    """Return the nodes where evictions could help, by name.

    Nodes that an earlier attempt of this session ruled out, and nodes with unresolvable refusals of the
    predicates, are left out; resources are not compared.
    """
    return session.placement.predicates.resolvable(task, cache, resolvable_nodes(session, task))


def resolvable_nodes(session: Session, task: TaskInfo) -> Nodes | None:
    """Return the nodes that no earlier attempt of this session ruled out; None for all nodes."""
    errors = task.job.fit_errors.get(task.uid) if task.job is not None else None
    return None if errors is None else errors.resolvable_nodes()


def evict_for(
    statement: Statement,
    victim: TaskInfo,
    reason: str,
    for_task: TaskInfo,
    verdict: Verdict,
    next_victim: TaskInfo | None = None,
    *,
    dry_run: bool = False,
) -> None:
    """Evict a victim to make room for a task.

    `next_victim` would be evicted next; None if there is none, or after a dry run, which has no such order.
    """
    observer = statement.session.observer
    why = observer.explain_eviction(victim, for_task, verdict.votes, next_victim, dry_run=dry_run)
    statement.evict(victim, reason, for_task).explanation = why


def pipeline_after(
    statement: Statement, local: Statement, task: TaskInfo, node: int, *, has_room: bool, evicted: bool
) -> bool:
    """Pipeline a task on a node where victims made room for it; return whether it was pipelined.

    `local` contains the evictions. Unless it is the statement itself, they are merged into it, or undone if
    the task is not pipelined; releases of Volcano without rollback keep them.
    """
    pipelined = has_room and local.pipeline(task, node, eviction_occurred=evicted)
    if local is statement:
        return has_room
    if pipelined:
        statement.merge(local)
    else:
        local.discard()
    return pipelined
