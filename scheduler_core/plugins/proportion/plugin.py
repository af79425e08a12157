"""Registration of proportion's callbacks: weighted fair share among queues without a hierarchy.

Source: volcano ``pkg/scheduler/plugins/proportion/proportion.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.conf import Arguments
from scheduler_core.decision import Why
from scheduler_core.framework.bounds import PerShapeBound
from scheduler_core.framework.dry_run import DryRun
from scheduler_core.framework.extension_points import PERMIT, REJECT, Point, Vote
from scheduler_core.framework.session import Session
from scheduler_core.framework.simulation import copies_for_task, copies_in, copy_at_pre_predicate
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.pod import PodShape
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.queue_account import QueueAccount, shortage_facts
from scheduler_core.model.renewal import Renewal
from scheduler_core.model.reservations import without_gated
from scheduler_core.plugins.proportion.division import NAME, Accounts
from scheduler_core.release import Rule
from scheduler_core.resource import ZERO, Resource, total_of
from scheduler_core.resource_limits import insufficient


def open_session(session: Session, _arguments: Arguments) -> None:
    """Divide the cluster among the queues that have jobs, and register the callbacks."""
    accounts = Accounts(session)
    proportion = Proportion(session, accounts)
    session.registry.add_queue_order(NAME, proportion.queue_order, key=proportion.queue_key)
    session.registry.add_evictable(
        Point.RECLAIMABLE,
        NAME,
        proportion.reclaimable,
        bound=PerShapeBound(proportion.reclaimable_shapes),
        same_for_equal_tasks=True,
        same_for_equal_jobs=True,
    )
    session.registry.add_overused(NAME, proportion.overused)
    session.registry.add_allocatable(
        NAME,
        proportion.allocatable,
        after_release=proportion.allocatable_after_release,
        same_for_equal_jobs=True,
    )
    session.registry.add_preemptive(NAME, proportion.preemptive, same_for_equal_jobs=True)
    session.registry.add_job_enqueueable(
        NAME, proportion.job_enqueueable, reads=lambda queue: accounts[queue].allocated_version
    )
    if proportion.reserves_when_enqueued:
        session.registry.add_job_enqueued(NAME, proportion.reserve)
    session.registry.add_simulate_allocatable(NAME, simulate_allocatable)
    session.registry.add_simulate_add_task(NAME, simulate_add_task)
    session.registry.add_simulate_remove_task(NAME, simulate_remove_task)
    session.events.add_handler(
        allocate=proportion.allocate, deallocate=proportion.deallocate, on_discard=proportion.on_discard
    )
    session.registry.add_report(proportion.report)
    session.queue_accounts = lambda: accounts
    copy_at_pre_predicate(session, NAME, accounts)

    def renew(renewal: Renewal) -> bool:
        if renewal.other_queues:
            accounts.rebuild()
        else:
            accounts.renew(renewal.queues)
        return True

    session.renewals[NAME] = renew


class Proportion:
    """The callbacks of one session, on the accounts of the queues that have jobs."""

    def __init__(self, session: Session, accounts: dict[str, QueueAccount]) -> None:
        self.session = session
        self.accounts = accounts
        self.reserves_when_enqueued = session.release.follows(Rule.RESERVE_WHEN_ENQUEUED)
        self.refusals: dict[tuple[str, bool], tuple[str, dict[str, object]]] = {}

    # queue order, overused

    def queue_order(self, left: QueueInfo, right: QueueInfo) -> float:
        """Return below 0 if `left` has the higher priority or, with equal priorities, the smaller share."""
        if left.priority != right.priority:
            return right.priority - left.priority
        mine, theirs = self.accounts[left.name].share, self.accounts[right.name].share
        return (mine > theirs) - (mine < theirs)

    def queue_key(self, queue: QueueInfo) -> tuple[int, float]:
        """Return `queue_order` as a sort key."""
        return -queue.priority, self.accounts[queue.name].share

    def overused(self, queue: QueueInfo) -> bool:
        """Return whether the queue has its deserved amount of every resource allocated, including `pods`."""
        account = self.accounts[queue.name]
        return account.deserved.less_equal(account.allocated, ZERO)

    # reclaim

    def reclaimable(
        self, _reclaimer: TaskInfo, candidates: Sequence[TaskInfo], why: Why | None
    ) -> list[TaskInfo]:
        """Return, in order, the candidates whose queue is still above deserved in some resource.

        The last one may bring its queue below deserved: the check precedes the subtraction.
        """
        left: dict[str, Resource] = {}
        reduced: set[str] = set()
        accepted = []
        for task in candidates:
            account = self.accounts.get(task.job.queue) if task.job is not None else None
            if account is None:
                continue
            remaining = left.get(account.name)
            if remaining is None:
                remaining = left[account.name] = account.allocated.clone()
            above = insufficient(remaining, account.deserved)
            taken = account.name in reduced
            if why is not None:
                why[task.uid] = (
                    _explain(account, remaining, above[0]) if above else self._refusal(account, taken)
                )
            if above:
                remaining.sub(task.request)
                reduced.add(account.name)
                accepted.append(task)
        return accepted

    def reclaimable_shapes(self, queue: str, shapes: Sequence[PodShape]) -> list[bool]:
        """Return which shapes of tasks a queue could lose: all if it is above deserved, else none."""
        account = self.accounts.get(queue)
        above = account is not None and bool(insufficient(account.allocated, account.deserved))
        return [above] * len(shapes)

    def _refusal(self, account: QueueAccount, taken: bool) -> tuple[str, dict[str, object]]:
        """Return the reason for refusing a queue's candidates, one before and one after a first victim."""
        reason = self.refusals.get((account.name, taken))
        if reason is None:
            holds = "would then hold" if taken else "holds"
            text = f"queue {account.name} {holds} no more than it deserves"
            reason = self.refusals[account.name, taken] = text, {"queue": account.name}
        return reason

    # allocatable, preemptive

    def allocatable(self, queue: QueueInfo, task: TaskInfo, why: Why | None) -> bool:
        """Return whether the queue stays within its deserved amounts in what the task requests."""
        return self._stays_within_deserved(queue, task.shape.request, why)

    def allocatable_after_release(self, queue: QueueInfo, task: TaskInfo, freed: Resource) -> bool:
        """Return whether it would after it releases `freed`, or whether it cannot release that much."""
        account = self.accounts[queue.name]
        return not account.is_short_after_release(task.request, account.deserved, freed)

    def preemptive(self, queue: QueueInfo, tasks: Sequence[TaskInfo], why: Why | None) -> bool:
        """Return whether the queue stays within its deserved amount with all these tasks."""
        return self._stays_within_deserved(queue, total_of(task.request for task in tasks), why)

    def _stays_within_deserved(self, queue: QueueInfo, request: Resource, why: Why | None) -> bool:
        if not queue.is_open:
            if why is not None:
                why["message"] = not_open(queue)
            return False
        account = self.accounts[queue.name]
        short = account.shortage_for(request, account.deserved)
        if short and why is not None:
            why.update(shortage_facts(account.allocated, request, account.deserved, short))
            why["message"] = f"queue {queue.name} deserves no more {', '.join(short)}"
            why["bound"] = "deserved"
        return not short

    # enqueue

    def job_enqueueable(self, job: JobInfo, why: Why) -> Vote:
        """Permit a job whose minResources fit real capability; reserve them now, or once it is enqueued."""
        queue = self.session.queues[job.queue]
        if not queue.is_open:
            why["message"] = not_open(queue)
            return REJECT
        if job.min_resources is None:
            return PERMIT
        account = self.accounts[job.queue]
        short = account.shortage_beside(job.min_resources)
        if not short:
            if not self.reserves_when_enqueued:
                self.reserve(job)
            return PERMIT
        why["event"] = "queue resource quota insufficient: " + ", ".join(
            f"insufficient {name}" for name in short
        )
        if self.session.observer.listens:
            why.update(account.reservation_facts(job.min_resources, short))
            why["message"] = f"queue {queue.name} has too little {', '.join(short)} left to reserve"
        return REJECT

    def reserve(self, job: JobInfo) -> None:
        """Reserve a job's minResources in its queue."""
        if job.min_resources is not None:
            self.accounts[job.queue].reserve(job, without_gated(job, job.min_resources))

    # events

    def allocate(self, task: TaskInfo) -> None:
        """Charge an allocated task to its queue."""
        account = self.accounts.get(task.job.queue) if task.job is not None else None
        if account is not None:
            account.allocated.add(task.shape.request)
            account.forget_share()

    def deallocate(self, task: TaskInfo) -> None:
        """Credit a deallocated task to its queue."""
        account = self.accounts.get(task.job.queue) if task.job is not None else None
        if account is not None:
            account.allocated.sub(task.request)
            account.forget_share()

    def on_discard(self, tasks: Sequence[TaskInfo]) -> None:
        """Refresh the shares as if the tasks had been deallocated and allocated again."""
        for task in tasks:
            if task.job is not None and task.job.queue in self.accounts:
                self.accounts[task.job.queue].forget_share()

    # report

    def report(self) -> dict[str, object]:
        """Return the current amounts of the queues."""
        queues = [
            {
                "name": account.name,
                "weight": account.queue.weight,
                "share": account.share,
                **account.figures(),
                "overused": self.overused(account.queue),
            }
            for account in self.accounts.values()
        ]
        return {"queue_plugin": NAME, "queues": queues} if queues else {"queue_plugin": NAME}


