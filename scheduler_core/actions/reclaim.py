"""Action reclaim: evict tasks of other queues for queues below their deserved amounts.

Source: volcano ``pkg/scheduler/actions/reclaim/reclaim.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scheduler_core.decision import Why
from scheduler_core.errors import PrePredicateError
from scheduler_core.framework.error_cache import ErrorCache
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.heap import Remembered
from scheduler_core.framework.lines import InLine, Line
from scheduler_core.framework.node_columns import Nodes
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.framework.worklist import (
    Jobs,
    Watcher,
    WorkList,
    active_waiting_jobs,
    first_jobs,
    ignore_turns,
    is_active,
    jobs_apart,
    nothing_waits,
    pending_tasks,
    representative_jobs,
    task_heap,
    waiting_jobs,
)
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.rows import add_pairs, fits
from scheduler_core.model.status import TaskStatus
from scheduler_core.release import Rule
from scheduler_core.victims.bound import Bound
from scheduler_core.victims.eviction import evict_for, never_evicts, pipeline_after, promising_nodes
from scheduler_core.victims.order import victims_queue
from scheduler_core.victims.reclaim_bound import reclaim_bound
from scheduler_core.victims.retry import Attempt, FailedAttempts
from scheduler_core.victims.selection import NodeVerdict, select_victims, victims_suffice

NAME = "reclaim"
RUNNING = TaskStatus.RUNNING
POINTS_OF_EQUAL_JOBS = Point.JOB_VALID, Point.JOB_STARVING, Point.PREEMPTIVE, Point.RECLAIMABLE


def execute(session: Session) -> None:
    """Evict tasks of other queues for each queue's starving jobs, for all tasks of a job in one turn."""
    if nothing_waits(session):
        return
    reclaim = Reclaim(session)
    if reclaim.evicts:
        reclaim.run()


