"""Settings of an experiment, their levels and prices.

A setting has levels: the present one, which changes nothing, and the listed ones. The price of a level grows
with the distance from the present one, counted in listed levels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from planning.experiments.values import Refusal
from scheduler_core.quantity import QuantityError, parse_quantity

Json = Mapping[str, Any]
Parts = dict[str, Any]
"""Whole lists of a scenario document, by name, that replace the present ones."""


class UnusableSetting(Exception):
    """A setting of an object that this cluster does not have.

    Attributes
    ----------
    key : str
        The invalid key of the setting.
    message, fix : str
        The problem, and its fix.

    """

    def __init__(self, key: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.key, self.message, self.fix = key, message, fix


@dataclass(frozen=True)
class Level:
    """One value of a setting and its price; None is the cluster's present value."""

    value: Any
    price: float

    @property
    def is_present(self) -> bool:
        """Return whether this level changes nothing."""
        return self.value is None


PRESENT = Level(None, 0.0)


@dataclass(frozen=True)
class Setting(ABC):
    """A setting that an experiment varies.

    Attributes
    ----------
    name : str
        Its name in tables.
    values : tuple
        The values to try, as written.
    price : float
        The price of one step away from the present value.
    at : str or float
        When it moves, as in a timed change of a forecast; empty: it has its value from the beginning.

    """

    name: str
    values: tuple[Any, ...]
    price: float
    at: str | float = field(default="", kw_only=True)

    @abstractmethod
    def present(self, document: Json) -> Any:
        """Return the document's value, None without one, or raise UnusableSetting."""

    def refusal(self, document: Json, value: Any) -> Refusal | None:
        """Return why no cell can have a value, with the fix; None if one can."""
        return None

    def moved(self, document: Json, value: Any) -> Parts:
        """Return the changed parts of the document for a value of this setting."""
        return {}

    def options(self, value: Any) -> Json:
        """Return the changed options of a forecast for a value of this setting."""
        return {}

    def timed(self, document: Json, value: Any) -> Json:
        """Return the timed change of a forecast that sets this value; the caller adds `at`."""
        raise UnusableSetting("at", f"{self.name} cannot change at a given time", "remove at")

    @property
    def is_circumstance(self) -> bool:
        """Return whether it describes the workload instead of something that a user could change."""
        return False

    @property
    def is_unlimited_unset(self) -> bool:
        """Return whether no value means no limit, so that it comes after all that can be set."""
        return False

    def levels(self, document: Json) -> list[Level]:
        """Return the present level and the listed ones, in order of price; equal prices as listed.

        A value that is listed twice is one level, and so is the present value.
        """
        present = self.present(document)
        distinct: dict[Hashable, Any] = {}
        for value in self.values:
            distinct.setdefault(_identity(value), value)
        others = [value for known, value in distinct.items() if known != _identity(present)]
        ranks = _ranks([*others, present], is_unlimited_unset=self.is_unlimited_unset)
        steps = [abs(rank - ranks[-1]) for rank in ranks[:-1]]
        by_price = sorted(range(len(others)), key=lambda place: steps[place])
        return [PRESENT, *(Level(others[place], self.price * steps[place]) for place in by_price)]


def _identity(value: Any) -> Hashable:
    """Return what two values have in common that are one level."""
    amount = amount_of(value)
    return repr(value) if amount is None else amount


def amount_of(value: Any) -> Fraction | None:
    """Return a comparable number for a number or quantity; None for other values."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return parse_quantity(value)
    except QuantityError:
        return None


def _ranks(values: Sequence[Any], *, is_unlimited_unset: bool) -> list[int]:
    """Return the position of each value among all; incomparable ones are one step from the last."""
    amounts = [amount_of(value) for value in values]
    if amounts[-1] is None and all(amount is not None for amount in amounts[:-1]):
        known = [amount for amount in amounts[:-1] if amount is not None] or [Fraction()]
        amounts[-1] = max(known) + 1 if is_unlimited_unset else min(known) - 1
    if any(amount is None for amount in amounts):
        return [*([1] * (len(values) - 1)), 0]
    order = sorted({amount for amount in amounts if amount is not None})
    rank = {amount: place for place, amount in enumerate(order)}
    return [rank[amount] for amount in amounts if amount is not None]
