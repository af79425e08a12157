"""Live clusters as scenario documents; apart from other documents, as it takes the core's objects."""

from collections.abc import Mapping
from typing import Any

from planning.documents import items
from scheduler_core.admission import DEFAULT_SCHEDULER
from scheduler_core.controllers.plain_pods import lacks_podgroup


def of_live_cluster(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the objects of a live cluster as a scenario document, with the controllers of Volcano if needed.

    They are needed where a pod has no PodGroup yet; the controllers create it within a second.
    """
    needed = any(map(_needs_podgroup, items(document.get("pods"))))
    return {**document, "controllers": True} if needed else {**document}


def _needs_podgroup(pod: Any) -> bool:
    """Return whether an unfinished pod lacks a PodGroup; False for an odd pod, which the check reports."""
    try:
        ended = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
        return not ended and lacks_podgroup(pod, [DEFAULT_SCHEDULER])
    except (AttributeError, KeyError, TypeError):
        return False
