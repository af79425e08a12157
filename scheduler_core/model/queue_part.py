"""The amounts that one job adds to its queue."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from scheduler_core.model.job import JobInfo
from scheduler_core.model.reservations import reservation_of
from scheduler_core.model.status import TaskStatus
from scheduler_core.resource import Resource, exceeded_part

NOTHING = Resource()


class JobAmounts(NamedTuple):
    """The amounts that one job adds to its queue.

    Attributes
    ----------
    allocated, request, elastic : Resource
        The amounts that it has allocated, allocated or pending, and allocated above its minimum.
    reserved, reserved_whole : Resource
        The amounts reserved for it in addition: the rest of its minimum, or in phase Inqueue all of it.
    minimum : Resource or None
        Its minResources.
    most : float
        The largest of these amounts; infinite if one is not a whole number.

    """

    allocated: Resource
    request: Resource
    elastic: Resource
    reserved: Resource
    reserved_whole: Resource
    minimum: Resource | None
    most: float

    @classmethod
    def of(
        cls,
        allocated: Resource,
        request: Resource,
        elastic: Resource,
        reserved: Resource,
        reserved_whole: Resource,
        minimum: Resource | None,
    ) -> JobAmounts:
        """Return these amounts with their maximum."""
        vectors = (allocated, request, elastic, reserved, reserved_whole)
        return cls(*vectors, minimum, max(map(_most, vectors)))

    @property
    def vectors(self) -> tuple[Resource, ...]:
        """Return the amounts in the order of `QueueSum.sums`."""
        return self.allocated, self.request, self.elastic, self.reserved, self.reserved_whole


class Part(NamedTuple):
    """The contribution of one job to its queue; equal jobs add the same amounts, in whatever queue."""

    queue: str
    amounts: JobAmounts

    def counts_like(self, other: Part, *, whole: bool) -> bool:
        """Return whether another part adds the same, except for `reserved_whole` unless `whole`."""
        pairs = zip(self.amounts.vectors, other.amounts.vectors, strict=True)
        differing = [place for place, (ours, theirs) in enumerate(pairs) if not ours.is_same(theirs)]
        return not differing or (differing == [RESERVED_WHOLE] and not whole)


RESERVED_WHOLE = 4
NO_AMOUNTS = JobAmounts(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, None, 0.0)


def part_of(job: JobInfo) -> Part:
    """Return a job's part, with the same amounts object for equal jobs.

    Sound for jobs in the state that the session found: the amounts depend only on the totals of their tasks
    and on the cache key. They hold a reference to the minimum, so that no other object can get its id.
    """
    totals = job.totals
    if totals is None or totals.gated_by_others:
        return computed_part(job)
    key = job.phase, job.min_available, id(job.min_resources)
    amounts: JobAmounts | None = totals.added.get(key)
    if amounts is None:
        amounts = totals.added[key] = _amounts_of(job)
    return Part(job.queue, amounts)


def computed_part(job: JobInfo) -> Part:
    """Compute a job's part without the cache."""
    return Part(job.queue, _amounts_of(job))


def _amounts_of(job: JobInfo) -> JobAmounts:
    holds, minimum = job.allocated_count > 0, job.min_resources
    allocated = job.allocated.clone() if holds else NOTHING
    request = allocated.clone()
    for task in job.by_status[TaskStatus.PENDING].values():
        request.add(task.request)
    # With nothing allocated, a job is above a minimum that is below zero.
    exceeds = holds or (minimum is not None and min(_numbers(minimum)) < 0)
    elastic = exceeded_part(job.allocated, minimum or NOTHING) if exceeds else NOTHING
    reserved, whole = reservation_of(job, whole=False), reservation_of(job, whole=True)
    return JobAmounts.of(allocated, request, elastic, reserved or NOTHING, whole or NOTHING, minimum)


def _numbers(vector: Resource) -> tuple[float, ...]:
    return (vector.cpu, vector.memory, *(vector.scalars or {}).values())


def _most(vector: Resource) -> float:
    """Return the largest amount, infinity if one is not a whole number or below 0."""
    amounts = _numbers(vector)
    return max(amounts) if all(amount.is_integer() and amount >= 0 for amount in amounts) else inf
