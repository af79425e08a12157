"""Why did reclaim or preempt do nothing for a job that starves?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from typing import Any, NamedTuple

from scheduler_core.actions.preempt import Preempt, of_other_jobs
from scheduler_core.actions.reclaim import Reclaim, of_other_queues
from scheduler_core.admission import Admission
from scheduler_core.conf import parse_conf
from scheduler_core.errors import PrePredicateError
from scheduler_core.explain.ballots import passed_over
from scheduler_core.explain.checks import (
    Check,
    Heard,
    candidates_found,
    let_in,
    queue_may_evict,
    said_counts,
    starves,
    votes,
)
from scheduler_core.explain.gang_checks import KINDS, gang_checks
from scheduler_core.explain.picture import Object, Picture
from scheduler_core.explain.reasons import reason
from scheduler_core.explain.victims import evictions
from scheduler_core.explain.wording import agreed, counted, listed, said_all
from scheduler_core.framework.eviction import never_evicts, promising_nodes
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.placement import ErrorCache
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.framework.victims import Verdict, ask_victims, victims_suffice
from scheduler_core.framework.worklist import pending_tasks, task_heap
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.release import release_of
from scheduler_core.resource import MIN_RESOURCE
from scheduler_core.simulate import Options, Simulation

ACTIONS = ("reclaim", "preempt")
GANG_ACTIONS = tuple(KINDS)
_MOST_NAMED = 3


class Look(NamedTuple):
    """An action looking for room for the first waiting pod of a job.

    Attributes
    ----------
    asked : bool
        Whether the action gets so far as to look for room at all.

    """

    session: Session
    action: str
    job: JobInfo
    task: TaskInfo
    asked: bool


class Sight(NamedTuple):
    """What an action sees on one node."""

    node: int
    candidates: Sequence[TaskInfo]
    verdict: Verdict


def reclaim_checklist(
    document: Object, result: Object, job: str | None = None, *, cycle: int | None = None
) -> list[dict[str, Any]]:
    """Return what kept the evicting actions from helping a job, or each job that starved.

    The questions are put again to the cycle as each action found it, so this costs about as much as running
    the cycle. Every check is answered as far as the ones before it allow.

    Without a job: of every job that starved when the cycle ended.

    Returns
    -------
    list of dict
        Per job `job`, `queue`, `cycle` and `actions`: for reclaim, for preempt, and for gangreclaim and
        gangpreempt where they are configured, `action`, `evicted` (how many pods it did evict for the job),
        `stopped_at` (the first check that failed, empty when none did) and `checks` (id, passed, reason).

    Raises
    ------
    Unknown
        If the run does not have the job.

    """
    picture = Picture(document, result, cycle)
    jobs = [picture.job(job)["name"]] if job is not None else _starving(picture)
    told: dict[str, list[dict[str, Any]]] = {name: [] for name in jobs}
    configured = [action for action in GANG_ACTIONS if action in picture.actions]
    for action in (*ACTIONS, *configured) if jobs else ():
        session = _session_before(document, action, picture) if action in picture.actions else None
        for name in jobs:
            told[name].append(_list_of(picture, session, action, name))
    return [
        {
            "job": name,
            "queue": picture.queue_of_job(name),
            "cycle": picture.number,
            "actions": lists,
        }
        for name, lists in told.items()
    ]


def _starving(picture: Picture) -> list[str]:
    return [
        entry["name"]
        for entry in picture.told["podgroups"]
        if entry["task_status"].get("Pending") and not entry["session_job_ready"]
    ]


def _session_before(document: Object, action: str, picture: Picture) -> Session:
    conf = parse_conf(document.get("scheduler_conf"), release_of(document))
    simulation = Simulation(document, conf, Admission(document), Options(cycles=picture.number))
    return simulation.session_before(action, picture.number)


def _list_of(picture: Picture, session: Session | None, action: str, job: str) -> dict[str, Any]:
    evicted = sum(entry["action"] == action and entry["for_job"] == job for entry in evictions(picture))
    checks = list(_checks(session, action, job))
    return {
        "action": action,
        "evicted": evicted,
        "stopped_at": next((check.reason["id"] for check in checks if not check.passed), ""),
        "checks": [check.as_dict() for check in checks],
    }


def _checks(session: Session | None, action: str, key: str) -> Iterator[Check]:
    if session is None:
        yield Check(False, reason("check.action", f"Action {action} is not configured."))
        return
    yield Check(True, reason("check.action", f"Action {action} is configured."))
    job = session.jobs[key]
    before = [let_in(session, job), starves(session, job)]
    yield from before
    if action in GANG_ACTIONS:
        yield from gang_checks(session, action, job, asked=all(check.passed for check in before))
        return
    tasks = task_heap(session, pending_tasks(job))
    if not tasks:
        yield Check(
            False, reason("check.may-evict", "No pod of the job looks for room: none is pending and free.")
        )
        return
    task = tasks.pop()
    before.append(_may_evict(session, action, job, task))
    yield before[-1]
    look = Look(session, action, job, task, all(check.passed for check in before))
    sights = list(_sights(look))
    yield _candidates(look, sights)
    if sights:
        yield from _outcome(look, sights)


def _may_evict(session: Session, action: str, job: JobInfo, task: TaskInfo) -> Check:
    name = "check.may-evict"
    queue = session.queues[job.queue]
    if never_evicts(task):
        return Check(False, reason(name, f"Pod {task.key} says that it never evicts others."))
    if action == "preempt":
        return Check(True, reason(name, f"Pod {task.key} may evict inside queue {queue.name}."))
    return queue_may_evict(session, queue, [task], f"pod {task.key}")


def _sights(look: Look) -> Iterator[Sight]:
    """Yield what the action sees on every node that has anybody who might make way."""
    session, action, job, task, _ = look
    try:
        session.pre_predicate(task)
    except PrePredicateError:
        return
    point = Point.RECLAIMABLE if action == "reclaim" else Point.PREEMPTABLE
    is_candidate = of_other_queues(session, task) if action == "reclaim" else of_other_jobs(task, job)
    for node in promising_nodes(session, task, ErrorCache(enabled=False)).tolist():
        candidates = [*filter(is_candidate, session.nodes.sorted_tasks(node))]
        if candidates:
            yield Sight(node, candidates, ask_victims(session, point, task, candidates))


def _candidates(look: Look, sights: Sequence[Sight]) -> Check:
    found = candidates_found(sum(len(sight.candidates) for sight in sights), len(sights))
    if found.passed:
        return found
    return Check(False, reason("check.candidates", _nobody(look), found.reason["numbers"]))


def _nobody(look: Look) -> str:
    """Return why no pod on any node is a candidate."""
    session, action, job, task, _ = look
    nodes = promising_nodes(session, task, ErrorCache(enabled=False)).tolist()
    if not nodes:
        return f"No node would take pod {task.key}, whoever left it."
    why: Counter[str] = Counter()
    for node in nodes:
        for other in session.nodes.sorted_tasks(node):
            why[_why_no_candidate(session, action, job, other)] += 1
    return f"No pod might make way on the nodes that would take pod {task.key}: {said_counts(why)}."


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


def _outcome(look: Look, sights: Sequence[Sight]) -> Iterator[Check]:
    """Yield which candidates may be evicted, whether gangs keep the rest, and whether it is enough."""
    yield votes([Heard(sight.candidates, sight.verdict) for sight in sights])
    tried = _tried(look) if look.asked else None
    fit = _fit(look, sights, tried)
    yield _gang(look, sights, fit, set() if tried is None else {task.uid for task in tried.victims})
    yield fit


def _kept_by_gang(sight: Sight) -> Iterator[TaskInfo]:
    """Yield the candidates that gang refuses, as far as that counts."""
    return (refusal.task for refusal in sight.verdict.refusals(sight.candidates) if refusal.plugin == "gang")


def _gang(look: Look, sights: Sequence[Sight], fit: Check, evicted: Set[str]) -> Check:
    """Tell whether gangs keep candidates that are missed; `evicted` leave for the job's other pods."""
    kept = [task for sight in sights for task in _kept_by_gang(sight)]
    jobs = sorted({task.job.key for task in kept if task.job is not None})
    after_all = sum(task.uid in evicted for task in kept)
    numbers = {"refused": len(kept), "jobs": jobs, "evicted": after_all}
    if not kept:
        return Check(True, reason("check.gang", _nobody_kept(sights), numbers))
    if after_all:
        text = (
            f"Gang refuses {counted(len(kept), 'pod')} to {look.task.key} only: once others are evicted, "
            f"another tier decides, and {after_all} of them {agreed(after_all, 'is', 'are')} evicted for "
            "the job's other pods."
        )
        return Check(True, reason("check.gang", text, numbers))
    whose = listed(jobs) if len(jobs) <= _MOST_NAMED else counted(len(jobs), "job")
    text = f"{counted(len(kept), 'pod')} must stay, or {whose} would fall below minMember."
    missed = not fit.passed and _would_do_without_gang(look, sights, fit)
    return Check(not missed, reason("check.gang", text, numbers))


