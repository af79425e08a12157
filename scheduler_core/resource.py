"""Resource vectors: addition, comparison and division of amounts.

The scheduler's resource vector: cpu in milli-cores, memory in bytes and a map of scalars (milli-units; `pods`
a plain count). A scalar map can be missing, empty, or have a key with value 0, and some operations
distinguish these; each method below states what a missing scalar means for it.

Source: volcano ``pkg/scheduler/api/resource_info.go`` at v1.15.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache

from scheduler_core.errors import SchedulerPanic
from scheduler_core.quantity import milli_value, whole_value

MIN_RESOURCE = 0.1
UNLIMITED = 1.7976931348623157e308
UNLIMITED_SCALAR = 9.223372036854775807e18
CPU = "cpu"
MEMORY = "memory"
PODS = "pods"
INFINITE = -1.0

_NAME_PART = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_DNS_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = re.compile(rf"((?P<prefix>{_DNS_LABEL}(\.{_DNS_LABEL})*)/)?{_NAME_PART}", re.ASCII)


class Absent(Enum):
    """What a scalar stands for that is missing on one side of an operation."""

    ZERO = "zero"
    INFINITY = "infinity"


ZERO, INFINITY = Absent


def is_qualified_name(name: str) -> bool:
    """Return whether `name` is a qualified name of Kubernetes (optional DNS prefix, name of at most 63)."""
    match = _QUALIFIED.fullmatch(name)
    return match is not None and len(match["prefix"] or "") <= 253


@lru_cache(maxsize=4096)
def is_scalar_name(name: str) -> bool:
    """Return whether the scheduler counts a resource of this name as a scalar, not so `ephemeral-storage`."""
    if name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name:
        return True
    return "/" in name and not name.startswith("requests.") and is_qualified_name("requests." + name)


def less_equal(left: float, right: float) -> bool:
    """Return whether `left` is at most `right`, forgiving less than `MIN_RESOURCE`."""
    return left < right or abs(left - right) < MIN_RESOURCE


def share_of(part: float, total: float) -> float:
    """Return part / total; for a total of 0, the share of 0 is 0 and any other is 1."""
    if total == 0:
        return 0.0 if part == 0 else 1.0
    return part / total


class Resource:
    """A resource vector.

    Attributes
    ----------
    cpu : float
        Milli-cores.
    memory : float
        Bytes.
    scalars : dict of str to float, or None
        Milli-units (`pods`: a count). None: there is no map at all.

    """

    __slots__ = ("cpu", "memory", "scalars")

    def __init__(
        self, cpu: float = 0.0, memory: float = 0.0, scalars: dict[str, float] | None = None
    ) -> None:
        self.cpu = cpu
        self.memory = memory
        self.scalars = scalars

    def __repr__(self) -> str:
        return f"Resource({self})"

    def __str__(self) -> str:
        parts = [f"cpu {self.cpu:.2f}", f"memory {self.memory:.2f}"]
        parts += [f"{name} {amount:.2f}" for name, amount in sorted((self.scalars or {}).items())]
        return ", ".join(parts)

    @classmethod
    def from_list(cls, amounts: Mapping[str, object] | None) -> Resource:
        """Return the vector of a Kubernetes resource list.

        Names that the scheduler does not count are left out.
        """
        resource = cls()
        for name, quantity in (amounts or {}).items():
            if name == CPU:
                resource.cpu += milli_value(quantity)
            elif name == MEMORY:
                resource.memory += whole_value(quantity)
            elif name == PODS:
                resource.add_scalar(PODS, whole_value(quantity))
            elif name == "ephemeral-storage" or (not name.startswith("count/") and is_scalar_name(name)):
                resource.add_scalar(name, milli_value(quantity))
        return resource

    # building and changing

    def clone(self) -> Resource:
        """Return an independent copy."""
        return Resource(self.cpu, self.memory, None if self.scalars is None else dict(self.scalars))

    def get(self, name: str) -> float:
        """Return the amount of one resource, 0 when absent."""
        if name == CPU:
            return self.cpu
        if name == MEMORY:
            return self.memory
        return (self.scalars or {}).get(name, 0.0)

    def set(self, name: str, amount: float) -> None:
        """Set the amount of one resource; a scalar's key is created if necessary."""
        if name == CPU:
            self.cpu = amount
        elif name == MEMORY:
            self.memory = amount
        elif self.scalars is None:
            self.scalars = {name: amount}
        else:
            self.scalars[name] = amount

    def add_scalar(self, name: str, amount: float) -> None:
        """Add to one scalar; its key is created if necessary."""
        if self.scalars is None:
            self.scalars = {name: amount}
        else:
            self.scalars[name] = self.scalars.get(name, 0.0) + amount

    def names(self) -> list[str]:
        """Return the resources held (at least `MIN_RESOURCE`): cpu, memory, then scalars by name."""
        held = []
        if self.cpu >= MIN_RESOURCE:
            held.append(CPU)
        if self.memory >= MIN_RESOURCE:
            held.append(MEMORY)
        if self.scalars:
            held += sorted(name for name, amount in self.scalars.items() if amount >= MIN_RESOURCE)
        return held

    def items(self) -> Iterable[tuple[str, float]]:
        """Yield every dimension with its amount: cpu, memory, then the scalars by name."""
        yield CPU, self.cpu
        yield MEMORY, self.memory
        for name in sorted(self.scalars or ()):
            yield name, self.scalars[name]  # type: ignore[index]

    def as_dict(self) -> dict[str, float]:
        """Return the amounts by name, in the order of `items`."""
        named = {CPU: self.cpu, MEMORY: self.memory}
        if self.scalars:
            named.update(sorted(self.scalars.items()))
        return named

    def is_same(self, other: Resource) -> bool:
        """Return whether both have the same scalars and equal amounts."""
        return self.cpu == other.cpu and self.memory == other.memory and self.scalars == other.scalars

    def add(self, other: Resource) -> Resource:
        """Add `other` in place; returns self."""
        self.cpu += other.cpu
        self.memory += other.memory
        if other.scalars:
            mine = self.scalars
            if mine is None:
                self.scalars = dict(other.scalars)
            else:
                for name, amount in other.scalars.items():
                    mine[name] = mine[name] + amount if name in mine else amount
        return self

    def sub(self, other: Resource) -> Resource:
        """Subtract `other` in place; returns self.

        Raises
        ------
        SchedulerPanic
            If `other` is not at most self: Volcano asserts it and crashes.

        """
        if not other.less_equal(self, ZERO):
            raise SchedulerPanic(f"resource is not sufficient to do operation: <{self}> sub <{other}>")
        return self.raw_sub(other)

    def raw_sub(self, other: Resource) -> Resource:
        """Subtract `other` in place, below zero if need be; without a scalar map scalars are unchanged."""
        self.cpu -= other.cpu
        self.memory -= other.memory
        mine = self.scalars
        if mine is not None and other.scalars:
            for name, amount in other.scalars.items():
                mine[name] = mine.get(name, 0.0) - amount
        return self

    def multi(self, ratio: float) -> Resource:
        """Multiply every dimension in place; returns self."""
        self.cpu *= ratio
        self.memory *= ratio
        for name in self.scalars or ():
            self.scalars[name] *= ratio  # type: ignore[index]
        return self

    def set_max_resource(self, other: Resource) -> None:
        """Raise every dimension in place to that of `other` where it is larger."""
        self.cpu = max(self.cpu, other.cpu)
        self.memory = max(self.memory, other.memory)
        if other.scalars is None:
            return
        if self.scalars is None:
            self.scalars = dict(other.scalars)
            return
        for name, amount in other.scalars.items():
            if name not in self.scalars or amount > self.scalars[name]:
                self.scalars[name] = amount

    def min_dimension_resource(self, other: Resource, absent: Absent) -> Resource:
        """Lower every dimension in place to that of `other`; returns self.

        A scalar that `other` lacks is unlimited (INFINITY) or 0 (ZERO); keys only in `other` are not created.
        """
        self.cpu = min(self.cpu, other.cpu)
        self.memory = min(self.memory, other.memory)
        if not self.scalars or (other.scalars is None and absent is INFINITY):
            return self
        theirs = other.scalars or {}
        for name, amount in self.scalars.items():
            if name in theirs:
                self.scalars[name] = min(amount, theirs[name])
            elif absent is ZERO:
                self.scalars[name] = 0.0
        return self

    # tests over all dimensions

    def is_empty(self) -> bool:
        """Return whether every amount is below `MIN_RESOURCE`; `pods` are ignored."""
        if self.cpu >= MIN_RESOURCE or self.memory >= MIN_RESOURCE:
            return False
        return not any(
            amount >= MIN_RESOURCE for name, amount in (self.scalars or {}).items() if name != PODS
        )

    def is_nothing(self) -> bool:
        """Return whether every amount is exactly 0."""
        return self.cpu == 0 and self.memory == 0 and not (self.scalars and any(self.scalars.values()))

    def less_equal(self, other: Resource, absent: Absent) -> bool:
        """Return whether every dimension is at most that of `other` (within `MIN_RESOURCE`).

        ZERO: only scalars of self are compared, with 0 where missing in `other`. INFINITY: a
        scalar that self lacks but `other` has makes it false, one that `other` lacks passes.
        """
        if absent is INFINITY and any(name not in (self.scalars or {}) for name in other.scalars or ()):
            return False
        if not (self.cpu < other.cpu or abs(self.cpu - other.cpu) < MIN_RESOURCE):
            return False
        if not (self.memory < other.memory or abs(self.memory - other.memory) < MIN_RESOURCE):
            return False
        if self.scalars:
            theirs = other.scalars or {}
            for name, amount in self.scalars.items():
                if name in theirs or absent is ZERO:
                    limit = theirs.get(name, 0.0)
                    if not (amount < limit or abs(amount - limit) < MIN_RESOURCE):
                        return False
        return True

    def insufficient(self, other: Resource, absent: Absent = ZERO) -> list[str]:
        """Return the dimensions of self that exceed `other`: cpu, memory, then scalars by name."""
        names = []
        if not less_equal(self.cpu, other.cpu):
            names.append(CPU)
        if not less_equal(self.memory, other.memory):
            names.append(MEMORY)
        if not self.scalars:
            return names
        theirs = other.scalars or {}
        above = []
        for name, amount in self.scalars.items():
            if name not in theirs and absent is INFINITY:
                continue
            limit = theirs.get(name, 0.0)
            if not (amount < limit or abs(amount - limit) < MIN_RESOURCE):
                above.append(name)
        return names + sorted(above)

    # tests over requested dimensions

    def exceeded_dimensions(self, limit: Resource | None, request: Resource) -> list[str]:
        """Return the requested dimensions (above 0, not `pods`) in which self is strictly above `limit`.

        Without a `limit` every dimension held exceeds it; without scalars of its own self exceeds no scalar.
        """
        if limit is None:
            return self.names()
        names = []
        if request.cpu > 0 and self.cpu > limit.cpu:
            names.append(CPU)
        if request.memory > 0 and self.memory > limit.memory:
            names.append(MEMORY)
        if self.scalars and request.scalars:
            theirs = limit.scalars or {}
            names += sorted(
                name
                for name, amount in request.scalars.items()
                if amount > 0 and name != PODS and self.scalars.get(name, 0.0) > theirs.get(name, 0.0)
            )
        return names

    def requested_dimensions(self) -> list[str]:
        """Return the dimensions above 0 except `pods`: cpu, memory, then scalars by name."""
        names = [CPU] if self.cpu > 0 else []
        if self.memory > 0:
            names.append(MEMORY)
        return names + sorted(n for n, amount in (self.scalars or {}).items() if amount > 0 and n != PODS)

    def less_equal_partly(self, limit: Resource, request: Resource) -> bool:
        """Return whether some requested dimension is within `limit`; one that both lack does not count."""
        for name in request.requested_dimensions():
            mine, theirs = self.get(name), limit.get(name)
            if mine < MIN_RESOURCE and theirs < MIN_RESOURCE:
                continue
            if less_equal(mine, theirs):
                return True
        return False

    def excess_over(self, limit: Resource) -> frozenset[str]:
        """Return the dimensions that `limit` names and self strictly exceeds.

        `limit` names cpu and memory from `MIN_RESOURCE` on, a scalar by having its key.
        """
        names = [CPU] if self.cpu > limit.cpu >= MIN_RESOURCE else []
        if self.memory > limit.memory >= MIN_RESOURCE:
            names.append(MEMORY)
        held = self.scalars or {}
        names += [name for name, most in (limit.scalars or {}).items() if held.get(name, 0.0) > most]
        return frozenset(names)


