"""What do the jobs of each queue hold, request and have reserved, all together?

A fold over the jobs: one that was made anew gives back what it added before. Sound, as whole numbers below
2^53 add up exactly in any order; above that a queue is added up anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from scheduler_core.model.job import JobInfo
from scheduler_core.resource import Resource

_EXACT = 2.0**52
NOTHING = Resource()


class Part(NamedTuple):
    """What one job adds to its queue.

    Attributes
    ----------
    allocated, request, elastic : Resource
        What it holds, holds and waits for, holds above its minimum.
    reserved, reserved_whole : Resource or None
        What is reserved for it beside that: the rest of its minimum, or in phase Inqueue all of it.

    """

    queue: str
    allocated: Resource
    request: Resource
    elastic: Resource
    reserved: Resource | None
    reserved_whole: Resource | None


class Sum:
    """A sum of vectors that names the scalars that any of them names."""

    __slots__ = ("_cpu", "_holders", "_memory", "_scalars")

    def __init__(self) -> None:
        self._cpu = self._memory = 0.0
        self._scalars: dict[str, float] = {}
        self._holders: dict[str, int] = {}

    def add(self, amount: Resource) -> None:
        """Add a vector."""
        self._cpu += amount.cpu
        self._memory += amount.memory
        for name, scalar in (amount.scalars or {}).items():
            self._scalars[name] = self._scalars.get(name, 0.0) + scalar
            self._holders[name] = self._holders.get(name, 0) + 1

    def give_back(self, amount: Resource) -> None:
        """Take away a vector that was added."""
        self._cpu -= amount.cpu
        self._memory -= amount.memory
        for name, scalar in (amount.scalars or {}).items():
            self._scalars[name] -= scalar
            self._holders[name] -= 1
            if not self._holders[name]:
                del self._scalars[name], self._holders[name]

    def is_exact(self) -> bool:
        """Tell whether nothing was rounded."""
        amounts = (self._cpu, self._memory, *self._scalars.values())
        return all(amount.is_integer() and -_EXACT < amount < _EXACT for amount in amounts)

    def resource(self) -> Resource:
        """Return the sum as a vector of its own."""
        return Resource(self._cpu, self._memory, dict(self._scalars) or None)


class QueueSum:
    """What the jobs of one queue add up to."""

    __slots__ = ("allocated", "elastic", "request", "reserved", "reserved_whole")

    def __init__(self) -> None:
        self.allocated, self.request, self.elastic = Sum(), Sum(), Sum()
        self.reserved, self.reserved_whole = Sum(), Sum()

    def pairs(self, part: Part) -> list[tuple[Sum, Resource]]:
        """Return each sum that a job adds to, with what it adds."""
        pairs = [(self.request, part.request)]
        if part.allocated is not NOTHING:
            pairs += [(self.allocated, part.allocated), (self.elastic, part.elastic)]
        if part.reserved is not None and part.reserved_whole is not None:
            pairs += [(self.reserved, part.reserved), (self.reserved_whole, part.reserved_whole)]
        return pairs

    def is_exact(self) -> bool:
        """Tell whether nothing was rounded."""
        sums = (self.allocated, self.request, self.elastic, self.reserved, self.reserved_whole)
        return all(total.is_exact() for total in sums)


class QueueSums:
    """The sums of all queues that have jobs.

    Parameters
    ----------
    jobs : mapping
        By key, as a session finds them.

    """

    def __init__(self, jobs: Mapping[str, JobInfo]) -> None:
        self._parts: dict[str, Part] = {}
        self._of: dict[str, QueueSum] = {}
        self._jobs: dict[str, int] = {}
        self.renew(jobs)

    def __contains__(self, queue: str) -> bool:
        return queue in self._of

    def __getitem__(self, queue: str) -> QueueSum:
        """Return the sums of a queue that has jobs."""
        return self._of[queue]

    def get(self, queue: str) -> QueueSum | None:
        """Return the sums of a queue, None when it has no jobs."""
        return self._of.get(queue)

    def queues(self) -> Iterable[str]:
        """Return the queues that have jobs."""
        return self._of.keys()

    def renew(self, jobs: Mapping[str, JobInfo | None]) -> None:
        """Take in jobs that were made anew; None: the job is gone."""
        moved = set()
        for key, job in jobs.items():
            before = self._parts.pop(key, None)
            if before is not None:
                self._give_back(before)
                moved.add(before.queue)
            if job is not None:
                self._add(key, part_of(job))
                moved.add(job.queue)
        for queue in moved & self._of.keys():
            if not self._of[queue].is_exact():
                self._add_up(queue)

    def _add(self, key: str, part: Part) -> None:
        self._parts[key] = part
        known = self._of.get(part.queue)
        if known is None:
            known = self._of[part.queue] = QueueSum()
        self._jobs[part.queue] = self._jobs.get(part.queue, 0) + 1
        for total, amount in known.pairs(part):
            total.add(amount)

    def _give_back(self, part: Part) -> None:
        self._jobs[part.queue] -= 1
        if not self._jobs[part.queue]:
            del self._of[part.queue]
            return
        for total, amount in self._of[part.queue].pairs(part):
            total.give_back(amount)

    def _add_up(self, queue: str) -> None:
        """Add up the jobs of a queue anew, by key."""
        known = self._of[queue] = QueueSum()
        for key in sorted(self._parts):
            if self._parts[key].queue == queue:
                for total, amount in known.pairs(self._parts[key]):
                    total.add(amount)


def part_of(job: JobInfo) -> Part:
    """Return what a job adds to its queue."""
    holds = job.allocated_count > 0
    allocated = job.allocated.clone() if holds else NOTHING
    request = Resource()
    if holds:
        request.add(allocated)
    for waiting in job.waiting_requests():
        request.add(waiting)
    reserved, whole = job.inqueue_reservation(whole=False), job.inqueue_reservation(whole=True)
    return Part(
        job.queue,
        allocated,
        request,
        job.elastic() if holds else NOTHING,
        None if reserved is None else job.deduct_gated(reserved),
        None if whole is None else job.deduct_gated(whole),
    )
