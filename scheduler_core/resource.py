"""The scheduler's resource vector: adding, subtracting and comparing amounts.

It has cpu in milli-cores, memory in bytes and a map of scalars (milli-units; `pods` is a plain count). A
scalar map can be missing, be empty, or have a key with value 0, and some operations distinguish these cases;
each method states what a missing scalar means for it.

Source: volcano ``pkg/scheduler/api/resource_info.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from scheduler_core.errors import SchedulerPanic

MIN_RESOURCE = 0.1
UNLIMITED = 1.7976931348623157e308
UNLIMITED_SCALAR = 9.223372036854775807e18
CPU = "cpu"
MEMORY = "memory"
PODS = "pods"
INFINITE = -1.0


class Absent(Enum):
    """The meaning of a scalar that is missing on one side of an operation."""

    ZERO = "zero"
    INFINITY = "infinity"


ZERO, INFINITY = Absent


class Resource:
    """A resource vector.

    Attributes
    ----------
    cpu : float
        Milli-cores.
    memory : float
        Bytes.
    scalars : dict of str to float, or None
        Milli-units (`pods`: a count). None: there is no map.

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

    # building and changing

    def clone(self) -> Resource:
        """Return an independent copy."""
        return Resource(self.cpu, self.memory, None if self.scalars is None else dict(self.scalars))

    def get(self, name: str) -> float:
        """Return the amount of one resource, 0 if absent."""
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
        """Return the resources with at least `MIN_RESOURCE`: cpu, memory, then scalars by name."""
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
            If `other` is not at most self, which Volcano asserts with a crash.

        """
        if not other.less_equal(self, ZERO):
            raise SchedulerPanic(f"resource is not sufficient to do operation: <{self}> sub <{other}>")
        return self.raw_sub(other)

    def raw_sub(self, other: Resource) -> Resource:
        """Subtract `other` in place, possibly below zero; without a scalar map scalars are unchanged."""
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
        """Raise every dimension in place to that of `other` if that is larger."""
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

    # comparing

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
    """Return by how much `left` exceeds `right`; a missing scalar is 0, one that becomes 0 is removed.

    The number -1 means infinity, as in Volcano.
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


def total_of(resources: Iterable[Resource]) -> Resource:
    """Return the sum of several vectors."""
    total = Resource()
    for resource in resources:
        total.add(resource)
    return total
