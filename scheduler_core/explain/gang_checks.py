"""Why did gangreclaim or gangpreempt do nothing for a job that starves?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scheduler_core.actions.gang_eviction import GangEviction, demand_of, gives_way
from scheduler_core.explain.checks import (
    Check,
    NodeVotes,
    candidates_found,
    made_room,
    queue_may_evict,
    said_counts,
    votes,
)
from scheduler_core.explain.reasons import reason
from scheduler_core.explain.turns import GANG_KINDS, tried_alone
from scheduler_core.explain.wording import agreed, counted, quantities
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.recording.votes import recorded


class Look(NamedTuple):
    """A gang action looking for room for all that a job still needs.

    Attributes
    ----------
    demand : list of TaskInfo
        The job's pods that look for room.
    going : list of TaskInfo
        Those that may be evicted: the plugins accept them, and their bundles may leave.
    searches : bool
        Whether the action gets so far as to look for room at all.

    """

    gang: GangEviction
    job: JobInfo
    demand: Sequence[TaskInfo]
    going: Sequence[TaskInfo]
    searches: bool


def gang_checks(session: Session, action: str, job: JobInfo, *, searches: bool) -> Iterator[Check]:
    """Yield from whether others may be evicted for a job to whether all of it would have room.

    `searches`: whether the action gets as far as this job.
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
    going = [task for bundle in bundles for task in bundle.tasks]
    look = Look(gang, job, demand, going, searches and may.passed)
    fit = _fit(look)
    yield _gangs(look, verdict.victims, fit)
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
        for task in nodes.sorted_tasks(number)
    )
    text = f"No candidates on any node: {said_counts(why)}."
    return Check(False, reason("check.candidates", text, found.reason["numbers"]))


def _why_no_candidate(gang: GangEviction, job: JobInfo, task: TaskInfo) -> str:
    owner = task.job
    if owner is None:
        return "of no job"
    if not task.preemptable or not gives_way(owner):
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


def _gangs(look: Look, allowed: Sequence[TaskInfo], fit: Check) -> Check:
    """Return whether pods that plugins accept stay because their gang needs them, and are missed."""
    going = {task.uid for task in look.going}
    kept = [task for task in allowed if task.uid not in going]
    numbers = {"going": len(going), "kept": len(kept)}
    if not kept:
        text = "No evictable pod is kept by its gang."
        return Check(True, reason("check.gang", text, numbers))
    jobs = {task.job.key for task in kept if task.job is not None}
    why = (
        "not all of its pods may be evicted"
        if look.gang.allow_whole_bundle
        else "allowWholeBundle is off, so that no gang may be broken"
    )
    text = (
        f"{counted(len(kept), 'pod')} of {counted(len(jobs), 'job')} {agreed(len(kept), 'stays', 'stay')}, "
        f"or the gang would fall below minMember, and {why}."
    )
    missed = not fit.passed and not look.gang.lacking(
        look.demand, look.gang.room_without([*look.going, *kept])
    )
    return Check(not missed, reason("check.gang", text, numbers))


def _fit(look: Look) -> Check:
    """Return whether evictions make room for all that the job still needs; else what is in the way."""
    tried = tried_alone(look.gang.session, look.gang.name, look.job) if look.searches else None
    if tried is not None and tried.complete:
        pods, victims = tried.pods, len(tried.victims)
        return made_room(pods, victims)
    lacks = look.gang.lacking(look.demand, look.gang.room_without(look.going))
    if lacks:
        text = f"Even then all nodes together lack {quantities(lacks, lacks)}."
        return Check(False, reason("check.fit", text, {"lacks": lacks}))
    room = (
        f"All nodes together would have room for {counted(len(look.demand), 'pod')} of the job once every "
        "evictable pod is gone"
    )
    if not look.searches:
        return Check(True, reason("check.fit", f"{room}."))
    refusal = _queue_refuses(look)
    text = f"{room}, but {refusal or 'not each of them finds a node with room for it'}."
    return Check(False, reason("check.fit", text, {"pods": len(look.demand)}))


def _queue_refuses(look: Look) -> str:
    """Return why the queue would not take the job's next pod even then, empty when it would."""
    session = look.gang.session
    statement = Statement(session)
    for victim in look.going:
        statement.evict(victim, look.gang.name, None)
    refusal = session.allocatable(session.queues[look.job.queue], look.demand[0])
    statement.discard()
    return "" if refusal is None else str(refusal["message"])
