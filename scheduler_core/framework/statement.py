"""How are operations tried and taken back? An ordered log of evictions and placements.

Every operation changes the session at once; committing makes the log real, discarding undoes it backwards.

Source: volcano ``pkg/scheduler/framework/statement.go`` at v1.15.1.
"""

from __future__ import annotations

from typing import NamedTuple

from scheduler_core.framework.session import Session
from scheduler_core.model.job import NO_NODE, JobInfo, TaskInfo, Transaction
from scheduler_core.model.status import TaskStatus
from scheduler_core.trace import ROLLED_BACK, Decision

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

    def evict(self, task: TaskInfo, reason: str, for_task: TaskInfo | None) -> None:
        """Evict a running task to make room for another one, or for a whole job (None)."""
        job = _job(task)
        node = task.node_name
        job.update_task_status(task, TaskStatus.RELEASING)
        self.session.nodes.update_task(task)
        self.session.fire_deallocate(task)
        decision = self.session.decide(
            "evict",
            job,
            pod=task.key,
            node=node,
            reason=reason,
            for_pod=for_task.key if for_task is not None else "",
            state="kept",
        )
        self.operations.append(Operation("evict", task, decision))

    def pipeline(self, task: TaskInfo, node: int, *, eviction_occurred: bool) -> bool:
        """Give a task a place that is still to be released; False when it had to be rolled back."""
        task.eviction_occurred = eviction_occurred
        return self._place("pipeline", task, node, PIPELINED)

    def allocate(self, task: TaskInfo, node: int) -> bool:
        """Give a task idle resources; False when it had to be rolled back."""
        return self._place("allocate", task, node, ALLOCATED)

    def _place(self, kind: str, task: TaskInfo, node: int, status: TaskStatus) -> bool:
        session, job = self.session, _job(task)
        job.update_task_status(task, status)
        added = session.nodes.add_task(task, node)
        refusal = session.fire_allocate(task)
        decision = session.decide(kind, job, pod=task.key, node=task.node_name, state="kept")
        operation = Operation(kind, task, decision)
        if refusal is not None or not added:
            self._tell_refused(operation, str(refusal or f"node {task.node_name} cannot hold it"))
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
                    self._tell_refused(operation, f"node {task.node_name} can no longer hold it")
                    self._undo(operation)
                    continue
                decision.op = "bind"
            decision.state = "committed"
        self.operations = []

    def discard(self) -> None:
        """Undo every operation, the last one first; each task remembers where it stood."""
        for operation in reversed(self.operations):
            task = operation.task
            task.last_transaction = Transaction(task.node_name, task.status, task.eviction_occurred)
            self._undo(operation)
        self.operations = []

    def merge(self, other: Statement) -> None:
        """Take over the operations of another statement."""
        self.operations += other.operations
        other.operations = []

    def _tell_refused(self, operation: Operation, why: str) -> None:
        """Keep that a place that was found for a task could not be taken."""
        trace, task = self.session.trace, operation.task
        if trace is not None:
            job = _job(task)
            trace.stop(job.key, "refused", queue=job.queue, pod=task.key, message=why)

    def _undo(self, operation: Operation) -> None:
        operation.decision.state = ROLLED_BACK
        if operation.kind == "evict":
            self._unevict(operation.task)
        else:
            displace(self.session, operation.task)

    def _unevict(self, task: TaskInfo) -> None:
        _job(task).update_task_status(task, TaskStatus.RUNNING)
        self.session.nodes.update_task(task)
        self.session.fire_allocate(task)


def displace(session: Session, task: TaskInfo) -> None:
    """Take a placed task off its node, back to pending."""
    _job(task).update_task_status(task, TaskStatus.PENDING)
    session.nodes.remove_task(task)
    session.fire_deallocate(task)
    task.node = NO_NODE
    task.node_name = ""


def _job(task: TaskInfo) -> JobInfo:
    assert task.job is not None, "only tasks of a job are placed or evicted"
    return task.job
