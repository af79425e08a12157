"""The combinations of the levels of some settings, and their prices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from planning.experiments.levels import Level, Setting, amount_of

Combination = tuple[int, ...]
"""For each setting the position of its level on its axis; 0 is the present one."""


@dataclass(frozen=True)
class Axis:
    """One moving setting: its name in tables, its present value, and its levels in order of price."""

    name: str
    present: Any
    levels: tuple[Level, ...]

    def value(self, place: int) -> Any:
        """Return the value at a level; the present value at level 0."""
        level = self.levels[place]
        return self.present if level.is_present else level.value

    def is_at_the_end(self, place: int) -> bool:
        """Return whether a moved level is the largest or the smallest of all; no for values without order.

        >>> from planning.experiments.levels import PRESENT
        >>> axis = Axis("a.weight", 4, (PRESENT, Level(2, 1), Level(8, 1), Level(1, 2)))
        >>> [axis.is_at_the_end(place) for place in range(4)]
        [False, False, True, True]
        >>> unset = Axis("a.capability.cpu", None, (PRESENT, Level("8", 1), Level("4", 2)))
        >>> [unset.is_at_the_end(place) for place in range(3)]
        [False, False, True]
        """
        amounts = [amount_of(self.value(other)) for other in range(len(self.levels))]
        known = [amount for amount in amounts if amount is not None]
        if not place or any(amount is None for amount in amounts[1:]):
            return False
        if amounts[0] is not None:
            return amounts[place] in (max(known), min(known))
        # An unset value comes before or after all that can be set, which are in order of their distance.
        return amounts[place] == amounts[-1]


class Space:
    """All combinations of the levels of some axes. It holds no cluster, so it is small enough to store."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.axes = tuple(axes)

    @staticmethod
    def of(document: Mapping[str, Any], settings: Sequence[Setting]) -> Space:
        """Return the space of settings of a cluster, or raise UnusableSetting."""
        return Space(
            [
                Axis(setting.name, setting.present(document), tuple(setting.levels(document)))
                for setting in settings
            ]
        )

    @staticmethod
    def kept(written: Sequence[Mapping[str, Any]]) -> Space:
        """Return the space from the data of `to_keep`."""
        return Space(
            [
                Axis(axis["name"], axis["present"], tuple(Level(*level) for level in axis["levels"]))
                for axis in written
            ]
        )

    def to_keep(self) -> list[dict[str, Any]]:
        """Return the space as JSON data."""
        return [
            {
                "name": axis.name,
                "present": axis.present,
                "levels": [[level.value, level.price] for level in axis.levels],
            }
            for axis in self.axes
        ]

    @property
    def size(self) -> int:
        """Return how many combinations there are."""
        return math.prod(len(axis.levels) for axis in self.axes)

    def chosen(self, combination: Combination) -> list[Level]:
        """Return the level of each setting."""
        return [axis.levels[place] for axis, place in zip(self.axes, combination, strict=True)]

    def price(self, combination: Combination) -> float:
        """Return the price of a combination."""
        return sum(level.price for level in self.chosen(combination))

    def values(self, combination: Combination) -> list[Any]:
        """Return the value of each setting, the present value for an unmoved one."""
        return [axis.value(place) for axis, place in zip(self.axes, combination, strict=True)]

    def product(self) -> Iterator[Combination]:
        """Yield every combination, the last setting moving fastest."""
        return itertools.product(*(range(len(axis.levels)) for axis in self.axes))

    def sample(self, count: int, seed: int) -> list[Combination]:
        """Return a number of distinct combinations, drawn evenly, in the order of the product."""
        if count >= self.size:
            return list(self.product())
        shape = tuple(len(axis.levels) for axis in self.axes)
        chosen: set[int] = set()
        # Floyd's algorithm: as many draws as cells, whatever the size of the space.
        for top in range(self.size - count, self.size):
            drawn = _drawn(seed, top) % (top + 1)
            chosen.add(top if drawn in chosen else drawn)
        return [tuple(int(place) for place in np.unravel_index(flat, shape)) for flat in sorted(chosen)]


def _drawn(seed: int, number: int) -> int:
    """Return a pseudo-random number that is the same on every machine."""
    return int.from_bytes(blake2b(f"{seed} {number}".encode(), digest_size=16).digest())
