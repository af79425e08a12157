"""Action allocate: allocate idle resources to waiting jobs.

Source: volcano ``pkg/scheduler/actions/allocate/allocate.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from scheduler_core.actions.skipped_turns import SkippedTurns, skip_equal_jobs
from scheduler_core.errors import PrePredicateError
from scheduler_core.framework.error_cache import ErrorCache
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.framework.worklist import (
    Jobs,
    Tasks,
    WorkList,
    first_jobs,
    jobs_apart,
    nothing_waits,
    report_if_invalid,
    task_heap,
    waiting_jobs,
)
from scheduler_core.model.fit import Code, FitErrors, Status
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.roles import role_counts
from scheduler_core.model.status import READY_STATUSES

NAME = "allocate"


def execute(session: Session) -> None:
    """Give queues their turns, one job and one statement each, until no queue has a job left."""
    if nothing_waits(session):
        return
    allocate = Allocate(session)
    queues, waiting = allocate.work.queues, allocate.work.waiting
    while queues:
        queue = queues.pop()
        jobs = waiting(queue)
        if session.plugins.overused(queue):
            session.observer.queue_overused(queue, () if jobs is None else jobs.items)
        elif jobs is not None:
            allocate.take_turn(jobs)
            queues.push(queue)


class Allocate:
    """One execution of the action."""

    def __init__(self, session: Session) -> None:
        self.session = session
        arguments = session.conf.arguments_of(NAME)
        remembers = arguments.get_bool("predicateErrorCacheEnable", True)
        self.cache = ErrorCache(enabled=remembers, for_others=True)
        self.has_nodes = len(session.nodes) > 0
        self.waiting: dict[str, list[TaskInfo]] = {}
        self.tasks: dict[str, Tasks] = {}
        self.served_by_gang_action = set(session.served_by_gang_action)
        self.nominations_ignored: set[str] = set()
        self.work = WorkList(session, settled=True)
        self.skipped = SkippedTurns(session, self.work, self.served_by_gang_action)
        enqueues = "enqueue" in session.conf.actions
        by_line = (
            self.skipped.possible
            and enqueues
            and session.functions.same_for_equal_jobs(Point.JOB_VALID, Point.ALLOCATABLE)
        )
        touched = dict(session.snapshot.tasks.touched) if by_line else None
        if touched is not None:
            self.work.use_lines(touched)
        for job in waiting_jobs(session) if touched is None else jobs_apart(session, touched):
            if job.is_pending:
                if enqueues:
                    continue
                job.enter("Inqueue")
                session.decide("enqueue", job, reason="no enqueue action is configured")
            if self.skipped.is_hopeless(job) or report_if_invalid(session, job):
                continue
            waiting = [
                task
                for task in job.pending_of_sub_job()
                if not task.shape.gated_by_others and not task.best_effort
            ]
            if waiting:
                self.waiting[job.key] = waiting
                self.work.add_queue(job.queue)
                self.work.add_job(job)
            else:
                session.observer.gated(job)
        expected = [task for waiting in self.waiting.values() for task in waiting]
        if touched is not None:
            expected += self._add_lines(touched)
        session.placement.prefetch(expected)

    def _add_lines(self, touched: Mapping[str, JobInfo]) -> list[TaskInfo]:
        """Add the lines of equal jobs that may be placed; return one task of each line.

        Sound, as equal jobs are all valid or all invalid, and nodes that accept no task of one job accept
        none of an equal job.
        """
        tasks: list[TaskInfo] = []
        for line, job in first_jobs(self.session, touched):
            if not (self.skipped.is_hopeless(job) or report_if_invalid(self.session, job)):
                self.work.add_queue(job.queue)
                self.work.add_line(job.queue, line)
                tasks += job.samples()
        return tasks

    def take_turn(self, jobs: Jobs) -> None:
        """Place the tasks of the first job's turn.

        Tasks that are only pipelined are kept, neither bound nor undone. A job that a gang action has placed
        in this session gets another turn with the placed tasks, which are first tried on the nodes nominated
        for them in earlier cycles.
        """
        job = jobs.pop()
        if self.skipped.keeps_waiting(job, jobs):
            return
        if self.skipped.is_hopeless(job):
            skip_equal_jobs(jobs)
            return
        changes = len(self.session.nodes.changes)
        tasks = self.tasks.pop(job.key, None) or task_heap(
            self.session, self.waiting.get(job.key) or job.pending_of_sub_job()
        )
        statement = Statement(self.session)
        if job.key in self.served_by_gang_action:
            self.served_by_gang_action.remove(job.key)
            if self._place_as_nominated(job, statement):
                tasks = []
            else:
                statement.discard()
                self.nominations_ignored.add(job.key)
        if self.has_nodes and self._place_tasks(job, tasks, statement):
            statement.commit()
            if tasks:
                self.tasks[job.key] = tasks
                jobs.push(job)
        elif not self.session.plugins.job_pipelined(job):
            statement.discard()
        if changes == len(self.session.nodes.changes) and self.skipped.fails_as_equals_do(job):
            skip_equal_jobs(jobs)

    def _place_tasks(self, job: JobInfo, tasks: Tasks, statement: Statement) -> bool:
        """Place tasks until the job is ready or none is left to try; return whether it is ready."""
        session = self.session
        self.cache.forget()
        queue, uncertain = session.queues[job.queue], session.nodes.releasing_or_pipelined
        while tasks:
            task = tasks.pop()
            refusal = session.plugins.allocatable(queue, task)
            if refusal is not None:
                session.observer.queue_full(job, task, refusal)
                continue
            if task.shape.gated:
                session.observer.gated(job)
                continue
            if task.role in job.failed_roles and task.role:
                self._skip_failed_role(task)
                continue
            node, errors = self._find_node(task)
            if errors is not None:
                session.record_fit_errors(task, errors)
                session.observer.fits_nowhere(task, errors)
                if needs_continue(job):
                    continue
                break
            if node is None:
                session.observer.no_score(task)
                continue
            if node not in uncertain or session.nodes.fits_idle(task, node):
                statement.allocate(task, node)
            elif session.nodes.fits_future_idle(task, node):
                statement.pipeline(task, node, eviction_occurred=False)
            if session.plugins.job_ready(job):
                return True
        return session.plugins.job_ready(job)

    def _place_as_nominated(self, job: JobInfo, statement: Statement) -> bool:
        """Place all tasks of a job on the nodes nominated in earlier cycles; False if one does not fit.

        The nodes of all tasks are examined before any task is placed.
        """
        session = self.session
        self.cache.forget()
        tasks = task_heap(session, self.waiting[job.key])
        in_order = [tasks.pop() for _ in range(len(tasks))]
        if not all(self._is_nominated_and_fits(task) for task in in_order):
            return False
        queue, nodes = session.queues[job.queue], session.nodes
        for task in in_order:
            if session.plugins.allocatable(queue, task) is not None:
                return False
            node = nodes.index[task.nominated]
            if nodes.fits_idle(task, node):
                placed = statement.allocate(task, node)
            elif nodes.fits_future_idle(task, node):
                placed = statement.pipeline(task, node, eviction_occurred=False)
            else:
                placed = False
            if not placed:
                return False
        return session.plugins.job_ready(job) or session.plugins.job_pipelined(job)

    def _is_nominated_and_fits(self, task: TaskInfo) -> bool:
        try:
            self.session.plugins.pre_predicate(task)
        except PrePredicateError:
            return False
        return self._nominated_takes(task)

    def _find_node(self, task: TaskInfo) -> tuple[int | None, FitErrors | None]:
        """Return the node for a task, or why every node refuses it."""
        session = self.session
        try:
            session.plugins.pre_predicate(task)
        except PrePredicateError as error:
            return None, session.placement.predicates.refused_everywhere(Status(Code.ERROR, str(error)))
        if task.nominated and not self._is_ignored(task) and self._nominated_takes(task):
            return session.nodes.index[task.nominated], None
        return session.placement.find(task, self.cache)

    def _is_ignored(self, task: TaskInfo) -> bool:
        """Return whether a job's nominations are ignored because not all of its tasks fit their nodes."""
        return task.job is not None and task.job.key in self.nominations_ignored

    def _nominated_takes(self, task: TaskInfo) -> bool:
        """Return whether the node that an earlier cycle nominated for a task exists and accepts it."""
        nodes, placement = self.session.nodes, self.session.placement
        node = nodes.index.get(task.nominated)
        if node is None or not nodes.fits_future_idle(task, node):
            return False
        only = np.array([node], dtype=np.intp)
        passing, _ = placement.predicates.examine(
            task, resources=True, lenient=False, cache=self.cache, among=only
        )
        return len(passing) > 0

    def _skip_failed_role(self, task: TaskInfo) -> None:
        """Record that a task was skipped because one of the same role found no node in this session."""
        sentence = f"Task {task.name} with role spec {task.role} has already predicated failed, skip"
        self.session.record_fit_errors(task, FitErrors(self.session.statuses, None, sentence))


def needs_continue(job: JobInfo) -> bool:
    """Return whether the job can still become ready after one of its tasks found no node."""
    if job.min_available >= job.size:
        return False
    if not job.role_minimums_apply:
        left = sum(count for role, count in job.pending_roles.items() if role not in job.failed_roles)
        return job.ready_count + left >= job.min_available
    placed = role_counts(job, READY_STATUSES, pending_best_effort=True)
    return all(placed[role] >= job.task_min_available.get(role, 0) for role in job.failed_roles)
