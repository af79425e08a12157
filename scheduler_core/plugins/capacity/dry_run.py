"""The limits of capacity in dry runs, on copies of the accounts.

Source: volcano ``pkg/scheduler/plugins/capacity/capacity.go`` (Simulate*) at v1.15.1.
"""

from __future__ import annotations

from scheduler_core.framework.dry_run import DryRun
from scheduler_core.framework.simulation import copies_for_task, copies_in
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.plugins.capacity.account import NAME, CapacityAccount, Queues, chain_in


class DryRunLimits:
    """The limits on copied accounts; unlike the real limits, they ignore the state of a queue."""

    def __init__(self, queues: Queues) -> None:
        self.queues = queues

    def allocatable(self, dry_run: DryRun, queue: QueueInfo, task: TaskInfo) -> bool:
        """Return whether copies of the queue and its ancestors stay within real capability with the task."""
        copies: dict[str, CapacityAccount] | None = copies_in(dry_run, NAME)
        if copies is None or self.queues.obstacle or not self.queues.is_leaf(queue.name):
            return False
        chain = chain_in(copies, queue.name)
        return not any(account.shortage_for(task.request, account.real_capability) for account in chain)


def add_task(dry_run: DryRun, task: TaskInfo) -> None:
    """Charge a restored task to the copies."""
    for account in _copied_chain(dry_run, task):
        account.allocated.add(task.request)


def remove_task(dry_run: DryRun, task: TaskInfo) -> None:
    """Credit a removed task to the copies."""
    for account in _copied_chain(dry_run, task):
        account.allocated.sub(task.request)


def _copied_chain(dry_run: DryRun, task: TaskInfo) -> list[CapacityAccount]:
    copies: dict[str, CapacityAccount]
    copies, queue = copies_for_task(dry_run, NAME, task)
    return chain_in(copies, queue)
