"""Checks of reclaim and preempt for the first waiting pod of a job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from typing import Any, NamedTuple

from scheduler_core.errors import PrePredicateError
from scheduler_core.explain.ballots import passed_over
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
from scheduler_core.explain.turns import SEARCHING, Searching, Trial, try_alone
from scheduler_core.explain.wording import agreed, counted, listed, quantities
from scheduler_core.framework.session import Session
from scheduler_core.framework.worklist import pending_tasks, task_heap
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.recording.votes import recorded
from scheduler_core.resource import MIN_RESOURCE
from scheduler_core.victims.eviction import never_evicts
from scheduler_core.victims.selection import victims_suffice

_MOST_NAMED = 3


class Search(NamedTuple):
    """The search of an action for room for the first waiting pod of a job.

    Attributes
    ----------
    searches : bool
        Whether the action gets to search for room at all.
    finder : Searching
        The action.

    """

    session: Session
    action: str
    job: JobInfo
    task: TaskInfo
    searches: bool
    finder: Searching


def pod_checks(session: Session, action: str, job: JobInfo, *, searches: bool) -> Iterator[Check]:
    """Yield the checks, from whether the job may evict to whether all of it would have room.

    `searches`: whether the action reaches the point of searching for room for it.
    """
    tasks = task_heap(session, pending_tasks(job))
    if not tasks:
        text = "No pod of the job needs room: none is pending without a scheduling gate."
        yield Check(False, reason("check.may-evict", text))
        return
    task = tasks.pop()
    may = _may_evict(session, action, job, task)
    yield may
    search = Search(session, action, job, task, searches and may.passed, SEARCHING[action](session))
    found = list(_found(search))
    yield _candidates(search, found)
    if found:
        yield from _outcome(search, found)


def _may_evict(session: Session, action: str, job: JobInfo, task: TaskInfo) -> Check:
    name = "check.may-evict"
    queue = session.queues[job.queue]
    if never_evicts(task):
        return Check(False, reason(name, f"Pod {task.key} has preemptionPolicy Never."))
    if action == "preempt":
        return Check(True, reason(name, f"Pod {task.key} may preempt other jobs of queue {queue.name}."))
    return queue_may_evict(session, queue, [task], f"pod {task.key}")


def _found(search: Search) -> Iterator[NodeVotes]:
    """Yield the action's own candidates and votes on every node with candidates."""
    try:
        search.session.plugins.pre_predicate(search.task)
    except PrePredicateError:
        return
    for node in search.finder.nodes_for(search.task).tolist():
        node_verdict = search.finder.verdict_on(search.task, node)
        if node_verdict is not None:
            yield NodeVotes(node_verdict.candidates, recorded(node_verdict.verdict.votes), node)


def _candidates(search: Search, found: Sequence[NodeVotes]) -> Check:
    check = candidates_found(sum(len(seen.candidates) for seen in found), len(found))
    if check.passed:
        return check
    return Check(False, reason("check.candidates", _why_none(search), check.reason["numbers"]))


def _why_none(search: Search) -> str:
    """Return why no pod on any node is a candidate."""
    session, action, job, task, *_ = search
    nodes = search.finder.nodes_for(task).tolist()
    if not nodes:
        return f"No node would accept pod {task.key}, whatever is evicted."
    why: Counter[str] = Counter()
    for node in nodes:
        for other in session.nodes.tasks.in_order(node):
            why[_why_no_candidate(session, action, job, other)] += 1
    return f"No candidates on the nodes that would accept pod {task.key}: {counts_text(why)}."


def _why_no_candidate(session: Session, action: str, job: JobInfo, other: TaskInfo) -> str:
    if other.job is None:
        return "of no job"
    if not other.preemptable:
        return "not preemptable"
    if action == "preempt" and other.job is job:
        return "of the job itself"
    if (other.job.queue == job.queue) != (action == "preempt"):
        return "of the same queue" if action == "reclaim" else "of other queues"
    if action == "reclaim" and not session.queues[other.job.queue].reclaimable:
        return "of queues that are not reclaimable"
    return "not running"


def _outcome(search: Search, found: Sequence[NodeVotes]) -> Iterator[Check]:
    """Yield which candidates may be evicted, whether gangs keep the others, and whether they are enough."""
    yield votes(found)
    trial = try_alone(search.session, search.action, search.job) if search.searches else None
    fit = _fit(search, found, trial)
    victims = trial.victims if trial is not None and trial.complete else ()
    yield _gang(search, found, fit, {task.uid for task in victims})
    yield fit


