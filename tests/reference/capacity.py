"""Plugin capacity, for flat queues or a tree: ``spec/capacity.md`` 2 to 6."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tests.reference.accounts import INFINITE
from tests.reference.cluster import Queue
from tests.reference.jobs import Job
from tests.reference.plugin import PERMIT, REJECT, Plugin
from tests.reference.pods import Task
from tests.reference.records import Record, common_level, deserves_a_part, has_too_much, shares_a_name
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
    within,
)

if TYPE_CHECKING:
    from tests.reference.session import Session

UNLIMITED_SCALAR = float(2**63 - 1)


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
        self.is_ready = True
        if self.tree:
            self.is_ready = self.link() and self.add_up() and "root" in self.records
            if not self.is_ready:
                return
            self.divide(self.open_root())
        for record in self.records.values():
            if not self.tree:
                record.deserved = at_least(
                    at_most(record.deserved, record.limit, INFINITE), record.queue.guarantee
                )
            record.measure()

    # the tree

    def link(self) -> bool:
        """Link every queue with its ancestors, up to the first missing parent; later queues are unknown."""
        queues, linked = self.session.cluster.queues, dict[str, Record]()
        known, self.records = self.records, linked
        for name in known:
            path = [name]
            while path[-1] != "root" and path[-1] not in linked:
                linked[path[-1]] = known[path[-1]]
                above = queues[path[-1]].parent
                if above not in queues:
                    return False
                path.append(above)
            linked.setdefault(path[-1], known[path[-1]])
            for below, above in zip(reversed(path[:-1]), reversed(path[1:]), strict=True):
                linked[below].ancestors = [*linked[above].ancestors, above]
                linked[above].children.append(below)
        for record in linked.values():
            record.children.sort()
        return True

    def add_up(self) -> bool:
        """Add up the jobs' amounts in their queues and ancestors, up to the first job in an inner queue."""
        for record in self.records.values():
            record.clear()
        for job in self.session.cluster.jobs.values():
            if self.records[job.queue].children:
                return False
            for record in self.chain(job.queue):
                record.count(job)
        return True

    def open_root(self) -> Record:
        root = self.records["root"]
        if is_empty(root.capability):
            scalars = {name for name in self.session.cluster.total if name not in ("cpu", "memory")}
            root.capability = {"cpu": INFINITE, "memory": INFINITE} | dict.fromkeys(scalars, UNLIMITED_SCALAR)
        root.limit = root.capability
        return root

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
        if not self.is_ready:
            return 0
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
        if not (self.tree and self.is_ready):
            return 0
        mine = self.records[preemptor.name]
        return common_level(self.records[right.name], mine) - common_level(self.records[left.name], mine)

    # limits of a queue

    def allocatable(self, queue: Queue, task: Task) -> bool:
        return queue.is_open and self.is_leaf(queue.name) and self.has_room(queue, task, [])

    def is_leaf(self, name: str) -> bool:
        return self.is_ready and not (self.tree and self.records[name].children)

    def has_room(self, queue: Queue, task: Task, away: list[Task]) -> bool:
        held = minus(task.request, total(victim.request for victim in away))
        return all(
            within(added(record.allocated, held), record.limit, task.request)
            for record in self.chain(queue.name)
        )

    def pre_predicate(self, task: Task) -> None:
        task.found["capacity"] = True

    def simulate_move(self, found: dict[str, Any], *_moved: Any) -> bool:
        return "capacity" in found

    def simulate_allocatable(self, queue: Queue, task: Task, away: list[Task]) -> bool:
        return "capacity" in task.found and self.is_leaf(queue.name) and self.has_room(queue, task, away)

    def preemptive(self, queue: Queue, tasks: list[Task]) -> bool:
        if not self.is_ready:
            return False
        request, record = total(task.request for task in tasks), self.records[queue.name]
        if not queue.is_open or not within(added(record.allocated, request), record.limit, request):
            return False
        near = [record.ancestor(level) for level in range(1, self.levels + 1)]
        relatives = [record, *(self.records[name] for name in near if name is not None)]
        return any(deserves_a_part(relative, request) for relative in relatives)

    def job_enqueueable(self, job: Job) -> int:
        if not self.is_leaf(job.queue) or not self.records[job.queue].queue.is_open:
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

    # evictions

    def reclaimable(self, task: Task, candidates: list[Task]) -> list[Task]:
        mine = self.records.get(task.job.queue)
        if mine is None or not self.is_ready:
            return []
        heap, left, victims = self.session.losing_order(candidates, task), {}, []
        while heap:
            victim = heap.pop()
            theirs = self.records[victim.job.queue]
            held = left.setdefault(theirs.queue.name, theirs.allocated)
            looked_at = list(self.looked_at(mine, theirs))
            if (
                {*names_of(victim.request)} & {*names_of(task.request)} - {"pods"}
                and self.may_lose(theirs, held, victim)
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

    def unified_evictable(self, _task: Task, candidates: list[Task]) -> list[Task]:
        if self.session.action != "gangreclaim":
            return candidates
        left, victims = dict[str, Vector](), []
        for victim in candidates if self.is_ready else ():
            theirs = self.records[victim.job.queue]
            held = left.setdefault(theirs.queue.name, theirs.allocated)
            if self.may_lose(theirs, held, victim):
                victims.append(victim)
                left[theirs.queue.name] = sub(held, victim.request)
        return victims

    @staticmethod
    def may_lose(theirs: Record, held: Vector, victim: Task) -> bool:
        """Return whether a queue with these amounts may lose a task. Section 6.4, steps c to f."""
        kept = fits(theirs.guarantee, sub(held, victim.request))
        return kept and has_too_much(theirs, held, victim.request)

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
        chain = self.chain(task.job.queue) if task.job.queue in self.records else []
        for record in chain:
            record.allocated = change(record.allocated, task.request)
        if chain:
            chain[0].measure()
