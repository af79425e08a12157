"""When the objects of a live cluster were exported, as far as they show it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from manifests.kinds import LISTS

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


def export_time(document: Mapping[str, Any]) -> str:
    """Return the newest time in the objects of a document; empty if no node has sent a heartbeat.

    A kubelet writes its heartbeat to the node at least every five minutes: the export is at most that much
    later.

    >>> node = {"status": {"conditions": [{"lastHeartbeatTime": "2026-01-01T08:00:00Z"}]}}
    >>> pod = {"metadata": {"name": "a", "creationTimestamp": "2026-01-01T08:02:00Z"}}
    >>> export_time({"nodes": [node], "pods": [pod]}), export_time({"pods": [pod]})
    ('2026-01-01T08:02:00Z', '')
    """
    heartbeats = list(_heartbeats(document))
    return max([*heartbeats, *_others(document)]) if heartbeats else ""


def _heartbeats(document: Mapping[str, Any]) -> Iterator[str]:
    for node in document.get("nodes") or ():
        conditions = _part(node, "status").get("conditions")
        for condition in conditions if isinstance(conditions, list) else ():
            yield from _times(condition, "lastHeartbeatTime")


def _others(document: Mapping[str, Any]) -> Iterator[str]:
    for name in LISTS:
        for thing in document.get(name) or ():
            yield from _times(_part(thing, "metadata"), "creationTimestamp")
    for pod in document.get("pods") or ():
        yield from _times(_part(pod, "status"), "startTime")


def _part(thing: Any, name: str) -> Mapping[str, Any]:
    part = thing.get(name)
    return part if isinstance(part, Mapping) else {}


def _times(thing: Any, name: str) -> Iterator[str]:
    """Yield a time of an object; no other text, which the check of the objects reports."""
    text = thing.get(name) if isinstance(thing, Mapping) else None
    if isinstance(text, str) and _TIME.fullmatch(text):
        yield text
