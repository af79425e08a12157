"""The times of day at which revocable zones are active."""

from __future__ import annotations

import re
from collections.abc import Mapping

from scheduler_core.conf import Arguments
from scheduler_core.errors import SchedulerPanic
from scheduler_core.model.timestamps import SECONDS_PER_DAY

ARGUMENT_PREFIX = "tdm.revocable-zone."

_TIME_OF_DAY = re.compile(r"(\d{1,2}):(\d{2})", re.ASCII)


def zones_of(arguments: Arguments) -> dict[str, str]:
    """Return the hours of each configured zone, as written."""
    zones = {}
    for key, value in arguments.values.items():
        if ARGUMENT_PREFIX in key:
            if not isinstance(value, str):
                raise SchedulerPanic(f"argument {key} of plugin tdm is not a string")
            zones[key.replace(ARGUMENT_PREFIX, "", 1)] = value
    return zones


def inactive_because(zone: str, zones: Mapping[str, str], now: float) -> str | None:
    """Return why a zone is not active at `now` (seconds since 1970), None if it is.

    The hours start today, and end tomorrow unless the end is after the start. Hours that span midnight are
    therefore over at midnight. The time zone is UTC.

    Examples
    --------
    >>> inactive_because("night", {"night": "22:00-06:00"}, 23 * 3600.0)
    >>> inactive_because("night", {"night": "22:00-06:00"}, 5 * 3600.0)
    'current time beyond revocable zone night:22:00-06:00'

    """
    if zone not in zones:
        return f"revocable zone {zone} not support"
    hours = zones[zone]
    parts = hours.strip().split("-")
    if len(parts) != 2:
        return f"revocable zone {hours} format error"
    start, end = (seconds_of_day(part) for part in parts)
    if start is None or end is None:
        return _unparsable(parts[0] if start is None else parts[1])
    if start >= end:
        end += SECONDS_PER_DAY
    second = int(now // 1) % SECONDS_PER_DAY
    return None if start <= second <= end else f"current time beyond revocable zone {zone}:{hours}"


def edges_after(now: float, zones: Mapping[str, str]) -> list[float]:
    """Return when zones may next open or close after `now`, in seconds since 1970; none without a zone.

    Each session reads the hours as those of its own day, so midnight is also an edge.

    Examples
    --------
    >>> edges_after(23 * 3600.0, {"night": "22:00-23:30"})
    [86400.0, 84601.0]

    """
    if not zones:
        return []
    today = now // SECONDS_PER_DAY * SECONDS_PER_DAY
    edges = [today + SECONDS_PER_DAY]
    for hours in zones.values():
        times = [seconds_of_day(part) for part in hours.strip().split("-")]
        if len(times) == 2 and times[0] is not None and times[1] is not None:
            edges += [today + times[0], today + times[1] + 1]
    return [edge for edge in edges if edge > now]


def seconds_of_day(text: str) -> int | None:
    """Return the seconds after midnight of a time such as 9:30, None if the text is not one."""
    match = _TIME_OF_DAY.fullmatch(text)
    if match is None or int(match[1]) > 23 or int(match[2]) > 59:
        return None
    return int(match[1]) * 3600 + int(match[2]) * 60


def _unparsable(text: str) -> str:
    return f'parsing time "{text}" as "15:04": not a time of day'
