"""Reservations for jobs: the amounts reserved beyond those that they have allocated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler_core.model.job import JobInfo
from scheduler_core.resource import PODS, Resource, total_of
from scheduler_core.resource_names import is_scalar_name

NAMED = 3
"""The number of largest holders named per resource."""


class Reservations:
    """Reservations of enqueued jobs: for each resource the largest holders, and their number."""

    __slots__ = ("_holders", "_largest")

    def __init__(self) -> None:
        self._largest: dict[str, list[tuple[float, str]]] = {}
        self._holders: dict[str, int] = {}

    def add(self, job: str, reserved: Resource) -> None:
        """Add the reservation of a job."""
        for name, amount in reserved.items():
            if amount > 0:
                self._holders[name] = self._holders.get(name, 0) + 1
                self._keep(name, [(-amount, job)])

    def include(self, other: Reservations) -> None:
        """Add all reservations of another queue."""
        for name, holders in other._holders.items():
            self._holders[name] = self._holders.get(name, 0) + holders
            self._keep(name, other._largest[name])

    def of(self, names: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return `largest` and the number of `holders` for some resources, if there are any."""
        return {
            name: {
                "largest": [{"job": job, "reserved": -amount} for amount, job in self._largest[name]],
                "holders": self._holders[name],
            }
            for name in names
            if name in self._largest
        }

    def _keep(self, name: str, holders: list[tuple[float, str]]) -> None:
        self._largest[name] = sorted([*self._largest.get(name, ()), *holders])[:NAMED]


def reservation_of(job: JobInfo, *, whole: bool) -> Resource | None:
    """Return the amount reserved for a job beyond what it has allocated, None if there is none.

    With `whole`, a job in phase Inqueue reserves all of its minResources, although some of its pods may
    already be allocated. Requests of gated pods are left out.
    """
    minimum = job.min_resources
    enqueued = job.phase == "Inqueue"
    if minimum is None or not (
        enqueued or (job.phase == "Running" and job.allocated_count >= job.min_available)
    ):
        return None
    return without_gated(job, minimum if whole and enqueued else rest_of_minimum(job))


def rest_of_minimum(job: JobInfo) -> Resource:
    """Return the part of a job's minResources that is not allocated yet.

    Names that are not scalars (such as ephemeral-storage) are left out; a scalar that is not among the
    allocated ones counts in full.
    """
    rest = Resource()
    minimum, allocated = job.min_resources, job.allocated
    if minimum is None:
        return rest
    rest.cpu = max(minimum.cpu - allocated.cpu, 0.0)
    rest.memory = max(minimum.memory - allocated.memory, 0.0)
    for name, amount in (minimum.scalars or {}).items():
        if name == PODS:
            if amount > allocated.get(PODS):
                rest.set(PODS, amount - allocated.get(PODS))
        elif is_scalar_name(name):
            if rest.scalars is None:
                rest.scalars = {}
            if allocated.scalars is None or name not in allocated.scalars:
                rest.scalars[name] = amount
            elif amount > allocated.scalars[name]:
                rest.scalars[name] = amount - allocated.scalars[name]
    return rest


def without_gated(job: JobInfo, amount: Resource) -> Resource:
    """Return `amount` less the requests of the job's tasks with a scheduling gate that is not Volcano's."""
    if job.totals is None or not job.totals.gated_by_others:
        return amount
    gated = total_of(task.request for task in job.tasks.values() if task.shape.gated_by_others)
    if gated.is_empty():
        return amount
    left = amount.clone()
    left.cpu = max(left.cpu - gated.cpu, 0.0)
    left.memory = max(left.memory - gated.memory, 0.0)
    for name in left.scalars or ():
        if name in (gated.scalars or {}):
            left.scalars[name] = max(left.scalars[name] - gated.scalars[name], 0.0)  # type: ignore[index]
    return left
