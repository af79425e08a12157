"""The account of a queue: its allocated, requested and reserved amounts.

Proportion and capacity keep an account of each queue. It is computed when a session opens and updated by
events from then on.

Source: volcano ``pkg/scheduler/plugins/proportion/proportion.go``, ``plugins/capacity/capacity.go`` at
v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, Self, TypeVar

from scheduler_core.model.job import JobInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.queue_limits import capability_of, real_capability
from scheduler_core.model.queue_sums import QueueSum, QueueSums
from scheduler_core.model.reservations import Reservations, reservation_of
from scheduler_core.release import Release, Rule
from scheduler_core.resource import MIN_RESOURCE, Absent, Resource
from scheduler_core.resource_limits import exceeded_dimensions, short_of

Account = TypeVar("Account", bound="QueueAccount")


class QueueAccount:
    """One queue's account.

    Attributes
    ----------
    deserved, guarantee, capability, real_capability : Resource
        Fixed once the session is open. An absent scalar of `capability` is unlimited; an absent scalar of
        `real_capability` counts as 0 when a request is compared with it.
    allocated : Resource
        Changes with every allocation and eviction; pipelined tasks count.
    request, elastic : Resource
        As the session found them.
    inqueue : Resource
        Grows when a job is enqueued; never shrinks within a session.
    reservations : Reservations or None
        The jobs behind `inqueue`; None: not recorded.
    version : int
        Grows when a session changes the allocated amount, or finds other amounts than the previous one left.
    allocated_version : int
        The same for allocated, elastic and reserved amounts only.

    """

    __slots__ = (
        "_share",
        "allocated",
        "allocated_version",
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
        self.version = self.allocated_version = 0
        self.deserved = Resource()
        self.allocated = Resource()
        self.request = Resource()
        self.elastic = Resource()
        self.inqueue = Resource()
        self.reservations: Reservations | None = None
        self.guarantee = queue.guarantee
        self.capability = Resource()
        self.real_capability = Resource()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"

    def limit(self, total: Resource, guaranteed: Resource) -> None:
        """Set capability and real capability, given the sum of all queues' guarantees."""
        self.capability = capability_of(self.queue)
        self.real_capability = real_capability(
            total,
            guaranteed=guaranteed,
            guarantee=self.queue.guarantee,
            capability=self.capability if self.queue.names_capability else None,
        )

    def clone(self) -> Self:
        """Return a copy with an independent `allocated`."""
        copied = copy(self)
        copied.allocated = self.allocated.clone()
        return copied

    def set_amounts(self, amounts: QueueSum | None, release: Release) -> None:
        """Set the allocated, requested and reserved amounts of the queue's jobs; None: it has no jobs.

        Only `name_reservation` records which jobs have reservations.
        """
        amounts = amounts or QueueSum()
        reserved = amounts.reserved if release.follows(Rule.INQUEUE_REMAINDER) else amounts.reserved_whole
        version = self.allocated_version
        if not amounts.allocated.is_same(self.allocated):
            self.allocated, self.allocated_version = amounts.allocated.resource(), version + 1
        if not amounts.elastic.is_same(self.elastic):
            self.elastic, self.allocated_version = amounts.elastic.resource(), version + 1
        if not reserved.is_same(self.inqueue):
            self.inqueue, self.allocated_version = reserved.resource(), version + 1
        if self.allocated_version > version:
            self.version += 1
        if not amounts.request.is_same(self.request):
            self.request = amounts.request.resource()
            self.version += 1

    def name_reservation(self, job: JobInfo, release: Release) -> None:
        """Record the reservation of a job of the queue, for explanations."""
        reserved = reservation_of(job, whole=not release.follows(Rule.INQUEUE_REMAINDER))
        if self.reservations is None:
            self.reservations = Reservations()
        if reserved is not None:
            self.reservations.add(job.key, reserved)

    def reserve(self, job: JobInfo, amount: Resource) -> None:
        """Reserve an amount for an enqueued job."""
        job.touch()
        self.inqueue.add(amount)
        if self.reservations is not None:
            self.reservations.add(job.key, amount)

    def include(self, other: QueueAccount) -> None:
        """Add the amounts of a descendant's account."""
        self.allocated.add(other.allocated)
        self.request = self.request.clone().add(other.request)
        self.elastic.add(other.elastic)
        self.inqueue.add(other.inqueue)
        self.allocated_version += 1
        self.version += 1
        if other.reservations is not None:
            self.reservations = self.reservations or Reservations()
            self.reservations.include(other.reservations)

    def set_deserved(self, deserved: Resource) -> None:
        """Set the deserved amount."""
        self.deserved = deserved
        self.version += 1
        self.update_share()

    @property
    def share(self) -> float:
        """Return the largest allocated / deserved; see `share_of_deserved`."""
        if self._share is None:
            self._share = self.share_of_deserved()
        return self._share

    def update_share(self) -> None:
        """Compute the share from the current allocated amount."""
        self._share = self.share_of_deserved()

    def forget_share(self) -> None:
        """Invalidate the share because the allocated amount changes."""
        self._share = None
        self._bump_versions()

    def keep_share(self) -> None:
        """Freeze the share at its current value, regardless of later allocations."""
        self._bump_versions()
        if self._share is None:
            self.update_share()

    def _bump_versions(self) -> None:
        """Increase the versions because the allocated amount changes."""
        self.version += 1
        self.allocated_version += 1

    def share_of_deserved(self) -> float:
        """Return the largest allocated / deserved over the deserved resources and `pods`; 0 without any."""
        share, allocated, deserved = 0.0, self.allocated, self.deserved
        if deserved.cpu >= MIN_RESOURCE and allocated.cpu / deserved.cpu > share:
            share = allocated.cpu / deserved.cpu
        if deserved.memory >= MIN_RESOURCE and allocated.memory / deserved.memory > share:
            share = allocated.memory / deserved.memory
        if deserved.scalars and allocated.scalars:
            for name, amount in allocated.scalars.items():
                most = deserved.scalars.get(name, 0.0)
                if most >= MIN_RESOURCE and amount / most > share:
                    share = amount / most
        return share

    def shortage_for(self, request: Resource, limit: Resource) -> list[str]:
        """Return the requested dimensions (not `pods`) in which allocated + request exceeds `limit`."""
        return short_of(limit, request, self.allocated)

    def is_short_after_release(self, request: Resource, limit: Resource, freed: Resource) -> bool:
        """Return whether there is still such a shortage after the queue releases `freed`.

        False if the queue has less than `freed` allocated, so that subtracting fails.
        """
        return self.holds(freed) and bool(short_of(limit, request, self.allocated.clone().raw_sub(freed)))

    def holds(self, amount: Resource) -> bool:
        """Return whether at least this amount is allocated; subtracting more than is allocated fails."""
        return amount.less_equal(self.allocated, Absent.ZERO)

    def shortage_beside(self, minimum: Resource) -> list[str]:
        """Return the requested dimensions in which `reserved_with` a minimum exceeds real capability."""
        if self.elastic.is_nothing():
            return short_of(self.real_capability, minimum, self.allocated, self.inqueue)
        return exceeded_dimensions(self.reserved_with(minimum), self.real_capability, minimum)

    def reserved_with(self, minimum: Resource) -> Resource:
        """Return allocated + inqueue + a job's minimum - elastic.

        Raises
        ------
        SchedulerPanic
            If elastic exceeds the sum, because the elastic part was evicted in this session.

        """
        return minimum.clone().add(self.allocated).add(self.inqueue).sub(self.elastic)

    def reservation_facts(self, minimum: Resource, short: Sequence[str]) -> dict[str, Any]:
        """Return the numbers of a refused reservation, and the jobs with reservations."""
        taken = self.reserved_with(minimum).raw_sub(minimum)
        return {
            **shortage_facts(taken, minimum, self.real_capability, short),
            "queue": self.name,
            "reserved": {name: self.inqueue.get(name) for name in short},
            "elastic": {name: self.elastic.get(name) for name in short},
            "reserved_for": {} if self.reservations is None else self.reservations.of(short),
        }

    def figures(self) -> dict[str, Any]:
        """Return the current amounts."""
        return {
            "deserved": self.deserved,
            "allocated": self.allocated,
            "request": self.request,
            "elastic": self.elastic,
            "inqueue": self.inqueue,
            "capability": self.capability,
            "realCapability": self.real_capability,
            "guarantee": self.guarantee,
        }


def renew_accounts(
    accounts: dict[str, Account],
    names: Iterable[str],
    sums: QueueSums,
    release: Release,
    account_of: Callable[[str], Account],
) -> None:
    """Update the accounts, by name, of some queues; only queues with jobs have one."""
    added = False
    for name in names:
        amounts = sums.get(name)
        if amounts is None:
            accounts.pop(name, None)
            continue
        added = added or name not in accounts
        account = accounts[name] = account_of(name)
        account.set_amounts(amounts, release)
        account.update_share()
    if added:
        entries = sorted(accounts.items())
        accounts.clear()
        accounts.update(entries)


def shortage_facts(
    taken: Resource, request: Resource, limit: Resource, names: Sequence[str]
) -> dict[str, Any]:
    """Return the numbers of a refusal for its first dimension, and for all of them under `short` and `limit`.

    `available` is below 0 if the queue is already above its limit; `missing` is what the limit lacks.
    """
    short = {}
    for name in names:
        required, available = request.get(name), limit.get(name) - taken.get(name)
        short[name] = {"required": required, "available": available, "missing": required - available}
    limits = {name: limit.get(name) for name in names}
    return {"resource": names[0], **short[names[0]], "short": short, "limit": limits}
