"""What does a queue hold, ask for and have reserved?

The account that proportion and capacity keep of a queue. It is counted once when a session opens and moved by
events from then on.

Source: volcano ``pkg/scheduler/plugins/proportion/proportion.go``, ``plugins/capacity/capacity.go`` at
v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, Self

from scheduler_core.model.job import JobInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.queue_sums import QueueSum
from scheduler_core.model.reservations import Reservations
from scheduler_core.release import Release, Rule
from scheduler_core.resource import MIN_RESOURCE, UNLIMITED, Absent, Resource, exceeded_part, short_of
from scheduler_core.told import Told, amounts


class QueueAccount:
    """One queue's account.

    Attributes
    ----------
    deserved, guarantee, capability, real_capability : Resource
        Fixed once the session is open. An absent scalar of `capability` is unlimited, one of
        `real_capability` is 0 wherever a request is compared with it.
    allocated : Resource
        Moves with every placement and eviction; pipelined tasks count.
    request, elastic : Resource
        As the session found them.
    inqueue : Resource
        Grows when a job is enqueued, never shrinks within a session.
    reservations : Reservations
        For which jobs that is.
    version : int
        Counts how often a session found something else in the account.

    """

    __slots__ = (
        "_fixed",
        "_share",
        "allocated",
        "capability",
        "deserved",
        "elastic",
        "guarantee",
        "inqueue",
        "name",
        "queue",
        "real_capability",
        "request",
        "reservations",
        "version",
    )

    def __init__(self, queue: QueueInfo) -> None:
        self.queue = queue
        self.name = queue.name
        self._share: float | None = 0.0
        self._fixed: Told | None = None
        self.version = 0
        self.deserved = Resource()
        self.allocated = Resource()
        self.request = Resource()
        self.elastic = Resource()
        self.inqueue = Resource()
        self.reservations = Reservations()
        self.guarantee = queue.guarantee
        self.capability = Resource()
        self.real_capability = Resource()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"

    def clone(self) -> Self:
        """Return a copy whose `allocated` moves apart from this one's."""
        twin = copy(self)
        twin.allocated = self.allocated.clone()
        return twin

    def take(self, amounts: QueueSum | None, release: Release) -> None:
        """Hold what the jobs of the queue hold, request and have reserved, None: it has no jobs.

        For which jobs something is reserved is known by `name_reservations` only.
        """
        amounts = amounts or QueueSum()
        reserved = amounts.reserved if release.follows(Rule.INQUEUE_REMAINDER) else amounts.reserved_whole
        self.allocated, self.request = amounts.allocated.resource(), amounts.request.resource()
        self.elastic, self.inqueue = amounts.elastic.resource(), reserved.resource()
        self._fixed = None
        self.version += 1

    def name_reservation(self, job: JobInfo, release: Release) -> None:
        """Keep, for explanations, what is reserved for a job of the queue."""
        reserved = job.inqueue_reservation(whole=not release.follows(Rule.INQUEUE_REMAINDER))
        if reserved is not None:
            self.reservations.add(job.key, job.deduct_gated(reserved))

    def reserve(self, job: JobInfo, amount: Resource) -> None:
        """Reserve something for a job that was enqueued."""
        job.touch()
        self.inqueue.add(amount)
        self.reservations.add(job.key, amount)

    def include(self, other: QueueAccount) -> None:
        """Add all that another queue's jobs have, as an ancestor of it."""
        self.allocated.add(other.allocated)
        self.request.add(other.request)
        self.elastic.add(other.elastic)
        self.inqueue.add(other.inqueue)
        self.reservations.include(other.reservations)

    def deserve(self, deserved: Resource) -> None:
        """Write what the queue deserves."""
        self.deserved = deserved
        self._fixed = None
        self.version += 1
        self.measure()

    @property
    def share(self) -> float:
        """Return the largest part of deserved that is allocated; see `share_of_deserved`."""
        if self._share is None:
            self._share = self.share_of_deserved()
        return self._share

    def measure(self) -> None:
        """Work the share out from what is allocated now."""
        self._share = self.share_of_deserved()

    def forget_share(self) -> None:
        """Have the share worked out anew when somebody asks for it."""
        self._share = None

    def keep_share(self) -> None:
        """Have the share stay what it is now, whatever is allocated next."""
        if self._share is None:
            self.measure()

    def share_of_deserved(self) -> float:
        """Return the largest allocated / deserved over what is deserved (`pods` too); 0 when nothing is."""
        share, held, deserved = 0.0, self.allocated, self.deserved
        if deserved.cpu >= MIN_RESOURCE and held.cpu / deserved.cpu > share:
            share = held.cpu / deserved.cpu
        if deserved.memory >= MIN_RESOURCE and held.memory / deserved.memory > share:
            share = held.memory / deserved.memory
        if deserved.scalars and held.scalars:
            for name, amount in held.scalars.items():
                most = deserved.scalars.get(name, 0.0)
                if most >= MIN_RESOURCE and amount / most > share:
                    share = amount / most
        return share

    def shortage_for(self, request: Resource, limit: Resource) -> list[str]:
        """Return the requested dimensions (not `pods`) of which `limit` is below allocated + request."""
        return short_of(limit, request, self.allocated)

    def is_short_after_release(self, request: Resource, limit: Resource, freed: Resource) -> bool:
        """Tell whether there is such a shortage even once so much of what is allocated is given back.

        Not when it holds less than that, so that to give it back fails.
        """
        if not freed.less_equal(self.allocated, Absent.ZERO):
            return False
        return bool(short_of(limit, request, self.allocated.clone().raw_sub(freed)))

    def shortage_beside(self, minimum: Resource) -> list[str]:
        """Return the requested dimensions of which real capability is below `reserved_with` a minimum."""
        if self.elastic.is_nothing():
            return short_of(self.real_capability, minimum, self.allocated, self.inqueue)
        return self.reserved_with(minimum).exceeded_dimensions(self.real_capability, minimum)

    def reserved_with(self, minimum: Resource) -> Resource:
        """Return what is held or promised once a job with this minimum is let in, less what is elastic.

        Raises
        ------
        SchedulerPanic
            If more is elastic than held and promised: an eviction took the elastic part away in this session.

        """
        return minimum.clone().add(self.allocated).add(self.inqueue).sub(self.elastic)

    def reservation_facts(self, minimum: Resource, short: Sequence[str]) -> dict[str, Any]:
        """Return the numbers of a refusal to reserve a minimum, and for whom how much is reserved."""
        held = self.reserved_with(minimum).raw_sub(minimum)
        return {
            **shortage_facts(held, minimum, self.real_capability, short),
            "queue": self.name,
            "reserved": {name: self.inqueue.get(name) for name in short},
            "reserved_for": self.reservations.of(short),
        }

    def figures(self) -> Told:
        """Return the amounts that a result tells; asked first when the session is open."""
        if self._fixed is None:
            self._fixed = Told(
                deserved=amounts(self.deserved),
                allocated={},
                request=amounts(self.request),
                elastic=amounts(self.elastic),
                inqueue={},
                capability=amounts(self.capability),
                realCapability=amounts(self.real_capability),
                guarantee=amounts(self.guarantee),
            )
        told = Told(self._fixed)
        told["allocated"], told["inqueue"] = amounts(self.allocated), amounts(self.inqueue)
        return told


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


def shortage_facts(
    held: Resource, request: Resource, limit: Resource, names: Sequence[str]
) -> dict[str, Any]:
    """Return the numbers of a refusal: of its first dimension, and under `short` and `limit` of each.

    `available` is below 0 where the queue is above its limit already; `missing` is what the limit lacks.
    """
    short = {}
    for name in names:
        required, available = request.get(name), limit.get(name) - held.get(name)
        short[name] = {"required": required, "available": available, "missing": required - available}
    limits = {name: limit.get(name) for name in names}
    return {"resource": names[0], **short[names[0]], "short": short, "limit": limits}