def not_open(queue: QueueInfo) -> str:
    """Return the sentence that a queue is not Open."""
    return f"queue {queue.name} is {queue.state or 'without a state'}, not Open"


def _explain(account: QueueAccount, remaining: Resource, name: str) -> tuple[str, dict[str, object]]:
    return f"queue {account.name} holds more {name} than it deserves", {
        "queue": account.name,
        "resource": name,
        "allocated": remaining.get(name),
        "deserved": account.deserved.get(name),
    }


# dry runs, in which the queue's state does not matter


def simulate_allocatable(dry_run: DryRun, queue: QueueInfo, task: TaskInfo) -> bool:
    """Return whether the queue's copy stays within its deserved amount with the task."""
    copies: dict[str, QueueAccount] = copies_in(dry_run, NAME) or {}
    account = copies.get(queue.name)
    return account is not None and not account.shortage_for(task.request, account.deserved)


def simulate_add_task(dry_run: DryRun, task: TaskInfo) -> None:
    """Charge a restored task to the queue's copy."""
    _copied_account(dry_run, task).allocated.add(task.request)


def simulate_remove_task(dry_run: DryRun, task: TaskInfo) -> None:
    """Credit a removed task to the queue's copy."""
    _copied_account(dry_run, task).allocated.sub(task.request)


def _copied_account(dry_run: DryRun, task: TaskInfo) -> QueueAccount:
    copies: dict[str, QueueAccount]
    copies, queue = copies_for_task(dry_run, NAME, task)
    return copies[queue]
