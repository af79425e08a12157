"""Requests of the pods of a document, and the run time that they lose when they are evicted."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from planning.documents import items
from scheduler_core.admission import Admission
from scheduler_core.model.pod import pod_request
from scheduler_core.model.timestamps import parse_time

Json = Mapping[str, Any]


def requests_of(document: Json, wanted: Collection[str]) -> dict[str, dict[str, float]]:
    """Return the requests of the `wanted` pods of a scenario, in the scheduler's units.

    Includes pods that controllers create.
    """
    found = {key: pod for pod in items(document.get("pods")) if (key := pod_key(pod)) in wanted}
    if len(found) < len(wanted):
        made = ((pod_key(pod), pod) for pod in Admission(document).cluster().pods.values())
        found |= {key: pod for key, pod in made if key in wanted and key not in found}
    default_requests = document.get("admission_defaults") is not False
    return {
        key: dict(pod_request(pod.get("spec") or {}, default_requests=default_requests).items())
        for key, pod in found.items()
    }


def pod_key(pod: Json) -> str:
    """Return namespace/name of a pod."""
    metadata = pod["metadata"]
    return f"{metadata.get('namespace') or 'default'}/{metadata['name']}"


class PodClock:
    """The start times of a scenario's pods, and the clock of its cycles."""

    def __init__(self, document: Json, steps: Iterable[tuple[int, Json]]) -> None:
        self._now = document.get("now") or _newest(document)
        self._cycle_seconds = float(document.get("cycle_seconds") or 1)
        self._pods = {pod_key(pod): pod for pod in items(document.get("pods"))}
        self._bound: dict[str, list[int]] = {}
        for cycle, step in steps:
            if step["op"] == "bind" and step.get("state") != "failed":
                self._bound.setdefault(step["pod"], []).append(cycle)

    def ran_seconds(self, pod: str, cycle: int) -> float | None:
        """Return how long `pod` had run when a cycle evicted it; None if its start is unknown."""
        bound = max((earlier for earlier in self._bound.get(pod, ()) if earlier < cycle), default=None)
        if bound is not None:
            return (cycle - bound) * self._cycle_seconds
        began = _began(self._pods.get(pod, {}))
        if began is None or self._now is None:
            return None
        return max(parse_time(self._now) + (cycle - 1) * self._cycle_seconds - parse_time(began), 0.0)


def _began(pod: Json) -> str | None:
    """Return the start that the kubelet wrote, else the creation time."""
    began: str | None = (pod.get("status") or {}).get("startTime") or _made(pod)
    return began


def _newest(document: Json) -> str | None:
    """Return the default clock of a scenario, as the core reads it."""
    things = [thing for kind in ("pods", "podgroups") for thing in items(document.get(kind))]
    return max((made for made in map(_made, things) if made), key=parse_time, default=None)


def _made(thing: Json) -> str | None:
    made: str | None = (thing.get("metadata") or {}).get("creationTimestamp")
    return made
