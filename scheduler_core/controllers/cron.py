"""Schedules of CronJobs: five fields (minute, hour, day of month, month, day of week), or `@every 90s`.

Source: volcano ``pkg/controllers/cronjob`` at v1.15.1, robfig/cron v3.0.1; the fields are those of cron(5).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scheduler_core.errors import InputError
from scheduler_core.model.timestamps import SECONDS_PER_DAY, parse_duration

_FIELDS = (
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of month", 1, 31),
    ("month", 1, 12),
    ("day of week", 0, 6),
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_SHORT = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_ANY_VALUE = frozenset({"*", "?", "*/1", "?/1"})
_EVERY = "@every "
_SECONDS_PER_MINUTE = 60
_LONGEST_SEARCH = 366 * 5
"""Days to search before a schedule is considered never due, such as 30 February."""


class Every(NamedTuple):
    """A fixed interval in whole seconds, counted from the last due time."""

    seconds: int

    def after(self, time: float) -> float:
        """Return the due time after another one, in seconds since 1970 (UTC).

        Examples
        --------
        >>> schedule_of("@every 1h30m").after(60.5)
        5460.0

        """
        return float(int(time) + self.seconds)


class Schedule(NamedTuple):
    """The minutes at which a CronJob is due."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool

    def after(self, time: float) -> float | None:
        """Return the next due time after a time, in seconds since 1970 (UTC); None: never.

        Examples
        --------
        >>> schedule_of("*/15 9 * * mon-fri").after(0.0)  # a Thursday, midnight
        32400.0

        """
        minute = int(time // 60) + 1
        day = minute // 1440
        for number in range(day, day + _LONGEST_SEARCH):
            if self._has_day(number):
                first = minute - number * 1440 if number == day else 0
                for of_day in range(max(first, 0), 1440):
                    if of_day // 60 in self.hours and of_day % 60 in self.minutes:
                        return float(number * SECONDS_PER_DAY + of_day * 60)
        return None

    def _has_day(self, number: int) -> bool:
        """Return whether a day, counted from 1970-01-01, is in the schedule.

        If day of month and day of week are both restricted, either may match, as in cron; `*/2` restricts.
        """
        month, day = _date_of(number)
        if month not in self.months:
            return False
        in_month, in_week = day in self.days, (number + 4) % 7 in self.weekdays
        return in_month and in_week if self.any_day or self.any_weekday else in_month or in_week


def _date_of(number: int) -> tuple[int, int]:
    """Return month and day of a date counted in days from 1970-01-01."""
    shifted = number + 719468
    of_era = shifted % 146097
    year_of_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * of_year + 2) // 153
    day = of_year - (153 * shifted_month + 2) // 5 + 1
    return (shifted_month + 3 if shifted_month < 10 else shifted_month - 9), day


def schedule_of(text: str) -> Schedule | Every:
    """Return the schedule of a cron expression in UTC.

    Raises
    ------
    InputError
        If it is malformed; the message names the field.

    """
    if "TZ" in text:
        raise InputError(f"schedule {text!r} names a time zone, which the webhook refuses")
    if text.startswith(_EVERY):
        return _every(text)
    parts = _SHORT.get(text, text).split()
    if len(parts) != len(_FIELDS):
        raise InputError(f"schedule {text!r} has {len(parts)} fields, not 5")
    values = [
        _values(part, what, least, most, text)
        for part, (what, least, most) in zip(parts, _FIELDS, strict=True)
    ]
    minutes, hours, days, months, weekdays = values
    return Schedule(minutes, hours, days, months, weekdays, _is_any(parts[2]), _is_any(parts[4]))


def _every(text: str) -> Every:
    seconds = parse_duration(text.removeprefix(_EVERY))
    if seconds is None:
        raise InputError(f"schedule {text!r} has no duration such as 1h30m")
    if seconds < _SECONDS_PER_MINUTE:
        raise InputError(f"schedule {text!r} is due twice in a minute, whose Jobs would have one name")
    return Every(int(seconds))


def _is_any(part: str) -> bool:
    """Return whether a field has a piece that does not restrict it."""
    return any(piece in _ANY_VALUE for piece in part.split(","))


def _values(part: str, what: str, least: int, most: int, text: str) -> frozenset[int]:
    names: Sequence[str] = {"month": _MONTHS, "day of week": _DAYS}.get(what, ())
    found: set[int] = set()
    for piece in part.lower().split(","):
        span, _, step = piece.partition("/")
        if span in ("*", "?"):
            first, last = least, most
        else:
            start, _, end = span.partition("-")
            first = _number(start, names, least, text, what)
            last = _number(end, names, least, text, what) if end else (most if step else first)
        if not (least <= first <= last <= most) or (step and not (step.isdigit() and int(step) > 0)):
            raise InputError(f"schedule {text!r}: {what} {piece!r} is not between {least} and {most}")
        found.update(range(first, last + 1, int(step) if step else 1))
    return frozenset(found)


def _number(word: str, names: Sequence[str], least: int, text: str, what: str) -> int:
    if word in names:
        return names.index(word) + (1 if least == 1 else 0)
    if not (word.isascii() and word.isdigit()):
        raise InputError(f"schedule {text!r}: {what} {word!r} is not a number")
    return int(word)
