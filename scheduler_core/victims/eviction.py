"""How does a task look for room that others hold? What the evicting actions have in common.

Source: volcano ``pkg/scheduler/actions/preempt/preempt.go``, ``actions/reclaim/reclaim.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

from scheduler_core.framework.placement import ErrorCache, Nodes
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.resource import Resource, total_of
from scheduler_core.victims.ask import Verdict
from scheduler_core.victims.loss_order import why_first


def never_evicts(task: TaskInfo) -> bool:
    """Tell whether the pod says that it never evicts others."""
    return task.kind.never_evicts


def promising_nodes(session: Session, task: TaskInfo, cache: ErrorCache) -> Nodes:
    """Return the nodes where evictions could help, by name.

    Left out are those that an earlier attempt of this session found hopeless, and those that the predicates
    refuse for good; resources are not compared.
    """
    return session.placement.curable(task, cache, not_hopeless(session, task))


def not_hopeless(session: Session, task: TaskInfo) -> Nodes | None:
    """Return the nodes that no earlier attempt of this session found hopeless; None: all of them."""
    errors = task.job.fit_errors.get(task.uid) if task.job is not None else None
    return None if errors is None else errors.hopeful()


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
    """Evict a victim to make room for a task, and keep why.

    `next_victim` is the one that would have been evicted next, None when nobody was left. After a dry run
    there is no such order.
    """
    session = statement.session
    if session.trace is None:
        statement.evict(victim, reason, for_task)
        return
    more: dict[str, Any] = {"dry_run": True} if dry_run else {}
    if next_victim is not None:
        more["first"] = why_first(session, victim, next_victim, for_task)
    if not verdict.evicted:
        more.update(_before_any(session, victim.node, for_task, verdict))
    statement.evict(victim, reason, for_task)
    _explain(statement, victim, for_task.job, for_task.request, verdict, more)


class ChosenNode(NamedTuple):
    """A node where tasks of a gang would go.

    Attributes
    ----------
    needed : Resource
        What these tasks ask for.
    allowed : list of TaskInfo
        All that might be evicted there.

    """

    node: int
    needed: Resource
    allowed: list[TaskInfo]


def evict_for_gang(
    statement: Statement,
    victim: TaskInfo,
    reason: str,
    job: JobInfo,
    demand: Sequence[TaskInfo],
    verdict: Verdict,
    chosen: Sequence[ChosenNode],
) -> None:
    """Evict a victim to make room for all that a job still needs, and keep what was said of it.

    `demand` are the job's tasks that look for room, `chosen` the nodes where they would go.
    """
    session = statement.session
    if session.trace is None:
        statement.evict(victim, reason, None)
        return
    more = {} if verdict.evicted else _before_any_for_gang(session, job, demand, chosen)
    statement.evict(victim, reason, None)
    _explain(statement, victim, job, total_of(task.request for task in demand), verdict, more)


def _before_any_for_gang(
    session: Session, job: JobInfo, demand: Sequence[TaskInfo], chosen: Sequence[ChosenNode]
) -> dict[str, Any]:
    """Return what there was before the first eviction for a gang.

    Returns
    -------
    dict
        `chosen`: by node the `room` that it had, what is `needed` there and all that were `allowed` to go;
        and `queue_short`, when the queue had no room for the gang: what it lacked.

    """
    told: dict[str, Any] = {
        "chosen": {
            session.nodes.names[place.node]: {
                "room": session.nodes.axis.resource(session.nodes.future_of[place.node]),
                "needed": place.needed,
                "allowed": sorted(task.key for task in place.allowed),
            }
            for place in chosen
        }
    }
    return {**told, **_queue_short(session, job, _as_one(demand))}


def _as_one(tasks: Sequence[TaskInfo]) -> TaskInfo:
    """Return a task that asks for all that several ask for together; no node is to be asked about it."""
    one = copy(tasks[0])
    one.shape = copy(one.shape)
    one.shape.request = total_of(task.request for task in tasks)
    return one


def _queue_short(session: Session, job: JobInfo, task: TaskInfo) -> dict[str, Any]:
    """Return what a job's queue lacks for a task as `queue_short`, nothing when it lacks nothing."""
    refusal = session.allocatable(session.queues[job.queue], task)
    if refusal is None:
        return {}
    return {"queue_short": {name: facts["missing"] for name, facts in refusal.get("short", {}).items()}}


def _before_any(session: Session, node: int, task: TaskInfo, verdict: Verdict) -> dict[str, Any]:
    """Return what there was before the first eviction for a task on a node.

    Returns
    -------
    dict
        `room` that the node had, `allowed`: all that might have been evicted there, and `queue_short`, for
        preemption in a queue that was full: what it lacked.

    """
    told: dict[str, Any] = {
        "room": session.nodes.axis.resource(session.nodes.future_of[node]),
        "allowed": sorted([victim.key for victim in verdict.victims]),
    }
    if session.action == "preempt" and task.job is not None:
        told.update(_queue_short(session, task.job, task))
    return told


def _explain(
    statement: Statement,
    victim: TaskInfo,
    for_job: JobInfo | None,
    needed: Resource,
    verdict: Verdict,
    more: dict[str, Any],
) -> None:
    """Keep with the last decision why its victim was handed out and what it frees, next to what is needed."""
    session = statement.session
    if session.trace is None:
        return
    verdict.evicted += 1
    session.decisions[-1].explanation = {
        "tier": verdict.tier,
        "order": verdict.evicted,
        "votes": verdict.votes_on(victim),
        "ballots": verdict.told_ballots(),
        "freed": victim.request.as_dict(),
        "needed": needed.as_dict(),
        "queue": victim.job.queue if victim.job is not None else "",
        "for_job": for_job.key if for_job is not None else "",
        **more,
    }
