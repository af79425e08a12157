"""Which candidates may be evicted, who loses first, and is it enough?

Source: volcano ``pkg/scheduler/framework/session_plugins.go`` (Preemptable, Reclaimable, UnifiedEvictable,
BuildVictimsPriorityQueue), ``util/scheduler_helper.go`` (ValidateVictims) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.heap import PriorityQueue
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.node import add_pairs, fits
from scheduler_core.release import Rule
from scheduler_core.trace import Why

_UNSAID: tuple[str, dict[str, Any]] = ("", {})


@dataclass
class Verdict:
    """Which candidates plugins hand out.

    Attributes
    ----------
    victims : list
        In the order of the plugin that named them first.
    tier : int
        The number of the tier that decided, from 1; 0 when none did.
    votes : list
        One entry per plugin asked: tier, plugin, the uids it accepts (None: it abstained), its reasons by
        uid.

    """

    victims: list[TaskInfo] = field(default_factory=list)
    tier: int = 0
    votes: list[tuple[int, str, set[str] | None, Why]] = field(default_factory=list)

    def votes_on(self, task: TaskInfo) -> list[dict[str, Any]]:
        """Return what each plugin said of one candidate."""
        told = []
        for tier, plugin, accepted, why in self.votes:
            verdict = "abstain" if accepted is None else "permit" if task.uid in accepted else "refuse"
            text, numbers = why.get(task.uid, _UNSAID)
            told.append({"tier": tier, "plugin": plugin, "verdict": verdict, "why": text, "numbers": numbers})
        return told


def ask_victims(
    session: Session, point: Point, initiator: TaskInfo, candidates: Sequence[TaskInfo], *context: Any
) -> Verdict:
    """Return the victims of the first tier that names any.

    A plugin that accepts nobody ends its tier and the next tier is asked with all candidates again; an
    intersection that runs empty starts afresh with the next plugin of the same tier.
    """
    verdict = Verdict()
    explained = session.trace is not None
    for number, tier in enumerate(session.tiers_of(point), start=1):
        victims: list[TaskInfo] | None = None
        for plugin, answer in tier:
            why: Why | None = {} if explained else None
            accepted: list[TaskInfo] | None = answer.fn(initiator, candidates, *context, why)
            if explained:
                uids = None if accepted is None else {task.uid for task in accepted}
                verdict.votes.append((number, plugin, uids, why or {}))
            if accepted is None:
                continue
            if not accepted:
                victims = None
                break
            if victims is None:
                victims = accepted
            else:
                named = {task.uid for task in accepted}
                victims = [task for task in victims if task.uid in named] or None
        if victims is not None:
            verdict.victims, verdict.tier = victims, number
            return verdict
    return verdict


def tell_spared(
    session: Session, for_task: TaskInfo, candidates: Sequence[TaskInfo], verdict: Verdict
) -> None:
    """Keep which candidates were refused, and by which plugin first."""
    if session.trace is None or len(verdict.victims) == len(candidates):
        return
    for task, plugin, why in _refused(candidates, verdict):
        session.trace.spare(task.key, for_task.key, plugin, *why)


def tell_spared_for_gang(
    session: Session, job: JobInfo, candidates: Sequence[TaskInfo], verdict: Verdict
) -> None:
    """Keep which candidates were refused to a whole gang, and by which plugin first."""
    if session.trace is None:
        return
    for task, plugin, why in _refused(candidates, verdict):
        session.trace.spare(task.key, "", plugin, *why, for_job=job.key)


def _refused(
    candidates: Sequence[TaskInfo], verdict: Verdict
) -> Iterator[tuple[TaskInfo, str, tuple[str, dict[str, Any]]]]:
    """Yield the candidates that stay, each with the plugin that refused it first and its reason."""
    victims = {task.uid for task in verdict.victims}
    for task in candidates:
        if task.uid in victims:
            continue
        for _, plugin, accepted, why in verdict.votes:
            if accepted is not None and task.uid not in accepted:
                yield task, plugin, why.get(task.uid, _UNSAID)
                break


def tell_left_out(session: Session, for_task: TaskInfo, nodes: int) -> None:
    """Keep on how many of the nodes that would take a task nobody was asked, as it could not help."""
    if session.trace is not None:
        session.trace.leave_out(for_task.key, nodes)


def victims_queue(
    session: Session, victims: Sequence[TaskInfo], preemptor: TaskInfo
) -> PriorityQueue[TaskInfo]:
    """Return the victims in a heap: popped first is evicted first."""
    queues, asking, queue_order = session.queues, preemptor.job, session.queue_order
    by_plugins = session.release.follows(Rule.VICTIM_ORDER_BY_PLUGINS)
    losing = {victim.job.queue for victim in victims if victim.job is not None}
    keys = (
        {}
        if asking is None
        else {name: session.victim_queue_key(queues[name], queues[asking.queue]) for name in losing}
    )

    def less(left: TaskInfo, right: TaskInfo) -> bool:
        mine, theirs = left.job, right.job
        if mine is theirs:
            return not session.task_order(left, right)
        if mine is None or theirs is None:
            return mine is None
        my_queue, their_queue = mine.queue, theirs.queue
        if asking is None or my_queue == their_queue:
            if not by_plugins:
                return not session.job_order(mine, theirs)
            compared = session.job_order_compare(mine, theirs)
            if compared != 0:
                return compared > 0
            return not session.task_order(left, right)
        my_key, their_key = keys[my_queue], keys[their_queue]
        if my_key != their_key:
            return my_key < their_key
        return not queue_order(queues[my_queue], queues[their_queue])

    return PriorityQueue(less, victims)


def victims_suffice(session: Session, preemptor: TaskInfo, node: int, victims: Sequence[TaskInfo]) -> bool:
    """Tell whether evicting all the victims would make room for the preemptor on the node."""
    available = list(session.nodes.future_of[node])
    for victim in victims:
        add_pairs(available, victim.shape.amounts, 1.0)
    return fits(preemptor, available)