def resource_of(amounts: Mapping[str, object]) -> Resource:
    """Return the vector of a resource list, one object for equal lists; never change it."""
    return _vector((*amounts.items(),))


@lru_cache(maxsize=65536)
def _vector(entries: tuple[tuple[str, object], ...]) -> Resource:
    return Resource.from_list(dict(entries))


def short_of(limit: Resource, request: Resource, *held: Resource) -> list[str]:
    """Return the requested dimensions (above 0, not `pods`) in which request + held is above `limit`."""
    cpu, memory = request.cpu, request.memory
    for part in held:
        cpu += part.cpu
        memory += part.memory
    names = [CPU] if request.cpu > 0 and cpu > limit.cpu else []
    if request.memory > 0 and memory > limit.memory:
        names.append(MEMORY)
    if not request.scalars:
        return names
    scalars = []
    for name, amount in request.scalars.items():
        if amount > 0 and name != PODS:
            for part in held:
                if part.scalars:
                    amount += part.scalars.get(name, 0.0)
            if amount > (limit.scalars.get(name, 0.0) if limit.scalars else 0.0):
                scalars.append(name)
    return names + sorted(scalars) if scalars else names


def minimum(left: Resource, right: Resource) -> Resource:
    """Return the smaller amount per dimension; scalars only when both have them, by the keys of `left`."""
    smaller = Resource(min(left.cpu, right.cpu), min(left.memory, right.memory))
    if left.scalars is not None and right.scalars is not None:
        smaller.scalars = {n: min(amount, right.scalars.get(n, 0.0)) for n, amount in left.scalars.items()}
    return smaller


