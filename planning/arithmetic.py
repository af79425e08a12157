"""Arithmetic in fields: ``+10%``, ``2x``, ``1/3 of root``.

Pages and API share this grammar. ``+10%`` and ``-10%`` change the present value, ``2x`` multiplies it; ``1/3
of root``, ``40% of parent`` take a part of another value of the same field. None of these texts is a
Kubernetes quantity, so a plain value keeps its meaning.
"""

import re
from collections.abc import Callable
from fractions import Fraction

from scheduler_core.quantity import QuantityError, parse_quantity

_NUMBER = r"\d{1,9}(?:\.\d{1,6})?"
_CHANGE = re.compile(rf"([+-])\s*({_NUMBER})\s*%")
_TIMES = re.compile(rf"({_NUMBER})\s*[x×]|[x×]\s*({_NUMBER})", re.IGNORECASE)
_PART = re.compile(rf"({_NUMBER})\s*(?:%|/\s*({_NUMBER}))\s*of\s+(root|parent)", re.IGNORECASE)
_BYTES = ("memory", "ephemeral-storage", "hugepages-")
_BINARY = ((2**60, "Ei"), (2**50, "Pi"), (2**40, "Ti"), (2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))
_ROUND_FROM, _ROUND_TO = 2**30, 2**20


class NotComputable(ValueError):
    """Arithmetic without a value; the message says why."""


Whole = Callable[[str], Fraction | None]
"""Returns the value of the same field of ``root`` or ``parent``, None if it has none."""


def is_arithmetic(text: object) -> bool:
    """Return whether a field contains arithmetic instead of a value.

    >>> [is_arithmetic(text) for text in ("+10%", "2x", "x 1.5", "1/3 of root", "50% of parent")]
    [True, True, True, True, True]
    >>> [is_arithmetic(text) for text in ("+10", "2", "64Gi", "1/3", 4, None)]
    [False, False, False, False, False, False]
    """
    stripped = text.strip() if isinstance(text, str) else ""
    return any(form.fullmatch(stripped) for form in (_CHANGE, _TIMES, _PART))


def computed(text: str, present: Fraction | None, whole: Whole) -> Fraction:
    """Return the value of arithmetic; `present` is the field's value, None if it is not set.

    Raises NotComputable if the value that it starts from is not set, and on a division by zero.

    >>> [str(computed(text, Fraction(40), lambda _: None)) for text in ("+10%", "1.5x")]
    ['44', '60']
    >>> str(computed("1/3 of root", None, {"root": Fraction(120)}.get))
    '40'
    """
    stripped = text.strip()
    if found := _PART.fullmatch(stripped):
        return _part(found, whole)
    if present is None:
        raise NotComputable(f"{stripped} needs a current value, and the field is not set.")
    if found := _CHANGE.fullmatch(stripped):
        change = Fraction(found[2]) / 100
        return present * (1 + change if found[1] == "+" else 1 - change)
    found = _TIMES.fullmatch(stripped)
    assert found, "only for what is_arithmetic accepts"
    return present * Fraction(found[1] or found[2])


def computed_quantity(text: str, resource: str, present: str | None, whole: Whole) -> str:
    """Return the quantity of arithmetic, as Kubernetes writes it.

    Bytes are rounded to MiB from 1 GiB on, pods to whole pods, everything else to thousandths.

    >>> computed_quantity("+10%", "cpu", "8", lambda _: None)
    '8800m'
    >>> computed_quantity("2x", "memory", "64Gi", lambda _: None)
    '128Gi'
    >>> computed_quantity("1/3 of root", "memory", None, {"root": Fraction(2**40)}.get)
    '349525Mi'
    """
    try:
        value = None if present in (None, "") else parse_quantity(present)
    except QuantityError:
        raise NotComputable(f"The current value {present!r} is not a quantity.") from None
    return _quantity(computed(text, value, whole), resource)


def computed_whole(text: str, present: int | None, whole: Whole) -> int:
    """Return the nearest whole number, at least 1 if the value was.

    >>> computed_whole("+10%", 4, lambda _: None), computed_whole("1.5x", 3, lambda _: None)
    (4, 5)
    """
    value = computed(text, None if present is None else Fraction(present), whole)
    nearest = int(value + Fraction(1, 2))
    return max(nearest, 1) if present and present > 0 else nearest


def _part(found: "re.Match[str]", whole: Whole) -> Fraction:
    divisor = Fraction(found[2]) if found[2] else Fraction(100)
    if not divisor:
        raise NotComputable(f"{found[0]} divides by 0.")
    name = found[3].lower()
    value = whole(name)
    if value is None:
        raise NotComputable(f"{found[0]}: {name} has no value of which to take a part.")
    return value * Fraction(found[1]) / divisor


def _quantity(value: Fraction, resource: str) -> str:
    if resource.startswith(_BYTES):
        return _bytes(value)
    if resource == "pods":
        return str(round(value))
    milli = round(value * 1000)
    return str(milli // 1000) if milli % 1000 == 0 else f"{milli}m"


def _bytes(value: Fraction) -> str:
    step = _ROUND_TO if value >= _ROUND_FROM else 1
    count = round(value / step) * step
    size, letter = next(((size, letter) for size, letter in _BINARY if count and count % size == 0), (1, ""))
    return f"{count // size}{letter}"
