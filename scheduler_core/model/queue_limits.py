"""How much may a queue reach at most?"""

from __future__ import annotations

from scheduler_core.model.queue import QueueInfo
from scheduler_core.resource import UNLIMITED, Absent, Resource, exceeded_part


def capability_of(queue: QueueInfo) -> Resource:
    """Return a queue's capability, empty when it has none; cpu or memory that it leaves out is unlimited."""
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
    """Return what a queue can reach at most.

    Parameters
    ----------
    limit : Resource
        What there is for the queue and its siblings.
    guaranteed : Resource
        What is guaranteed to all of them; a scalar that is guaranteed away in full has no bound here any
        more.
    guarantee : Resource
        The queue's own part of that.
    capability : Resource or None
        The queue's own ceiling; a scalar that it lacks is unlimited. None: it has none.

    """
    reachable = exceeded_part(limit, guaranteed).add(guarantee)
    if capability is not None:
        reachable.min_dimension_resource(capability, Absent.INFINITY)
    return reachable
