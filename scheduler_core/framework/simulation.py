"""Copies of queue accounts for the dry runs of topology-aware preemption.

Source: volcano ``pkg/scheduler/plugins/proportion/proportion.go``, ``plugins/capacity/capacity.go``
(PrePredicate, SimulateAddTask, SimulateRemoveTask) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from scheduler_core.errors import CoreError
from scheduler_core.framework.dry_run import DryRun
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.queue_account import QueueAccount

Account = TypeVar("Account", bound=QueueAccount)


class AccountCopies(Generic[Account]):
    """Copies of the session's accounts, by queue."""

    def __init__(self, accounts: Mapping[str, Account]) -> None:
        self.accounts = {name: account.clone() for name, account in accounts.items()}

    def clone(self) -> AccountCopies[Account]:
        """Return an independent copy."""
        return AccountCopies(self.accounts)


def makes_dry_runs(session: Session) -> bool:
    """Return whether preempt does dry runs on copies first."""
    return session.conf.arguments_of("preempt").get_bool("enableTopologyAwarePreemption", False)


def copy_at_pre_predicate(session: Session, plugin: str, accounts: Mapping[str, Account]) -> None:
    """Copy the accounts at the pre-predicate of every task, if there are dry runs."""
    if not makes_dry_runs(session):
        return

    states = session.cycle_states[plugin]

    def remember(task: TaskInfo) -> None:
        states[task.uid] = AccountCopies(accounts)

    session.registry.add_pre_predicate(plugin, remember)


def copies_in(dry_run: DryRun, plugin: str) -> dict[str, Account] | None:
    """Return a plugin's accounts for one node; None if no pre-predicate of the preemptor has copied them."""
    copies: AccountCopies[Account] | None = dry_run.state.get(plugin)
    return None if copies is None else copies.accounts


def copies_for_task(dry_run: DryRun, plugin: str, task: TaskInfo) -> tuple[dict[str, Account], str]:
    """Return a plugin's accounts for one node, and the name of the task's queue, which has one.

    Raises
    ------
    CoreError
        If the queue has none: the task can be neither removed nor added, which ends the dry run.

    """
    copies: dict[str, Account] | None = copies_in(dry_run, plugin)
    if copies is None or task.job is None or task.job.queue not in copies:
        raise CoreError(f"{plugin} has no copy of what the queue of {task.key} holds")
    return copies, task.job.queue
