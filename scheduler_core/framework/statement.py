"""Statements: operations on tasks that are committed or discarded together.

Only `place`, `evict` and `displace` add a task to a node or remove it, and call the plugins for it. A
statement logs these operations: committing makes them final, discarding undoes them in reverse. Backfill and
shuffle decide outside any statement; their decisions are not undone.

Source: volcano ``pkg/scheduler/framework/statement.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scheduler_core.decision import Decision
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.status import TaskStatus
from scheduler_core.model.task import NO_NODE, Transaction

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
        """Evict a running task to make room for another task, or for a whole job (None)."""
        for_pod = for_task.key if for_task is not None else ""
        decision = evict(self.session, task, reason, for_pod=for_pod, state="kept")
        self.operations.append(Operation("evict", task, decision))
        return decision

    def pipeline(self, task: TaskInfo, node: int, *, eviction_occurred: bool) -> bool:
        """Pipeline a task on resources that are still being released; False if that was rolled back."""
        task.eviction_occurred = eviction_occurred
        return self._place("pipeline", task, node, PIPELINED)

    def allocate(self, task: TaskInfo, node: int) -> bool:
        """Allocate idle resources to a task; False if that was rolled back."""
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
        """Make every operation final, in order."""
        for operation in self.operations:
            task, decision = operation.task, operation.decision
            task.last_transaction = None
            if operation.kind == "allocate":
                if not self.session.binder.bind(task):
                    why = f"node {task.node_name} can no longer hold it"
                    self.session.observer.placement_failed(task, why)
                    self._undo(operation)
                    continue
                decision.op = "bind"
            decision.state = "committed"
        self.operations = []

    def discard(self) -> None:
        """Undo every operation, the last one first; each task keeps its previous status.

        Decisions are removed, and so are entries of the nodes' change log that make no difference to readers.
        """
        for operation in reversed(self.operations):
            task = operation.task
            task.last_transaction = Transaction(task.node_name, task.status, task.eviction_occurred)
            self._undo(operation)
        self.operations = []
        self.session.nodes.changes.trim()

    def merge(self, other: Statement) -> None:
        """Append the operations of another statement."""
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
        self.session.events.fire_allocate(task)


class PlacedTask(NamedTuple):
    """The decision that placed a task, and why the node or a plugin then refused it, if one did."""

    decision: Decision
    refusal: str | None


def place(session: Session, kind: str, task: TaskInfo, node: int, status: TaskStatus) -> PlacedTask:
    """Add a task to a node with a status, and call the plugins for it."""
    job = _job(task)
    job.update_task_status(task, status)
    added = session.nodes.add_task(task, node)
    refusal = session.events.fire_allocate(task)
    decision = session.decide(kind, job, pod=task.key, node=task.node_name, state="kept")
    if refusal is not None:
        return PlacedTask(decision, str(refusal))
    return PlacedTask(decision, None if added else f"node {task.node_name} cannot hold it")


def count_as_pipelined(session: Session, task: TaskInfo, node: int) -> bool:
    """Pipeline a job's only pod by counting it on its node and in plugins.

    Sound in sessions after which nothing reads pipelined tasks or decisions about them: other jobs depend
    only on the node's future idle amounts and the accounts of plugins. The job no longer waits, so actions
    over the waiting jobs skip it. Returns False, without any effect, if a plugin refuses.
    """
    job = _job(task)
    task.node, task.node_name = node, session.nodes.names[node]
    session.nodes.count_pipelined(task, 1.0)
    refusal = session.events.fire_allocate(task)
    if refusal is None:
        session.snapshot.tasks.counted[job.key] = job
    else:
        session.nodes.count_pipelined(task, -1.0)
        session.events.fire_deallocate(task)
    task.node, task.node_name = NO_NODE, ""
    return refusal is None


def evict(
    session: Session, task: TaskInfo, reason: str, *, for_pod: str, state: str, is_record: bool = False
) -> Decision:
    """Evict a task from its node and call the plugins for it.

    `is_record` says that a plugin selected the node's own record of the task: Volcano sets its status before
    it subtracts it from the node, and so subtracts it from the releasing amounts.
    """
    job = _job(task)
    job.update_task_status(task, TaskStatus.RELEASING)
    if is_record:
        task.node_status = TaskStatus.RELEASING
    session.nodes.update_task(task)
    session.events.fire_deallocate(task)
    return session.decide(
        "evict", job, pod=task.key, node=task.node_name, reason=reason, for_pod=for_pod, state=state
    )


def displace(session: Session, task: TaskInfo) -> None:
    """Remove a placed task from its node and make it pending again."""
    _job(task).update_task_status(task, TaskStatus.PENDING)
    session.nodes.remove_task(task)
    session.events.fire_deallocate(task)
    task.node = NO_NODE
    task.node_name = ""


def leave_nothing(_tasks: Sequence[TaskInfo]) -> None:
    """Do nothing, as discarded evictions leave no trace in the plugin."""


def evict_and_discard(session: Session, tasks: Sequence[TaskInfo]) -> bool:
    """Apply the effect of evicting tasks one after the other and discarding that.

    Sound, as every plugin defines this effect (`on_discard`). Each task counts as running afterwards, even if
    it was only bound before, and keeps the status Releasing as its previous one. Returns False, without any
    effect, if a plugin must handle each eviction.
    """
    if session.events.on_discard is None:
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
    for on_discard in session.events.on_discard:
        on_discard(tasks)
    return True


def _job(task: TaskInfo) -> JobInfo:
    assert task.job is not None, "only tasks of a job are placed or evicted"
    return task.job
