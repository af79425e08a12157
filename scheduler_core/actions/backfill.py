"""Action backfill: place tasks without requests.

Source: volcano ``pkg/scheduler/actions/backfill/backfill.go`` at v1.15.1.
"""

from __future__ import annotations

import numpy as np

from scheduler_core.errors import PrePredicateError
from scheduler_core.framework.error_cache import ErrorCache
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import displace, place
from scheduler_core.framework.worklist import (
    WorkList,
    active_waiting_jobs,
    jobs_apart,
    nothing_waits,
    task_heap,
)
from scheduler_core.model.fit import Code, FitErrors, Status
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.status import TaskStatus
from scheduler_core.resource_limits import insufficient

NAME = "backfill"


def execute(session: Session) -> None:
    """Place best-effort tasks on any node that passes the predicates; queue limits do not apply."""
    if nothing_waits(session):
        return
    remember_errors = session.conf.arguments_of(NAME).get_bool("predicateErrorCacheEnable", True)
    for task in _tasks_in_order(session):
        _place(session, task, ErrorCache(enabled=remember_errors))


def _tasks_in_order(session: Session) -> list[TaskInfo]:
    """Return the tasks to place; the order is fixed before the first placement."""
    jobs_to_look_at = _jobs_to_consider(session)
    if not jobs_to_look_at:
        return []
    work = WorkList(session, settled=True)
    tasks = {}
    for job in jobs_to_look_at:
        waiting, taken_back = _best_effort_tasks(session, job)
        if waiting or taken_back:
            tasks[job.key] = task_heap(session, waiting, taken_back)
            work.add_queue(job.queue)
            work.add_job(job)
    ordered = []
    while work.queues:
        jobs = work.jobs[work.queues.pop().name]
        while jobs:
            heap = tasks[jobs.pop().key]
            while heap:
                ordered.append(heap.pop())
    return ordered


def _jobs_to_consider(session: Session) -> list[JobInfo]:
    """Return the active jobs with waiting tasks; without reasons, only those with best-effort ones."""
    if session.reasons:
        return active_waiting_jobs(session)
    if not any(shape.best_effort for shape in session.snapshot.tasks.shapes):
        return []
    apart = jobs_apart(session, session.snapshot.tasks.touched)
    jobs = [job for job in apart if job.pending_best_effort or job.waiting_count]
    return [job for job in jobs if not job.is_pending and session.plugins.job_valid(job) is None]


def _best_effort_tasks(session: Session, job: JobInfo) -> tuple[list[TaskInfo], list[TaskInfo]]:
    """Return the best-effort tasks that are pending, and those that are already pipelined."""
    if not job.pending_best_effort and not job.waiting_count:
        return [], []
    waiting = [t for t in job.by_status[TaskStatus.PENDING].values() if t.best_effort and not t.shape.gated]
    pipelined = [task for task in job.tasks_in([TaskStatus.PIPELINED]) if task.best_effort]
    for task in pipelined:
        node = task.node_name
        displace(session, task)
        session.decide("unpipeline", job, pod=task.key, node=node)
    return waiting, pipelined


def _place(session: Session, task: TaskInfo, cache: ErrorCache) -> None:
    try:
        session.plugins.pre_predicate(task)
    except PrePredicateError as error:
        session.record_fit_errors(
            task, session.placement.predicates.refused_everywhere(Status(Code.ERROR, str(error)))
        )
        return
    candidates, errors = session.placement.predicates.examine(
        task, resources=False, lenient=False, cache=cache
    )
    if not len(candidates):
        session.record_fit_errors(task, errors)
        session.observer.fits_nowhere(task, errors)
        return
    node = session.placement.best(task, candidates)
    if node is not None:
        _allocate(session, task, node)


def _allocate(session: Session, task: TaskInfo, node: int) -> None:
    """Allocate a task outside any statement, and bind all allocated tasks once its job is ready."""
    job = task.job
    assert job is not None, "only tasks of a job are placed"
    decision, _ = place(session, "allocate", task, node, TaskStatus.ALLOCATED)
    if not session.plugins.job_ready(job):
        return
    for waiting in job.tasks_in([TaskStatus.ALLOCATED]):
        if not session.binder.bind(waiting):
            session.record_fit_errors(task, _refused_by_binder(session, waiting))
            return
        if waiting is task:
            decision.op, decision.state = "bind", "committed"


def _refused_by_binder(session: Session, task: TaskInfo) -> FitErrors:
    idle = session.nodes.axis.resource(session.binder.idle[task.node])
    named = session.snapshot.allocatable[task.node].scalars or {}
    idle.scalars = {name: amount for name, amount in (idle.scalars or {}).items() if amount or name in named}
    names = ", ".join(insufficient(task.request, idle))
    text = (
        f"node {task.node_name} resources [{names}] are not enough to put task <{task.key}>, "
        f"idle: {idle}, req: {task.request}"
    )
    why = np.zeros(len(session.nodes), dtype=np.int32)
    why[task.node] = session.statuses.number(Status(Code.ERROR, text))
    return FitErrors(session.statuses, why)
