"""Action preempt: evict lower-priority tasks within a queue.

Source: volcano ``pkg/scheduler/actions/preempt/preempt.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduler_core.actions.preempt_candidates import (
    Among,
    Candidates,
    Filter,
    is_terminating_victim,
    job_of,
    of_other_jobs,
    of_same_job,
)
from scheduler_core.actions.preempt_dry_run import DryRunArguments, preempt_by_dry_run
from scheduler_core.errors import PrePredicateError
from scheduler_core.framework.error_cache import ErrorCache
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.heap import PriorityQueue
from scheduler_core.framework.node_columns import Nodes
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement, evict_and_discard
from scheduler_core.framework.worklist import (
    Tasks,
    Watcher,
    active_waiting_jobs,
    ignore_turns,
    nothing_waits,
    pending_tasks,
    queue_heap,
    representative_jobs,
    task_heap,
)
from scheduler_core.model.fit import FITS, Code
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.release import Rule
from scheduler_core.resource import Resource, total_of
from scheduler_core.victims.bound import AnyCandidate, Bound, candidates_in_job
from scheduler_core.victims.eviction import evict_for, never_evicts, pipeline_after, promising_nodes
from scheduler_core.victims.index import TaskIndex
from scheduler_core.victims.order import victims_queue
from scheduler_core.victims.preempt_bound import preempt_bound
from scheduler_core.victims.preemptable_jobs import PreemptableJobs
from scheduler_core.victims.retry import Attempt, FailedAttempts
from scheduler_core.victims.selection import NodeVerdict, select_victims, victims_suffice

NAME = "preempt"


def execute(session: Session) -> None:
    """Preempt for each queue's starving jobs: first other jobs, then their own lower-priority tasks."""
    if not nothing_waits(session):
        Preempt(session).run()


