"""Checks of gangreclaim and gangpreempt for a starving job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scheduler_core.actions.gang_eviction import GangEviction, demand_of, may_lose_tasks
from scheduler_core.explain.checks import (
    Check,
    NodeVotes,
    candidates_found,
    counts_text,
    made_room,
    queue_may_evict,
    votes,
)
from scheduler_core.explain.reasons import reason
from scheduler_core.explain.turns import GANG_KINDS, try_alone
from scheduler_core.explain.wording import agreed, counted, quantities
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.recording.votes import recorded


class Search(NamedTuple):
    """The search of a gang action for room for all remaining pods of a job.

    Attributes
    ----------
    demand : list of TaskInfo
        The job's pods that need room.
    evictable : list of TaskInfo
        The pods that may be evicted: the plugins accept them, and their bundles may be evicted.
    searches : bool
        Whether the action reaches the point of searching for room.

    """

    gang: GangEviction
    job: JobInfo
    demand: Sequence[TaskInfo]
    evictable: Sequence[TaskInfo]
    searches: bool


def gang_checks(session: Session, action: str, job: JobInfo, *, searches: bool) -> Iterator[Check]:
    """Yield the checks, from whether the job may evict to whether all of it would have room.

    `searches`: whether the action reaches this job.
    """
    gang = GANG_KINDS[action](session)
    demand = demand_of(session, job)
    if not demand:
        text = (
            "No pod of the job needs room: none that requests anything is pending without a scheduling gate."
        )
        yield Check(False, reason("check.may-evict", text))
        return
    may = _may_evict(session, action, job, demand)
    yield may
    candidates = [task for tasks in gang.candidates_for(job).values() for task in tasks]
    yield _candidates(gang, job, candidates)
    if not candidates:
        return
    bundles, verdict = gang.bundles_for(job, demand)
    yield votes([NodeVotes(candidates, recorded(verdict.votes))])
    evictable = [task for bundle in bundles for task in bundle.tasks]
    search = Search(gang, job, demand, evictable, searches and may.passed)
    fit = _fit(search)
    yield _gangs(search, verdict.victims, fit)
    yield fit


def _may_evict(session: Session, action: str, job: JobInfo, demand: Sequence[TaskInfo]) -> Check:
    queue = session.queues[job.queue]
    if action == "gangreclaim":
        return queue_may_evict(session, queue, demand, f"{counted(len(demand), 'pod')} of job {job.key}")
    text = f"Job {job.key} may preempt jobs of queue {queue.name} with a priority below {job.priority}."
    return Check(True, reason("check.may-evict", text))


def _candidates(gang: GangEviction, job: JobInfo, candidates: Sequence[TaskInfo]) -> Check:
    found = candidates_found(len(candidates), len({task.node for task in candidates}))
    if found.passed:
        return found
    nodes = gang.session.nodes
    why = Counter(
        _why_no_candidate(gang, job, task)
        for number in range(len(nodes))
        for task in nodes.tasks.in_order(number)
    )
    text = f"No candidates on any node: {counts_text(why)}."
    return Check(False, reason("check.candidates", text, found.reason["numbers"]))


def _why_no_candidate(gang: GangEviction, job: JobInfo, task: TaskInfo) -> str:
    owner = task.job
    if owner is None:
        return "of no job"
    if not task.preemptable or not may_lose_tasks(owner):
        return "not preemptable"
    if gang.name == "gangreclaim":
        if owner.queue == job.queue:
            return "of the same queue"
        return (
            "not running"
            if gang.session.queues[owner.queue].reclaimable
            else "of queues that are not reclaimable"
        )
    if owner is job:
        return "of the job itself"
    if owner.queue != job.queue:
        return "of other queues"
    return "not running" if owner.priority < job.priority else "of jobs without a lower priority"


def _gangs(search: Search, allowed: Sequence[TaskInfo], fit: Check) -> Check:
    """Return whether gangs keep pods that the plugins accept and that would have been enough."""
    evictable = {task.uid for task in search.evictable}
    kept = [task for task in allowed if task.uid not in evictable]
    numbers = {"going": len(evictable), "kept": len(kept)}
    if not kept:
        text = "No evictable pod is kept by its gang."
        return Check(True, reason("check.gang", text, numbers))
    jobs = {task.job.key for task in kept if task.job is not None}
    why = (
        "not all of its pods may be evicted"
        if search.gang.allow_whole_bundle
        else "allowWholeBundle is off, so that no gang may be broken"
    )
    text = (
        f"{counted(len(kept), 'pod')} of {counted(len(jobs), 'job')} {agreed(len(kept), 'stays', 'stay')}, "
        f"or the gang would fall below minMember, and {why}."
    )
    missed = not fit.passed and not search.gang.lacking(
        search.demand, search.gang.room_without([*search.evictable, *kept])
    )
    return Check(not missed, reason("check.gang", text, numbers))


def _fit(search: Search) -> Check:
    """Return whether evictions make room for all remaining pods of the job; if not, why."""
    trial = try_alone(search.gang.session, search.gang.name, search.job) if search.searches else None
    if trial is not None and trial.complete:
        pods, victims = trial.pods, len(trial.victims)
        return made_room(pods, victims)
    lacks = search.gang.lacking(search.demand, search.gang.room_without(search.evictable))
    if lacks:
        text = f"Even then all nodes together lack {quantities(lacks, lacks)}."
        return Check(False, reason("check.fit", text, {"lacks": lacks}))
    room = (
        f"All nodes together would have room for {counted(len(search.demand), 'pod')} of the job once every "
        "evictable pod is gone"
    )
    if not search.searches:
        return Check(True, reason("check.fit", f"{room}."))
    refusal = _queue_refuses(search)
    text = f"{room}, but {refusal or 'not each of them finds a node with room for it'}."
    return Check(False, reason("check.fit", text, {"pods": len(search.demand)}))


def _queue_refuses(search: Search) -> str:
    """Return why the queue would still refuse the job's next pod, empty if it would not."""
    session = search.gang.session
    statement = Statement(session)
    for victim in search.evictable:
        statement.evict(victim, search.gang.name, None)
    refusal = session.plugins.allocatable(session.queues[search.job.queue], search.demand[0])
    statement.discard()
    return "" if refusal is None else str(refusal["message"])
