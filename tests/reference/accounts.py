"""Allocated, requested, reserved and reachable amounts of a queue.

``spec/proportion.md`` 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.reference.cluster import Queue
from tests.reference.jobs import Job
from tests.reference.pods import ALLOCATED
from tests.reference.resources import Vector, added, at_most, exceeded, names_of, total, vector

if TYPE_CHECKING:
    from tests.reference.session import Session

INFINITE = 1.7976931348623157e308


class Account:
    """Plugin proportion's attributes of a queue with jobs."""

    def __init__(self, session: Session, queue: Queue, guaranteed: Vector) -> None:
        self.queue = queue
        self.clear()
        for job in session.cluster.jobs.values():
            if job.queue == queue.name:
                self.count(job)
        self.deserved = vector(None)
        self.limit = added(exceeded(session.cluster.total, guaranteed), queue.guarantee)
        if queue.capability:
            capability = vector(queue.capability)
            unlimited = {name: INFINITE for name in ("cpu", "memory") if capability[name] <= 0}
            self.limit = at_most(self.limit, capability | unlimited, INFINITE)

    def clear(self) -> None:
        self.allocated, self.request, self.elastic, self.inqueue = (vector(None) for _ in range(4))

    def count(self, job: Job) -> None:
        """Add a job's allocated and requested amounts. Section 1.2."""
        allocated = job.allocated()
        waiting = total(task.request for task in job.tasks if task.status == "Pending")
        self.allocated = added(self.allocated, allocated)
        self.request = added(self.request, added(allocated, waiting))
        self.elastic = added(self.elastic, job.elastic())
        runs = job.phase == "Running" and job.count(*ALLOCATED) >= job.min_available
        if job.min_resources is not None and (job.phase == "Inqueue" or runs):
            self.inqueue = added(self.inqueue, job.without_gated(job.reserved()))

    @property
    def share(self) -> float:
        return max(
            [0.0, *[self.allocated.get(name, 0.0) / self.deserved[name] for name in names_of(self.deserved)]]
        )
