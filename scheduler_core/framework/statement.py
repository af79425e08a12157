"""Statements: operations on tasks that are committed together, or undone.

`place`, `evict` and `displace` alone put a task on a node or remove it, and call the plugins for it. A
statement logs them: committing makes the log real, discarding undoes it backwards. Backfill and shuffle
decide for good, outside any statement.

Source: volcano ``pkg/scheduler/framework/statement.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scheduler_core.decision import Decision
from scheduler_core.framework.session import Session
from scheduler_core.model.job import NO_NODE, JobInfo, TaskInfo, Transaction
from scheduler_core.model.status import TaskStatus

ALLOCATED, PIPELINED = TaskStatus.ALLOCATED, TaskStatus.PIPELINED


class Operation(NamedTuple):
    """One entry of the log."""

    kind: str
    task: TaskInfo
    decision: Decision


class Statement:
    """A log of operations on one session."""

    __slots__ = ("operations", "session")

    def __init__(self, session: Session) -> None:
        self.session = session
        self.operations: list[Operation] = []

    # operations

    def evict(self, task: TaskInfo, reason: str, for_task: TaskInfo | None) -> Decision:
        """Evict a running task to make room for another one, or for a whole job (None)."""
        for_pod = for_task.key if for_task is not None else ""
        decision = evict(self.session, task, reason, for_pod=for_pod, state="kept")
        self.operations.append(Operation("evict", task, decision))
        return decision

    def pipeline(self, task: TaskInfo, node: int, *, eviction_occurred: bool) -> bool:
        """Give a task a place that is still to be released; False when it had to be rolled back."""
        task.eviction_occurred = eviction_occurred
        return self._place("pipeline", task, node, PIPELINED)

    def allocate(self, task: TaskInfo, node: int) -> bool:
        """Give a task idle resources; False when it had to be rolled back."""
        return self._place("allocate", task, node, ALLOCATED)

    def _place(self, kind: str, task: TaskInfo, node: int, status: TaskStatus) -> bool:
        placed = place(self.session, kind, task, node, status)
        operation = Operation(kind, task, placed.decision)
        if placed.refusal is not None:
            self.session.observer.placement_failed(task, placed.refusal)
            self._undo(operation)
            return False
        self.operations.append(operation)
        return True

    # the log

    def commit(self) -> None:
        """Make every operation real, in order."""
        for operation in self.operations:
            task, decision = operation.task, operation.decision
            task.last_transaction = None
            if operation.kind == "allocate":
                if not self.session.bind(task):
                    why = f"node {task.node_name} can no longer hold it"
                    self.session.observer.placement_failed(task, why)
                    self._undo(operation)
                    continue
                decision.op = "bind"
            decision.state = "committed"
        self.operations = []

    def discard(self) -> None:
        """Undo every operation, the last one first; each task remembers where it stood.

        Nothing else of it stays: neither its decisions, nor what no reader of the nodes' log can tell apart.
        """
        for operation in reversed(self.operations):
            task = operation.task
            task.last_transaction = Transaction(task.node_name, task.status, task.eviction_occurred)
            self._undo(operation)
        self.operations = []
        self.session.nodes.changes.trim()

    def merge(self, other: Statement) -> None:
        """Take over the operations of another statement."""
        self.operations += other.operations
        other.operations = []

    def _undo(self, operation: Operation) -> None:
        self.session.forget(operation.decision)
        if operation.kind == "evict":
            self._unevict(operation.task)
        else:
            displace(self.session, operation.task)

    def _unevict(self, task: TaskInfo) -> None:
        _job(task).update_task_status(task, TaskStatus.RUNNING)
        self.session.nodes.update_task(task)
        self.session.fire_allocate(task)


class PlacedTask(NamedTuple):
    """The decision that placed a task, and why the node or a plugin refuses it after all, if one does."""

    decision: Decision
    refusal: str | None


def place(session: Session, kind: str, task: TaskInfo, node: int, status: TaskStatus) -> PlacedTask:
    """Put a task on a node with the status that it has there, and call the plugins for it."""
    job = _job(task)
    job.update_task_status(task, status)
    added = session.nodes.add_task(task, node)
    refusal = session.fire_allocate(task)
    decision = session.decide(kind, job, pod=task.key, node=task.node_name, state="kept")
    if refusal is not None:
        return PlacedTask(decision, str(refusal))
    return PlacedTask(decision, None if added else f"node {task.node_name} cannot hold it")


def count_as_pipelined(session: Session, task: TaskInfo, node: int) -> bool:
    """Give a job's only pod a place that is still to be released; only its node and plugins know of it.

    Sound in sessions after which nobody asks what is pipelined: all that it changes for others is what the
    node will have idle, and what plugins count. The job has nothing left to wait for: whoever goes through
    the jobs that wait leaves it out. False, and nothing is done, when a plugin refuses.
    """
    job = _job(task)
    task.node, task.node_name = node, session.nodes.names[node]
    session.nodes.count_pipelined(task, 1.0)
    refusal = session.fire_allocate(task)
    if refusal is None:
        session.decide("pipeline", job, pod=task.key, node=task.node_name, state="kept")
        session.snapshot.tasks.counted[job.key] = job
    else:
        session.nodes.count_pipelined(task, -1.0)
        session.fire_deallocate(task)
    task.node, task.node_name = NO_NODE, ""
    return refusal is None


def evict(session: Session, task: TaskInfo, reason: str, *, for_pod: str, state: str) -> Decision:
    """Evict a task from its node, and call the plugins for it."""
    job = _job(task)
    job.update_task_status(task, TaskStatus.RELEASING)
    session.nodes.update_task(task)
    session.fire_deallocate(task)
    return session.decide(
        "evict", job, pod=task.key, node=task.node_name, reason=reason, for_pod=for_pod, state=state
    )


def displace(session: Session, task: TaskInfo) -> None:
    """Take a placed task off its node, back to pending."""
    _job(task).update_task_status(task, TaskStatus.PENDING)
    session.nodes.remove_task(task)
    session.fire_deallocate(task)
    task.node = NO_NODE
    task.node_name = ""


def leave_nothing(_tasks: Sequence[TaskInfo]) -> None:
    """Say that a plugin keeps nothing of evictions that are discarded."""


def evict_and_discard(session: Session, tasks: Sequence[TaskInfo]) -> bool:
    """Leave everything as if tasks had been evicted, one after the other, and all of that discarded.

    Sound, as every plugin says what that leaves behind (`on_discard`).
    Each of them remembers that it was terminating, and runs, even if it had only been bound before. False,
    and nothing is done, when a plugin has to hear of each eviction.
    """
    if session.registry.on_discard is None:
        return False
    nodes = session.nodes
    for task in tasks:
        task.last_transaction = Transaction(task.node_name, TaskStatus.RELEASING, task.eviction_occurred)
        if task.job is not None:
            task.job.touch()
        if task.status is not TaskStatus.RUNNING and task.job is not None:
            task.job.update_task_status(task, TaskStatus.RUNNING)
            nodes.update_task(task)
        elif not nodes.names_scalars[task.node]:
            nodes.update_task(task)
    for on_discard in session.registry.on_discard:
        on_discard(tasks)
    return True


def _job(task: TaskInfo) -> JobInfo:
    assert task.job is not None, "only tasks of a job are placed or evicted"
    return task.job
