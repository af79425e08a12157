"""The capability of the queues of a forecast over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planning.amounts import UNLIMITED, read_amounts
from planning.documents import items
from planning.forecasts.demand import events_of
from planning.forecasts.steps import Steps
from scheduler_core.replay.timeline import Timeline

Json = Mapping[str, Any]


def capabilities_of(document: Json, end: float) -> dict[str, dict[str, Steps]]:
    """Return the capability of each queue that has one at any time, by resource, as sessions find it.

    Infinite amounts stand for times without a limit. Those of queues above it are not included.
    """
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for time, queue in _specs(document, end):
        stated = read_amounts((queue.get("spec") or {}).get("capability") or {})
        history = found.setdefault(queue["metadata"]["name"], {})
        for resource in {*history, *stated}:
            amount = stated.get(resource)
            limit = UNLIMITED if amount is None else amount
            history.setdefault(resource, [(0.0, UNLIMITED)]).append((time, limit))
    return {
        name: {resource: Steps.of(changes) for resource, changes in sorted(history.items())}
        for name, history in sorted(found.items())
        if history
    }


def _specs(document: Json, end: float) -> Iterator[tuple[float, Json]]:
    """Yield each queue at the beginning, and when an event creates or replaces it, in order of time."""
    yield from ((0.0, queue) for queue in items(document.get("queues")))
    timeline = Timeline.read(document)
    for event in sorted(events_of(document), key=lambda event: float(event["at"])):
        at = timeline.session_at_or_after(float(event["at"]), 0) * timeline.period
        for verb in ("create", "replace") if at <= end else ():
            yield from ((at, queue) for queue in items((event.get(verb) or {}).get("queues")))
