"""Sums over the jobs of each queue: allocated, request, elastic and reserved.

The sums are maintained job by job: the previous part of a rebuilt job is subtracted. Sound, as whole numbers
below 2^53 add up exactly in any order; for larger or other numbers a queue's sum is recomputed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from scheduler_core.model.job import JobInfo
from scheduler_core.model.queue_part import NO_AMOUNTS, JobAmounts, Part, part_of
from scheduler_core.resource import Resource

_EXACT = 2.0**52
# The maximum number of cached exchanges.
_MOST_EXCHANGES = 4096


class Exchange(NamedTuple):
    """The change of sums when the amounts of a job change.

    Attributes
    ----------
    before, after : JobAmounts
        The job's old and new amounts; `NO_AMOUNTS` if there are none.
    most : float
        The increase of `most`.
    moves : list
        For each changed sum its position in `QueueSum.sums`, the increase of cpu and memory, and for each
        changed scalar its increase and that of the number of jobs that name it.

    """

    before: JobAmounts
    after: JobAmounts
    most: float
    moves: list[tuple[int, float, float, list[tuple[str, float, int]]]]

    @classmethod
    def of(cls, before: JobAmounts, after: JobAmounts) -> Exchange:
        """Return the exchange of one job's amounts for others."""
        moves = []
        for place, (old, new) in enumerate(zip(before.vectors, after.vectors, strict=True)):
            if old is new or old.is_same(new):
                continue
            old_scalars, new_scalars = old.scalars or {}, new.scalars or {}
            scalars = [
                (
                    name,
                    new_scalars.get(name, 0.0) - old_scalars.get(name, 0.0),
                    (name in new_scalars) - (name in old_scalars),
                )
                for name in {**old_scalars, **new_scalars}
                if old_scalars.get(name) != new_scalars.get(name)
            ]
            moves.append((place, new.cpu - old.cpu, new.memory - old.memory, scalars))
        return cls(before, after, after.most - before.most, moves)


class Sum:
    """A sum of vectors, with every scalar that any of them has.

    Attributes
    ----------
    holders : dict
        By scalar, how many vectors name it.

    """

    __slots__ = ("cpu", "holders", "memory", "scalars")

    def __init__(self) -> None:
        self.cpu = self.memory = 0.0
        self.scalars: dict[str, float] = {}
        self.holders: dict[str, int] = {}

    def is_same(self, amounts: Resource) -> bool:
        """Return whether the sum equals a vector, see `Resource.is_same`."""
        same = self.cpu == amounts.cpu and self.memory == amounts.memory
        return same and (self.scalars or None) == amounts.scalars

    def is_exact(self) -> bool:
        """Return whether nothing was rounded."""
        amounts = (self.cpu, self.memory, *self.scalars.values())
        return all(amount.is_integer() and -_EXACT < amount < _EXACT for amount in amounts)

    def resource(self) -> Resource:
        """Return the sum as a new vector."""
        return Resource(self.cpu, self.memory, dict(self.scalars) or None)


class QueueSum:
    """The sums over the jobs of one queue.

    Attributes
    ----------
    most : float
        An upper bound of every amount in the sums.
    sums : tuple of Sum
        All sums.

    """

    __slots__ = ("allocated", "elastic", "most", "request", "reserved", "reserved_whole", "sums")

    def __init__(self) -> None:
        self.most = 0.0
        self.allocated, self.request, self.elastic = Sum(), Sum(), Sum()
        self.reserved, self.reserved_whole = Sum(), Sum()
        self.sums = self.allocated, self.request, self.elastic, self.reserved, self.reserved_whole

    def apply(self, exchange: Exchange) -> None:
        """Apply an exchange; remove scalars that no vector names any more."""
        self.most += exchange.most
        for place, cpu, memory, scalars in exchange.moves:
            moved = self.sums[place]
            moved.cpu += cpu
            moved.memory += memory
            for name, amount, holders in scalars:
                held = moved.holders.get(name, 0) + holders
                if held:
                    moved.scalars[name] = moved.scalars.get(name, 0.0) + amount
                    moved.holders[name] = held
                else:
                    del moved.scalars[name], moved.holders[name]

    def is_exact(self) -> bool:
        """Return whether nothing was rounded."""
        if self.most < _EXACT:
            return True
        return all(total.is_exact() for total in self.sums)


