"""The start of running pods that do not state it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planning.documents import clock_of, items
from traces.text import counted

Json = Mapping[str, Any]


def _lacks_start(pod: Json) -> bool:
    """Return whether a running pod does not state when it started."""
    status = pod.get("status") or {}
    return bool(
        status.get("phase") == "Running"
        and not status.get("startTime")
        and not pod["metadata"].get("deletionTimestamp")
    )


def with_starts(document: Json) -> Json:
    """Return the document with the start of running pods that do not state it: its time.

    So moments of the forecast know how long these pods have run.
    """
    time, pods = clock_of(document), items(document.get("pods"))
    if not time or not any(map(_lacks_start, pods)):
        return document
    started = [
        {**pod, "status": {**pod["status"], "startTime": time}} if _lacks_start(pod) else pod for pod in pods
    ]
    return {**document, "pods": started}


def start_notes(document: Json) -> list[str]:
    """Return how many running pods do not state when they started, as notes of a result."""
    unknown = sum(map(_lacks_start, items(document.get("pods"))))
    if not unknown:
        return []
    return [
        f"Assumed: {counted(unknown, 'running pod')} of the snapshot without status.startTime started at the "
        "beginning of the forecast; what such a pod had run before is in no lost run time."
    ]
