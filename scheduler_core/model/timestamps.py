"""RFC 3339 times and Go durations as seconds, without a clock."""

from __future__ import annotations

import re
from functools import lru_cache

from scheduler_core.errors import InputError

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d):(\d\d):(\d\d)(\.\d+)?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII)
_PIECE = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_UNIT_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
SECONDS_PER_DAY = 86400
ZERO_TIME = -62135596800.0  # Go's zero time, 0001-01-01T00:00:00Z, of objects without a creationTimestamp


def days_from_civil(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 to a date of the Gregorian calendar."""
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * 146097 + day_of_era - 719468


@lru_cache(maxsize=65536)
def parse_time(text: str) -> float:
    """Return seconds since 1970 of an RFC 3339 time.

    Examples
    --------
    >>> parse_time("1970-01-02T00:00:01Z")
    86401.0

    """
    match = _TIME.fullmatch(text)
    seconds = None if match is None else _seconds_of(match)
    if seconds is None:
        raise InputError(f"{text!r} is not an RFC 3339 time such as 2026-01-01T00:00:00Z")
    return seconds


def _seconds_of(match: re.Match[str]) -> float | None:
    """Return the seconds since 1970 of the parts of a time, None if there is no such time."""
    date, hour, minute, second, fraction, sign, hours, minutes = match.groups()
    days = _days_of(date)
    if days is None or not _is_time_of_day(hour, minute, second):
        return None
    seconds = days * SECONDS_PER_DAY + int(hour) * 3600 + int(minute) * 60 + int(second)
    if sign:
        if not _is_time_of_day(hours, minutes):
            return None
        offset = int(hours) * 3600 + int(minutes) * 60
        seconds += offset if sign == "-" else -offset
    return seconds + float(fraction or 0)


def _is_time_of_day(hour: str, minute: str, second: str = "0") -> bool:
    return int(hour) < 24 and int(minute) < 60 and int(second) < 60


@lru_cache(maxsize=4096)
def _days_of(date: str) -> int | None:
    """Return the days from 1970-01-01 to a date such as 2026-01-31, None if the date does not exist."""
    year, month, day = (int(part) for part in date.split("-"))
    days = days_from_civil(year, month, day)
    return days if year >= 1 and _date_of(days) == date else None


def format_time(seconds: float) -> str:
    """Return the RFC 3339 text of a time, in UTC and whole seconds.

    Examples
    --------
    >>> format_time(86401.0)
    '1970-01-02T00:00:01Z'

    """
    days, rest = divmod(int(seconds), SECONDS_PER_DAY)
    minutes, second = divmod(rest, 60)
    return f"{_date_of(days)}T{minutes // 60:02d}:{minutes % 60:02d}:{second:02d}Z"


@lru_cache(maxsize=4096)
def _date_of(days: int) -> str:
    """Return the date a number of days after 1970-01-01, such as 2026-01-31."""
    era, day_of_era = divmod(days + 719468, 146097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + (3 if shifted < 10 else -9)
    year = year_of_era + era * 400 + (month <= 2)
    return f"{year:04d}-{month:02d}-{day:02d}"


def parse_duration(text: str) -> float | None:
    """Return the seconds of a Go duration such as 1h30m; None if the text is not one.

    Examples
    --------
    >>> parse_duration("1h30m")
    5400.0
    >>> parse_duration("60") is None
    True

    """
    sign = -1.0 if text[:1] == "-" else 1.0
    body = text[1:] if text[:1] in ("-", "+") else text
    if body == "0":
        return 0.0
    seconds, position = 0.0, 0
    while position < len(body):
        piece = _PIECE.match(body, position)
        if piece is None:
            return None
        seconds += float(piece[1]) * _UNIT_SECONDS[piece[2]]
        position = piece.end()
    return sign * seconds if body else None
