"""Objects that a controller creates, and notes about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Object = Mapping[str, Any]

QUEUE_NAME = "scheduling.volcano.sh/queue-name"
DEFAULT_QUEUE = "default"
QUEUE_OF_NAMESPACE = (
    "Assumed: {n} PodGroup{s} in the queue that an annotation of the namespace names. The webhook"
    " /podgroups/mutate sets it, which Volcano's Helm chart does not enable by default."
)


@dataclass
class Made:
    """Objects that a controller created, and notes on what it did, with counts."""

    podgroups: list[Object] = field(default_factory=list)
    pods: list[Object] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)

    def add_podgroup(self, podgroup: Object, wanted: str) -> None:
        """Add a PodGroup, with a note if its namespace chose another queue than the one `wanted`."""
        self.podgroups.append(podgroup)
        self.notes[QUEUE_OF_NAMESPACE] += podgroup["spec"]["queue"] != wanted


def namespaced_queue(queue: str, namespace: str, namespaces: Sequence[Object]) -> str:
    """Return the queue of a PodGroup as its webhook sets it: a namespace may have its own default."""
    if queue != DEFAULT_QUEUE:
        return queue
    for entry in namespaces:
        if entry["metadata"]["name"] == namespace:
            return (entry["metadata"].get("annotations") or {}).get(QUEUE_NAME) or queue
    return queue


def job_from_template(namespace: str, name: str, given: Object, spec: Object, now: str) -> Object:
    """Return a Job with the specification, labels and annotations of a template, created now."""
    metadata = {
        "name": name,
        "namespace": namespace,
        "creationTimestamp": now,
        "labels": dict(given.get("labels") or {}),
        "annotations": dict(given.get("annotations") or {}),
    }
    return {"metadata": metadata, "spec": spec}


def key_of(thing: Object) -> str:
    """Return namespace/name."""
    return f"{thing['metadata'].get('namespace') or 'default'}/{thing['metadata']['name']}"


def picked(entries: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Return the entries with these names that exist."""
    return {name: entries[name] for name in names if name in entries}
