"""Registers the functions of plugins.

There is one method for each point. Registering a function with a wrong signature raises an error.

Source: volcano ``pkg/scheduler/framework/session_plugins.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from numpy.typing import NDArray

from scheduler_core.decision import Why
from scheduler_core.errors import RegistrationError
from scheduler_core.framework.bounds import PluginBound
from scheduler_core.framework.class_scores import OfClasses
from scheduler_core.framework.extension_points import Point, Vote
from scheduler_core.framework.functions import Functions, origin
from scheduler_core.framework.plugin_fn import (
    AllocatableFn,
    ClassKey,
    EnqueueableFn,
    EvictableFn,
    ForNode,
    JobPipelinedFn,
    PluginFn,
    QueueOrderFn,
    node_fn,
)
from scheduler_core.model.fit import Why as Refusals
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.resource import Resource

Nodes = Any  # (K,) intp
DryRun = Any  # framework.dry_run.DryRun, which knows the session that has this registry


class Registry:
    """Registers the functions of the plugins of one session.

    A second function of the same plugin for a point replaces the first.

    Attributes
    ----------
    reports : list of callable
        Functions that report the plugins' state at the open and the end of the session.

    """

    def __init__(self, functions: Functions) -> None:
        self._add = functions.add
        self.reports: list[Callable[[], dict[str, Any]]] = []

    # orders

    def add_job_order(self, plugin: str, key: Callable[[JobInfo], Any]) -> None:
        """Register a key for the job order, smallest first."""
        self._add(Point.JOB_ORDER, PluginFn(plugin, key))

    def add_queue_order(
        self,
        plugin: str,
        compare: Callable[[QueueInfo, QueueInfo], float],
        *,
        key: Callable[[QueueInfo], tuple[Any, ...]] | None = None,
        key_holds: Callable[[], bool] | None = None,
    ) -> None:
        """Register a comparison of queues, and an equivalent `key` if there is one, see `QueueOrderFn`."""
        self._add(Point.QUEUE_ORDER, QueueOrderFn(plugin, compare, key, key_holds))

    def add_task_order(self, plugin: str, key: Callable[[TaskInfo], Any]) -> None:
        """Register a key for the order of a job's tasks, smallest first."""
        self._add(Point.TASK_ORDER, PluginFn(plugin, key))

    def add_victim_queue_order(self, plugin: str, key: Callable[[QueueInfo, QueueInfo], Any]) -> None:
        """Register a key for the order in which queues lose tasks to a preemptor's queue, smallest first."""
        self._add(Point.VICTIM_QUEUE_ORDER, PluginFn(plugin, key))

    # jobs and queues

    def add_job_valid(
        self,
        plugin: str,
        fn: Callable[[JobInfo], tuple[str, str] | None],
        *,
        same_for_equal_jobs: bool = False,
    ) -> None:
        """Register a check that returns (reason, message) for an invalid job, else None."""
        self._add(Point.JOB_VALID, PluginFn(plugin, fn, same_for_equal_jobs=same_for_equal_jobs))

    def add_job_ready(self, plugin: str, fn: Callable[[JobInfo], bool]) -> None:
        """Register whether a job may be bound."""
        self._add(Point.JOB_READY, PluginFn(plugin, fn))

    def add_job_starving(
        self, plugin: str, fn: Callable[[JobInfo], bool], *, same_for_equal_jobs: bool = False
    ) -> None:
        """Register whether a job may evict."""
        self._add(Point.JOB_STARVING, PluginFn(plugin, fn, same_for_equal_jobs=same_for_equal_jobs))

    def add_job_pipelined(
        self, plugin: str, fn: Callable[[JobInfo], Vote], *, keeps_whole_jobs: bool = False
    ) -> None:
        """Register a vote on whether a job keeps its pipelined nodes, see `JobPipelinedFn`."""
        self._add(Point.JOB_PIPELINED, JobPipelinedFn(plugin, fn, keeps_whole_jobs=keeps_whole_jobs))

    def add_job_enqueueable(
        self,
        plugin: str,
        fn: Callable[[JobInfo, Why], Vote],
        *,
        reads: Callable[[str], Hashable] | None = None,
    ) -> None:
        """Register a vote on whether a job may be enqueued, and what it `reads`, see `EnqueueableFn`."""
        self._add(Point.JOB_ENQUEUEABLE, EnqueueableFn(plugin, fn, reads))

    def add_job_enqueued(self, plugin: str, fn: Callable[[JobInfo], None]) -> None:
        """Register a handler for enqueued jobs."""
        self._add(Point.JOB_ENQUEUED, PluginFn(plugin, fn))

    def add_overused(self, plugin: str, fn: Callable[[QueueInfo], bool]) -> None:
        """Register whether a queue is overused."""
        self._add(Point.OVERUSED, PluginFn(plugin, fn))

    def add_preemptive(
        self,
        plugin: str,
        fn: Callable[[QueueInfo, Sequence[TaskInfo], Why | None], bool],
        *,
        same_for_equal_jobs: bool = False,
    ) -> None:
        """Register whether a queue may evict for some tasks."""
        self._add(Point.PREEMPTIVE, PluginFn(plugin, fn, same_for_equal_jobs=same_for_equal_jobs))

    def add_allocatable(
        self,
        plugin: str,
        fn: Callable[[QueueInfo, TaskInfo, Why | None], bool],
        *,
        after_release: Callable[[QueueInfo, TaskInfo, Resource], bool] | None = None,
        same_for_equal_jobs: bool = False,
    ) -> None:
        """Register whether a queue may allocate for a task, now and after a release, see `AllocatableFn`."""
        self._add(
            Point.ALLOCATABLE,
            AllocatableFn(plugin, fn, after_release, same_for_equal_jobs=same_for_equal_jobs),
        )

    # nodes

    def add_pre_predicate(self, plugin: str, fn: Callable[[TaskInfo], None]) -> None:
        """Register a pre-predicate, called before nodes are examined; it may raise PrePredicateError."""
        self._add(Point.PRE_PREDICATE, PluginFn(plugin, fn))

    def add_predicate(
        self,
        plugin: str,
        fn: Callable[[TaskInfo, Nodes], Refusals],
        *,
        class_key: ClassKey | None = None,
        cacheable_per_node: Callable[[TaskInfo], bool] | None = None,
        static_for_class: Callable[[TaskInfo], bool] | None = None,
        check_node: ForNode | None = None,
        check_classes: OfClasses | None = None,
        explain: Callable[[TaskInfo, Nodes], Refusals] | None = None,
    ) -> None:
        """Register a predicate of nodes: (K,) numbers of the session's status table, 0: fits.

        Without `class_key` it is called again for every task, see `NodeFn`.
        """
        self._add_node_fn(
            Point.PREDICATE,
            plugin,
            fn,
            class_key=class_key,
            cacheable_per_node=cacheable_per_node,
            static_for_class=static_for_class,
            for_node=check_node,
            for_classes=check_classes,
            explain=explain,
        )

    def add_node_order(
        self,
        plugin: str,
        fn: Callable[[TaskInfo, Nodes], NDArray[Any]],
        *,
        class_key: ClassKey | None = None,
        cacheable_per_node: Callable[[TaskInfo], bool] | None = None,
        static_for_class: Callable[[TaskInfo], bool] | None = None,
        score_node: ForNode | None = None,
        score_classes: OfClasses | None = None,
    ) -> None:
        """Register per-node scores: (K,) numbers.

        Without `class_key` they are computed again for every task, see `NodeFn`.
        """
        self._add_node_fn(
            Point.NODE_ORDER,
            plugin,
            fn,
            class_key=class_key,
            cacheable_per_node=cacheable_per_node,
            static_for_class=static_for_class,
            for_node=score_node,
            for_classes=score_classes,
        )

    def add_batch_node_order(
        self,
        plugin: str,
        fn: Callable[[TaskInfo, Nodes], NDArray[Any]],
        *,
        class_key: ClassKey | None = None,
        cacheable_per_node: Callable[[TaskInfo], bool] | None = None,
        static_for_class: Callable[[TaskInfo], bool] | None = None,
        score_node: ForNode | None = None,
        score_classes: OfClasses | None = None,
    ) -> None:
        """Register scores of all candidates together: (K,) numbers; it may raise ScoreError.

        Scores of tasks that are `cacheable_per_node` do not compare candidates with each other.
        """
        self._add_node_fn(
            Point.BATCH_NODE_ORDER,
            plugin,
            fn,
            class_key=class_key,
            cacheable_per_node=cacheable_per_node,
            static_for_class=static_for_class,
            for_node=score_node,
            for_classes=score_classes,
        )

    def _add_node_fn(
        self, point: Point, plugin: str, fn: Callable[..., Any], **keeping: Callable[..., Any] | None
    ) -> None:
        self._add(point, node_fn(origin(point, plugin), plugin, fn, **keeping))

    # evictable tasks

    def add_evictable(
        self,
        point: Point,
        plugin: str,
        fn: Callable[[TaskInfo, Sequence[TaskInfo], Why | None], list[TaskInfo] | None],
        *,
        bound: PluginBound | None = None,
        same_for_equal_tasks: bool = False,
        same_for_equal_jobs: bool = False,
    ) -> None:
        """Register which candidates may be evicted by preempt or reclaim, see `EvictableFn`."""
        if point not in (Point.PREEMPTABLE, Point.RECLAIMABLE):
            where = origin(point, plugin)
            raise RegistrationError(f"{where}: add_evictable is for Point.PREEMPTABLE and Point.RECLAIMABLE")
        self._add(
            point,
            EvictableFn(plugin, fn, bound, same_for_equal_tasks, same_for_equal_jobs=same_for_equal_jobs),
        )

    def add_unified_evictable(
        self,
        plugin: str,
        fn: Callable[[TaskInfo, Sequence[TaskInfo], str, Why | None], list[TaskInfo] | None],
    ) -> None:
        """Register which candidates may be evicted by gangpreempt or gangreclaim."""
        self._add(Point.UNIFIED_EVICTABLE, PluginFn(plugin, fn))

    def add_victim_tasks(self, plugin: str, fn: Callable[..., Any], *, returns_records: bool = False) -> None:
        """Register which running tasks shuffle should evict."""
        self._add(Point.VICTIM_TASKS, PluginFn(plugin, fn, returns_records=returns_records))

    # dry runs of topology-aware preemption

    def add_simulate_add_task(self, plugin: str, fn: Callable[[DryRun, TaskInfo], None]) -> None:
        """Register a function that updates a dry run when a task is added again."""
        self._add(Point.SIMULATE_ADD_TASK, PluginFn(plugin, fn))

    def add_simulate_remove_task(self, plugin: str, fn: Callable[[DryRun, TaskInfo], None]) -> None:
        """Register a function that updates a dry run when a task is removed."""
        self._add(Point.SIMULATE_REMOVE_TASK, PluginFn(plugin, fn))

    def add_simulate_allocatable(
        self, plugin: str, fn: Callable[[DryRun, QueueInfo, TaskInfo], bool]
    ) -> None:
        """Register whether a queue may allocate for a task in a dry run."""
        self._add(Point.SIMULATE_ALLOCATABLE, PluginFn(plugin, fn))

    def add_simulate_predicate(self, plugin: str, fn: Callable[[DryRun, TaskInfo], bool]) -> None:
        """Register whether the node of a dry run accepts a task."""
        self._add(Point.SIMULATE_PREDICATE, PluginFn(plugin, fn))

    # the session

    def add_report(self, report: Callable[[], dict[str, Any]]) -> None:
        """Register a function that reports a plugin's state at the open and the end of the session."""
        self.reports.append(report)