def _nobody_kept(sights: Sequence[Sight]) -> str:
    """Return why gang keeps no candidate."""
    for sight in sights:
        ballots = sight.verdict.told_ballots()
        if any("gang" in ballot["plugins"] for ballot in ballots[:-1]):
            return f"No candidate is kept by its gang: {passed_over(ballots)}."
    return "No candidate is kept by its gang."


def _would_do_without_gang(look: Look, sights: Sequence[Sight], fit: Check) -> bool:
    """Tell whether a pod that finds no room would find some, if those that gang keeps left as well."""
    if "lacks" not in fit.reason["numbers"]:
        return True
    return any(
        victims_suffice(
            look.session,
            look.task,
            sight.node,
            [*sight.verdict.victims, *_kept_by_gang(sight)],
        )
        for sight in sights
    )


def _fit(look: Look, sights: Sequence[Sight], tried: Tried | None) -> Check:
    """Tell whether evictions make room for all that must run together; else what comes closest."""
    session, task = look.session, look.task
    if tried is not None:
        pods, victims = tried.pods, len(tried.victims)
        text = f"Evicting {counted(victims, 'pod')} makes room for {counted(pods, 'pod')} of the job."
        return Check(True, reason("check.fit", text, {"pods": pods, "victims": victims}))
    best: tuple[float, str, dict[str, float]] | None = None
    for sight in sights:
        room = session.nodes.future_idle_of(sight.node)
        for victim in sight.verdict.victims:
            room = room + victim.shape.row
        lacks = {
            name: amount
            for name, amount in zip(
                session.nodes.axis.names, (task.shape.demand - room).tolist(), strict=True
            )
            if amount >= MIN_RESOURCE
        }
        node = session.nodes.names[sight.node]
        if not lacks:
            return _one_of_them(look, node)
        gap = max(amount / (task.request.get(name) or 1.0) for name, amount in lacks.items())
        if best is None or gap < best[0]:
            best = gap, node, lacks
    assert best is not None, "there is a candidate on some node"
    _, node, lacks = best
    text = f"Even then no node has room: {node} comes closest and lacks {said_all(lacks, lacks)}."
    return Check(False, reason("check.fit", text, {"node": node, "lacks": lacks}))


