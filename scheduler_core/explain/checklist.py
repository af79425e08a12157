"""Why did reclaim or preempt do nothing for a job that starves?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial
from typing import Any, NamedTuple

from scheduler_core.admission import Admission
from scheduler_core.conf import parse_conf
from scheduler_core.errors import PrePredicateError
from scheduler_core.explain.ballots import passed_over
from scheduler_core.explain.checks import (
    Check,
    NodeVotes,
    candidates_found,
    enqueued,
    made_room,
    queue_may_evict,
    said_counts,
    starves,
    votes,
)
from scheduler_core.explain.cycle_view import CycleView, Object
from scheduler_core.explain.gang_checks import gang_checks
from scheduler_core.explain.reasons import reason
from scheduler_core.explain.turns import GANG_KINDS, SEARCHING, Searching, Tried, Turn, tried_alone, turn_of
from scheduler_core.explain.victims import evictions
from scheduler_core.explain.wording import agreed, counted, listed, quantities
from scheduler_core.framework.session import Session
from scheduler_core.framework.worklist import pending_tasks, task_heap
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.recording.votes import RecordedVotes, recorded
from scheduler_core.release import release_of
from scheduler_core.resource import MIN_RESOURCE
from scheduler_core.simulate import Options, Simulation
from scheduler_core.victims.ask import victims_suffice
from scheduler_core.victims.eviction import never_evicts

ACTIONS = ("reclaim", "preempt")
GANG_ACTIONS = tuple(GANG_KINDS)
_MOST_NAMED = 3


class Look(NamedTuple):
    """An action looking for room for the first waiting pod of a job.

    Attributes
    ----------
    searches : bool
        Whether the action gets so far as to look for room at all.
    search : Searching
        The action itself.

    """

    session: Session
    action: str
    job: JobInfo
    task: TaskInfo
    searches: bool
    search: Searching


class NodeCandidates(NamedTuple):
    """What an action sees on one node."""

    node: int
    candidates: Sequence[TaskInfo]
    votes: RecordedVotes


def reclaim_checklist(
    document: Object, result: Object, job: str | None = None, *, cycle: int | None = None
) -> list[dict[str, Any]]:
    """Return what kept the evicting actions from helping a job, or each job that starved.

    The cycle runs again up to the job's turn in each action, and the questions are put as things are then.
    Every check is answered as far as the ones before it allow. Of a job that is not enqueued it says what
    would be, were it enqueued.

    Without a job: of every job that starved when the cycle ended.

    Returns
    -------
    list of dict
        Per job `job`, `queue`, `cycle` and `actions`: for reclaim, for preempt, and for gangreclaim and
        gangpreempt where they are configured, `action`, `evicted` (how many pods it did evict for the job),
        `stopped_at` (the first check that failed, empty when none did), `conclusion` (the reason of that one,
        else what the evictions made room for) and `checks` (id, passed, reason).

    Raises
    ------
    Unknown
        If the run does not have the job.

    """
    view = CycleView(document, result, cycle)
    jobs = [view.job(job)["name"]] if job is not None else _starving(view)
    configured = [action for action in GANG_ACTIONS if action in view.actions]
    actions = (*ACTIONS, *configured)
    simulation = _reached(document, view) if jobs else None
    return [
        {
            "job": name,
            "queue": view.queue_of_job(name),
            "cycle": view.number,
            "actions": [_list_of(view, simulation, action, name) for action in actions],
        }
        for name in jobs
    ]


def _starving(view: CycleView) -> list[str]:
    return [
        entry["name"]
        for entry in view.cycle["podgroups"]
        if entry["task_status"].get("Pending") and not entry["session_job_ready"]
    ]


def _reached(document: Object, view: CycleView) -> Simulation:
    """Return the simulation of a document as far as the cycle of a view."""
    conf = parse_conf(document.get("scheduler_conf"), release_of(document))
    simulation = Simulation(document, conf, Admission(document), Options(cycles=view.number))
    simulation.reach(view.number)
    return simulation


def _list_of(view: CycleView, simulation: Simulation | None, action: str, job: str) -> dict[str, Any]:
    evicted = sum(entry["action"] == action and entry["for_job"] == job for entry in evictions(view))
    if simulation is None or action not in view.actions:
        checks = [Check(False, reason("check.action", f"Action {action} is not configured."))]
    else:
        checks = [
            Check(True, reason("check.action", f"Action {action} is configured.")),
            *_checks(partial(simulation.session_before, action), action, job),
        ]
    failed = [check for check in checks if not check.passed]
    return {
        "action": action,
        "evicted": evicted,
        "stopped_at": failed[0].reason["id"] if failed else "",
        "conclusion": (failed[0] if failed else checks[-1]).reason,
        "checks": [check.as_dict() for check in checks],
    }


def _checks(open_session: Callable[[], Session], action: str, key: str) -> list[Check]:
    """Return the checks of a job whose turn it is; of one that gets none as it is when the action begins."""
    session = open_session()
    job = session.jobs[key]
    first = [enqueued(session, job), starves(session, job)]
    if job.is_pending:
        job.phase = "Inqueue"  # the rest says what would happen if it were enqueued
        return [*first, *_rest(session, action, job, searches=first[1].passed)]
    if not all(check.passed for check in first):
        return [*first, *_rest(session, action, job, searches=False)]
    turn = turn_of(session, action, key)
    first = [enqueued(session, job), starves(session, job)]
    rest = list(_rest(session, action, job, searches=first[1].passed))
    too_late = (
        _before_others(open_session(), action, key)
        if turn.evicted and not all(check.passed for check in rest)
        else None
    )
    return [*first, _turn(action, turn, too_late), *rest]


def _before_others(session: Session, action: str, key: str) -> Tried | None:
    """Return what an action would have done for a job in the first turn of all, None when nothing."""
    tried = tried_alone(session, action, session.jobs[key])
    return tried if tried.complete else None


def _turn(action: str, turn: Turn, too_late: Tried | None) -> Check:
    """Return whether the job came too late: other jobs had taken what the action could have done for it."""
    numbers: dict[str, Any] = {"others": turn.others, "evicted": turn.evicted}
    if not turn.others:
        return Check(True, reason("check.turn", "No other job had its turn before it.", numbers))
    evicted = counted(turn.evicted, "pod") if turn.evicted else "no pod"
    text = (
        f"{counted(turn.others, 'other job')} had {agreed(turn.others, 'its turn', 'their turns')} before, "
        f"and {action} evicted {evicted} for {agreed(turn.others, 'it', 'them')}"
    )
    if too_late is None:
        return Check(True, reason("check.turn", f"{text}.", numbers))
    could = len(too_late.victims)
    text += (
        f"; in the first turn {action} would have evicted {counted(could, 'pod')} for this job and made room "
        f"for {counted(too_late.pods, 'pod')}."
    )
    return Check(False, reason("check.turn", text, {**numbers, "victims": could, "pods": too_late.pods}))


def _rest(session: Session, action: str, job: JobInfo, *, searches: bool) -> Iterator[Check]:
    """Yield from whether others may be evicted for a job to whether all of it would have room.

    `searches`: whether the action gets so far as to look for room for it.
    """
    if action in GANG_ACTIONS:
        yield from gang_checks(session, action, job, searches=searches)
        return
    tasks = task_heap(session, pending_tasks(job))
    if not tasks:
        yield Check(
            False,
            reason(
                "check.may-evict", "No pod of the job needs room: none is pending without a scheduling gate."
            ),
        )
        return
    task = tasks.pop()
    may = _may_evict(session, action, job, task)
    yield may
    look = Look(session, action, job, task, searches and may.passed, SEARCHING[action](session))
    found = list(_found(look))
    yield _candidates(look, found)
    if found:
        yield from _outcome(look, found)


def _may_evict(session: Session, action: str, job: JobInfo, task: TaskInfo) -> Check:
    name = "check.may-evict"
    queue = session.queues[job.queue]
    if never_evicts(task):
        return Check(False, reason(name, f"Pod {task.key} has preemptionPolicy Never."))
    if action == "preempt":
        return Check(True, reason(name, f"Pod {task.key} may preempt other jobs of queue {queue.name}."))
    return queue_may_evict(session, queue, [task], f"pod {task.key}")


def _found(look: Look) -> Iterator[NodeCandidates]:
    """Yield what the action itself finds on every node that has candidates."""
    try:
        look.session.pre_predicate(look.task)
    except PrePredicateError:
        return
    for node in look.search.nodes_for(look.task).tolist():
        judged = look.search.judged_on(look.task, node)
        if judged is not None:
            yield NodeCandidates(node, judged.candidates, recorded(judged.verdict.votes))


def _candidates(look: Look, found: Sequence[NodeCandidates]) -> Check:
    check = candidates_found(sum(len(seen.candidates) for seen in found), len(found))
    if check.passed:
        return check
    return Check(False, reason("check.candidates", _why_none(look), check.reason["numbers"]))


def _why_none(look: Look) -> str:
    """Return why no pod on any node is a candidate."""
    session, action, job, task, *_ = look
    nodes = look.search.nodes_for(task).tolist()
    if not nodes:
        return f"No node would accept pod {task.key}, whatever is evicted."
    why: Counter[str] = Counter()
    for node in nodes:
        for other in session.nodes.sorted_tasks(node):
            why[_why_no_candidate(session, action, job, other)] += 1
    return f"No candidates on the nodes that would accept pod {task.key}: {said_counts(why)}."


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


def _outcome(look: Look, found: Sequence[NodeCandidates]) -> Iterator[Check]:
    """Yield which candidates may be evicted, whether gangs keep the rest, and whether it is enough."""
    yield votes([NodeVotes(seen.candidates, seen.votes) for seen in found])
    tried = tried_alone(look.session, look.action, look.job) if look.searches else None
    fit = _fit(look, found, tried)
    victims = tried.victims if tried is not None and tried.complete else ()
    yield _gang(look, found, fit, {task.uid for task in victims})
    yield fit


def _kept_by_gang(seen: NodeCandidates) -> Iterator[TaskInfo]:
    """Yield the candidates that gang refuses, as far as that counts."""
    return (refusal.task for refusal in seen.votes.refusals(seen.candidates) if refusal.plugin == "gang")


def _gang(look: Look, found: Sequence[NodeCandidates], fit: Check, evicted: Set[str]) -> Check:
    """Return whether gangs keep candidates that are missed; `evicted` leave for the job's other pods."""
    kept = [task for seen in found for task in _kept_by_gang(seen)]
    jobs = sorted({task.job.key for task in kept if task.job is not None})
    after_all = sum(task.uid in evicted for task in kept)
    numbers = {"refused": len(kept), "jobs": jobs, "evicted": after_all}
    if not kept:
        return Check(True, reason("check.gang", _why_no_gang_keeps(found), numbers))
    if after_all:
        text = (
            f"Gang refuses {counted(len(kept), 'pod')} to {look.task.key} only: once others are evicted, "
            f"another tier decides, and {after_all} of them {agreed(after_all, 'is', 'are')} evicted for "
            "the job's other pods."
        )
        return Check(True, reason("check.gang", text, numbers))
    whose = listed(jobs) if len(jobs) <= _MOST_NAMED else counted(len(jobs), "job")
    text = f"{counted(len(kept), 'pod')} must stay, or {whose} would fall below minMember."
    missed = not fit.passed and _would_do_without_gang(look, found, fit)
    return Check(not missed, reason("check.gang", text, numbers))


