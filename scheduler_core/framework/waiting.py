"""Why do pods of a job wait when no action said so?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.status import TaskStatus

_NAMED = 3


def waits_for(session: Session, job: JobInfo) -> dict[str, Any]:
    """Return what is known of a job at the end of a cycle some of whose pods wait.

    Beside what an action said, or where none said anything the gate that follows from where the pods stand:
    `undone`, how many pending pods had found a place that was taken back as others did not.
    """
    trace = session.trace
    assert trace is not None, "explanations need a trace"
    told = trace.pending.get(job.key)
    if job.is_pending:
        return told or _not_enqueued(session.conf.actions)
    pending = list(job.by_status[TaskStatus.PENDING].values())
    known = _where_they_stand(session, job, pending) if told is None else told
    undone = sum(_was_undone(task) for task in pending if task.key != known.get("pod"))
    return {**known, "undone": undone} if undone else known


def gated(job: JobInfo, tasks: Sequence[TaskInfo]) -> dict[str, Any]:
    """Return the gate of tasks that a scheduling gate holds back: how many, some by name, and their gates."""
    names = sorted({gate["name"] for task in tasks for gate in task.shape.spec["schedulingGates"]})
    return {
        "gate": "schedulingGate",
        "queue": job.queue,
        "gates": names,
        "gated": len(tasks),
        "pods": sorted(task.key for task in tasks)[:_NAMED],
        "message": f"held by scheduling gate {', '.join(names)}",
    }


def _where_they_stand(session: Session, job: JobInfo, pending: Sequence[TaskInfo]) -> dict[str, Any]:
    actions = session.conf.actions
    if not pending:
        return _with_a_place(session, job)
    held_back = [task for task in pending if task.shape.gated]
    if held_back:
        return gated(job, held_back)
    unplaced = [task for task in pending if not task.best_effort and not _was_undone(task)]
    if unplaced and "allocate" not in actions:
        return _no_action("allocate")
    if "backfill" not in actions and all(task.best_effort for task in pending):
        return {**_no_action("backfill"), "pods": sorted(task.key for task in pending)[:_NAMED]}
    if not len(session.nodes):
        return {"gate": "node", "queue": job.queue, "pod": pending[0].key, "message": "there is no node"}
    if job.phase_before in ("", "Pending") and _enqueued_late(actions):
        return {"gate": "turn", "late": True}
    if all(map(_was_undone, pending)):
        why = "a plugin found the job not ready, so that all its places were undone"
        return {"gate": "refused", "queue": job.queue, "pod": pending[0].key, "message": why}
    return {"gate": "turn"}


def _with_a_place(session: Session, job: JobInfo) -> dict[str, Any]:
    """Return the gate of a job all of whose pods have a place, but some are not bound."""
    kept = job.tasks_in([TaskStatus.ALLOCATED])
    if kept and session.job_ready(job):
        task = next((task for task in kept if task.uid in job.fit_errors), kept[0])
        why = f"node {task.node_name} can no longer hold all pods that were given it"
        return {"gate": "refused", "queue": job.queue, "pod": task.key, "message": why}
    return {"gate": "promised"}


def _not_enqueued(actions: Sequence[str]) -> dict[str, Any]:
    return {"gate": "turn"} if "enqueue" in actions else _no_action("enqueue")


def _no_action(missing: str) -> dict[str, Any]:
    return {"gate": "noAction", "action": missing}


def _was_undone(task: TaskInfo) -> bool:
    """Tell whether a pending task had a place that was taken back, as its gang was not complete."""
    return task.last_transaction is not None and task.last_transaction.status in (
        TaskStatus.ALLOCATED,
        TaskStatus.PIPELINED,
    )


def _enqueued_late(actions: Sequence[str]) -> bool:
    """Tell whether jobs are enqueued when allocate has run already."""
    return (
        "enqueue" in actions
        and "allocate" in actions
        and actions.index("enqueue") > actions.index("allocate")
    )
