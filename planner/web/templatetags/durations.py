"""Durations, and moments of a forecast, as text.

>>> spelled(5400.0), spelled(None), typed_time(600.0), longer(-90.0), signed(-90.0)
('1 h 30 min', '–', '10m', '1 min 30 s shorter', '−1 min 30 s')
"""

from math import isinf

from django import template

from planning.forecasts import clock
from planning.units import exact

register = template.Library()

_UNITS = (("d", clock.DAY), ("h", clock.HOUR), ("m", clock.MINUTE), ("s", 1.0))


@register.filter
def spelled(seconds: float | None) -> str:
    """Return a duration in its two largest units."""
    return "–" if seconds is None else clock.spelled(seconds)


@register.filter
def moment_after(seconds: float | None, begin: str) -> str:
    """Return the time of a moment of a forecast."""
    return "–" if seconds is None else clock.moment_of(seconds, begin)


@register.filter
def moment_within(seconds: float | None, begin: str) -> str:
    """Return the time of a moment of a forecast; the year only where it is not that of the beginning.

    >>> moment_within(3600, "2026-11-22T12:00:00Z"), moment_within(40 * 86400, "2026-11-22T12:00:00Z")
    ('Sun 22 Nov 13:00:00', 'Fri 01 Jan 2027 12:00:00')
    >>> moment_within(0, "2027-01-01T00:30:00+01:00")
    'Thu 31 Dec 23:30:00'
    """
    text, start = moment_after(seconds, begin), clock.instant(begin)
    return text.replace(f" {start.year} ", " ") if start else text


@register.filter
def since(earlier: float, now: float) -> str:
    """Return how long ago something was."""
    return clock.spelled(now - earlier)


@register.filter
def typed_time(seconds: float) -> str:
    """Return a duration as people enter it, with every digit.

    >>> typed_time(600.0), typed_time(1_234_567.5)
    ('10m', '1234567.5s')
    """
    unit, size = next((unit, size) for unit, size in _UNITS if seconds % size == 0 or unit == "s")
    return f"{exact(seconds / size)}{unit}"


@register.filter
def at_most(seconds: float) -> str:
    """Return a limit of a duration in words."""
    return "longer" if isinf(seconds) else f"at most {clock.spelled(seconds)}"


@register.filter
def longer(seconds: float) -> str:
    """Return in words by how much a wait differs."""
    if abs(seconds) < 1:
        return "the same"
    return f"{clock.spelled(abs(seconds))} {'longer' if seconds > 0 else 'shorter'}"


@register.filter
def signed(seconds: float) -> str:
    """Return a difference of durations with its sign."""
    sign = "" if abs(seconds) < 1 else "+" if seconds > 0 else "−"
    return f"{sign}{clock.spelled(abs(seconds))}"
