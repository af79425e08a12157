"""Conversion of quantities to amounts, and of unlimited amounts to None."""

from collections.abc import Mapping
from typing import Any

from planning.rows import Amounts, Quantities
from scheduler_core.quantity import QuantityError, milli_value, whole_value

UNLIMITED = 9.2e18
"""Amounts from here on are the core's markers of "no limit" (1.797e308, and 9.22e18 for scalars)."""
_WHOLE = ("memory", "pods")


def read_amounts(quantities: Quantities) -> Amounts:
    """Return the amounts; a text that is not a quantity is left out.

    >>> read_amounts({"cpu": "1.5", "memory": "1Gi", "nvidia.com/gpu": "2", "pods": "many"})
    {'cpu': 1500.0, 'memory': 1073741824.0, 'nvidia.com/gpu': 2000.0}
    """
    read = {resource: _amount(resource, text) for resource, text in quantities.items()}
    return {resource: value for resource, value in read.items() if value is not None}


def limited_amounts(vector: Mapping[str, float] | None) -> dict[str, float | None]:
    """Return amounts with None for unlimited ones.

    >>> limited_amounts({"cpu": 8000, "memory": 1.7976931348623157e308})
    {'cpu': 8000, 'memory': None}
    """
    return {name: None if amount >= UNLIMITED else amount for name, amount in (vector or {}).items()}


def bounded(given: Any) -> Any:
    """Return the same data with None for every number that means no limit.

    >>> bounded([{"round": 1, "remaining": {"cpu": 1.7976931348623157e308}}])
    [{'round': 1, 'remaining': {'cpu': None}}]
    """
    if isinstance(given, Mapping):
        return {name: bounded(value) for name, value in given.items()}
    if isinstance(given, (list, tuple)):
        return [bounded(value) for value in given]
    return None if isinstance(given, (int, float)) and given >= UNLIMITED else given


def _amount(resource: str, text: str) -> float | None:
    try:
        return whole_value(text) if resource in _WHOLE else milli_value(text)
    except QuantityError:
        return None
