"""What does plugin capacity answer, with queues side by side or in a tree? ``spec/capacity.md`` 2 to 6."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tests.reference.accounts import INFINITE, PERMIT, REJECT, Account
from tests.reference.cluster import Job, Queue, Task
from tests.reference.plugin import Plugin
from tests.reference.resources import (
    EPSILON,
    Vector,
    added,
    at_least,
    at_most,
    exceeded,
    fits,
    is_empty,
    names_of,
    sub,
    total,
    vector,
    within,
)

if TYPE_CHECKING:
    from tests.reference.session import Session

UNLIMITED_SCALAR = float(2**63 - 1)


class Record(Account):
    """What capacity knows of one queue."""

    def __init__(self, session: Session, queue: Queue, guaranteed: Vector) -> None:
        super().__init__(session, queue, guaranteed)
        self.capability = vector(queue.capability)
        self.guarantee = queue.guarantee
        self.deserved = vector(queue.deserved)
        self.ancestors: list[str] = []
        self.children: list[str] = []
        self.measured = 0.0

    @property
    def share(self) -> float:
        return self.measured

    def measure(self) -> None:
        self.measured = 1.0 if is_empty(self.deserved) else super().share

    def ancestor(self, level: int) -> str | None:
        name = self.ancestors[-level] if level <= len(self.ancestors) else None
        return None if name == "root" else name


class Capacity(Plugin):
    def __init__(self, session: Session, arguments: dict[str, Any]) -> None:
        super().__init__(session, arguments)
        cluster = session.cluster
        self.tree = session.entries["capacity"].get("enableHierarchy") is True
        level = arguments.get("ancestorReclaimLevel", 0)
        self.levels = max(level, 0) if self.tree and isinstance(level, int) else 0
        used = {job.queue for job in cluster.jobs.values()}
        guaranteed = total(queue.guarantee for queue in cluster.queues.values())
        self.records = {
            name: Record(session, queue, guaranteed)
            for name, queue in cluster.queues.items()
            if self.tree or name in used
        }
        if self.tree:
            self.link()
            self.divide(self.records["root"])
        for record in self.records.values():
            if not self.tree:
                record.deserved = at_least(
                    at_most(record.deserved, record.limit, INFINITE), record.queue.guarantee
                )
            record.measure()

    # the tree

    def link(self) -> None:
        for name, record in self.records.items():
            above = self.session.cluster.queues[name].parent if name != "root" else ""
            while above:
                record.ancestors.insert(0, above)
                above = self.session.cluster.queues[above].parent if above != "root" else ""
            if record.ancestors:
                self.records[record.ancestors[-1]].children.append(name)
        own = {name: (r.allocated, r.request, r.inqueue, r.elastic) for name, r in self.records.items()}
        for name, amounts in own.items():
            for above in self.records[name].ancestors:
                record = self.records[above]
                before = record.allocated, record.request, record.inqueue, record.elastic
                record.allocated, record.request, record.inqueue, record.elastic = map(added, before, amounts)
        root = self.records["root"]
        if is_empty(root.capability):
            scalars = {name for name in self.session.cluster.total if name not in ("cpu", "memory")}
            root.capability = {"cpu": INFINITE, "memory": INFINITE} | dict.fromkeys(scalars, UNLIMITED_SCALAR)
        root.limit = root.capability

    def divide(self, parent: Record) -> None:
        children = [self.records[name] for name in parent.children]
        for child in children:
            child.deserved = at_least(child.deserved, child.guarantee)
            named = {
                name: amount
                for name, amount in child.capability.items()
                if amount > 0 or name not in ("cpu", "memory")
            }
            child.capability = {**parent.capability, **named}
        guaranteed = total(child.guarantee for child in children)
        if parent.queue.name == "root":
            parent.guarantee, parent.deserved = guaranteed, total(child.deserved for child in children)
        for child in children:
            left = added(exceeded(parent.limit, guaranteed), child.guarantee)
            child.limit = at_most(left, child.capability, INFINITE)
            self.divide(child)

    def chain(self, name: str) -> list[Record]:
        record = self.records[name]
        return [record, *(self.records[above] for above in reversed(record.ancestors))]

    # orders

    @staticmethod
    def compare(mine: Record, theirs: Record) -> int:
        if mine.share != theirs.share:
            return -1 if mine.share < theirs.share else 1
        return is_empty(mine.deserved) - is_empty(theirs.deserved)

    def queue_order(self, left: Queue, right: Queue) -> int:
        if left.priority != right.priority:
            return right.priority - left.priority
        mine, theirs = self.records[left.name], self.records[right.name]
        if bool(mine.children) != bool(theirs.children):
            return 1 if mine.children else -1
        if self.tree and not mine.children:
            below = common_level(mine, theirs) + 1
            mine, theirs = (
                self.records[record.ancestors[below]] if below < len(record.ancestors) else record
                for record in (mine, theirs)
            )
        return self.compare(mine, theirs)

    def victim_queue_order(self, left: Queue, right: Queue, preemptor: Queue) -> int:
        if not self.tree:
            return 0
        mine = self.records[preemptor.name]
        return common_level(self.records[right.name], mine) - common_level(self.records[left.name], mine)

    # what a queue may take

    def allocatable(self, queue: Queue, task: Task) -> bool:
        return queue.is_open and all(
            within(added(record.allocated, task.request), record.limit, task.request)
            for record in self.chain(queue.name)
        )

    def preemptive(self, queue: Queue, tasks: list[Task]) -> bool:
        request, record = total(task.request for task in tasks), self.records[queue.name]
        if not queue.is_open or not within(added(record.allocated, request), record.limit, request):
            return False
        near = [record.ancestor(level) for level in range(1, self.levels + 1)]
        relatives = [record, *(self.records[name] for name in near if name is not None)]
        return any(deserves_a_part(relative, request) for relative in relatives)

    def job_enqueueable(self, job: Job) -> int:
        if not self.records[job.queue].queue.is_open:
            return REJECT
        if job.min_resources is None:
            return PERMIT
        for record in self.chain(job.queue):
            reserved = added(added(job.min_resources, record.allocated), record.inqueue)
            if not within(sub(reserved, record.elastic), record.limit, job.min_resources):
                return REJECT
        for record in self.chain(job.queue):
            record.inqueue = added(record.inqueue, job.without_gated(job.min_resources))
        return PERMIT

    # who is evicted

    def reclaimable(self, task: Task, candidates: list[Task]) -> list[Task]:
        mine = self.records.get(task.job.queue)
        if mine is None:
            return []
        heap, left, victims = self.session.losing_order(candidates, task), {}, []
        while heap:
            victim = heap.pop()
            theirs = self.records[victim.job.queue]
            held = left.setdefault(theirs.queue.name, theirs.allocated)
            looked_at = list(self.looked_at(mine, theirs))
            if (
                {*names_of(victim.request)} & {*names_of(task.request)} - {"pods"}
                and fits(theirs.guarantee, sub(held, victim.request))
                and has_too_much(theirs, held, victim.request)
                and not self.are_relatives_without_claim(task, mine, victim, theirs)
                and all(
                    has_too_much(above, left.get(above.queue.name, above.allocated), victim.request)
                    for above in looked_at
                )
            ):
                victims.append(victim)
                for record in (theirs, *looked_at):
                    name = record.queue.name
                    left[name] = sub(left.get(name, record.allocated), victim.request)
        return victims

    def looked_at(self, mine: Record, theirs: Record) -> Iterable[Record]:
        for level in range(1, self.levels + 1):
            name = theirs.ancestor(level)
            if name is not None and name != mine.ancestor(level):
                yield self.records[name]

    def are_relatives_without_claim(self, task: Task, mine: Record, victim: Task, theirs: Record) -> bool:
        if shares_a_name(victim.request, theirs.deserved) or shares_a_name(task.request, mine.deserved):
            return False
        near, far = (
            {record.ancestor(level) for level in range(1, self.levels + 1)} - {None}
            for record in (mine, theirs)
        )
        return bool(near & far)

    # events

    def allocate(self, task: Task) -> None:
        self.move(task, added)

    def deallocate(self, task: Task) -> None:
        self.move(task, sub)

    def move(self, task: Task, change: Any) -> None:
        chain = self.chain(task.job.queue)
        for record in chain:
            record.allocated = change(record.allocated, task.request)
        chain[0].measure()


def common_level(left: Record, right: Record) -> int:
    level = 0
    for number, (mine, theirs) in enumerate(zip(left.ancestors, right.ancestors, strict=False)):
        if mine != theirs:
            break
        level = number
    return level


def deserves_a_part(record: Record, request: Vector) -> bool:
    future, deserved = added(record.allocated, request), record.deserved
    for name, amount in request.items():
        mine, most = future.get(name, 0.0), deserved.get(name, 0.0)
        counts = amount > 0 and name != "pods" and not (mine < EPSILON and most < EPSILON)
        if counts and (mine < most or abs(mine - most) < EPSILON):
            return True
    return False


def shares_a_name(left: Vector, right: Vector) -> bool:
    return bool({*names_of(left)} & {*names_of(right)})


def has_too_much(record: Record, held: Vector, request: Vector) -> bool:
    deserved = record.deserved
    if not shares_a_name(request, deserved):
        return True
    relevant = [
        name
        for name, amount in request.items()
        if amount > 0
        and name != "pods"
        and (deserved[name] >= EPSILON if name in ("cpu", "memory") else name in deserved)
    ]
    return any(held.get(name, 0.0) > deserved[name] for name in relevant)