def _one_of_them(look: Look, node: str) -> Check:
    """Tell whether room for one pod on one node is enough."""
    session, action, job, task, asked = look
    room = f"Node {node} would have room for pod {task.key} once all that may go have left"
    refusal = session.allocatable(session.queues[job.queue], task) if action == "preempt" else None
    if not asked:
        text = room
    elif refusal is not None:
        text = f"{room}, but {refusal['message']}"
    else:
        text = f"{room}, but not all of the {job.min_available} that must run together would have a place"
    return Check(
        not asked, reason("check.fit", f"{text}.", {"node": node, "minAvailable": job.min_available})
    )


class Tried(NamedTuple):
    """What an action that works alone for a job does.

    Attributes
    ----------
    pods : int
        How many of the job's pods it pipelines.
    victims : list of TaskInfo
        The pods that it evicts.

    """

    pods: int
    victims: Sequence[TaskInfo]


def _tried(look: Look) -> Tried | None:
    """Let the action work alone for a job and undo it; None when it fails."""
    session, action, job, _, _ = look
    statement = Statement(session)
    queue = session.queues[job.queue]
    tasks = task_heap(session, pending_tasks(job))
    if action == "reclaim":
        reclaim = Reclaim(session)
        while tasks and session.job_starving(job):
            reclaim.attempt(statement, queue, tasks.pop())
    else:
        preempt = Preempt(session)
        while tasks and session.job_starving(job):
            preempt.attempt(statement, queue, tasks.pop(), preempt.other_jobs)
    victims = [operation.task for operation in statement.operations if operation.kind == "evict"]
    pods = sum(operation.kind == "pipeline" for operation in statement.operations)
    complete = session.job_pipelined(job) and pods > 0
    statement.discard()
    return Tried(pods, victims) if complete else None
