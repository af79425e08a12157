"""The smallest set of victims that frees enough."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scheduler_core.resource import MIN_RESOURCE

Matrix = NDArray[np.float64]
_MOST_TRIED = 2**20


@dataclass(frozen=True)
class Smallest:
    """The smallest number of victims that free enough.

    Attributes
    ----------
    count : int
        The number; that of all candidates if they do not suffice.
    exact : bool
        Whether every set was tried; otherwise `count` is a lower bound.
    pods : sequence of str
        One such set; empty for a lower bound.

    """

    count: int
    exact: bool
    pods: Sequence[str] = ()


def smallest_set(lacking: Mapping[str, float], candidates: Mapping[str, Mapping[str, float]]) -> Smallest:
    """Return the smallest set of candidates that together free the missing amounts.

    All sets are tried if that is feasible, which it is for up to 20 candidates; candidates that free the same
    amounts are interchangeable. Otherwise the result is a lower bound, resource by resource.

    Parameters
    ----------
    lacking : mapping
        The amounts that must be freed, by resource; those of 0 and below are ignored.
    candidates : mapping
        The amounts that each pod would free.

    Examples
    --------
    >>> smallest_set({"cpu": 4000}, {"a": {"cpu": 1000}, "b": {"cpu": 3000}, "c": {"cpu": 2000}})
    Smallest(count=2, exact=True, pods=('b', 'c'))

    """
    names = sorted(name for name, amount in lacking.items() if amount >= MIN_RESOURCE)
    if not names:
        return Smallest(0, exact=True)
    need = np.array([lacking[name] for name in names])
    kinds: dict[tuple[float, ...], list[str]] = {}
    for pod in sorted(candidates):
        kinds.setdefault(tuple(candidates[pod].get(name, 0.0) for name in names), []).append(pod)
    tried = 1
    for pods in kinds.values():
        tried *= len(pods) + 1
    if tried > _MOST_TRIED:
        return Smallest(_lower_bound(need, candidates.values(), names), exact=False)
    return _try_all(need, kinds)


def _try_all(need: Matrix, kinds: Mapping[tuple[float, ...], Sequence[str]]) -> Smallest:
    sums = np.zeros((1, len(need)))
    counts = np.zeros(1, dtype=np.int64)
    for row, pods in kinds.items():
        many = np.arange(len(pods) + 1)
        sums = (sums[:, None, :] + many[None, :, None] * np.array(row)[None, None, :]).reshape(-1, len(need))
        counts = (counts[:, None] + many[None, :]).reshape(-1)
    enough = (need[None, :] - sums < MIN_RESOURCE).all(axis=1)
    if not enough.any():
        return Smallest(sum(map(len, kinds.values())), exact=True, pods=())
    best = int(np.where(enough, counts, np.iinfo(np.int64).max).argmin())
    return Smallest(int(counts[best]), exact=True, pods=tuple(sorted(_pods_of(best, kinds))))


def _pods_of(place: int, kinds: Mapping[tuple[float, ...], Sequence[str]]) -> list[str]:
    chosen: list[str] = []
    for pods in reversed(list(kinds.values())):
        place, count = divmod(place, len(pods) + 1)
        chosen += pods[:count]
    return chosen


def _lower_bound(need: Matrix, candidates: Collection[Mapping[str, float]], names: Sequence[str]) -> int:
    rows = [[amounts.get(name, 0.0) for name in names] for amounts in candidates]
    largest = -np.sort(-np.array(rows), axis=0)
    reached = np.cumsum(largest, axis=0)
    enough = need[None, :] - reached < MIN_RESOURCE
    return max(int(column.argmax()) + 1 if column.any() else len(rows) for column in enough.T)
