"""The mutable state of a session, as plain data for comparison."""

from __future__ import annotations

from typing import Any

from scheduler_core.errors import PrePredicateError
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.status import TaskStatus
from scheduler_core.rendering import plain


def task_of(session: Session, uid: str) -> TaskInfo:
    return next(job.tasks[uid] for job in session.jobs.values() if uid in job.tasks)


def state_of(session: Session) -> Any:
    """Return every amount and status that a statement may change; an absent amount is zero."""
    nodes = session.nodes
    state = {
        **{name: getattr(nodes, name).tolist() for name in ("idle", "used", "releasing", "pipelined")},
        "on_nodes": [sorted(tasks) for tasks in nodes.tasks],
        "jobs": {key: _job_state(job) for key, job in session.jobs.items()},
        "reports": [report() for report in session.registry.reports],
    }
    return without_zeros(plain(state))


def _job_state(job: JobInfo) -> dict[str, Any]:
    return {
        "allocated": job.allocated,
        "pending_best_effort": job.pending_best_effort,
        "by_status": {status.label: sorted(tasks) for status, tasks in job.by_status.items()},
        "places": {uid: [task.node + 1, task.node_name] for uid, task in job.tasks.items()},
    }


def without_zeros(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_zeros(entry) for name, entry in value.items() if entry != 0}
    return [without_zeros(entry) for entry in value] if isinstance(value, list) else value


def operate(statement: Statement, task: TaskInfo, node: int) -> None:
    """Evict a running task, or place a pending one where it fits."""
    session = statement.session
    if task.status is TaskStatus.RUNNING:
        statement.evict(task, "test", task)
    elif task.status is TaskStatus.PENDING and session.nodes.fits_future_idle(task, node):
        try:
            session.plugins.pre_predicate(task)
        except PrePredicateError:
            return
        if session.nodes.fits_idle(task, node):
            statement.allocate(task, node)
        else:
            statement.pipeline(task, node, eviction_occurred=True)
