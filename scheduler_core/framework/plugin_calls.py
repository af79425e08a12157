"""A session's calls of its plugins about jobs, queues and tasks.

Source: volcano ``pkg/scheduler/framework/session_plugins.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from scheduler_core.decision import Why
from scheduler_core.framework.extension_points import PERMIT, REJECT, Point
from scheduler_core.framework.functions import Functions
from scheduler_core.framework.observer import Observer
from scheduler_core.framework.plugin_fn import AllocatableFn, PluginFn
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.resource import Resource

# Read for each job or task; looking up the members of the enumeration would take as long as the call.
ALLOCATABLE, OVERUSED, PRE_PREDICATE = Point.ALLOCATABLE, Point.OVERUSED, Point.PRE_PREDICATE
JOB_PIPELINED, JOB_VALID, JOB_READY = Point.JOB_PIPELINED, Point.JOB_VALID, Point.JOB_READY
JOB_ENQUEUEABLE, JOB_ENQUEUED = Point.JOB_ENQUEUEABLE, Point.JOB_ENQUEUED
PREEMPTIVE = Point.PREEMPTIVE


class PluginCalls:
    """The calls of one session to its plugins; each method combines their answers as Volcano does."""

    def __init__(self, functions: Functions, observer: Observer) -> None:
        self._functions = functions
        self._observer = observer

    # jobs

    def job_valid(self, job: JobInfo) -> tuple[str, str] | None:
        """Return (reason, message) of the first plugin that finds the job invalid, None if it is valid."""
        for fn in self._functions[JOB_VALID]:
            failure: tuple[str, str] | None = fn(job)
            if failure is not None:
                return failure
        return None

    def job_ready(self, job: JobInfo) -> bool:
        """Return whether every plugin finds that the job may be bound."""
        for fn in self._functions[JOB_READY]:  # noqa: SIM110
            if not fn(job):
                return False
        return True

    def job_pipelined(self, job: JobInfo) -> bool:
        """Return whether the job may keep its pipelined nodes until resources are released."""
        return self._vote(JOB_PIPELINED, job) is None

    def job_starving(self, job: JobInfo) -> bool:
        """Return whether the job is starving: all plugins of the first tier that has any must agree."""
        for fn in self._starving:
            if not fn(job):
                return False
        return bool(self._starving)

    @cached_property
    def _starving(self) -> list[Callable[[JobInfo], bool]]:
        tiers = self._functions.tiers_of(Point.JOB_STARVING)
        return next(([added.fn for added in tier] for tier in tiers if tier), [])

    def job_enqueueable(self, job: JobInfo) -> Why | None:
        """Return None if the job may be enqueued, else the reasons of the rejecting plugin, with its name."""
        why: Why = {}
        plugin = self._vote(JOB_ENQUEUEABLE, job, why)
        return None if plugin is None else {"plugin": plugin, **why}

    def _vote(self, point: Point, *question: Any) -> str | None:
        """Return the name of the plugin that rejects, None if the vote passes."""
        for tier in self._functions.tiers_of(point):
            permitted = False
            for added in tier:
                vote = added.fn(*question)
                if vote is REJECT:
                    return added.plugin
                permitted = permitted or vote is PERMIT
            if permitted:
                return None
        return None

    def job_enqueued(self, job: JobInfo) -> None:
        """Call the plugins for an enqueued job."""
        for fn in self._functions[JOB_ENQUEUED]:
            fn(job)

    # queues

    def overused(self, queue: QueueInfo) -> bool:
        """Return whether any plugin finds that the queue is overused."""
        for fn in self._functions[OVERUSED]:  # noqa: SIM110
            if fn(queue):
                return True
        return False

    def preemptive(self, queue: QueueInfo, tasks: Sequence[TaskInfo]) -> Why | None:
        """Return None if the queue may evict for these tasks, else the reasons of the refusing plugin."""
        return self._first_refusal(PREEMPTIVE, queue, tasks)

    def allocatable(self, queue: QueueInfo, task: TaskInfo) -> Why | None:
        """Return None if the queue may allocate for the task, else the reasons of the refusing plugin."""
        return self._first_refusal(ALLOCATABLE, queue, task)

    def allocatable_after_release(self, queue: QueueInfo, task: TaskInfo, freed: Resource) -> bool:
        """Return whether the queue might allocate for the task after it releases some amounts."""
        return all(
            added.after_release(queue, task, freed)
            for added in self._functions.of_kind(ALLOCATABLE, AllocatableFn)
            if added.after_release is not None
        )

    def _first_refusal(self, point: Point, queue: QueueInfo, what: Any) -> Why | None:
        for position, fn in enumerate(self._functions[point]):
            why: Why | None = {} if self._observer.listens else None
            if not fn(queue, what, why):
                plugin = self._functions.of_kind(point, PluginFn)[position].plugin
                return {"plugin": plugin, "queue": queue.name, **(why or {})}
        return None

    # tasks

    def pre_predicate(self, task: TaskInfo) -> None:
        """Call the pre-predicates, before nodes are examined for a task; raises PrePredicateError."""
        for fn in self._functions[PRE_PREDICATE]:
            fn(task)
