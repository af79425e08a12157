"""How much work is lost when a pod is evicted? The seconds for which it had run."""

from collections.abc import Iterable, Mapping
from typing import Any

from planning.documents import items
from scheduler_core.model.timestamps import parse_time

Json = Mapping[str, Any]


class PodClock:
    """When did the pods of a scenario begin to run, and what time is it in a cycle?"""

    def __init__(self, document: Json, steps: Iterable[tuple[int, Json]]) -> None:
        self._now = document.get("now") or _newest(document)
        self._cycle_seconds = float(document.get("cycle_seconds") or 1)
        self._pods = {_key(pod): pod for pod in items(document.get("pods"))}
        self._bound = {step["pod"]: cycle for cycle, step in steps if step["op"] == "bind"}

    def ran_seconds(self, pod: str, cycle: int) -> float | None:
        """Return for how long `pod` had run when a cycle evicted it; None when nothing tells its start."""
        if pod in self._bound:
            return (cycle - self._bound[pod]) * self._cycle_seconds
        began = _began(self._pods.get(pod, {}))
        if began is None or self._now is None:
            return None
        return max(parse_time(self._now) + (cycle - 1) * self._cycle_seconds - parse_time(began), 0.0)


def _began(pod: Json) -> str | None:
    """Return the start that the kubelet wrote, else when the pod was made."""
    began: str | None = (pod.get("status") or {}).get("startTime") or _made(pod)
    return began


def _newest(document: Json) -> str | None:
    """Return the clock of a scenario that tells none, as the core reads it."""
    things = [thing for kind in ("pods", "podgroups") for thing in items(document.get(kind))]
    return max((made for made in map(_made, things) if made), key=parse_time, default=None)


def _made(thing: Json) -> str | None:
    made: str | None = (thing.get("metadata") or {}).get("creationTimestamp")
    return made


def _key(pod: Json) -> str:
    metadata = pod["metadata"]
    return f"{metadata.get('namespace') or 'default'}/{metadata['name']}"
