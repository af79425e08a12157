"""Rendering of amounts and facts in results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.resource import CPU, MEMORY, Resource

_EXACT = 2.0**53
_AS_THEY_ARE = frozenset({str, int, bool, type(None)})


def number(value: float) -> float:
    """Return a whole number as int if that is exact."""
    return int(value) if value.is_integer() and -_EXACT < value < _EXACT else value


def amounts(resource: Resource) -> dict[str, float]:
    """Return a resource vector by name: cpu, memory, then the scalars by name."""
    named = {CPU: number(resource.cpu), MEMORY: number(resource.memory)}
    scalars = resource.scalars
    if scalars:
        for name in sorted(scalars):
            named[name] = number(scalars[name])
    return named


def plain(value: Any) -> Any:
    """Return the same data with every resource vector as a map and every number in its shortest form.

    An object that occurs in several places is converted once, and shared in the output.
    """
    return _plain(value, {})


def _plain(value: Any, known: dict[int, Any]) -> Any:
    """Return the same; `known` has the maps and lists converted so far, by identity."""
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if kind is Resource:
        return amounts(value)
    if isinstance(value, float):
        return number(value)
    written = known.get(id(value))
    if written is not None:
        return written
    if isinstance(value, Mapping):
        written = {name: _plain(entry, known) for name, entry in value.items()}
    elif isinstance(value, (list, tuple)):
        written = [_plain(entry, known) for entry in value]
    else:
        return value
    known[id(value)] = written
    return written
