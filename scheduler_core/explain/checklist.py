"""Why did reclaim or preempt do nothing for a job that starves?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from scheduler_core.actions.preempt import Preempt, of_other_jobs
from scheduler_core.actions.reclaim import Reclaim, may_be_reclaimed
from scheduler_core.admission import Admission
from scheduler_core.conf import parse_conf
from scheduler_core.errors import PrePredicateError
from scheduler_core.explain.picture import Object, Picture
from scheduler_core.explain.reasons import Reason, reason
from scheduler_core.explain.wording import counted, listed, said_all
from scheduler_core.framework.eviction import never_evicts, promising_nodes
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.placement import ErrorCache
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.framework.victims import Verdict, ask_victims, victims_suffice
from scheduler_core.framework.worklist import pending_tasks, task_heap
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.resource import MIN_RESOURCE
from scheduler_core.simulate import Options, Simulation

ACTIONS = ("reclaim", "preempt")
CHECKS = (
    "check.action",
    "check.enqueued",
    "check.starving",
    "check.may-evict",
    "check.candidates",
    "check.votes",
    "check.gang",
    "check.fit",
)


_MOST_NAMED = 3


class Check(NamedTuple):
    """One line of the list."""

    passed: bool
    reason: Reason

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"id": self.reason["id"], "passed": self.passed, "reason": self.reason}


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
    """Return what kept reclaim and preempt from helping a job, or each job that starved.

    The questions are put again to the cycle as each action found it, so this costs about as much as running
    the cycle. Every check is answered as far as the ones before it allow.

    Without a job: of every job that starved when the cycle ended.

    Returns
    -------
    list of dict
        Per job `job`, `queue`, `cycle` and `actions`: for reclaim and for preempt `action`, `evicted` (how
        many pods it did evict for the job), `stopped_at` (the first check that failed, empty when none did)
        and `checks` (id, passed, reason).

    Raises
    ------
    Unknown
        If the run does not have the job.

    """
    picture = Picture(document, result, cycle)
    jobs = [picture.job(job)["name"]] if job is not None else _starving(picture)
    told: dict[str, list[dict[str, Any]]] = {name: [] for name in jobs}
    for action in ACTIONS if jobs else ():
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
    conf = parse_conf(document.get("scheduler_conf"))
    simulation = Simulation(document, conf, Admission(document), Options(cycles=picture.number))
    return simulation.session_before(action, picture.number)


def _list_of(picture: Picture, session: Session | None, action: str, job: str) -> dict[str, Any]:
    whose = picture.job_of
    evicted = sum(
        step["op"] == "evict" and step["action"] == action and whose.get(step.get("for") or "") == job
        for step in picture.decisions
    )
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
    before = [_enqueued(session, job), _is_starving(session, job)]
    yield from before
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


def _enqueued(session: Session, job: JobInfo) -> Check:
    if job.is_pending:
        return Check(
            False, reason("check.enqueued", "The job has not been let in, so no action looks at it.")
        )
    failure = session.job_valid(job)
    if failure is not None:
        return Check(False, reason("check.enqueued", f"The job is not valid: {failure[1]}."))
    return Check(True, reason("check.enqueued", "The job has been let in."))


def _is_starving(session: Session, job: JobInfo) -> Check:
    starving = session.job_starving(job)
    numbers = {
        "minAvailable": job.min_available,
        "ready": job.ready_count,
        "promised": job.waiting_count,
        "pods": len(job.tasks),
    }
    held = (
        f"{job.ready_count} placed and {job.waiting_count} promised of {len(job.tasks)}, "
        f"{job.min_available} needed"
    )
    if starving:
        return Check(True, reason("check.starving", f"The job starves: {held}.", numbers))
    return Check(False, reason("check.starving", f"The job does not count as starving: {held}.", numbers))


def _may_evict(session: Session, action: str, job: JobInfo, task: TaskInfo) -> Check:
    name = "check.may-evict"
    queue = session.queues[job.queue]
    if never_evicts(task):
        return Check(False, reason(name, f"Pod {task.key} says that it never evicts others."))
    if action == "preempt":
        return Check(True, reason(name, f"Pod {task.key} may evict inside queue {queue.name}."))
    if session.overused(queue):
        return Check(False, reason(name, f"Queue {queue.name} is overused: it has all that it deserves."))
    refusal = session.preemptive(queue, [task])
    if refusal is not None:
        numbers: dict[str, Any] = {
            key: refusal[key] for key in ("queue", "plugin", "short") if key in refusal
        }
        return Check(False, reason(name, f"Queue {queue.name} may not evict: {refusal['message']}.", numbers))
    return Check(True, reason(name, f"Queue {queue.name} may evict for pod {task.key}."))


def _sights(look: Look) -> Iterator[Sight]:
    """Yield what the action sees on every node that has anybody who might make way."""
    session, action, job, task, _ = look
    try:
        session.pre_predicate(task)
    except PrePredicateError:
        return
    point = Point.RECLAIMABLE if action == "reclaim" else Point.PREEMPTABLE
    of_others = of_other_jobs(task, job)
    for node in promising_nodes(session, task, ErrorCache(enabled=False)).tolist():
        candidates = [
            other
            for other in session.nodes.sorted_tasks(node)
            if (may_be_reclaimed(session, other, task) if action == "reclaim" else of_others(other))
        ]
        if candidates:
            yield Sight(node, candidates, ask_victims(session, point, task, candidates))


def _candidates(look: Look, sights: Sequence[Sight]) -> Check:
    count = sum(len(sight.candidates) for sight in sights)
    numbers = {"candidates": count, "nodes": len(sights)}
    if count:
        text = f"{counted(count, 'pod')} on {counted(len(sights), 'node')} might make way."
        return Check(True, reason("check.candidates", text, numbers))
    return Check(False, reason("check.candidates", _nobody(look), numbers))


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
    told = ", ".join(f"{count} {text}" for text, count in sorted(why.items()))
    return f"No pod might make way on the nodes that would take pod {task.key}: {told or 'they are empty'}."


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
    """Yield whom the plugins let go, whether it is gang that holds the rest, and whether it is enough."""
    allowed = sum(len(sight.verdict.victims) for sight in sights)
    refused: Counter[str] = Counter()
    for sight in sights:
        refused.update(plugin for _, plugin in _refusals(sight))
    numbers = {"allowed": allowed, "refused": dict(sorted(refused.items()))}
    told = ", ".join(f"{plugin} refuses {count}" for plugin, count in sorted(refused.items()))
    text = f"The plugins let {counted(allowed, 'pod')} go{f'; {told}' if told else ''}."
    yield Check(allowed > 0, reason("check.votes", text, numbers))
    fit = _fit(look, sights)
    yield _gang(look, refused, sights, fit)
    yield fit


def _refusals(sight: Sight) -> Iterator[tuple[TaskInfo, str]]:
    """Yield each candidate that stays with the first plugin that refused it."""
    going = {task.uid for task in sight.verdict.victims}
    for task in sight.candidates:
        if task.uid not in going:
            plugin = next(
                (
                    plugin
                    for _, plugin, accepted, _ in sight.verdict.votes
                    if accepted is not None and task.uid not in accepted
                ),
                None,
            )
            if plugin is not None:
                yield task, plugin


def _gang(look: Look, refused: Counter[str], sights: Sequence[Sight], fit: Check) -> Check:
    """Tell whether gangs keep candidates that are missed."""
    jobs = sorted(
        {
            task.job.key
            for sight in sights
            for task, plugin in _refusals(sight)
            if plugin == "gang" and task.job is not None
        }
    )
    if not jobs:
        return Check(True, reason("check.gang", "No candidate is kept by its gang's minimum."))
    whose = listed(jobs) if len(jobs) <= _MOST_NAMED else counted(len(jobs), "job")
    text = f"{counted(refused['gang'], 'pod')} must stay, or {whose} would fall below minMember."
    missed = not fit.passed and _would_do_without_gang(look, sights, fit)
    return Check(not missed, reason("check.gang", text, {"refused": refused["gang"], "jobs": jobs}))


def _would_do_without_gang(look: Look, sights: Sequence[Sight], fit: Check) -> bool:
    """Tell whether a pod that finds no room would find some, if those that gang keeps left as well."""
    if "lacks" not in fit.reason["numbers"]:
        return True
    return any(
        victims_suffice(
            look.session,
            look.task,
            sight.node,
            [*sight.verdict.victims, *(task for task, plugin in _refusals(sight) if plugin == "gang")],
        )
        for sight in sights
    )


def _fit(look: Look, sights: Sequence[Sight]) -> Check:
    """Tell whether evictions make room for all that must run together; else what comes closest."""
    session, _, _, task, asked = look
    found = _tried(look) if asked else None
    if found is not None:
        pods, victims = found
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


def _tried(look: Look) -> tuple[int, int] | None:
    """Let the action try alone for a job and undo it: (pods promised, victims); None when it fails."""
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
            task = tasks.pop()
            preempt.attempt(statement, queue, task, preempt.other_jobs(task, job))
    kinds = Counter(operation.kind for operation in statement.operations)
    complete = session.job_pipelined(job) and bool(kinds["pipeline"])
    statement.discard()
    return (kinds["pipeline"], kinds["evict"]) if complete else None
