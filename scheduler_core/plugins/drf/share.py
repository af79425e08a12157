"""Which part of the cluster does a job hold, in the resource of which it holds most?

Source: volcano ``pkg/scheduler/plugins/drf/drf.go`` (calculateShare) at v1.15.1.
"""

from __future__ import annotations

from typing import NamedTuple

from scheduler_core.model.job import JobInfo
from scheduler_core.resource import CPU, MEMORY, Resource
from scheduler_core.told import Told, amounts, number


class Share(NamedTuple):
    """A dominant share and the resource that it is of; empty when nothing is held."""

    value: float
    resource: str


NOTHING = Share(0.0, "")


class Yardstick:
    """The cluster's total, as what everybody's holdings are measured by.

    Only resources of which the cluster has any are looked at, `pods` among them.
    """

    def __init__(self, total: Resource) -> None:
        self.amounts = [(name, total.get(name)) for name in total.names()]
        self._told: dict[tuple[object, ...], Told] = {}

    def dominant_share(self, held: Resource) -> Share:
        """Return the largest held / total; among equals cpu, then memory, then the first scalar by name."""
        largest, dominant = NOTHING
        scalars = held.scalars or {}
        for name, total in self.amounts:
            amount = held.cpu if name == CPU else held.memory if name == MEMORY else scalars.get(name, 0.0)
            share = amount / total
            if share > largest:
                largest, dominant = share, name
        return Share(largest, dominant)

    def told(self, held: Resource) -> Told:
        """Return what a result tells of who holds so much, the same facts for all who hold alike."""
        key = held.cpu, held.memory, *(held.scalars or {}).items()
        told = self._told.get(key)
        if told is None:
            value, resource = self.dominant_share(held)
            told = Told(share=number(value), dominantResource=resource, allocated=amounts(held))
            self._told[key] = told
        return told


class JobAccount:
    """What one job holds within a session: pipelined tasks count, evicted ones no longer do.

    Attributes
    ----------
    allocated : Resource
        Moves with every placement and eviction.

    """

    __slots__ = ("_share", "allocated", "job", "yardstick")

    def __init__(self, job: JobInfo, yardstick: Yardstick) -> None:
        self.job = job
        self.yardstick = yardstick
        self.allocated = job.allocated.clone()
        self._share: Share | None = None if job.allocated_count else NOTHING

    @property
    def share(self) -> Share:
        """Return the job's dominant share."""
        if self._share is None:
            self._share = self.yardstick.dominant_share(self.allocated)
        return self._share

    def add(self, request: Resource) -> None:
        """Count a task that takes its place."""
        self.allocated.add(request)
        self._share = None

    def sub(self, request: Resource) -> None:
        """Count a task that gives its place back."""
        self.allocated.sub(request)
        self._share = None
