"""Distinct values, and the position of each element among them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.intp]
Thing = TypeVar("Thing", bound=Hashable)


def numbered(things: Iterable[Thing]) -> tuple[list[Thing], list[int]]:
    """Return the distinct items in order of first occurrence, and the position of each item among them."""
    things = list(things)
    different = list(dict.fromkeys(things))
    positions = dict(zip(different, range(len(different)), strict=True))
    return different, [positions[thing] for thing in things]


def distinct_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], Numbers]:
    """Return the distinct rows, (D, X), and the position of each row among them, (C,)."""
    different, whose = numbered(map(tuple, rows.tolist()))
    return np.array(different, dtype=rows.dtype), np.array(whose, dtype=np.intp)


def distinct(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Return the distinct numbers, ascending, and the position of each number among them, (P,).

    The numbers must not be negative; the memory used grows with the largest.
    """
    if not len(numbers):
        return numbers, numbers
    first = int(numbers.min())
    offsets = numbers - first
    occurs = np.zeros(int(offsets.max()) + 1, dtype=np.bool_)
    occurs[offsets] = True
    return occurs.nonzero()[0] + first, (np.cumsum(occurs) - 1)[offsets]
