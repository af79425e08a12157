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


def beginning_notes(document: Json, trace_begin: str, *, is_empty: bool) -> list[str]:
    """Return what is assumed of the beginning of a forecast with work from a trace, as notes of a result.

    Parameters
    ----------
    document : mapping
        The scenario.
    trace_begin : str
        When the window of the trace begins, RFC 3339; empty if the trace does not say.
    is_empty : bool
        Whether no job of the trace runs at the beginning.

    """
    clocks = _clock_notes(instant(clock_of(document)), instant(trace_begin))
    return [*clocks, *(_empty_notes(document) if is_empty else [])]


def _clock_notes(begin: datetime | None, in_trace: datetime | None) -> list[str]:
    """Return that work of the trace arrives at another time of the week, and how much later to begin."""
    if begin is None or in_trace is None:
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