def _why_no_gang_keeps(found: Sequence[NodeCandidates]) -> str:
    """Return why gang keeps no candidate."""
    for seen in found:
        ballots = seen.votes.ballots_as_data()
        if any("gang" in ballot["plugins"] for ballot in ballots[:-1]):
            return f"No candidate is kept by its gang: {passed_over(ballots)}."
    return "No candidate is kept by its gang."


def _would_do_without_gang(look: Look, found: Sequence[NodeCandidates], fit: Check) -> bool:
    """Return whether a pod that finds no room would find some, if those that gang keeps left as well."""
    if "lacks" not in fit.reason["numbers"]:
        return True
    return any(
        victims_suffice(
            look.session,
            look.task,
            seen.node,
            [*seen.votes.victims, *_kept_by_gang(seen)],
        )
        for seen in found
    )


def _fit(look: Look, found: Sequence[NodeCandidates], tried: Tried | None) -> Check:
    """Return whether evictions make room for all that must run together; else what comes closest."""
    session, task = look.session, look.task
    if tried is not None and tried.complete:
        pods, victims = tried.pods, len(tried.victims)
        return made_room(pods, victims)
    best: tuple[float, str, dict[str, float]] | None = None
    for seen in found:
        room = session.nodes.future_idle_of(seen.node)
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
            return _one_of_them(look, node, tried)
        gap = max(amount / (task.request.get(name) or 1.0) for name, amount in lacks.items())
        if best is None or gap < best[0]:
            best = gap, node, lacks
    assert best is not None, "there is a candidate on some node"
    _, node, lacks = best
    text = f"Even then no node has room: {node} comes closest and lacks {quantities(lacks, lacks)}."
    return Check(False, reason("check.fit", text, {"node": node, "lacks": lacks}))


def _one_of_them(look: Look, node: str, tried: Tried | None) -> Check:
    """Return whether room for one pod on one node is enough."""
    _, action, job, task, *_ = look
    room = f"Node {node} would have room for pod {task.key} once all evictable pods have left"
    numbers: dict[str, Any] = {"node": node, "minAvailable": job.min_available}
    if tried is None:
        return Check(True, reason("check.fit", f"{room}.", numbers))
    needed = job.min_available - job.ready_count - job.waiting_count
    why = tried.refusal.get("message") or f"no node has room for it, whoever {action} evicts"
    if needed > 1:
        text = (
            f"Evictions make room for {tried.pods} of the {needed} pods that the job still needs "
            "to run together"
        )
        if tried.stuck is not None:
            text += f"; pod {tried.stuck.key} finds none: {why}"
    else:
        text = f"{room}, but {why}"
    return Check(False, reason("check.fit", f"{text}.", {**numbers, "pods": tried.pods, "needed": needed}))
