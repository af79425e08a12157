"""The extent of a change, relative to the current values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, log2
from typing import Any

from scheduler_core.quantity import QuantityError, milli_value

DOUBLE, EIGHTFOLD = 1.0, 3.0
_SOME = 1.0


def extent(changes: Sequence[Mapping[str, Any]]) -> int:
    """Return how large changes are: 0 up to double or half, 1 up to eight times, 2 beyond that.

    An added object counts as one, a field that is not set on one side as a doubling, and a value that is not
    a number (a switch, a state, the order of actions) as nothing.

    Examples
    --------
    >>> def of(before, after):
    ...     return {"kind": "queues", "key": "a", "field": "spec.deserved", "before": before, "after": after}
    >>> extent([of({"nvidia.com/gpu": "47"}, {"nvidia.com/gpu": "380"})])
    2
    >>> extent([of(1, 2)]), extent([of({"cpu": "1"}, {"cpu": "4"})]), extent([of(None, {"cpu": "4"})])
    (0, 1, 0)
    >>> added = {"kind": "nodes", "key": "n1", "field": "", "before": None, "after": {}}
    >>> extent([added] * 7), extent([added] * 8)
    (1, 2)

    """
    added = sum(not change["field"] and change["before"] is None for change in changes)
    far = max((_doublings(change) for change in changes if change["field"]), default=0.0)
    far = max(far, log2(1 + added))
    return 0 if far <= DOUBLE else 1 if far <= EIGHTFOLD else 2


def _doublings(change: Mapping[str, Any]) -> float:
    return max(map(_between, *_numbers(change["before"], change["after"])), default=0.0)


def _numbers(before: Any, after: Any) -> tuple[list[float | None], list[float | None]]:
    """Return the numbers of two values in pairs, None if a side has none."""
    if isinstance(before, Mapping) or isinstance(after, Mapping):
        first, second = before or {}, after or {}
        names = [name for name in {**first, **second} if first.get(name) != second.get(name)]
        return [_number(first.get(name)) for name in names], [_number(second.get(name)) for name in names]
    return [_number(before)], [_number(after)]


def _between(one: float | None, other: float | None) -> float:
    if one is None and other is None:
        return 0.0
    if one is None or other is None:
        return _SOME
    low, high = sorted((abs(one), abs(other)))
    return inf if low == 0 < high else log2(high / low) if low else 0.0


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str):
        return None
    try:
        return milli_value(value)
    except QuantityError:
        return None
