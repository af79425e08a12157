"""Records of evictions: why a task is evicted, what was free before, and what it frees."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from scheduler_core.framework.observer import DECIDED, ChosenNode, Explanation
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.recording.victim_order import why_first
from scheduler_core.recording.votes import RecordedVotes
from scheduler_core.resource import Resource, total_of


def explain(
    session: Session,
    victim: TaskInfo,
    for_task: TaskInfo,
    votes: RecordedVotes,
    next_victim: TaskInfo | None,
    *,
    dry_run: bool,
) -> Explanation:
    """Return the record of a task about to be evicted for another one.

    `next_victim` is the next one in order, None if there is none. After a dry run there is no such order.
    """
    more: dict[str, Any] = {"dry_run": True} if dry_run else {}
    if next_victim is not None:
        more["first"] = why_first(session, victim, next_victim, for_task)
    if not votes.evicted:
        more.update(_before_any(session, victim.node, for_task, votes))
    return _explanation(victim, for_task.job, for_task.request, votes, more)


def explain_for_gang(
    session: Session,
    victim: TaskInfo,
    job: JobInfo,
    demand: Sequence[TaskInfo],
    votes: RecordedVotes,
    chosen: Sequence[ChosenNode],
) -> Explanation:
    """Return the record of a task about to be evicted for all remaining tasks of a job."""
    more = {} if votes.evicted else _before_any_for_gang(session, job, demand, chosen)
    return _explanation(victim, job, total_of(task.request for task in demand), votes, more)


def explain_shuffle(victim: TaskInfo, tier: int, order: int, plugins: Sequence[str]) -> Explanation:
    """Return the record of a task that shuffle evicted, with the plugins of one tier that named it."""
    permit = {"verdict": "permit", "why": "the plugin wants it moved", "numbers": {}}
    return {
        "tier": tier,
        "order": order,
        "votes": [{"tier": tier, "plugin": plugin, **permit} for plugin in plugins],
        "ballots": [{"tier": tier, "plugins": plugins, "outcome": DECIDED}],
        "freed": victim.request.as_dict(),
        "needed": {},
        "queue": _queue_of(victim),
        "for_job": "",
    }


def _explanation(
    victim: TaskInfo, for_job: JobInfo | None, needed: Resource, votes: RecordedVotes, more: dict[str, Any]
) -> Explanation:
    """Return why the next victim is evictable and what it frees, with what is needed."""
    votes.evicted += 1
    return {
        "tier": votes.tier,
        "order": votes.evicted,
        "votes": votes.on(victim),
        "ballots": votes.ballots_as_data(),
        "freed": victim.request.as_dict(),
        "needed": needed.as_dict(),
        "queue": _queue_of(victim),
        "for_job": for_job.key if for_job is not None else "",
        **more,
    }


def _before_any(session: Session, node: int, task: TaskInfo, votes: RecordedVotes) -> dict[str, Any]:
    """Return the state before the first eviction for a task on a node.

    Returns
    -------
    dict
        `room`: the room on the node; `allowed`: all tasks there that might have been evicted; and, for
        preemption in a full queue, `queue_short`: what the queue lacked.

    """
    before: dict[str, Any] = {
        "room": session.nodes.axis.resource(session.nodes.future_of[node]),
        "allowed": sorted([victim.key for victim in votes.victims]),
    }
    if session.action == "preempt" and task.job is not None:
        before.update(_queue_short(session, task.job, task))
    return before


def _before_any_for_gang(
    session: Session, job: JobInfo, demand: Sequence[TaskInfo], chosen: Sequence[ChosenNode]
) -> dict[str, Any]:
    """Return the state before the first eviction for a gang.

    Returns
    -------
    dict
        `chosen`: by node its `room`, the amounts `needed` there and all tasks that were `allowed` to be
        evicted; and, if the queue had no room for the gang, `queue_short`: what the queue lacked.

    """
    by_node = {
        session.nodes.names[place.node]: {
            "room": session.nodes.axis.resource(session.nodes.future_of[place.node]),
            "needed": place.needed,
            "allowed": sorted(task.key for task in place.allowed),
        }
        for place in chosen
    }
    return {"chosen": by_node, **_queue_short(session, job, _as_one(demand))}


def _as_one(tasks: Sequence[TaskInfo]) -> TaskInfo:
    """Return a single task with the requests of several, which is never placed."""
    one = copy(tasks[0])
    one.shape = copy(one.shape)
    one.shape.request = total_of(task.request for task in tasks)
    return one


def _queue_short(session: Session, job: JobInfo, task: TaskInfo) -> dict[str, Any]:
    """Return what a job's queue lacks for a task as `queue_short`, empty if it lacks nothing."""
    refusal = session.plugins.allocatable(session.queues[job.queue], task)
    if refusal is None:
        return {}
    return {"queue_short": {name: facts["missing"] for name, facts in refusal.get("short", {}).items()}}


def _queue_of(task: TaskInfo) -> str:
    return task.job.queue if task.job is not None else ""
