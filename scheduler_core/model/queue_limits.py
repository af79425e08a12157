"""Capability and real capability of queues."""

from __future__ import annotations

from scheduler_core.model.queue import QueueInfo
from scheduler_core.resource import UNLIMITED, Absent, Resource, exceeded_part


def capability_of(queue: QueueInfo) -> Resource:
    """Return a queue's capability, empty if it has none; cpu or memory that it lacks are unlimited."""
    capability = queue.capability.clone()
    if queue.names_capability:
        if capability.cpu <= 0:
            capability.cpu = UNLIMITED
        if capability.memory <= 0:
            capability.memory = UNLIMITED
    return capability


def real_capability(
    limit: Resource, *, guaranteed: Resource, guarantee: Resource, capability: Resource | None
) -> Resource:
    """Return the maximum amount that a queue can have allocated.

    Parameters
    ----------
    limit : Resource
        The amount that the queue and its siblings share.
    guaranteed : Resource
        The sum of their guarantees; a scalar that is guaranteed in full is no longer bounded.
    guarantee : Resource
        The queue's own guarantee.
    capability : Resource or None
        The queue's own limit; an absent scalar is unlimited. None: no limit.

    """
    reachable = exceeded_part(limit, guaranteed).add(guarantee)
    if capability is not None:
        reachable.min_dimension_resource(capability, Absent.INFINITY)
    return reachable
