"""How does a result tell a number?"""

from __future__ import annotations

from typing import Any

from scheduler_core.resource import CPU, MEMORY, Resource

_EXACT = 2.0**53


class Told(dict[str, Any]):
    """Facts as a result tells them: no vectors, every number in its shortest form; never changed."""

    __slots__ = ()


def number(value: float) -> float:
    """Return a whole number as int where that is exact."""
    return int(value) if value.is_integer() and -_EXACT < value < _EXACT else value


def amounts(resource: Resource) -> dict[str, float]:
    """Return a resource vector by name: cpu, memory, then the scalars by name."""
    told = {CPU: number(resource.cpu), MEMORY: number(resource.memory)}
    scalars = resource.scalars
    if scalars:
        for name in sorted(scalars):
            told[name] = number(scalars[name])
    return told