def _kept_by_gang(seen: NodeVotes) -> Iterator[TaskInfo]:
    """Yield the candidates that gang refuses if its vote counts."""
    return (refusal.task for refusal in seen.refusals() if refusal.plugin == "gang")


def _gang(search: Search, found: Sequence[NodeVotes], fit: Check, evicted: Set[str]) -> Check:
    """Return whether gangs keep candidates that are needed; `evicted` are the victims for the job's pods."""
    kept = [task for seen in found for task in _kept_by_gang(seen)]
    jobs = sorted({task.job.key for task in kept if task.job is not None})
    after_all = sum(task.uid in evicted for task in kept)
    numbers = {"refused": len(kept), "jobs": jobs, "evicted": after_all}
    if not kept:
        return Check(True, reason("check.gang", _why_no_gang_keeps(found), numbers))
    if after_all:
        text = (
            f"Gang refuses {counted(len(kept), 'pod')} to {search.task.key} only: once others are evicted, "
            f"another tier decides, and {after_all} of them {agreed(after_all, 'is', 'are')} evicted for "
            "the job's other pods."
        )
        return Check(True, reason("check.gang", text, numbers))
    whose = listed(jobs) if len(jobs) <= _MOST_NAMED else counted(len(jobs), "job")
    text = f"{counted(len(kept), 'pod')} must stay, or {whose} would fall below minMember."
    missed = not fit.passed and _would_do_without_gang(search, found, fit)
    return Check(not missed, reason("check.gang", text, numbers))


def _why_no_gang_keeps(found: Sequence[NodeVotes]) -> str:
    """Return why gang keeps no candidate."""
    for seen in found:
        ballots = seen.votes.ballots_as_data()
        if any("gang" in ballot["plugins"] for ballot in ballots[:-1]):
            return f"No candidate is kept by its gang: {passed_over(ballots)}."
    return "No candidate is kept by its gang."


def _would_do_without_gang(search: Search, found: Sequence[NodeVotes], fit: Check) -> bool:
    """Return whether the pod would have room if the pods that gang keeps could also be evicted."""
    if "lacks" not in fit.reason["numbers"]:
        return True
    return any(
        victims_suffice(
            search.session,
            search.task,
            seen.node,
            [*seen.votes.victims, *_kept_by_gang(seen)],
        )
        for seen in found
    )


def _fit(search: Search, found: Sequence[NodeVotes], trial: Trial | None) -> Check:
    """Return whether evictions make room for all pods that must run together; if not, what comes closest."""
    session, task = search.session, search.task
    if trial is not None and trial.complete:
        pods, victims = trial.pods, len(trial.victims)
        return made_room(pods, victims)
    best: tuple[float, str, dict[str, float]] | None = None
    for seen in found:
        room = session.nodes.future[seen.node]
        for victim in seen.votes.victims:
            room = room + victim.shape.row
        lacks = {
            name: amount
            for name, amount in zip(
                session.nodes.axis.names, (task.shape.demand - room).tolist(), strict=True
            )
            if amount >= MIN_RESOURCE
        }
        node = session.nodes.names[seen.node]
        if not lacks:
            return _one_of_them(search, node, trial)
        gap = max(amount / (task.request.get(name) or 1.0) for name, amount in lacks.items())
        if best is None or gap < best[0]:
            best = gap, node, lacks
    assert best is not None, "there is a candidate on some node"
    _, node, lacks = best
    text = f"Even then no node has room: {node} comes closest and lacks {quantities(lacks, lacks)}."
    return Check(False, reason("check.fit", text, {"node": node, "lacks": lacks}))


def _one_of_them(search: Search, node: str, trial: Trial | None) -> Check:
    """Return whether room for one pod on one node is enough."""
    _, action, job, task, *_ = search
    room = f"Node {node} would have room for pod {task.key} once all evictable pods have left"
    numbers: dict[str, Any] = {"node": node, "minAvailable": job.min_available}
    if trial is None:
        return Check(True, reason("check.fit", f"{room}.", numbers))
    needed = job.min_available - job.ready_count - job.waiting_count
    why = trial.refusal.get("message") or f"no node has room for it, whoever {action} evicts"
    if needed > 1:
        text = (
            f"Evictions make room for {trial.pods} of the {needed} pods that the job still needs "
            "to run together"
        )
        if trial.stuck is not None:
            text += f"; pod {trial.stuck.key} finds none: {why}"
    else:
        text = f"{room}, but {why}"
    return Check(False, reason("check.fit", f"{text}.", {**numbers, "pods": trial.pods, "needed": needed}))
