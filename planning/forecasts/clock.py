"""Times of a forecast, such as "18:00", "Tuesday 14:00" or "1h30m", parsed and formatted."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from math import isfinite

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
FORMS = "write 3600, 1h30m, 2d, 18:00, Tuesday 18:00 or 2026-11-24T18:00:00Z"
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = {"d": DAY, "h": HOUR, "m": MINUTE, "s": 1.0}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?[dhms])+", re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)([dhms])")
_DAY_TIME = re.compile(r"(?:([a-z]{3,9}) ?)?(\d{1,2}):(\d{2})(?::(\d{2}))?", re.ASCII)


def duration(text: object) -> float | None:
    """Return the seconds of a number or of a duration; None for other text, or without an end.

    >>> [duration(text) for text in (90, "90", "1h30m", "2d", "0.5h", "soon", -1, 10**400, "9" * 400)]
    [90.0, 90.0, 5400.0, 172800.0, 1800.0, None, None, None, None]
    """
    if isinstance(text, bool):
        return None
    if isinstance(text, int | float):
        return float(text) if 0 <= text <= sys.float_info.max else None
    written = str(text).strip().lower()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", written):
        written += "s"
    if not _DURATION.fullmatch(written):
        return None
    seconds = sum(float(amount) * _UNITS[unit] for amount, unit in _PART.findall(written))
    return seconds if isfinite(seconds) else None


def seconds_until(text: object, begin: str) -> float | None:
    """Return a time in seconds from `begin`; None for other text, or an earlier time.

    A time of day is the first one from `begin` on, in UTC; so is one of a weekday.

    >>> begin = "2026-11-22T12:00:00Z"  # a Sunday
    >>> [seconds_until(text, begin) for text in ("18:00", "06:00", "Monday 12:30", "sun 12:00", "2h")]
    [21600.0, 64800.0, 88200.0, 0.0, 7200.0]
    >>> seconds_until("2026-11-22T13:00:00+01:00", begin), seconds_until("2026-11-21T00:00:00Z", begin)
    (0.0, None)
    >>> seconds_until("18:00", "2026-11-22T12:00:00+01:00"), seconds_until("Monday", "9999-12-31T00:00:00Z")
    (25200.0, None)
    """
    after = duration(text)
    if after is not None:
        return after
    start = instant(begin)
    if start is None or not isinstance(text, str):
        return None
    moment = instant(text)
    if moment is None:
        try:
            moment = _next(text.strip().lower(), start)
        except OverflowError:  # after the year 9999
            return None
    if moment is None or moment < start:
        return None
    return (moment - start).total_seconds()


def _next(text: str, start: datetime) -> datetime | None:
    """Return the first time of day, or of a weekday, that is not before `start`."""
    if text in WEEKDAYS:
        text += " 00:00"
    parts = _DAY_TIME.fullmatch(text)
    if parts is None:
        return None
    name, hour, minute, second = parts[1], int(parts[2]), int(parts[3]), int(parts[4] or 0)
    days = [day for day, word in enumerate(WEEKDAYS) if name and word.startswith(name)]
    if hour > 23 or minute > 59 or second > 59 or (name and len(days) != 1):
        return None
    moment = start.replace(hour=hour, minute=minute, second=second, microsecond=0)
    while moment < start or (days and moment.weekday() != days[0]):
        moment += timedelta(days=1)
    return moment


def instant(text: str) -> datetime | None:
    """Return the moment of an RFC 3339 time in UTC, which it is in unless it says otherwise.

    None for another text, and for a moment that has no year in UTC.

    >>> str(instant("2026-11-22T12:00:00+01:00")), instant("0001-01-01T00:00:00+01:00")
    ('2026-11-22 11:00:00+00:00', None)
    """
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def spelled(seconds: float) -> str:
    """Return a duration in its two largest units.

    >>> [spelled(value) for value in (0, 0.5, 45, 600, 5400, 3600, 183600, 86400)]
    ['0 s', '0.5 s', '45 s', '10 min', '1 h 30 min', '1 h', '2 d 3 h', '1 d']
    >>> spelled(-5400)
    '-1 h 30 min'
    """
    if seconds < 0:
        return f"-{spelled(-seconds)}"
    if seconds < MINUTE:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    for size, word, smaller, smaller_word in (
        (DAY, "d", HOUR, "h"),
        (HOUR, "h", MINUTE, "min"),
        (MINUTE, "min", 1.0, "s"),
    ):
        if whole >= size:
            count, rest = divmod(round(whole / smaller), round(size / smaller))
            return f"{count:,} {word}" + (f" {rest} {smaller_word}" if rest else "")
    return f"{whole} s"


def moment_of(seconds: float, begin: str) -> str:
    """Return a time of a forecast in UTC for people; without a clock the duration since its beginning.

    >>> moment_of(93605, "2026-11-22T12:00:00Z"), moment_of(5400, "")
    ('Mon 23 Nov 2026 14:00:05', '1 h 30 min after the beginning')
    >>> moment_of(0, ""), moment_of(-86400, "")
    ('the beginning', '1 d before the beginning')
    >>> moment_of(0, "2026-11-22T12:00:00+01:00"), moment_of(86400, "9999-12-31T12:00:00Z")
    ('Sun 22 Nov 2026 11:00:00', '1 d after the beginning')
    """
    start = instant(begin)
    try:
        if start is not None:
            return f"{start + timedelta(seconds=int(seconds)):%a %d %b %Y %H:%M:%S}"
    except OverflowError:  # there is no year 10000
        pass
    if not seconds:
        return "the beginning"
    return f"{spelled(abs(seconds))} {'after' if seconds > 0 else 'before'} the beginning"
