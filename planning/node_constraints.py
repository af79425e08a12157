"""Which nodes new pods may run on: those of pods in the same queue.

A new pod has requests, but says neither which taints it tolerates nor which nodes it selects. Without
tolerations it would not run on nodes with a taint, which most nodes with devices have.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from planning.constraint_choices import LIKE_QUEUE, NONE
from planning.documents import items
from traces.kubernetes import constraints_of, key_of, members_of

Json = Mapping[str, Any]
Devices = frozenset[str]
"""The names of extended resources."""

_OF_ONE_NODE = ("kubernetes.io/hostname", "metadata.name")
"""Pods that select one node by its name are no example for others."""

FROM_QUEUE, FROM_OTHERS, FROM_DEVICES = "queue", "others", "devices"
"""Where constraints come from: pods of the queue, pods of other queues, the names of the devices."""


@dataclass(frozen=True)
class KnownConstraints:
    """The node constraints of a scenario's pods, as JSON.

    Attributes
    ----------
    of_queue : mapping
        By queue and devices that a pod requests, the constraints of most jobs.
    of_devices : mapping
        By devices, the tolerations of most jobs of all queues.

    """

    of_queue: Mapping[tuple[str, Devices], str] = field(default_factory=dict)
    of_devices: Mapping[Devices, str] = field(default_factory=dict)

    @property
    def key(self) -> object:
        """Return a key that identifies the constraints."""
        return frozenset(self.of_queue.items()), frozenset(self.of_devices.items())

    def of_pod(self, queue: str, requests: Mapping[str, object]) -> tuple[str, str]:
        """Return the constraints of a new pod in a queue, as JSON, and where they come from.

        Pods with devices of which the scenario has no example tolerate what Kubernetes' admission plugin
        ExtendedResourceToleration adds.
        """
        devices = devices_of(requests)
        known = self.of_queue.get((queue, devices))
        if known is not None:
            return known, FROM_QUEUE
        known = self.of_devices.get(devices)
        if devices and known is not None:
            return known, FROM_OTHERS
        effect = {"operator": "Exists", "effect": "NoSchedule"}
        added = [{"key": name, **effect} for name in sorted(devices)]
        return _text({"tolerations": added} if added else {}), FROM_DEVICES


NOTHING_KNOWN = KnownConstraints()


def known_constraints(document: Json) -> KnownConstraints:
    """Return the node constraints of the pods in a scenario, those of most jobs; equally many: by text."""
    of_queue: dict[tuple[str, Devices], Counter[str]] = {}
    of_devices: dict[Devices, Counter[str]] = {}
    for queue, templates in _jobs(document):
        for devices, constraints in {(one.devices, one.constraints) for one in map(_template, templates)}:
            if not any(name in constraints for name in _OF_ONE_NODE):
                of_queue.setdefault((queue, devices), Counter())[constraints] += 1
                of_devices.setdefault(devices, Counter())[_tolerations(constraints)] += 1
    return KnownConstraints(
        {place: _most_common(counts) for place, counts in of_queue.items()},
        {devices: _most_common(counts) for devices, counts in of_devices.items()},
    )


def devices_of(requests: Mapping[str, object]) -> Devices:
    """Return the extended resources of which a pod requests some."""
    return frozenset(name for name, amount in requests.items() if "/" in name and str(amount) != "0")


def constraints_for(document: Json, fields: Json) -> dict[str, Any]:
    """Return the node constraints of a new job with the fields of a form, as `node_constraints` says."""
    if fields.get("node_constraints", LIKE_QUEUE) == NONE:
        return {}
    queue, requests = fields.get("queue") or "default", fields.get("requests") or {}
    found: dict[str, Any] = json.loads(known_constraints(document).of_pod(queue, requests)[0])
    return found


@dataclass(frozen=True)
class _Template:
    devices: Devices
    constraints: str


def _jobs(document: Json) -> Iterator[tuple[str, Iterable[Json]]]:
    """Yield the queue of each Job and of each other PodGroup, and its pods or their templates."""
    members = members_of(items(document.get("pods")))
    jobs = {key_of(job): job for job in items(document.get("jobs"))}
    for group in items(document.get("podgroups")):
        if not any(owner in jobs for owner in _owners(group)):
            yield _queue(group), members.get(key_of(group), ())
    for job in jobs.values():
        yield _queue(job), [task.get("template") or {} for task in (job.get("spec") or {}).get("tasks") or ()]


def _owners(group: Json) -> Iterator[str]:
    """Yield namespace/name of the Jobs to which a PodGroup belongs."""
    metadata = group.get("metadata") or {}
    for owner in metadata.get("ownerReferences") or ():
        if owner.get("kind") == "Job":
            yield f"{metadata.get('namespace') or 'default'}/{owner.get('name')}"


def _template(pod: Json) -> _Template:
    requests: dict[str, object] = {}
    for container in (pod.get("spec") or {}).get("containers") or ():
        resources = container.get("resources") or {}
        for part in ("limits", "requests"):
            requests |= resources.get(part) or {}
    return _Template(devices_of(requests), _text(constraints_of(pod)))


def _queue(thing: Json) -> str:
    return str((thing.get("spec") or {}).get("queue") or "default")


def _text(constraints: Json) -> str:
    return json.dumps(constraints, sort_keys=True, ensure_ascii=False)


def _tolerations(constraints: str) -> str:
    return _text({name: value for name, value in json.loads(constraints).items() if name == "tolerations"})


def _most_common(counts: Counter[str]) -> str:
    return min(counts, key=lambda text: (-counts[text], text))
