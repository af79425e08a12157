"""Notes on the beginning of a forecast: when it is in the trace, and what runs then."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from planning.documents import clock_of, items
from planning.forecasts.clock import instant
from scheduler_core.model.pod_info import GROUP_NAME

Json = Mapping[str, Any]

_WEEK = timedelta(days=7)
_CLOSE = timedelta(hours=1)
"""Times of the week that differ by less count as equal."""
_HALF_A_DAY = 43_200.0
"""Seconds of work from which its nights and peaks matter."""


def beginning_notes(document: Json, trace_begin: str, *, lasts: float, is_empty: bool) -> list[str]:
    """Return what is assumed of the beginning of a forecast with work from a trace, as notes of a result.

    Parameters
    ----------
    document : mapping
        The scenario.
    trace_begin : str
        When the window of the trace begins, RFC 3339; empty if the trace does not say.
    lasts : float
        When the last job of the trace arrives, in seconds.
    is_empty : bool
        Whether no job of the trace runs at the beginning.

    """
    begin, in_trace = instant(clock_of(document)), instant(trace_begin)
    clocks = _clock_notes(begin, in_trace) if in_trace else _unknown_notes(begin, lasts)
    return [*clocks, *(_empty_notes(document) if is_empty else [])]


def _unknown_notes(begin: datetime | None, lasts: float) -> list[str]:
    """Return when the forecast takes work to arrive of which the trace has no time of day."""
    if begin is None or lasts < _HALF_A_DAY:
        return []
    return [
        f"Assumed: the window of the trace begins on {begin:%A %H:%M} (UTC), with the forecast, as the trace"
        " does not say when it begins. If its work varies by hour or weekday, choose a window that begins at"
        " this time of its own day and week."
    ]


def _clock_notes(begin: datetime | None, in_trace: datetime) -> list[str]:
    """Return that work of the trace arrives at another time of the week, and how much later to begin."""
    if begin is None:
        return []
    later = (begin - in_trace) % _WEEK
    if min(later, _WEEK - later) < _CLOSE:
        return []
    hours, minutes = divmod(round(later / timedelta(minutes=1)), 60)
    return [
        f"Assumed: work that arrived on {in_trace:%A %H:%M} (UTC) in the trace arrives on {begin:%A %H:%M},"
        " when the forecast begins; nights and weekends of both coincide if the window begins"
        f" {hours}h{minutes}m later."
    ]


def _empty_notes(document: Json) -> list[str]:
    if any(_runs(pod) for pod in items(document.get("pods"))):
        return []
    return [
        "Assumed: no job runs at the beginning, as the scenario has none; until the cluster has filled, jobs"
        " wait less than under a lasting load."
    ]


def _runs(pod: Json) -> bool:
    annotations = pod["metadata"].get("annotations") or {}
    return (pod.get("status") or {}).get("phase") == "Running" and GROUP_NAME in annotations
