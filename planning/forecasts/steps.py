"""Step functions of time, stored as their changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Steps:
    """A step function of time that is 0 before its first change.

    Attributes
    ----------
    times : array
        When it changes, in seconds, in ascending order.
    values : array
        Its value from each of these times on.

    """

    times: Floats
    values: Floats

    @classmethod
    def of(cls, changes: Iterable[tuple[float, float]]) -> Steps:
        """Return the function of pairs of time and value, in order; of equal times the last one counts."""
        pairs = np.array(list(changes), dtype=np.float64).reshape(-1, 2)
        return cls.from_changes(pairs[:, 0], pairs[:, 1])

    @classmethod
    def from_changes(cls, times: npt.ArrayLike, values: npt.ArrayLike) -> Steps:
        """Return the function of ordered times and values, without changes that change nothing."""
        at, to = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
        if len(at):
            last_of_time = np.append(at[1:] != at[:-1], True)
            at, to = at[last_of_time], to[last_of_time]
            changes = np.append(to[0] != 0.0, to[1:] != to[:-1])
            at, to = at[changes], to[changes]
        return cls(at, to)

    def at(self, times: npt.ArrayLike) -> Any:
        """Return the value at each of some times.

        >>> Steps.of([(10, 2), (20, 5)]).at([0, 10, 19, 30]).tolist()
        [0.0, 2.0, 2.0, 5.0]
        """
        places = np.searchsorted(self.times, times, side="right")
        return np.append(0.0, self.values)[places]

    def integral(self, begin: float, end: float) -> float:
        """Return the integral from `begin` to `end`, in units times seconds.

        >>> Steps.of([(10, 2), (20, 5)]).integral(0, 30)
        70.0
        """
        if end <= begin:
            return 0.0
        inside = self.times[(self.times > begin) & (self.times < end)]
        edges = np.concatenate(([begin], inside, [end]))
        return float(np.dot(self.at(edges[:-1]), np.diff(edges)))

    def thinned(self, begin: float, end: float, buckets: int) -> Steps:
        """Return the function from `begin` to `end` with at most four changes in each of `buckets` intervals.

        The first, last, lowest and highest value of every interval are kept, so that a chart of the result
        shows every peak.
        """
        first, last = np.searchsorted(self.times, [begin, end], side="right")
        times, values = self.times[first:last], self.values[first:last]
        if len(times) > 4 * buckets:
            bucket = np.minimum(((times - begin) / (end - begin) * buckets).astype(np.int64), buckets - 1)
            edges = np.flatnonzero(np.diff(bucket)) + 1
            firsts, lasts = np.append(0, edges), np.append(edges, len(bucket)) - 1
            group = np.repeat(np.arange(len(firsts)), lasts - firsts + 1)
            lowest = _firsts(group, values == np.minimum.reduceat(values, firsts)[group])
            highest = _firsts(group, values == np.maximum.reduceat(values, firsts)[group])
            kept = np.unique(np.concatenate((firsts, lasts, lowest, highest)))
            times, values = times[kept], values[kept]
        return Steps(np.append(begin, times), np.append(self.at(begin), values))

    def pairs(self) -> list[tuple[float, float]]:
        """Return the changes as pairs of time and value."""
        return list(zip(self.times.tolist(), self.values.tolist(), strict=True))


def _firsts(group: Ints, holds: npt.NDArray[np.bool_]) -> Ints:
    """Return the first index in each of consecutive groups at which a condition holds."""
    places = np.flatnonzero(holds)
    found: Ints = places[np.append(True, np.diff(group[places]) != 0)]
    return found


NOTHING = Steps.of(())


def moments(functions: Iterable[Steps], end: float) -> Floats:
    """Return 0, the end and every time between them at which one of the functions changes."""
    times = np.unique(np.concatenate([[0.0], *(function.times for function in functions)]))
    return np.append(times[(times >= 0.0) & (times < end)], end)


def counted_intervals(begins: Floats, ends: Floats) -> Steps:
    """Return the number of intervals that contain a time; one whose end is not a number never ends."""
    ends = ends[~np.isnan(ends)]
    times = np.concatenate([begins, ends])
    order = np.argsort(times, kind="stable")
    moves = np.concatenate([np.ones(len(begins)), -np.ones(len(ends))])[order]
    return Steps.from_changes(times[order], np.cumsum(moves))


def difference(whole: Steps, part: Steps) -> Steps:
    """Return the difference of two functions.

    >>> difference(Steps.of([(0, 5)]), Steps.of([(2, 3)])).pairs()
    [(0.0, 5.0), (2.0, 2.0)]
    """
    times = np.unique(np.concatenate([whole.times, part.times]))
    return Steps.from_changes(times, whole.at(times) - part.at(times))


def product(one: Steps, other: Steps) -> Steps:
    """Return the product of two functions.

    >>> product(Steps.of([(0, 5), (3, 4)]), Steps.of([(2, 1), (4, 0)])).pairs()
    [(2.0, 5.0), (3.0, 4.0), (4.0, 0.0)]
    """
    if other.pairs() == [(0.0, 1.0)]:
        return one
    times = np.unique(np.concatenate([one.times, other.times]))
    return Steps.from_changes(times, one.at(times) * other.at(times))


def ratio(part: Steps, whole: Steps) -> Steps:
    """Return the quotient of two functions; 0 where the divisor is not above 0.

    >>> ratio(Steps.of([(0, 1), (5, 3)]), Steps.of([(2, 4)])).pairs()
    [(2.0, 0.25), (5.0, 0.75)]
    """
    times = np.unique(np.concatenate([part.times, whole.times]))
    above, below = part.at(times), whole.at(times)
    return Steps.from_changes(times, np.divide(above, below, out=np.zeros_like(below), where=below > 0))


def total(functions: Sequence[Steps]) -> Steps:
    """Return the sum of functions.

    >>> total([Steps.of([(0, 1), (5, 3)]), Steps.of([(2, 10), (5, 0)])]).pairs()
    [(0.0, 1.0), (2.0, 11.0), (5.0, 3.0)]
    """
    changing = [function for function in functions if len(function.times)]
    if all(np.array_equal(function.values, np.floor(function.values)) for function in changing):
        return _total_of_whole(changing)
    times = np.unique(np.concatenate([[], *(function.times for function in changing)]))
    values = sum((function.at(times) for function in changing), np.zeros(len(times)))
    return Steps.from_changes(times, values)


def _total_of_whole(functions: Sequence[Steps]) -> Steps:
    """Return the sum of integer functions, whose differences add up without rounding."""
    times = np.concatenate([[], *(function.times for function in functions)])
    steps = np.concatenate([[], *(np.diff(function.values, prepend=0.0) for function in functions)])
    order = np.argsort(times, kind="stable")
    return Steps.from_changes(times[order], np.cumsum(steps[order]))
