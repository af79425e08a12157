"""Registration of capacity's callbacks, and its event handlers.

Source: volcano ``pkg/scheduler/plugins/capacity/capacity.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.conf import Arguments
from scheduler_core.framework.bounds import PerShapeBound
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from scheduler_core.framework.simulation import copy_at_pre_predicate
from scheduler_core.framework.worklist import queues_that_wait
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.renewal import Renewal
from scheduler_core.plugins.capacity import dry_run
from scheduler_core.plugins.capacity.account import NAME, CapacityAccount, Queues
from scheduler_core.plugins.capacity.flat import FlatQueues
from scheduler_core.plugins.capacity.hierarchical import QueueTree
from scheduler_core.plugins.capacity.limits import Limits
from scheduler_core.plugins.capacity.order import QueueOrder
from scheduler_core.plugins.capacity.reclaim import ReclaimableTasks
from scheduler_core.release import Rule

RECLAIM_LEVELS = "ancestorReclaimLevel"


def open_session(session: Session, arguments: Arguments) -> None:
    """Compute every queue's limits and register the callbacks."""
    hierarchical = session.conf.hierarchy_enabled(NAME)
    queues = _queues_of(session, hierarchical=hierarchical)
    reads_levels = hierarchical and session.release.follows(Rule.ANCESTOR_RECLAIM_LEVEL)
    levels = max(arguments.get_int(RECLAIM_LEVELS, 0), 0) if reads_levels else 0
    order = _register_order(session, queues)
    limits = Limits(session, queues, levels)
    session.registry.add_allocatable(
        NAME,
        limits.allocatable,
        after_release=limits.allocatable_after_release,
        same_for_equal_jobs=True,
    )
    session.registry.add_preemptive(NAME, limits.preemptive, same_for_equal_jobs=True)
    session.registry.add_job_enqueueable(NAME, limits.job_enqueueable, reads=limits.versions)
    if limits.reserves_when_enqueued:
        session.registry.add_job_enqueued(NAME, limits.reserve)
    reclaim = ReclaimableTasks(session, queues, levels)
    session.registry.add_evictable(
        Point.RECLAIMABLE,
        NAME,
        reclaim.reclaimable,
        bound=PerShapeBound(reclaim.reclaimable_shapes),
        same_for_equal_tasks=True,
        same_for_equal_jobs=True,
    )
    session.registry.add_unified_evictable(NAME, reclaim.evictable)
    session.registry.add_simulate_allocatable(NAME, dry_run.DryRunLimits(queues).allocatable)
    session.registry.add_simulate_add_task(NAME, dry_run.add_task)
    session.registry.add_simulate_remove_task(NAME, dry_run.remove_task)
    copy_at_pre_predicate(session, NAME, queues.accounts)
    events = Events(queues)
    session.events.add_handler(
        allocate=events.allocate, deallocate=events.deallocate, on_discard=events.on_discard
    )
    if session.conf.first_option("proportion") is None:
        session.registry.add_report(lambda: report(queues))
        session.queue_accounts = lambda: queues.accounts

    def renew(renewal: Renewal) -> bool:
        order.renew()
        if not renewal.other_queues:
            return queues.renew(renewal.queues)
        for reader in (order, limits, reclaim):
            reader.forget_queues()
        return queues.rebuild()

    session.renewals[NAME] = renew


def _queues_of(session: Session, *, hierarchical: bool) -> Queues:
    if hierarchical:
        return QueueTree(session)
    queues = FlatQueues(session)
    if session.observer.listens:
        queues.report(session.observer)
    return queues


def _register_order(session: Session, queues: Queues) -> QueueOrder:
    order = QueueOrder(queues)
    if not queues.hierarchical:
        session.registry.add_queue_order(NAME, order.flat, key=order.flat_key)
    elif not queues.obstacle:
        session.registry.add_queue_order(
            NAME,
            order.hierarchical,
            key=order.path_key,
            key_holds=lambda: not session.reasons and order.has_path_key(queues_that_wait(session)),
        )
        session.registry.add_victim_queue_order(NAME, order.victims)
    return order


class Events:
    """Event handlers that keep the allocated amounts of queues up to date."""

    def __init__(self, queues: Queues) -> None:
        self.queues = queues

    def allocate(self, task: TaskInfo) -> None:
        """Charge an allocated task to its queue and all ancestors; only the queue's own share changes."""
        request = task.shape.request
        for account in self._charged(task):
            account.allocated.add(request)

    def deallocate(self, task: TaskInfo) -> None:
        """Credit a deallocated task in the same way."""
        for account in self._charged(task):
            account.allocated.sub(task.request)

    def on_discard(self, tasks: Sequence[TaskInfo]) -> None:
        """Refresh the shares as if the tasks had been deallocated and allocated again."""
        for task in tasks:
            self._charged(task)

    def _charged(self, task: TaskInfo) -> Sequence[CapacityAccount]:
        """Return the accounts to which a task is charged; those of ancestors keep their current shares."""
        chain = () if task.job is None else self.queues.charged_accounts(task.job.queue)
        if chain:
            chain[0].forget_share()
        for account in chain[1:]:
            account.keep_share()
        return chain


def report(queues: Queues) -> dict[str, Any]:
    """Return the current amounts of the queues."""
    figures = [account.figures() for account in queues.accounts.values()]
    named = {"queue_plugin": NAME, "obstacle": queues.obstacle}
    return {**named, "queues": figures} if figures else named
