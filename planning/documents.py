"""Reading of documents, creation times of objects added to them, and encoding to reproducible bytes.

Objects that a cluster does not have yet are created after all others.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import inf, isfinite
from typing import Any

from scheduler_core.errors import InputError
from scheduler_core.model.timestamps import format_time, parse_time

Manifest = Mapping[str, Any]


def encoded(document: Mapping[str, Any]) -> bytes:
    r"""Return compact UTF-8 JSON in the order of the document's own keys, one newline at the end.

    >>> encoded({"name": "größer", "queues": []})
    b'{"name":"gr\xc3\xb6\xc3\x9fer","queues":[]}\n'
    """
    return (json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def items(listed: Any) -> Sequence[Mapping[str, Any]]:
    """Return the objects of a list, which may be written as a Kubernetes List."""
    return listed.get("items") or [] if isinstance(listed, Mapping) else listed or []


def of_live_cluster(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the objects of a live cluster as a scenario document, with the controllers of Volcano if needed.

    They are needed where a pod has no PodGroup yet; the controllers create it within a second.
    """
    # Models read documents, too: commands that simulate nothing do not import numpy, which these need.
    from scheduler_core.admission import DEFAULT_SCHEDULER
    from scheduler_core.controllers.plain_pods import lacks_podgroup

    def needs_podgroup(pod: Any) -> bool:
        """Return whether an unfinished pod lacks one; False for an odd pod, which the check reports."""
        try:
            ended = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
            return not ended and lacks_podgroup(pod, [DEFAULT_SCHEDULER])
        except (AttributeError, KeyError, TypeError):
            return False

    needed = any(map(needs_podgroup, items(document.get("pods"))))
    return {**document, "controllers": True} if needed else {**document}


def clock_of(document: Mapping[str, Any]) -> str:
    """Return a document's clock, else the time of its newest object; empty if none has a creation time."""
    return str(document.get("now") or "") or _text(_newest(document))


def time_of_changes(document: Mapping[str, Any]) -> str:
    """Return when the objects that are added to a document are created.

    That is its clock; without one a second after its newest object, empty if none has a creation time.

    >>> pod = {"metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"}}
    >>> time_of_changes({"pods": [pod]}), time_of_changes({"now": "2026-01-02T00:00:00Z", "pods": [pod]})
    ('2026-01-01T00:00:01Z', '2026-01-02T00:00:00Z')
    """
    return str(document.get("now") or "") or _text(_newest(document) + 1)


def created(manifest: Manifest, time: str) -> Manifest:
    """Return an object created at this time, unless it has a creation time; an empty time changes nothing."""
    metadata = manifest["metadata"]
    if not time or metadata.get("creationTimestamp"):
        return manifest
    return {**manifest, "metadata": {**metadata, "creationTimestamp": time}}


def _newest(document: Mapping[str, Any]) -> float:
    """Return the newest creation time, seconds since 1970; minus infinity without any."""
    return max((time for listed in document.values() for time in _times(listed)), default=-inf)


def _text(seconds: float) -> str:
    return format_time(seconds) if isfinite(seconds) else ""


def _times(listed: Any) -> Iterator[float]:
    """Yield the readable creation times of the objects of a list; other parts of a document have none."""
    for thing in items(listed) if isinstance(listed, list | Mapping) else ():
        metadata = thing.get("metadata") if isinstance(thing, Mapping) else None
        if isinstance(metadata, Mapping) and isinstance(text := metadata.get("creationTimestamp"), str):
            with suppress(InputError):
                yield parse_time(text)
