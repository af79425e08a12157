"""The dimensions in which resource vectors exceed others.

They are listed as cpu, memory, then scalars by name.

Source: volcano ``pkg/scheduler/api/resource_info.go`` at v1.15.1.
"""

from __future__ import annotations

from scheduler_core.resource import CPU, INFINITY, MEMORY, MIN_RESOURCE, PODS, ZERO, Absent, Resource

# comparisons with the tolerance MIN_RESOURCE


def insufficient(request: Resource, available: Resource, absent: Absent = ZERO) -> list[str]:
    """Return the dimensions in which a request exceeds the available amount."""
    names = []
    if not _less_equal(request.cpu, available.cpu):
        names.append(CPU)
    if not _less_equal(request.memory, available.memory):
        names.append(MEMORY)
    if not request.scalars:
        return names
    theirs = available.scalars or {}
    above = []
    for name, amount in request.scalars.items():
        if name not in theirs and absent is INFINITY:
            continue
        if not _less_equal(amount, theirs.get(name, 0.0)):
            above.append(name)
    return names + sorted(above)


def less_equal_partly(held: Resource, limit: Resource, request: Resource) -> bool:
    """Return whether any requested dimension is within `limit`; one that both lack does not count."""
    for name in requested_dimensions(request):
        mine, theirs = held.get(name), limit.get(name)
        if mine < MIN_RESOURCE and theirs < MIN_RESOURCE:
            continue
        if _less_equal(mine, theirs):
            return True
    return False


def _less_equal(left: float, right: float) -> bool:
    return left < right or abs(left - right) < MIN_RESOURCE


# exact comparisons


def requested_dimensions(request: Resource) -> list[str]:
    """Return the dimensions above 0 except `pods`."""
    names = [CPU] if request.cpu > 0 else []
    if request.memory > 0:
        names.append(MEMORY)
    return names + sorted(n for n, amount in (request.scalars or {}).items() if amount > 0 and n != PODS)


def exceeded_dimensions(held: Resource, limit: Resource | None, request: Resource) -> list[str]:
    """Return the requested dimensions (above 0, not `pods`) in which `held` is strictly above `limit`.

    Without a `limit` every dimension of `held` exceeds it; without a scalar map `held` exceeds no scalar.
    """
    if limit is None:
        return held.names()
    names = []
    if request.cpu > 0 and held.cpu > limit.cpu:
        names.append(CPU)
    if request.memory > 0 and held.memory > limit.memory:
        names.append(MEMORY)
    if held.scalars and request.scalars:
        mine, theirs = held.scalars, limit.scalars or {}
        names += sorted(
            name
            for name, amount in request.scalars.items()
            if amount > 0 and name != PODS and mine.get(name, 0.0) > theirs.get(name, 0.0)
        )
    return names


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


def excess_over(held: Resource, limit: Resource) -> frozenset[str]:
    """Return the dimensions that `limit` names and `held` strictly exceeds.

    `limit` names cpu and memory if they are at least `MIN_RESOURCE`, and a scalar if it has the key.
    """
    names = [CPU] if held.cpu > limit.cpu >= MIN_RESOURCE else []
    if held.memory > limit.memory >= MIN_RESOURCE:
        names.append(MEMORY)
    mine = held.scalars or {}
    names += [name for name, most in (limit.scalars or {}).items() if mine.get(name, 0.0) > most]
    return frozenset(names)


def intersection(left: Resource, right: Resource) -> list[str]:
    """Return the dimensions that both have."""
    theirs = set(right.names())
    return [name for name in left.names() if name in theirs]
