"""Why pods of a job wait at the end of a cycle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.framework.session import Session
from scheduler_core.model.gang import NOT_ENQUEUED
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.status import TaskStatus

_NAMED = 3


def waits_for(session: Session, job: JobInfo, stopped: dict[str, Any] | None) -> dict[str, Any]:
    """Return the record of a job with waiting pods at the end of a cycle.

    It has the gate at which an action `stopped` the job, or the one that follows from the states of its pods;
    and `undone`, the number of pending pods whose placement was undone because others found no node.
    """
    if job.is_pending:
        return stopped or _not_enqueued(session.conf.actions)
    pending = list(job.by_status[TaskStatus.PENDING].values())
    known = _from_states(session, job, pending) if stopped is None else stopped
    undone = sum(_was_undone(task) for task in pending if task.key != known.get("pod"))
    return {**known, "undone": undone} if undone else known


def gate_of(job: JobInfo, tasks: Sequence[TaskInfo]) -> dict[str, Any]:
    """Return the gate of tasks with scheduling gates: how many, some by name, and their gates."""
    names = sorted({gate["name"] for task in tasks for gate in task.shape.spec["schedulingGates"]})
    return {
        "gate": "schedulingGate",
        "queue": job.queue,
        "gates": names,
        "gated": len(tasks),
        "pods": sorted(task.key for task in tasks)[:_NAMED],
        "message": f"held by scheduling gate {', '.join(names)}",
    }


def _from_states(session: Session, job: JobInfo, pending: Sequence[TaskInfo]) -> dict[str, Any]:
    actions = session.conf.actions
    if not pending:
        return _with_a_place(session, job)
    gated = [task for task in pending if task.shape.gated]
    if gated:
        return gate_of(job, gated)
    unplaced = [task for task in pending if not task.best_effort and not _was_undone(task)]
    if unplaced and "allocate" not in actions:
        return _no_action("allocate")
    if "backfill" not in actions and all(task.best_effort for task in pending):
        return {**_no_action("backfill"), "pods": sorted(task.key for task in pending)[:_NAMED]}
    if not len(session.nodes):
        return {"gate": "node", "queue": job.queue, "pod": pending[0].key, "message": "there is no node"}
    if job.phase_before in NOT_ENQUEUED and _enqueued_late(actions):
        return {"gate": "turn", "late": True}
    if all(map(_was_undone, pending)):
        why = "a plugin found the job not ready, so that all its places were undone"
        return {"gate": "refused", "queue": job.queue, "pod": pending[0].key, "message": why}
    return {"gate": "turn"}


def _with_a_place(session: Session, job: JobInfo) -> dict[str, Any]:
    """Return the gate of a job whose pods are all placed, though not all are bound."""
    kept = job.tasks_in([TaskStatus.ALLOCATED])
    if kept and session.plugins.job_ready(job):
        task = next((task for task in kept if task.uid in job.fit_errors), kept[0])
        why = f"node {task.node_name} can no longer hold all pods that were given it"
        return {"gate": "refused", "queue": job.queue, "pod": task.key, "message": why}
    return {"gate": "promised"}


def _not_enqueued(actions: Sequence[str]) -> dict[str, Any]:
    return {"gate": "turn"} if "enqueue" in actions else _no_action("enqueue")


def _no_action(missing: str) -> dict[str, Any]:
    return {"gate": "noAction", "action": missing}


def _was_undone(task: TaskInfo) -> bool:
    """Return whether a pending task's placement was undone because its gang was incomplete."""
    return task.last_transaction is not None and task.last_transaction.status in (
        TaskStatus.ALLOCATED,
        TaskStatus.PIPELINED,
    )


def _enqueued_late(actions: Sequence[str]) -> bool:
    """Return whether jobs are enqueued after allocate has run."""
    return (
        "enqueue" in actions
        and "allocate" in actions
        and actions.index("enqueue") > actions.index("allocate")
    )
