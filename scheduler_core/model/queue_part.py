"""What does one job add to its queue?"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from scheduler_core.model.job import JobInfo
from scheduler_core.model.reservations import reservation_of
from scheduler_core.model.status import TaskStatus
from scheduler_core.resource import Resource, exceeded_part

NOTHING = Resource()


class Part(NamedTuple):
    """What one job adds to its queue.

    Attributes
    ----------
    allocated, request, elastic : Resource
        What it holds, holds and waits for, holds above its minimum.
    reserved, reserved_whole : Resource
        What is reserved for it beside that: the rest of its minimum, or in phase Inqueue all of it.
    minimum : Resource or None
        Its minResources.
    most : float
        No amount in these is larger; infinite when one is no whole number.

    """

    queue: str
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
        queue: str,
        allocated: Resource,
        request: Resource,
        elastic: Resource,
        reserved: Resource,
        reserved_whole: Resource,
        minimum: Resource | None,
    ) -> Part:
        """Return the part of these amounts."""
        vectors = (allocated, request, elastic, reserved, reserved_whole)
        return cls(queue, *vectors, minimum, max(map(_most, vectors)))

    @property
    def vectors(self) -> tuple[Resource, ...]:
        """Return what it adds to each of `QueueSum.sums`."""
        return self.allocated, self.request, self.elastic, self.reserved, self.reserved_whole

    def counts_like(self, other: Part, *, whole: bool) -> bool:
        """Return whether another part adds the same, but for `reserved_whole` unless `whole`."""
        pairs = zip(self.vectors, other.vectors, strict=True)
        differing = [place for place, (ours, theirs) in enumerate(pairs) if not ours.is_same(theirs)]
        return not differing or (differing == [RESERVED_WHOLE] and not whole)


RESERVED_WHOLE = 4
NO_PART = Part("", NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, None, 0.0)


def part_of(job: JobInfo) -> Part:
    """Return what a job adds to its queue, the same object for jobs that stand alike.

    Sound for jobs as they were found: all that a part is made of follows from what their tasks amount to, and
    from what the key names. The part holds the minimum, so that no other one has its identity meanwhile.
    """
    totals = job.totals
    if totals is None or totals.gated_by_others:
        return worked_out(job)
    key = job.queue, job.phase, job.min_available, id(job.min_resources)
    part: Part | None = totals.parts.get(key)
    if part is None:
        part = totals.parts[key] = worked_out(job)
    return part


def worked_out(job: JobInfo) -> Part:
    """Return what a job adds to its queue."""
    holds, minimum = job.allocated_count > 0, job.min_resources
    allocated = job.allocated.clone() if holds else NOTHING
    request = allocated.clone()
    for task in job.by_status[TaskStatus.PENDING].values():
        request.add(task.request)
    # A job that holds nothing holds more than its minimum where that is below zero.
    exceeds = holds or (minimum is not None and min(_amounts(minimum)) < 0)
    elastic = exceeded_part(job.allocated, minimum or NOTHING) if exceeds else NOTHING
    reserved, whole = reservation_of(job, whole=False), reservation_of(job, whole=True)
    return Part.of(job.queue, allocated, request, elastic, reserved or NOTHING, whole or NOTHING, minimum)


def _amounts(vector: Resource) -> tuple[float, ...]:
    return (vector.cpu, vector.memory, *(vector.scalars or {}).values())


def _most(vector: Resource) -> float:
    """Return the largest amount, infinity when one is no whole number or below 0."""
    amounts = _amounts(vector)
    return max(amounts) if all(amount.is_integer() and amount >= 0 for amount in amounts) else inf