class Reclaim:
    """One execution of the action: the starving jobs, by queue.

    Attributes
    ----------
    evicts : bool
        Whether any job might evict; if not, no other attribute is set.

    """

    def __init__(self, session: Session) -> None:
        self.session = session
        # The last answer for a queue and a shape, with the number of node changes at that time.
        self._refused: dict[tuple[str, int], tuple[int, Why | None]] = {}
        # The number of node changes when a job of a line last reclaimed nothing.
        self._failed: dict[Line, int] = {}
        self.rolls_back = session.release.follows(Rule.RECLAIM_ROLLBACK)
        self.attempts = FailedAttempts(session, Point.RECLAIMABLE)
        self.evicts = session.reasons or self._might_evict()
        if not self.evicts:
            return
        # Nothing moves between skipped turns, so that queues compare as before.
        self.queue_before = Remembered(session.orders.queue_before)
        self.work = WorkList(session, settled=False, queue_before=self.queue_before)
        active = self._add_lines() or self._add_jobs()
        for queue in session.snapshot.index.queues_of(active):
            self.work.add_queue(queue)

    def _add_jobs(self) -> Iterable[JobInfo]:
        """Add the starving jobs one by one; return the active ones."""
        active = active_waiting_jobs(self.session)
        for job in active:
            if self.session.plugins.job_starving(job):
                self.work.add_job(job)
        return active

    def _add_lines(self) -> Iterable[JobInfo] | None:
        """Add the starving jobs by lines of equal jobs; return the active ones.

        Sound, as a job keeps its position in the job order until its turn unless it loses a task. None,
        without any effect, if a starving job has a task to lose.
        """
        session, tasks = self.session, self.session.snapshot.tasks
        if session.reasons or not session.functions.same_for_equal_jobs(*POINTS_OF_EQUAL_JOBS):
            return None
        apart = [job for job in jobs_apart(session, tasks.touched) if self._starves(job)]
        if any(job.ready_count for job in apart):
            return None
        not_in_lines = {**tasks.touched, **tasks.counted}
        self.work.use_lines(not_in_lines)
        for job in apart:
            self.work.add_job(job)
        for line, job in first_jobs(session, not_in_lines):
            if self._starves(job):
                self.work.add_line(job.queue, line)
        return (job for job in waiting_jobs(session) if is_active(session, job))

    def _starves(self, job: JobInfo) -> bool:
        return is_active(self.session, job) and self.session.plugins.job_starving(job)

    @property
    def bound(self) -> Bound:
        """Return the bound for evictions of tasks of other queues."""
        return self.session.view(reclaim_bound)

    def run(self, watch: Watcher = ignore_turns) -> None:
        """Give every starving job its turn, queue by queue; a queue is pushed again for each further job."""
        queues = self.work.queues
        while queues:
            queue = queues.pop()
            if self.session.plugins.overused(queue):
                watch(queue, None)
                continue
            jobs = self.work.waiting(queue)
            while jobs is not None:
                job = jobs.pop()
                watch(queue, job)
                if not (self._fails_as_equals_did(jobs) or self._is_refused(queue, job)):
                    self.take_turn(queue, job, jobs)
                    self.queue_before.forget()
                if jobs:
                    queues.push(queue)
                else:
                    jobs = None

    def take_turn(self, queue: QueueInfo, job: JobInfo, jobs: Jobs) -> None:
        """Reclaim for a job's tasks one after the other; the job is pipelined as a whole or not at all."""
        session, tasks = self.session, task_heap(self.session, pending_tasks(job))
        statement, changes = Statement(session), len(session.nodes.changes)
        while tasks and session.plugins.job_starving(job):
            self.attempt(statement, queue, tasks.pop())
        if session.plugins.job_pipelined(job):
            statement.commit()
        else:
            statement.discard()
        moved = changes != len(session.nodes.changes)
        if isinstance(jobs, InLine) and not moved and self._is_typical(queue, job):
            self._failed[jobs.line] = changes

    def _fails_as_equals_did(self, jobs: Jobs) -> bool:
        """Return whether the turn of the last popped job can be skipped, as an equal one reclaimed nothing.

        Sound as long as nothing moves, as equal jobs and their tasks get the same answers, and none of them
        has been tried by another action in this session.
        """
        return isinstance(jobs, InLine) and self._failed.get(jobs.line) == len(self.session.nodes.changes)

    def _is_refused(self, queue: QueueInfo, job: JobInfo) -> bool:
        """Return whether the queue may not evict for any task of a job, so that its turn has no effect."""
        return not self.session.reasons and all(self._is_task_refused(queue, task) for task in job.samples())

    def _is_typical(self, queue: QueueInfo, job: JobInfo) -> bool:
        """Return whether a job that reclaimed nothing represents jobs equal to it.

        Not with a nominated node, as preempt relies on its pre-predicates.
        """
        return all(
            self._is_task_refused(queue, task)
            or (not task.nominated and self.session.placement.is_local(task))
            for task in job.samples()
        )

    def _might_evict(self) -> bool:
        """Return whether the action might have any effect."""
        answering = representative_jobs(self.session, Point.PREEMPTIVE, Point.JOB_STARVING)
        return not all(map(self._cannot_evict, answering))

    def _cannot_evict(self, job: JobInfo) -> bool:
        """Return whether no task of a job may reclaim anything as long as nothing moves."""
        if job.is_pending:
            return True
        return self._is_refused(self.session.queues[job.queue], job) or not self.session.plugins.job_starving(
            job
        )

    def _is_task_refused(self, queue: QueueInfo, task: TaskInfo) -> bool:
        return task.shape.gated or never_evicts(task) or self._refusal(queue, task) is not None

    def _refusal(self, queue: QueueInfo, task: TaskInfo) -> Why | None:
        """Return why a queue may not evict for a task; the same for tasks of one shape until a task moves."""
        key, now = (queue.name, task.shape.number), len(self.session.nodes.changes)
        known = self._refused.get(key)
        if known is None or known[0] != now:
            known = self._refused[key] = now, self.session.plugins.preemptive(queue, [task])
        return known[1]

    def attempt(self, statement: Statement, queue: QueueInfo, task: TaskInfo) -> None:
        """Evict on the first node where this makes room for a task, and pipeline the task there."""
        session = self.session
        if never_evicts(task):
            return
        refusal = self._refusal(queue, task)
        if refusal is not None:
            if task.job is not None:
                session.observer.reclaim_refused(task.job, refusal)
            return
        try:
            session.plugins.pre_predicate(task)
        except PrePredicateError:
            return
        if self.attempts.repeats(task):
            return
        nodes = self.nodes_for(task)
        candidate_nodes = self._candidate_nodes(task, nodes)
        attempt = self.attempts.begin(task, len(nodes) - len(candidate_nodes))
        for node in candidate_nodes:
            if self._reclaim_on(statement, task, int(node), attempt):
                return
        self.attempts.keep(attempt)

    def nodes_for(self, task: TaskInfo) -> Nodes:
        """Return the nodes where evictions could help a task; amounts are not compared.

        Refusals of one task are never reused for another one, regardless of `predicateErrorCacheEnable`.
        """
        return promising_nodes(self.session, task, ErrorCache(enabled=False))

    def verdict_on(self, task: TaskInfo, node: int) -> NodeVerdict | None:
        """Return the candidates on a node with the plugins' votes; None without any."""
        session = self.session
        candidates = [*filter(of_other_queues(session, task), session.nodes.tasks.in_order(node))]
        if not candidates:
            return None
        return NodeVerdict(candidates, select_victims(session, Point.RECLAIMABLE, task, candidates))

    def _candidate_nodes(self, task: TaskInfo, nodes: Nodes) -> Nodes:
        """Return the nodes to search: those that have candidates, possibly enough of them.

        Every node is searched if failed evictions on one node are kept, because these change the possible
        losses on the next nodes.
        """
        if not self.rolls_back:
            return nodes
        return nodes[self.bound.nodes_for(task).take(nodes)]

    def _reclaim_on(self, statement: Statement, task: TaskInfo, node: int, attempt: Attempt) -> bool:
        session = self.session
        node_verdict = self.verdict_on(task, node)
        if node_verdict is None:
            return False
        candidates, verdict = node_verdict
        session.observer.plugins_voted(task, candidates, verdict.votes)
        attempt.verdicts.append(node_verdict)
        if not victims_suffice(session, task, node, verdict.victims):
            return False
        local = Statement(session) if self.rolls_back else statement
        victims = victims_queue(session, verdict.victims, task)
        available = list(session.nodes.future_of[node])
        evicted = False
        while victims and not (fits(task, available) and (evicted or self.rolls_back)):
            victim = victims.pop()
            evict_for(local, victim, NAME, task, verdict, victims.items[0] if victims else None)
            add_pairs(available, victim.shape.amounts, 1.0)
            evicted = True
        return pipeline_after(statement, local, task, node, has_room=fits(task, available), evicted=evicted)


def of_other_queues(session: Session, task: TaskInfo) -> Callable[[TaskInfo], bool]:
    """Return the filter for candidates in other queues, applied before the plugins vote."""
    queues, job = session.queues, task.job

    def may_be_reclaimed(other: TaskInfo) -> bool:
        if other.node_status is not RUNNING or not other.preemptable:
            return False
        owner = other.job
        if owner is None or job is None or owner.queue == job.queue:
            return False
        return queues[owner.queue].reclaimable

    return may_be_reclaimed