def maximum(left: Resource, right: Resource) -> Resource:
    """Return the larger amount per dimension; negative scalars are dropped."""
    larger = Resource(max(left.cpu, right.cpu), max(left.memory, right.memory))
    if left.scalars is None and right.scalars is None:
        return larger
    scalars = {name: amount for name, amount in (left.scalars or {}).items() if amount >= 0}
    for name, amount in (right.scalars or {}).items():
        if amount >= 0:
            scalars[name] = max(amount, scalars.get(name, 0.0))
    larger.scalars = scalars
    return larger


def exceeded_part(left: Resource, right: Resource) -> Resource:
    """Return by how much `left` exceeds `right`; a missing scalar is 0, one that is used up disappears.

    The number -1 stands for infinity, as in Volcano.
    """
    ours, others = left.scalars or {}, right.scalars or {}
    grown = {}
    for name in {**ours, **others} if others else ours:
        mine, theirs = ours.get(name, 0.0), others.get(name, 0.0)
        if mine == INFINITE:
            grown[name] = INFINITE
        elif mine > theirs and theirs != INFINITE:
            grown[name] = mine - theirs
    return Resource(max(left.cpu - right.cpu, 0.0), max(left.memory - right.memory, 0.0), grown or None)


def intersection(left: Resource, right: Resource) -> list[str]:
    """Return the dimensions that both have."""
    theirs = set(right.names())
    return [name for name in left.names() if name in theirs]


def total_of(resources: Iterable[Resource]) -> Resource:
    """Return the sum of several vectors."""
    total = Resource()
    for resource in resources:
        total.add(resource)
    return total


def quantities(resource: Resource) -> dict[str, str]:
    """Return a vector as Kubernetes quantities; fractions are truncated.

    Examples
    --------
    >>> quantities(Resource(1500.0, 5 * 2.0**30, {"pods": 4.0}))
    {'cpu': '1500m', 'memory': '5Gi', 'pods': '4'}

    """
    texts = {}
    for name, amount in resource.items():
        whole = int(amount)
        if name == MEMORY:
            texts[name] = _with_suffix(whole, 1024, ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))
        elif name == PODS:
            texts[name] = _with_suffix(whole, 1000, ("", "k", "M", "G", "T", "P", "E"))
        else:
            texts[name] = _with_suffix(whole, 1000, ("m", "", "k", "M", "G", "T", "P", "E"))
    return texts


def _with_suffix(amount: int, base: int, suffixes: tuple[str, ...]) -> str:
    if amount == 0:
        return "0"
    position = 0
    while amount % base == 0 and position < len(suffixes) - 1:
        amount //= base
        position += 1
    return f"{amount}{suffixes[position]}"
