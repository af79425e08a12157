"""Kubernetes quantities as exact numbers."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from scheduler_core.errors import InputError

QUANTITY_FIX = "write a number with an optional suffix, such as 500m, 2 or 1.5Gi"

_QUANTITY = re.compile(
    r"([+-]?)(\d+\.?\d*|\.\d+)(?:([eE][+-]?\d{1,3})|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]))?", re.ASCII
)

_FACTOR = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}

_LARGEST = Fraction(2**63 - 1)
_LONGEST = 200
"""The maximum number of characters; longer texts are implausible, and parsing takes quadratic time."""


class QuantityError(InputError):
    """The text is not a Kubernetes quantity."""


@lru_cache(maxsize=65536)
def _parse_text(text: str) -> Fraction:
    if len(text) > _LONGEST:
        raise QuantityError(f"a text of {len(text)} characters is not a quantity")
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise QuantityError(f"{text!r} is not a quantity")
    sign, digits, exponent, suffix = match.groups()
    value = Fraction(digits)
    if exponent:
        value *= Fraction(10) ** int(exponent[1:])
    elif suffix:
        value *= _FACTOR[suffix]
    value = min(value, _LARGEST)
    return -value if sign == "-" else value


def parse_quantity(value: object) -> Fraction:
    """Return the exact amount of a quantity as Kubernetes reads it.

    Parameters
    ----------
    value : str, int or float
        The quantity; JSON and YAML numbers are accepted as the API server accepts them.

    Raises
    ------
    QuantityError
        If it is neither a number nor a legal quantity text.

    Notes
    -----
    Amounts above 2^63 - 1 are capped there, as in apimachinery.

    Examples
    --------
    >>> parse_quantity("1500m")
    Fraction(3, 2)
    >>> parse_quantity("1.5Gi")
    Fraction(1610612736, 1)

    """
    if isinstance(value, str):
        return _parse_text(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise QuantityError(f"{value!r} is not a quantity")
    return _parse_text(repr(value))


@lru_cache(maxsize=65536)
def _milli_and_whole(text: str) -> tuple[float, float]:
    amount = _parse_text(text)
    return float(_ceil(amount * 1000)), float(_ceil(amount))


def _ceil(amount: Fraction) -> int:
    return -((-amount.numerator) // amount.denominator)


def milli_value(value: object) -> float:
    """Return the amount in thousandths, rounded up (1500u of cpu are 2 milli)."""
    if not isinstance(value, str):
        return float(_ceil(parse_quantity(value) * 1000))
    return _milli_and_whole(value)[0]


def whole_value(value: object) -> float:
    """Return the amount in whole units, rounded up."""
    if not isinstance(value, str):
        return float(_ceil(parse_quantity(value)))
    return _milli_and_whole(value)[1]
