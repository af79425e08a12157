"""A job's turn in an action: the session at that point, and the result of the action for the job alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from scheduler_core.actions.gang_eviction import GangEviction
from scheduler_core.actions.gangpreempt import GangPreempt
from scheduler_core.actions.gangreclaim import GangReclaim
from scheduler_core.actions.preempt import Preempt
from scheduler_core.actions.reclaim import Reclaim
from scheduler_core.framework.node_columns import Nodes
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.framework.worklist import Watcher, pending_tasks, task_heap
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.status import TaskStatus
from scheduler_core.victims.selection import NodeVerdict

GANG_KINDS: Mapping[str, type[GangEviction]] = {"gangreclaim": GangReclaim, "gangpreempt": GangPreempt}


class Evicting(Protocol):
    """An action that evicts for jobs in turns."""

    def run(self, watch: Watcher) -> None:
        """Give every starving job its turn; `watch` is called before each turn."""


class Searching(Evicting, Protocol):
    """An action that searches node by node for room for one pod."""

    def nodes_for(self, task: TaskInfo) -> Nodes:
        """Return the nodes where evictions could help a task."""

    def verdict_on(self, task: TaskInfo, node: int) -> NodeVerdict | None:
        """Return the candidates on a node with the plugins' votes; None if there are none."""


SEARCHING: Mapping[str, Callable[[Session], Searching]] = {"reclaim": Reclaim, "preempt": Preempt}
KINDS: Mapping[str, Callable[[Session], Evicting]] = {
    **SEARCHING,
    **GANG_KINDS,
}


class Turn(NamedTuple):
    """A job's turn in an action.

    Attributes
    ----------
    session : Session
        The session at the job's turn, or when its queue is skipped.
    others : int
        How many other jobs had their turns before.
    evicted : int
        How many pods the action evicted in those turns.

    """

    session: Session
    others: int
    evicted: int


class _TurnReached(Exception):
    """The job's turn has come, or its queue is skipped."""


def turn_of(session: Session, action: str, key: str) -> Turn:
    """Run an action in a session until a job's turn comes or its queue is skipped."""
    mine, others = session.jobs[key], 0

    def watch(queue: QueueInfo, job: JobInfo | None) -> None:
        nonlocal others
        if job is mine or (job is None and queue.name == mine.queue):
            raise _TurnReached
        others += job is not None

    before = len(session.decisions)
    with suppress(_TurnReached):
        KINDS[action](session).run(watch)
    evicted = sum(decision.op == "evict" for decision in session.decisions[before:])
    return Turn(session, others, evicted)


class Trial(NamedTuple):
    """The result of an action for a single job.

    Attributes
    ----------
    complete : bool
        Whether the job gets everything it needs, so that the action would commit.
    pods : int
        How many of the job's pods are pipelined.
    victims : list of TaskInfo
        The evicted pods.
    stuck : TaskInfo or None
        The first of the job's pods that is not pipelined.
    refusal : dict
        Why the queue refuses that pod, {} if it does not.

    """

    complete: bool
    pods: int
    victims: Sequence[TaskInfo]
    stuck: TaskInfo | None
    refusal: Mapping[str, Any]


def try_alone(session: Session, action: str, job: JobInfo) -> Trial:
    """Run an action for a single job in the current session, and undo it."""
    statement, queue = Statement(session), session.queues[job.queue]
    stuck, refusal = None, None
    if action in GANG_KINDS:
        GANG_KINDS[action](session).attempt(statement, queue, job)
    else:
        attempt = _attempt(session, action)
        tasks = task_heap(session, pending_tasks(job))
        while tasks and session.plugins.job_starving(job):
            task = tasks.pop()
            attempt(statement, queue, task)
            if stuck is None and task.status is not TaskStatus.PIPELINED:
                stuck = task
                refusal = (
                    session.plugins.preemptive(queue, [task])
                    if action == "reclaim"
                    else session.plugins.allocatable(queue, task)
                )
    victims = [operation.task for operation in statement.operations if operation.kind == "evict"]
    pods = sum(operation.kind == "pipeline" for operation in statement.operations)
    complete = session.plugins.job_pipelined(job) and pods > 0
    statement.discard()
    return Trial(complete, pods, victims, stuck, refusal or {})


def _attempt(session: Session, action: str) -> Callable[[Statement, QueueInfo, TaskInfo], object]:
    if action == "reclaim":
        return Reclaim(session).attempt
    preempt = Preempt(session)
    return lambda statement, queue, task: preempt.attempt(statement, queue, task, preempt.other_jobs)
