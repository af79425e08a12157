"""The action allocate: gives idle resources to waiting jobs.

Source: volcano ``pkg/scheduler/actions/allocate/allocate.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from scheduler_core.errors import PrePredicateError
from scheduler_core.framework.error_cache import ErrorCache
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.lines import InLine
from scheduler_core.framework.placement import LaterPlaces
from scheduler_core.framework.plugin_fn import JobPipelinedFn
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement, count_as_pipelined
from scheduler_core.framework.worklist import (
    Jobs,
    Tasks,
    WorkList,
    first_jobs,
    jobs_apart,
    stopped_as_invalid,
    task_heap,
    waiting_jobs,
)
from scheduler_core.model.fit import Code, FitErrors, Status
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.status import READY_STATUSES, TaskStatus

NAME = "allocate"
GANG_ACTIONS = frozenset({"gangpreempt", "gangreclaim"})
"""Plugins that read the pods pipelined on a node."""
PENDING = TaskStatus.PENDING


def execute(session: Session) -> None:
    """Give each queue its turn: one job, one statement, until no queue has a job left to try."""
    if session.nothing_to_decide():
        return
    allocate = Allocate(session)
    queues, waiting = allocate.work.queues, allocate.work.waiting
    queue = queues.pop() if queues else None
    while queue is not None:
        jobs = waiting(queue)
        overused = session.overused(queue)
        if overused:
            session.observer.queue_overused(queue, () if jobs is None else jobs.items)
        if overused or jobs is None:
            queue = queues.pop() if queues else None
            continue
        allocate.take_turn(jobs)
        queue = queues.push_pop(queue)


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
        self.counts = _may_count(session)
        self.passes_over = not session.reasons and session.registry.classes_are_shapes and self.work.has_key
        # the nodes where classes that fit nowhere at once will fit later, and the classes that fit nowhere
        # later
        self.later_only: dict[int, LaterPlaces] = {}
        self.hopeless: set[int] = set()
        self.asks_who_was_seen = "preempt" in session.conf.actions
        # the result of a class, with the number of node changes at that time
        self.fits_nowhere: dict[int, tuple[int, bool]] = {}
        enqueues = "enqueue" in session.conf.actions
        by_line = (
            self.passes_over
            and enqueues
            and session.registry.same_for_equal_jobs(Point.JOB_VALID, Point.ALLOCATABLE)
        )
        touched = dict(session.snapshot.tasks.touched) if by_line else None
        if touched is not None:
            self.work.take_lines(touched)
        for job in waiting_jobs(session) if touched is None else jobs_apart(session, touched):
            if job.is_pending:
                if enqueues:
                    continue
                job.enter("Inqueue")
                session.decide("enqueue", job, reason="no enqueue action is configured")
            if self._is_hopeless(job) or stopped_as_invalid(session, job):
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

        Sound, as equal jobs are all valid or all invalid, and a node that accepts no task of one job accepts
        none of an equal job.
        """
        tasks: list[TaskInfo] = []
        for line, job in first_jobs(self.session, touched):
            if not (self._is_hopeless(job) or stopped_as_invalid(self.session, job)):
                self.work.add_queue(job.queue)
                self.work.add_line(job.queue, line)
                tasks += job.samples()
        return tasks

    def _is_hopeless(self, job: JobInfo) -> bool:
        """Return whether a job's turns can be left out, as no node accepts any of its tasks.

        Sound, as nodes only fill up while the action runs, so none accepts them later, and turns that place
        nothing change no share, so that the other turns keep their order. The reasons why the tasks wait are
        lost, and the pre-predicates do not see the tasks; preempt relies on that for tasks with a nominated
        node.
        """
        if not self.passes_over or job.key in self.served_by_gang_action:
            return False
        return all(map(self._fits_nowhere, job.samples()))

    def _fits_nowhere(self, task: TaskInfo) -> bool:
        if task.nominated:
            return False
        if task.best_effort or task.shape.gated_by_others:
            return True  # the job gets no turn
        session, number = self.session, self.session.registry.class_of(task)
        known = self.fits_nowhere.get(number)
        if known is not None and (known[1] or known[0] == len(session.nodes.changes)):
            return known[1]
        try:
            session.pre_predicate(task)
        except PrePredicateError:
            return False
        fits_nowhere = session.placement.fits_nowhere(task)
        self.fits_nowhere[number] = len(session.nodes.changes), fits_nowhere
        return fits_nowhere

    def take_turn(self, jobs: Jobs) -> None:
        """Place the tasks of the first job's turn.

        Tasks that are only pipelined are kept, neither bound nor undone. A job that a gang action has placed
        in this session gets another turn with the placed tasks, which are first tried on the nodes nominated
        for them in earlier cycles.
        """
        job, changes = jobs.pop(), len(self.session.nodes.changes)
        if self.counts and _is_one_pod(job) and self._keeps_waiting(job, jobs):
            return
        if self._is_hopeless(job):
            leave_out_equals(jobs)
            return
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
        elif not self.session.job_pipelined(job):
            statement.discard()
        if changes == len(self.session.nodes.changes) and self._fails_as_equals_do(job):
            leave_out_equals(jobs)

    def _keeps_waiting(self, job: JobInfo, jobs: Jobs) -> bool:
        """Count the only pod of a job on the node where it is pipelined, or skip it if it is hopeless.

        False, without any effect, if it might be allocated or this shortcut cannot tell. A class that fits
        nowhere, at once or at all, does not fit later while the action runs. As usual, the pre-predicates see
        a task after its queue has accepted it; those of a hopeless task are called only if preempt reads
        whether they were, see `_is_hopeless`.
        """
        session, task = self.session, job.samples()[0]
        number, later_only = session.registry.class_of(task), self.later_only
        is_hopeless = number in self.hopeless
        if is_hopeless and not self.asks_who_was_seen:
            leave_out_equals(jobs)
            return True
        if task.shape.gated or session.allocatable(session.queues[job.queue], task) is not None:
            return False
        try:
            session.pre_predicate(task)
        except PrePredicateError:
            return False
        if not is_hopeless:
            places = later_only.get(number)
            if places is None:
                if session.placement.might_fit_at_once(task):
                    return False
                places = later_only[number] = session.placement.later_places(task)
            node = places.best(task)
            if node is not None:
                return count_as_pipelined(session, task, node)
            if not session.placement.fits_nowhere_later(task):
                return False
            self.hopeless.add(number)
        if not task.nominated:
            leave_out_equals(jobs)
        return True

    def _fails_as_equals_do(self, job: JobInfo) -> bool:
        """Return whether the jobs equal to one that was not placed are not placed, either.

        Sound, as their queue and the nodes only fill up while the action runs: whatever refused the tasks of
        this job refuses theirs. Not valid if errors are recorded that name the nodes where evictions might
        help, because preempt and reclaim read those of each job; nor with a nominated node, see
        `_is_hopeless`.
        """
        placement = self.session.placement
        return all(errors.hopeful() is None for errors in job.fit_errors.values()) and all(
            placement.is_local(task) and not task.nominated for task in job.samples()
        )

    def _place_tasks(self, job: JobInfo, tasks: Tasks, statement: Statement) -> bool:
        """Place tasks until the job is ready or none is left to try; return whether it is ready."""
        session = self.session
        self.cache.forget()
        queue, uncertain = session.queues[job.queue], session.nodes.releasing_or_pipelined
        while tasks:
            task = tasks.pop()
            refusal = session.allocatable(queue, task)
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
            if session.job_ready(job):
                return True
        return session.job_ready(job)

    def _place_as_nominated(self, job: JobInfo, statement: Statement) -> bool:
        """Place all tasks of a job on the nodes nominated in earlier cycles; False once one does not fit.

        No task is placed before the nodes of all tasks are examined.
        """
        session = self.session
        self.cache.forget()
        tasks = task_heap(session, self.waiting[job.key])
        in_order = [tasks.pop() for _ in range(len(tasks))]
        if not all(self._is_nominated_and_fits(task) for task in in_order):
            return False
        queue, nodes = session.queues[job.queue], session.nodes
        for task in in_order:
            if session.allocatable(queue, task) is not None:
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
        return session.job_ready(job) or session.job_pipelined(job)

    def _is_nominated_and_fits(self, task: TaskInfo) -> bool:
        try:
            self.session.pre_predicate(task)
        except PrePredicateError:
            return False
        return self._nominated_takes(task)

    def _find_node(self, task: TaskInfo) -> tuple[int | None, FitErrors | None]:
        """Return the node for a task, and why every node refuses it."""
        session = self.session
        try:
            session.pre_predicate(task)
        except PrePredicateError as error:
            return None, session.placement.refused_everywhere(Status(Code.ERROR, str(error)))
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
        passing, _ = placement.examine(task, resources=True, lenient=False, cache=self.cache, among=only)
        return len(passing) > 0

    def _skip_failed_role(self, task: TaskInfo) -> None:
        """Record that a task was not tried because one of the same role has found no node in this session."""
        sentence = f"Task {task.name} with role spec {task.role} has already predicated failed, skip"
        self.session.record_fit_errors(task, FitErrors(self.session.statuses, None, sentence))


def _may_count(session: Session) -> bool:
    """Return whether a job of one pod may be pipelined by counting alone."""
    if not (session.counts_pipelined and session.is_renewable):
        return False
    votes = session.registry.of_kind(Point.JOB_PIPELINED, JobPipelinedFn)
    return GANG_ACTIONS.isdisjoint(session.conf.actions) and all(vote.keeps_whole_jobs for vote in votes)


def _is_one_pod(job: JobInfo) -> bool:
    """Return whether a job has one pod and needs no more."""
    return job.size == 1 and job.min_available <= 1 and not job.task_min_available


def leave_out_equals(jobs: Jobs) -> None:
    """Remove the jobs behind the last popped one in its line."""
    if isinstance(jobs, InLine):
        jobs.leave_out_others()


def needs_continue(job: JobInfo) -> bool:
    """Return whether the job can still be ready after one of its tasks found no node."""
    if job.min_available >= job.size:
        return False
    if not job.roles_bind:
        left = sum(count for role, count in job.pending_roles.items() if role not in job.failed_roles)
        return job.ready_count + left >= job.min_available
    placed = job.role_counts(READY_STATUSES, pending_best_effort=True)
    return all(placed[role] >= job.task_min_available.get(role, 0) for role in job.failed_roles)