class Preempt:
    """One execution of the action: the starving jobs, and the failed attempts so far."""

    def __init__(self, session: Session) -> None:
        self.session = session
        arguments = session.conf.arguments_of(NAME)
        self.cache = ErrorCache(enabled=arguments.get_bool("predicateErrorCacheEnable", True))
        self.rolls_back = session.release.follows(Rule.PREEMPT_ROLLBACK)
        self.dry_run = DryRunArguments.read(arguments)
        self.starving: dict[str, list[JobInfo]] = {}
        self.tasks: dict[str, Tasks] = {}
        self.attempts = FailedAttempts(session, Point.PREEMPTABLE)
        # The number of node changes when no node had room or victims for tasks of one kind.
        self._hopeless: dict[tuple[str, int, int], int] = {}
        if not (session.reasons or self._might_gain()):
            return
        for job in active_waiting_jobs(session):
            if session.plugins.job_starving(job):
                self.starving.setdefault(job.queue, []).append(job)
                self.tasks[job.key] = task_heap(session, pending_tasks(job))

    @property
    def bound(self) -> Bound:
        """Return the bound for evictions of tasks of other jobs."""
        return self.session.view(preempt_bound)

    def _might_gain(self) -> bool:
        """Return whether the action might have any effect."""
        return not all(map(self._gains_nothing, representative_jobs(self.session, Point.JOB_STARVING)))

    def _gains_nothing(self, job: JobInfo) -> bool:
        """Return whether all attempts for a job fail as long as no task changes.

        Sound, as no task of its own and none of other jobs may be evicted for it, and none of its tasks fits
        the future idle amounts of any node. If that holds for all waiting jobs, the action changes nothing.
        """
        session = self.session
        if job.is_pending or not session.plugins.job_starving(job):
            return True
        if job.ready_count or self.dry_run.enabled or not self.rolls_back:
            return False
        if not session.view(PreemptableJobs).none_for(job):
            return False
        return not any(session.placement.fits_future_idle(task).any() for task in job.samples())

    def run(self, watch: Watcher = ignore_turns) -> None:
        """Give every starving job its turns, queue by queue."""
        session = self.session
        queues = queue_heap(session, [session.queues[name] for name in sorted(self.starving)])
        while queues:
            queue = queues.pop()
            self.preempt_other_jobs(queue, watch)
            for job in self.starving[queue.name]:
                if not all(map(self._is_hopeless, job.samples())):
                    self.preempt_own_tasks(queue, job)

    def preempt_other_jobs(self, queue: QueueInfo, watch: Watcher = ignore_turns) -> None:
        """Preempt tasks of other jobs of the queue for its starving jobs.

        A job is pipelined as a whole or not at all.
        """
        session = self.session
        jobs = PriorityQueue(session.orders.job_before, self.starving[queue.name])
        while jobs:
            job = jobs.pop()
            watch(queue, job)
            tasks = self.tasks[job.key]
            statement = Statement(session)
            assigned = False
            while tasks and session.plugins.job_starving(job):
                task = tasks.pop()
                assigned = self.attempt(statement, queue, task, self.other_jobs)
            if not session.plugins.job_pipelined(job):
                statement.discard()
                continue
            statement.commit()
            if assigned:
                jobs.push(job)

    def preempt_own_tasks(self, queue: QueueInfo, job: JobInfo) -> None:
        """Preempt a job's own tasks for pending ones; each success is committed, regardless of the gang."""
        tasks = task_heap(self.session, pending_tasks(job))
        while tasks:
            task = tasks.pop()
            statement = Statement(self.session)
            assigned = self.attempt(statement, queue, task, self.same_job)
            if assigned or not self.rolls_back:
                statement.commit()
            if not assigned:
                statement.discard()
                return

    def other_jobs(self, task: TaskInfo) -> Candidates:
        """Return the candidates among other jobs of a task's queue."""
        return self._candidates(task, of_other_jobs(task, job_of(task)), self.bound)

    def same_job(self, task: TaskInfo) -> Candidates:
        """Return the candidates in a task's own job."""
        bound = AnyCandidate(self.session, candidates_in_job)
        return self._candidates(task, of_same_job(task, job_of(task)), bound)

    def _candidates(self, task: TaskInfo, is_candidate: Filter, bound: Bound) -> Candidates:
        """Return the candidates in the queue of a task's job."""
        index, queue = self.session.view(TaskIndex), job_of(task).queue
        return Candidates(lambda node: [*filter(is_candidate, index.tasks_on(node, queue))], bound)

    def attempt(self, statement: Statement, queue: QueueInfo, task: TaskInfo, among: Among) -> bool:
        """Make room for a task by evictions; return whether it was pipelined.

        An attempt that has failed for an equal task is not repeated.
        """
        session = self.session
        if self._is_hopeless(task) or not self._is_eligible(task):
            return False
        try:
            session.plugins.pre_predicate(task)
        except PrePredicateError:
            return False
        is_own = among == self.same_job
        if self.attempts.repeats(task, is_own=is_own):
            return False
        candidates = among(task)
        nodes = self.nodes_for(task)
        if self.dry_run.enabled:
            return preempt_by_dry_run(statement, queue, task, nodes, candidates.on, self.dry_run)
        to_search = self._nodes_to_search(task, nodes, candidates)
        if self.rolls_back and not is_own and not (len(to_search) or job_of(task).ready_count):
            self._hopeless[self._kind_of(task)] = len(session.nodes.changes)
        candidate_nodes = session.placement.by_score(task, nodes, to_search)
        attempt = self.attempts.begin(task, len(nodes) - len(candidate_nodes), is_own=is_own)
        for node in candidate_nodes:
            if self._preempt_on(statement, queue, task, node, candidates.on(node), attempt):
                return True
        self.attempts.keep(attempt)
        return False

    def nodes_for(self, task: TaskInfo) -> Nodes:
        """Return the nodes where evictions could help a task; amounts are not compared."""
        return promising_nodes(self.session, task, self.cache)

    def verdict_on(self, task: TaskInfo, node: int) -> NodeVerdict | None:
        """Return the candidates of other jobs on a node with the plugins' votes; None without any."""
        candidates = self.other_jobs(task).on(node)
        return self._node_verdict(task, candidates) if candidates else None

    def _node_verdict(self, task: TaskInfo, candidates: Sequence[TaskInfo]) -> NodeVerdict:
        return NodeVerdict(candidates, select_victims(self.session, Point.PREEMPTABLE, task, candidates))

    def _nodes_to_search(self, task: TaskInfo, nodes: Nodes, candidates: Candidates) -> Nodes:
        """Return the nodes to search: those that have room, or possibly enough candidates.

        Every node is searched if failed evictions on one node are kept, because these change the possible
        losses on the next nodes.
        """
        if not self.rolls_back:
            return nodes
        candidate_nodes = candidates.bound.nodes_for(task) | self.session.placement.fits_future_idle(task)
        return np.flatnonzero(candidate_nodes)

    def _is_hopeless(self, task: TaskInfo) -> bool:
        """Return whether an attempt for a task has no effect, as one for an equal task found no node.

        Sound as long as nothing moves, as tasks of one class whose jobs have none to lose have the same
        candidates in their queue, of which jobs of one priority could evict the same. Reasons are recorded
        for each task separately.
        """
        session, job = self.session, job_of(task)
        if session.reasons or job.ready_count:
            return False
        return self._hopeless.get(self._kind_of(task)) == len(session.nodes.changes)

    def _kind_of(self, task: TaskInfo) -> tuple[str, int, int]:
        job = job_of(task)
        return job.queue, job.priority, self.session.functions.class_of(task)

    def _is_eligible(self, task: TaskInfo) -> bool:
        """Return whether a task may preempt.

        It may not while its nominated node would accept it, or while victims there are terminating.
        """
        if never_evicts(task):
            return False
        if not task.nominated:
            return True
        session = self.session
        node = session.nodes.index.get(task.nominated)
        if node is None:
            return False
        number = session.placement.predicates.predicate_on(task, node)
        if number == FITS:
            return False
        if Code.UNSCHEDULABLE_AND_UNRESOLVABLE in {status.code for status in session.statuses.lists[number]}:
            return True
        return not any(is_terminating_victim(other, task) for other in session.nodes.tasks.in_order(node))

    def _preempt_on(
        self,
        statement: Statement,
        queue: QueueInfo,
        task: TaskInfo,
        node: int,
        candidates: list[TaskInfo],
        attempt: Attempt,
    ) -> bool:
        session = self.session
        node_verdict = self._node_verdict(task, candidates)
        verdict = node_verdict.verdict
        session.observer.plugins_voted(task, candidates, verdict.votes)
        attempt.verdicts.append(node_verdict)
        if not victims_suffice(session, task, node, verdict.victims):
            return False
        if self.rolls_back and session.plugins.allocatable(queue, task) is not None:
            freed = total_of(victim.request for victim in verdict.victims)
            may_take = session.plugins.allocatable_after_release(queue, task, freed)
            if not may_take and evict_and_discard(session, verdict.victims):
                return False
        local = Statement(session) if self.rolls_back else statement
        victims = victims_queue(session, verdict.victims, task)
        evicted = Resource()
        has_room = self._has_room(queue, task, node)
        while victims and not has_room:
            victim = victims.pop()
            evict_for(local, victim, NAME, task, verdict, victims.items[0] if victims else None)
            evicted.add(victim.request)
            has_room = self._has_room(queue, task, node)
        return pipeline_after(statement, local, task, node, has_room=has_room, evicted=not evicted.is_empty())

    def _has_room(self, queue: QueueInfo, task: TaskInfo, node: int) -> bool:
        session = self.session
        return session.nodes.fits_future_idle(task, node) and session.plugins.allocatable(queue, task) is None