class QueueSums:
    """The sums of all queues that have jobs.

    Parameters
    ----------
    jobs : mapping
        By key, as a session finds them.

    """

    def __init__(self, jobs: Mapping[str, JobInfo]) -> None:
        self._parts: dict[str, Part] = {}
        self._ancestors: Mapping[str, Sequence[str]] = {}
        self._above: dict[str, QueueSum] | None = None
        self._of: dict[str, QueueSum] = {}
        self._jobs: dict[str, int] = {}
        self._exchanges: dict[tuple[int, int], Exchange] = {}
        self.renew(jobs)

    def __contains__(self, queue: str) -> bool:
        return queue in self._of

    def __getitem__(self, queue: str) -> QueueSum:
        """Return the sums of a queue that has jobs."""
        return self._of[queue]

    def get(self, queue: str) -> QueueSum | None:
        """Return the sums of a queue, None if it has no jobs."""
        return self._of.get(queue)

    def queues(self) -> Iterable[str]:
        """Return the queues that have jobs."""
        return self._of.keys()

    def are_exact(self) -> bool:
        """Return whether the sums over any queues are exact in any order."""
        exact = sum([known.most for known in self._of.values()]) < _EXACT
        if not exact:
            self._above = None
        return exact

    def follow_ancestors(self, ancestors: Mapping[str, Sequence[str]]) -> None:
        """Also maintain the sums of ancestors, as long as all sums are exact."""
        self._ancestors, self._above = ancestors, None

    def below(self, queue: str) -> QueueSum | None:
        """Return the sums over the jobs of all descendants of a queue, None if there are none.

        Valid while `are_exact`.
        """
        if self._above is None:
            self._above = {}
            for part in self._parts.values():
                for name in self._ancestors.get(part.queue, ()):
                    self._above.setdefault(name, QueueSum()).apply(self._exchange(NO_AMOUNTS, part.amounts))
        return self._above.get(queue)

    def part(self, key: str) -> Part | None:
        """Return the part of a job, None if there is no such job."""
        return self._parts.get(key)

    def of(self, jobs: Iterable[str]) -> QueueSums:
        """Return the sums over some of the jobs."""
        sums = QueueSums({})
        sums.exchange({key: self._parts[key] for key in jobs})
        return sums

    def queues_of(self, jobs: Iterable[str]) -> set[str]:
        """Return the queues of the parts of some jobs."""
        return {self._parts[key].queue for key in jobs if key in self._parts}

    def renew(self, jobs: Mapping[str, JobInfo | None]) -> None:
        """Update the sums for rebuilt jobs; None: the job was deleted."""
        self.exchange({key: None if job is None else part_of(job) for key, job in jobs.items()})

    def exchange(self, parts: Mapping[str, Part | None]) -> set[str]:
        """Replace the parts of jobs; None: the job was deleted.

        Returns the queues whose sums changed.
        """
        moved: set[str] = set()
        for key, part in parts.items():
            before = self._parts.get(key)
            if part == before:
                continue
            if before is not None and part is not None and before.queue == part.queue:
                self._parts[key] = part
                self._apply(part.queue, self._exchange(before.amounts, part.amounts))
                moved.add(part.queue)
                continue
            if before is not None:
                del self._parts[key]
                self._leave(before)
                moved.add(before.queue)
            if part is not None:
                self._parts[key] = part
                self._enter(part)
                moved.add(part.queue)
        for queue in moved:
            total = self._of.get(queue)
            if total is not None and not total.is_exact():
                self._add_up(queue)
        return moved

    def _enter(self, part: Part) -> None:
        """Add a job's part to a queue."""
        if part.queue not in self._of:
            self._of[part.queue], self._jobs[part.queue] = QueueSum(), 0
        self._jobs[part.queue] += 1
        self._apply(part.queue, self._exchange(NO_AMOUNTS, part.amounts))

    def _leave(self, part: Part) -> None:
        """Subtract a job's part from a queue; a queue without jobs has no sums."""
        self._apply(part.queue, self._exchange(part.amounts, NO_AMOUNTS))
        self._jobs[part.queue] -= 1
        if not self._jobs[part.queue]:
            del self._of[part.queue], self._jobs[part.queue]

    def _exchange(self, before: JobAmounts, after: JobAmounts) -> Exchange:
        """Return the exchange of two amounts, cached because equal jobs add the same amounts object.

        An exchange holds references to both objects, so that no other object can get their ids.
        """
        key = id(before), id(after)
        known = self._exchanges.get(key)
        if known is None:
            if len(self._exchanges) >= _MOST_EXCHANGES:
                self._exchanges.clear()
            known = self._exchanges[key] = Exchange.of(before, after)
        return known

    def _apply(self, queue: str, exchange: Exchange) -> None:
        """Apply an exchange of a job to its queue and the ancestors."""
        self._of[queue].apply(exchange)
        if self._above is None or not self._ancestors:
            return
        if max(exchange.before.most, exchange.after.most) >= _EXACT:
            self._above = None
            return
        for name in self._ancestors.get(queue, ()):
            self._above.setdefault(name, QueueSum()).apply(exchange)

    def _add_up(self, queue: str) -> None:
        """Recompute a queue's sums in the order of job keys."""
        known = self._of[queue] = QueueSum()
        for key in sorted(self._parts):
            if self._parts[key].queue == queue:
                known.apply(self._exchange(NO_AMOUNTS, self._parts[key].amounts))
