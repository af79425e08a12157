"""Dominant shares of jobs.

Source: volcano ``pkg/scheduler/plugins/drf/drf.go`` (calculateShare) at v1.15.1.
"""

from __future__ import annotations

from typing import NamedTuple

from scheduler_core.model.job import JobInfo
from scheduler_core.resource import CPU, MEMORY, Resource


class Share(NamedTuple):
    """A dominant share and its resource, empty if nothing is allocated."""

    value: float
    resource: str


NOTHING = Share(0.0, "")


class TotalResource:
    """The cluster's total, the denominator of shares.

    Only resources that the cluster has count, including `pods`.
    """

    def __init__(self, total: Resource) -> None:
        self.amounts = [(name, total.get(name)) for name in total.names()]
        self._figures: dict[tuple[object, ...], dict[str, object]] = {}

    def dominant_share(self, allocated: Resource) -> Share:
        """Return the largest part of a total; among equals cpu, then memory, then the first scalar."""
        largest, dominant = NOTHING
        scalars = allocated.scalars or {}
        for name, total in self.amounts:
            amount = (
                allocated.cpu
                if name == CPU
                else allocated.memory
                if name == MEMORY
                else scalars.get(name, 0.0)
            )
            share = amount / total
            if share > largest:
                largest, dominant = share, name
        return Share(largest, dominant)

    def figures(self, allocated: Resource) -> dict[str, object]:
        """Return an allocated amount and its share, one dictionary for all equal amounts."""
        key = allocated.cpu, allocated.memory, *(allocated.scalars or {}).items()
        figures = self._figures.get(key)
        if figures is None:
            value, resource = self.dominant_share(allocated)
            figures = {"share": value, "dominantResource": resource, "allocated": allocated.clone()}
            self._figures[key] = figures
        return figures


class JobAccount:
    """The allocated amount of one job in a session, with pipelined and without evicted tasks.

    Attributes
    ----------
    allocated : Resource
        Changes with every allocation and eviction.

    """

    __slots__ = ("_share", "allocated", "job", "total")

    def __init__(self, job: JobInfo, total: TotalResource) -> None:
        self.job = job
        self.total = total
        self.allocated = job.allocated.clone()
        self._share: Share | None = None if job.allocated_count else NOTHING

    @property
    def share(self) -> Share:
        """Return the job's dominant share."""
        if self._share is None:
            self._share = self.total.dominant_share(self.allocated)
        return self._share

    def add(self, request: Resource) -> None:
        """Charge an allocated task."""
        self.allocated.add(request)
        self._share = None

    def sub(self, request: Resource) -> None:
        """Credit a deallocated task."""
        self.allocated.sub(request)
        self._share = None
