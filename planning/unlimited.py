"""How is an amount kept that has no limit?"""

from collections.abc import Mapping
from typing import Any

UNLIMITED = 9.2e18
"""From here on the core's amounts are its markers of "no limit" (1.797e308, and 9.22e18 for scalars)."""


def amounts(vector: Mapping[str, float] | None) -> dict[str, float | None]:
    """Return amounts with None for what has no limit.

    >>> amounts({"cpu": 8000, "memory": 1.7976931348623157e308})
    {'cpu': 8000, 'memory': None}
    """
    return {name: None if amount >= UNLIMITED else amount for name, amount in (vector or {}).items()}


def bounded(given: Any) -> Any:
    """Return the same data with None for every number that stands for no limit.

    >>> bounded([{"round": 1, "remaining": {"cpu": 1.7976931348623157e308}}])
    [{'round': 1, 'remaining': {'cpu': None}}]
    """
    if isinstance(given, Mapping):
        return {name: bounded(value) for name, value in given.items()}
    if isinstance(given, (list, tuple)):
        return [bounded(value) for value in given]
    return None if isinstance(given, (int, float)) and given >= UNLIMITED else given
