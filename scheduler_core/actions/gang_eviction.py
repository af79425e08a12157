"""Evictions for a whole gang at once: the common part of gangpreempt and gangreclaim.

Source: volcano ``pkg/scheduler/actions/utils/simulate.go``, ``actions/utils/util.go``,
``actions/gangpreempt/gangpreempt.go``, ``actions/gangreclaim/gangreclaim.go`` at v1.15.1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence, Set
from copy import copy
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from scheduler_core.actions.bundles import Bundle, allowed_part, bundles_of, in_order_of_loss
from scheduler_core.actions.node_search import NodeSearch
from scheduler_core.framework.error_cache import ErrorCache
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.observer import ChosenNode
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.framework.worklist import Watcher, WorkList, active_jobs, ignore_turns, task_heap
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.pod_template import PREEMPTABLE
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.rows import fits_any
from scheduler_core.resource import MIN_RESOURCE, total_of
from scheduler_core.victims.index import Amounts
from scheduler_core.victims.selection import Verdict, select_victims


class Placed(NamedTuple):
    """A copy of a task, made when it was tried, with the number of its node.

    Volcano keeps copies of the tasks it tried and places those, see `JobInfo.pending_of_sub_job`.
    """

    task: TaskInfo
    node: int


class Found(NamedTuple):
    """The victims for a gang, and the nodes for its tasks."""

    victims: list[TaskInfo]
    places: list[Placed]


class GangEviction(ABC):
    """One execution of a gang action; the two differ in their candidates and in the victim order."""

    name: ClassVar[str]

    def __init__(self, session: Session) -> None:
        self.session = session
        arguments = session.conf.arguments_of(self.name)
        self.allow_whole_bundle = arguments.get_bool("allowWholeBundle", True)
        self.remember_errors = session.conf.arguments_of("allocate").get_bool(
            "predicateErrorCacheEnable", True
        )

    # differences between the two actions

    @abstractmethod
    def serves(self, queue: QueueInfo) -> bool:
        """Return whether the queue's jobs get turns."""

    @abstractmethod
    def may_evict(self, queue: QueueInfo, job: JobInfo, demand: Sequence[TaskInfo]) -> bool:
        """Return whether the queue may evict for the job's remaining demand."""

    @abstractmethod
    def is_candidate(self, task: TaskInfo, job: JobInfo, owner: JobInfo) -> bool:
        """Return whether a preemptable task of `owner` may be evicted for `job`."""

    @abstractmethod
    def loses_first(self, left: JobInfo, right: JobInfo, job: JobInfo) -> bool:
        """Return whether `left` loses tasks to `job` before `right`; False if neither is first."""

    # common part

    def run(self, watch: Watcher = ignore_turns) -> None:
        """Make one attempt per starving job, queue by queue; a job is placed as a whole or not at all."""
        session = self.session
        work = WorkList(session, settled=False)
        for job in active_jobs(session):
            work.add_queue(job.queue)
            if session.plugins.job_starving(job):
                work.add_job(job)
        while work.queues:
            queue = work.queues.pop()
            if not self.serves(queue):
                watch(queue, None)
                continue
            jobs = work.waiting(queue)
            while jobs:
                job = jobs.pop()
                watch(queue, job)
                statement = Statement(session)
                self.attempt(statement, queue, job)
                if session.plugins.job_pipelined(job):
                    statement.commit()
                    session.served_by_gang_action.add(job.key)
                else:
                    statement.discard()

    def attempt(self, statement: Statement, queue: QueueInfo, job: JobInfo) -> None:
        """Add bundles until evicting them would make room for the job; then evict them and place it."""
        demand = demand_of(self.session, job)
        if not demand or not self.may_evict(queue, job, demand):
            return
        bundles, verdict = self.bundles_for(job, demand)
        found = self._try_all(queue, job, demand, bundles)
        if found is None:
            return
        chosen = self._chosen(found.places, bundles)
        nodes = {place.node for place in chosen}
        observer = self.session.observer
        observer.plugins_voted_for_gang(job, partial(self._candidates_on, nodes, job), verdict.votes)
        for victim in found.victims:
            why = observer.explain_gang_eviction(victim, job, demand, verdict.votes, chosen)
            statement.evict(victim, self.name, None).explanation = why
        job.copied = True
        for place in found.places:
            statement.pipeline(place.task, place.node, eviction_occurred=True)

    # victims

    def candidates_for(self, job: JobInfo) -> dict[str, list[TaskInfo]]:
        """Return the candidates for a job before any plugin votes, by their job."""
        candidates: dict[str, list[TaskInfo]] = {}
        for node in range(len(self.session.nodes)):
            for task in self.session.nodes.tasks.in_order(node):
                owner = task.job
                if owner is None or not task.preemptable or not may_lose_tasks(owner):
                    continue
                if self.is_candidate(task, job, owner):
                    candidates.setdefault(owner.key, []).append(task)
        return candidates

    def bundles_for(self, job: JobInfo, demand: Sequence[TaskInfo]) -> tuple[list[Bundle], Verdict]:
        """Return the bundles that may be evicted for a job, in order, and the plugins' votes."""
        need = total_of(task.request for task in demand)

        def ordered(bundles: Sequence[Bundle]) -> list[Bundle]:
            return in_order_of_loss(bundles, need, lambda left, right: self.loses_first(left, right, job))

        candidates = self.candidates_for(job)
        bundles = ordered(
            [b for key in sorted(candidates) for b in bundles_of(self.session.jobs[key], candidates[key])]
        )
        if not bundles:
            return [], Verdict([], 0, self.session.observer.votes())
        tasks = [task for bundle in bundles for task in bundle.tasks]
        verdict = select_victims(self.session, Point.UNIFIED_EVICTABLE, demand[0], tasks, self.name)
        left = ordered(allowed_part(bundles, {task.uid for task in verdict.victims}))
        return [bundle for bundle in left if bundle.safe or self.allow_whole_bundle], verdict

    def room_without(self, victims: Iterable[TaskInfo]) -> Amounts:
        """Return the sum of the future idle amounts of all nodes without the victims, (R,)."""
        nodes = self.session.nodes
        return _added(nodes.idle.sum(axis=0) + nodes.releasing.sum(axis=0), victims)

    def lacking(self, demand: Sequence[TaskInfo], available: Amounts) -> dict[str, float]:
        """Return by how much the demand exceeds the available amounts."""
        nodes = self.session.nodes
        need = np.sum([task.shape.row for task in demand], axis=0)
        named = np.any([task.shape.demand > -np.inf for task in demand], axis=0)
        short = named & ~(need - available < MIN_RESOURCE)
        return {nodes.axis.names[place]: float((need - available)[place]) for place in np.flatnonzero(short)}

    def _candidates_on(self, nodes: Set[int], job: JobInfo) -> list[TaskInfo]:
        """Return the candidates on the nodes chosen for a job."""
        return [task for tasks in self.candidates_for(job).values() for task in tasks if task.node in nodes]

    def _chosen(self, places: Sequence[Placed], bundles: Sequence[Bundle]) -> list[ChosenNode]:
        """Return the chosen nodes, with the demand and the evictable tasks on each."""
        tasks = [task for bundle in bundles for task in bundle.tasks]
        return [
            ChosenNode(
                node,
                total_of(place.task.request for place in places if place.node == node),
                [task for task in tasks if task.node == node],
            )
            for node in sorted({place.node for place in places})
        ]

    # trials

    def _try_all(
        self, queue: QueueInfo, job: JobInfo, demand: Sequence[TaskInfo], bundles: Sequence[Bundle]
    ) -> Found | None:
        """Add bundles until evicting them would make room for the job; return None if all are not enough.

        All trials are undone. Volcano undoes the evictions of each trial and repeats them in the next one;
        here they are kept until the last trial has ended, and trials in which no node has room for the first
        task are skipped. Sound, as every trial repeats the evictions of the previous ones in the same order;
        as every plugin defines the effect of undone evictions (`on_discard` of `Events.add_handler`), undone
        once or repeatedly; and as a skipped trial places nothing, and the last trial, which always runs,
        records again what plugins would record of its task. If a plugin must handle each eviction, every
        trial runs in full.
        """
        session, places = self.session, None
        repeats = session.events.on_discard is None
        evictions, victims, available = Statement(session), [], self.room_without(())
        for bundle in bundles:
            victims += bundle.tasks
            available = _added(available, bundle.tasks)
            if self.lacking(demand, available):
                continue
            if repeats:
                evictions.discard()
            for victim in victims[len(evictions.operations) :]:
                evictions.evict(victim, self.name, None)
            must_try = repeats or bundle is bundles[-1]
            if must_try or fits_any(demand[0], session.nodes.future):
                places = self._try(queue, job)
            if places is not None:
                break
        evictions.discard()
        return None if places is None else Found(victims, places)

    def _try(self, queue: QueueInfo, job: JobInfo) -> list[Placed] | None:
        """Return the nodes that the demanded tasks would get now, None if one of them gets none."""
        trial = Statement(self.session)
        places = self._place_all(trial, queue, job)
        complete = places is not None and self.session.plugins.job_pipelined(job)
        trial.discard()
        return places if complete else None

    def _place_all(self, trial: Statement, queue: QueueInfo, job: JobInfo) -> list[Placed] | None:
        session = self.session
        search = NodeSearch(session, ErrorCache(enabled=self.remember_errors))
        tasks = task_heap(session, demand_of(session, job))
        places = []
        while tasks:
            task = tasks.pop()
            node = search.node_for(queue, task)
            if node is None:
                return None
            if not trial.pipeline(task, node, eviction_occurred=True):
                session.events.fire_deallocate(task)  # Volcano rolls back a refused placement twice
                return None
            places.append(Placed(copy(task), node))
        return places


def demand_of(session: Session, job: JobInfo) -> list[TaskInfo]:
    """Return the pending tasks of a job that request resources and are not gated, in task order."""
    pending = job.pending_of_sub_job()
    waiting = task_heap(session, [task for task in pending if not (task.shape.gated or task.best_effort)])
    return [waiting.pop() for _ in range(len(waiting))]


def _added(available: Amounts, tasks: Iterable[TaskInfo]) -> Amounts:
    """Return the available amounts after these tasks are removed, (R,)."""
    for task in tasks:
        available = available + task.shape.row
    return available


def may_lose_tasks(job: JobInfo) -> bool:
    """Return whether a job's tasks may be evicted for a gang: not if its PodGroup is not preemptable."""
    return job.preemptable or not (PREEMPTABLE in job.annotations() or PREEMPTABLE in job.labels())
