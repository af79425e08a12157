"""Log of changed nodes, and tables that are updated from it."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", np.float64, np.int64)
Row = TypeVar("Row")

_TRIMMED_ABOVE = 4096


class ChangeLog:
    """The numbers of changed nodes, in order; each reader remembers how many entries it has read.

    Attributes
    ----------
    entries : array of int
        One per change, without trimmed ones; a node may occur many times.
    add : callable
        ``add(number)`` records that a node changed.

    """

    __slots__ = ("_forgotten", "add", "count", "entries")

    def __init__(self, count: int) -> None:
        self.count = count
        self.entries = array("q")
        self._forgotten = 0
        self.add = self.entries.append

    def __len__(self) -> int:
        """Return the number of changes, including trimmed ones."""
        return self._forgotten + len(self.entries)

    def since(self, seen: int) -> Collection[int]:
        """Return the nodes that changed after the first `seen` entries; all nodes if there are too many."""
        entries, after = self.entries, len(self) - seen
        if after == 1:
            return (entries[-1],)
        return range(self.count) if after >= self.count else set(entries[len(entries) - after :])

    def trim(self) -> None:
        """Drop entries that readers treat like a change of every node.

        For a reader that has missed the last `count` changes, all nodes have changed in any case.
        """
        if len(self.entries) > _TRIMMED_ABOVE + 2 * self.count:
            gone = len(self.entries) - self.count
            del self.entries[:gone]
            self._forgotten += gone


class RowTable(Generic[Row, Number]):
    """Numbers per node, as Python lists for one node at a time and as an array for all nodes.

    Attributes
    ----------
    rows : list
        By node, a number or a list of numbers. Code that changes a row adds it to the log.

    """

    __slots__ = ("_array", "_changes", "_seen", "rows")

    def __init__(self, array: NDArray[Number], changes: ChangeLog) -> None:
        self.rows: list[Row] = array.tolist()
        self._array: NDArray[Number] = array.copy()
        self._changes = changes
        self._seen = len(changes)

    @property
    def array(self) -> NDArray[Number]:
        """Return all rows as an array, (N,) or (N, K); do not change it."""
        if self._seen < len(self._changes):
            changed = self._changes.since(self._seen)
            for number in changed:
                self._array[number] = self.rows[number]  # type: ignore[call-overload]
            self._seen = len(self._changes)
        return self._array


def as_array(numbers: Collection[int]) -> NDArray[np.intp]:
    """Return numbers of nodes as an array, (K,)."""
    return np.fromiter(numbers, dtype=np.intp, count=len(numbers))
