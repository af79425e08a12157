"""What do the covered plugins answer about jobs and queues? Nothing is kept but what Volcano keeps.

``spec/gang_priority.md``, ``drf.md`` 1 to 6, ``proportion.md``, ``queues.md`` 7.2, ``node_plugins.md`` 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.reference.accounts import INFINITE, PERMIT, REJECT, Account
from tests.reference.capacity import Capacity
from tests.reference.cluster import ALLOCATED, READY, VALID, Job, Queue, Task
from tests.reference.node_plugins import Binpack, NodeOrder, Predicates
from tests.reference.plugin import Plugin
from tests.reference.resources import (
    Vector,
    added,
    at_least,
    at_most,
    exceeded,
    fits,
    is_empty,
    minus,
    names_of,
    sub,
    total,
    vector,
    within,
)

if TYPE_CHECKING:
    from tests.reference.session import Session

CRITICAL = ("system-cluster-critical", "system-node-critical")


class Gang(Plugin):
    def job_valid(self, job: Job) -> str | None:
        if not job.roles_have(VALID):
            return "NotEnoughPodsOfTask"
        return "NotEnoughTasks" if job.count(*VALID) < job.min_available else None

    def job_order(self, left: Job, right: Job) -> int:
        return left.is_ready() - right.is_ready()

    def job_ready(self, job: Job) -> bool:
        return job.roles_have(READY, best_effort=True) and job.is_ready()

    def job_pipelined(self, job: Job) -> int:
        promised = job.roles_have((*READY, "Pipelined"), best_effort=True)
        return PERMIT if promised and job.is_pipelined() else REJECT

    def job_starving(self, job: Job) -> bool:
        return job.count("Pipelined", *READY) < job.min_available

    def preemptable(self, _task: Task, candidates: list[Task]) -> list[Task]:
        budgets: dict[str, int] = {}
        accepted = []
        for victim in candidates:
            budget = budgets.setdefault(victim.job.key, victim.job.count(*READY))
            if budget > victim.job.min_available:
                budgets[victim.job.key] = budget - 1
                accepted.append(victim)
        return accepted

    reclaimable = preemptable


class Priority(Plugin):
    def task_order(self, left: Task, right: Task) -> int:
        return right.priority - left.priority

    def job_order(self, left: Job, right: Job) -> int:
        return right.priority - left.priority

    def job_starving(self, job: Job) -> bool:
        return job.count("Pipelined", *READY) < len(job.tasks)

    def preemptable(self, task: Task, candidates: list[Task]) -> list[Task]:
        return [
            victim
            for victim in candidates
            if (
                victim.priority < task.priority
                if victim.job is task.job
                else victim.job.priority < task.job.priority
            )
        ]


class Conformance(Plugin):
    def preemptable(self, _task: Task, candidates: list[Task]) -> list[Task]:
        return [
            victim
            for victim in candidates
            if victim.spec.get("priorityClassName") not in CRITICAL and victim.namespace != "kube-system"
        ]

    reclaimable = preemptable


class Drf(Plugin):
    def __init__(self, session: Session, arguments: dict[str, Any]) -> None:
        super().__init__(session, arguments)
        self.held = {key: job.allocated() for key, job in session.cluster.jobs.items()}

    def share(self, amounts: Vector) -> float:
        whole = self.session.cluster.total
        return max([amounts.get(name, 0.0) / whole[name] for name in names_of(whole)], default=0.0)

    def job_order(self, left: Job, right: Job) -> int:
        mine, theirs = (max(0.0, self.share(self.held[job.key])) for job in (left, right))
        return (mine > theirs) - (mine < theirs)

    def preemptable(self, task: Task, candidates: list[Task]) -> list[Task]:
        mine = self.share(added(self.held[task.job.key], task.request))
        left: dict[str, Vector] = {}
        accepted = []
        for victim in candidates:
            key = victim.job.key
            left[key] = sub(left.get(key, self.held[key]), victim.request)
            theirs = self.share(left[key])
            if mine < theirs or abs(mine - theirs) <= 0.000001:
                accepted.append(victim)
        return accepted

    def allocate(self, task: Task) -> None:
        self.held[task.job.key] = added(self.held[task.job.key], task.request)

    def deallocate(self, task: Task) -> None:
        self.held[task.job.key] = sub(self.held[task.job.key], task.request)


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

    def job_enqueueable(self, job: Job) -> int:
        account = self.accounts[job.queue]
        if not account.queue.is_open:
            return REJECT
        asked = job.min_resources
        reserved = sub(added(added(asked, account.allocated), account.inqueue), account.elastic)
        if not within(reserved, account.limit, asked):
            return REJECT
        account.inqueue = added(account.inqueue, job.without_gated(asked))
        return PERMIT

    def allocate(self, task: Task) -> None:
        account = self.accounts[task.job.queue]
        account.allocated = added(account.allocated, task.request)

    def deallocate(self, task: Task) -> None:
        account = self.accounts[task.job.queue]
        account.allocated = sub(account.allocated, task.request)


class Overcommit(Plugin):
    def __init__(self, session: Session, arguments: dict[str, Any]) -> None:
        super().__init__(session, arguments)
        factor = arguments.get("overcommit-factor", 1.2)
        factor = 1.2 if isinstance(factor, bool) or not isinstance(factor, (int, float)) else factor
        factor = factor if factor >= 1.0 else 1.2
        cluster = session.cluster
        offered = {name: amount * factor for name, amount in cluster.total.items()}
        self.idle = minus(offered, total(node.used for node in cluster.nodes.values()))
        self.inqueue = vector(None)
        for job in cluster.jobs.values():
            if job.min_resources is None:
                continue
            if job.phase == "Inqueue":
                self.inqueue = added(self.inqueue, job.without_gated(job.min_resources))
            elif job.phase == "Running" and job.count(*ALLOCATED) >= job.min_available:
                self.inqueue = added(self.inqueue, job.without_gated(job.reserved()))

    def job_enqueueable(self, job: Job) -> int:
        fitting = within(added(self.inqueue, job.min_resources), self.idle, job.min_resources)
        return PERMIT if fitting else REJECT

    def job_enqueued(self, job: Job) -> None:
        if job.min_resources is not None:
            self.inqueue = added(self.inqueue, job.without_gated(job.min_resources))


PLUGINS: dict[str, type[Plugin]] = {
    "gang": Gang,
    "priority": Priority,
    "conformance": Conformance,
    "drf": Drf,
    "proportion": Proportion,
    "capacity": Capacity,
    "overcommit": Overcommit,
    "predicates": Predicates,
    "binpack": Binpack,
    "nodeorder": NodeOrder,
}
