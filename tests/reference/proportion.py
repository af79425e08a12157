"""Plugin proportion: ``spec/proportion.md`` 2 and 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.reference.accounts import INFINITE, Account
from tests.reference.cluster import Queue
from tests.reference.jobs import Job
from tests.reference.plugin import PERMIT, REJECT, Plugin
from tests.reference.pods import Task
from tests.reference.resources import (
    Vector,
    added,
    at_least,
    at_most,
    exceeded,
    fits,
    is_empty,
    minus,
    sub,
    total,
    vector,
    within,
)

if TYPE_CHECKING:
    from tests.reference.session import Session


class Proportion(Plugin):
    def __init__(self, session: Session, arguments: dict[str, Any]) -> None:
        super().__init__(session, arguments)
        cluster = session.cluster
        used = {job.queue for job in cluster.jobs.values()}
        guaranteed = total(queue.guarantee for queue in cluster.queues.values())
        self.accounts = {
            name: Account(session, queue, guaranteed)
            for name, queue in cluster.queues.items()
            if name in used
        }
        self.divide()

    def divide(self) -> None:
        remaining, met = dict(self.session.cluster.total), set()
        while weights := sum(a.queue.weight for name, a in self.accounts.items() if name not in met):
            old, increased, decreased = dict(remaining), vector(None), vector(None)
            for name, account in self.accounts.items():
                if name in met:
                    continue
                before, part = account.deserved, account.queue.weight / weights
                offered = added(before, {key: amount * part for key, amount in remaining.items()})
                clipped = at_most(at_most(offered, account.limit, INFINITE), account.request, 0.0)
                account.deserved = at_least(clipped, account.queue.guarantee)
                if fits(account.request, account.deserved) or account.deserved == before:
                    met.add(name)
                increased = added(increased, exceeded(account.deserved, before))
                decreased = added(decreased, exceeded(before, account.deserved))
            remaining = exceeded(added(remaining, decreased), increased)
            if is_empty(remaining) or remaining == old:
                return

    def queue_order(self, left: Queue, right: Queue) -> float:
        if left.priority != right.priority:
            return right.priority - left.priority
        mine, theirs = self.accounts[left.name].share, self.accounts[right.name].share
        return (mine > theirs) - (mine < theirs)

    def reclaimable(self, _task: Task, candidates: list[Task]) -> list[Task]:
        left: dict[str, Vector] = {}
        accepted = []
        for victim in candidates:
            account = self.accounts[victim.job.queue]
            held = left.setdefault(victim.job.queue, account.allocated)
            if not fits(held, account.deserved):
                left[victim.job.queue] = sub(held, victim.request)
                accepted.append(victim)
        return accepted

    def overused(self, queue: Queue) -> bool:
        return fits(self.accounts[queue.name].deserved, self.accounts[queue.name].allocated)

    def allocatable(self, queue: Queue, task: Task) -> bool:
        return self.preemptive(queue, [task])

    def preemptive(self, queue: Queue, tasks: list[Task]) -> bool:
        request, account = total(task.request for task in tasks), self.accounts[queue.name]
        return queue.is_open and within(added(account.allocated, request), account.deserved, request)

    def pre_predicate(self, task: Task) -> None:
        task.found["proportion"] = True

    def simulate_move(self, found: dict[str, Any], *_moved: Any) -> bool:
        return "proportion" in found

    def simulate_allocatable(self, queue: Queue, task: Task, away: list[Task]) -> bool:
        account, left = self.accounts[queue.name], total(victim.request for victim in away)
        future = added(minus(account.allocated, left), task.request)
        return "proportion" in task.found and within(future, account.deserved, task.request)

    def job_enqueueable(self, job: Job) -> int:
        account = self.accounts[job.queue]
        if not account.queue.is_open:
            return REJECT
        requested = job.min_resources
        reserved = sub(added(added(requested, account.allocated), account.inqueue), account.elastic)
        if not within(reserved, account.limit, requested):
            return REJECT
        account.inqueue = added(account.inqueue, job.without_gated(requested))
        return PERMIT

    def allocate(self, task: Task) -> None:
        account = self.accounts[task.job.queue]
        account.allocated = added(account.allocated, task.request)

    def deallocate(self, task: Task) -> None:
        account = self.accounts[task.job.queue]
        account.allocated = sub(account.allocated, task.request)
