"""Which nodes new pods may run on: those of pods in the same queue.

A new pod has requests, but says neither which taints it tolerates nor which nodes it selects. Without
tolerations it would not run on nodes with a taint, which most nodes with devices have.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from planning.constraint_choices import LIKE_QUEUE, NONE
from planning.documents import items
from scheduler_core.errors import InputError
from scheduler_core.model.labels import NodeLabels, SelectorError
from scheduler_core.model.node_affinity import matching_nodes
from scheduler_core.model.taints import NodeTaints, tolerations_of
from scheduler_core.quantity import milli_value
from traces.kubernetes import constraints_of, key_of, members_of, owning_jobs
from traces.requests import request_of

Json = Mapping[str, Any]
Devices = frozenset[str]
"""The names of extended resources."""
Amounts = frozenset[tuple[str, float]]
"""Extended resources with their amounts, in thousandths."""

_OF_ONE_NODE = ("kubernetes.io/hostname", "metadata.name")
"""Pods that select one node by its name are no example for others."""

FROM_QUEUE, FROM_OTHERS, FROM_DEVICES = "queue", "others", "devices"
"""Where constraints come from: pods of the queue, pods of other queues, the names of the devices."""


@dataclass(frozen=True)
class KnownConstraints:
    """The node constraints of a scenario's pods, as JSON.

    A cluster with several types of nodes has several constraints for the same devices. A new pod gets those
    of pods of its size; without such an example the most frequent ones with which it fits an empty node.

    Attributes
    ----------
    of_amounts : mapping
        By queue and the amounts of devices that a pod requests, the constraints of most jobs.
    of_queue : mapping
        By queue and devices, all constraints, those of most jobs first.
    of_devices : mapping
        By devices, the tolerations of the jobs of all queues, those of most jobs first.
    rooms : mapping
        By constraints that are one of several for the same devices, what a node offers of each at most.

    """

    of_amounts: Mapping[tuple[str, Amounts], str] = field(default_factory=dict)
    of_queue: Mapping[tuple[str, Devices], tuple[str, ...]] = field(default_factory=dict)
    of_devices: Mapping[Devices, tuple[str, ...]] = field(default_factory=dict)
    rooms: Mapping[str, Amounts] = field(default_factory=dict)

    @property
    def key(self) -> object:
        """Return a key that identifies the constraints."""
        parts = (self.of_amounts, self.of_queue, self.of_devices, self.rooms)
        return tuple(frozenset(part.items()) for part in parts)

    def of_pod(self, queue: str, requests: Mapping[str, object]) -> tuple[str, str]:
        """Return the constraints of a new pod in a queue, as JSON, and where they come from.

        Pods with devices of which the scenario has no example tolerate what Kubernetes' admission plugin
        ExtendedResourceToleration adds.
        """
        amounts = amounts_of(requests)
        devices = frozenset(name for name, _ in amounts)
        known = self.of_amounts.get((queue, amounts))
        if known is not None:
            return known, FROM_QUEUE
        if (queue, devices) in self.of_queue:
            return self._first_with_room(self.of_queue[queue, devices], amounts), FROM_QUEUE
        if devices and devices in self.of_devices:
            return self._first_with_room(self.of_devices[devices], amounts), FROM_OTHERS
        effect = {"operator": "Exists", "effect": "NoSchedule"}
        added = [{"key": name, **effect} for name in sorted(devices)]
        return _text({"tolerations": added} if added else {}), FROM_DEVICES

    def _first_with_room(self, texts: tuple[str, ...], amounts: Amounts) -> str:
        """Return the first constraints with which a pod of this size fits an empty node; else the first."""
        for text in texts:
            offered = dict(self.rooms.get(text, ()))
            if all(amount <= offered.get(name, 0.0) for name, amount in amounts):
                return text
        return texts[0]


NOTHING_KNOWN = KnownConstraints()


def known_constraints(document: Json) -> KnownConstraints:
    """Return the node constraints of the pods in a scenario, those of most jobs; equally many: by text."""
    return with_rooms(examples_of(document), document)


EXAMPLE_PARTS = ("podgroups", "pods", "jobs")
"""The parts of a document that `examples_of` reads."""


def with_rooms(examples: KnownConstraints, document: Json) -> KnownConstraints:
    """Return examples with what the nodes of a scenario offer."""
    rivals = [*examples.of_queue.values(), *examples.of_devices.values()]
    several = {text for texts in rivals if len(texts) > 1 for text in texts}
    return replace(examples, rooms=_rooms(document, several))


def examples_of(document: Json) -> KnownConstraints:
    """Return the node constraints of the pods in a scenario without `rooms`."""
    of_amounts: dict[tuple[str, Amounts], Counter[str]] = {}
    of_queue: dict[tuple[str, Devices], Counter[str]] = {}
    of_devices: dict[Devices, Counter[str]] = {}
    for queue, templates in _jobs(document):
        found = [one for one in map(_template, templates) if not one.is_of_one_node]
        for amounts, constraints in {(one.amounts, one.constraints) for one in found}:
            of_amounts.setdefault((queue, amounts), Counter())[constraints] += 1
        for devices, constraints in {(one.devices, one.constraints) for one in found}:
            of_queue.setdefault((queue, devices), Counter())[constraints] += 1
            of_devices.setdefault(devices, Counter())[_tolerations(constraints)] += 1
    return KnownConstraints(
        {place: _ranked(counts)[0] for place, counts in of_amounts.items()},
        {place: _ranked(counts) for place, counts in of_queue.items()},
        {devices: _ranked(counts) for devices, counts in of_devices.items()},
    )


def _rooms(document: Json, texts: Collection[str]) -> dict[str, Amounts]:
    nodes = items(document.get("nodes")) if texts else ()
    labels, taints = NodeLabels([node["metadata"]["name"] for node in nodes], nodes), NodeTaints(nodes)
    offers = [amounts_of(_allocatable(node)) for node in nodes]
    found = {}
    for text in sorted(texts):
        spec = json.loads(text)
        try:
            usable = matching_nodes(spec, labels) & ~taints.untolerated(tolerations_of(spec))
        except SelectorError:  # the check of the scenario reports it
            continue
        most: dict[str, float] = {}
        for place in usable.nonzero()[0].tolist():
            for name, amount in offers[place]:
                most[name] = max(most.get(name, 0.0), amount)
        found[text] = frozenset(most.items())
    return found


def _allocatable(node: Json) -> Json:
    status = node.get("status") or {}
    found: Json = status.get("allocatable") or status.get("capacity") or {}
    return found


def amounts_of(requests: Mapping[str, object]) -> Amounts:
    """Return the extended resources of which a pod requests some, or a node offers some, with amounts."""
    return frozenset((name, _thousandths(requests[name])) for name in devices_of(requests))


def devices_of(requests: Mapping[str, object]) -> Devices:
    """Return the extended resources of which a pod requests some."""
    return frozenset(name for name, amount in requests.items() if "/" in name and str(amount) != "0")


def _thousandths(quantity: object) -> float:
    """Return an amount; 0 for one that cannot be read, which the check of the scenario reports."""
    try:
        return milli_value(quantity)
    except InputError:
        return 0.0


def constraints_for(document: Json, fields: Json) -> dict[str, Any]:
    """Return the node constraints of a new job with the fields of a form, as `node_constraints` says."""
    if fields.get("node_constraints", LIKE_QUEUE) == NONE:
        return {}
    queue, requests = fields.get("queue") or "default", fields.get("requests") or {}
    found: dict[str, Any] = json.loads(known_constraints(document).of_pod(queue, requests)[0])
    return found


@dataclass(frozen=True)
class _Template:
    amounts: Amounts
    constraints: str

    @property
    def devices(self) -> Devices:
        """Return the extended resources without their amounts."""
        return frozenset(name for name, _ in self.amounts)

    @property
    def is_of_one_node(self) -> bool:
        """Return whether the pod selects one node by its name."""
        return any(name in self.constraints for name in _OF_ONE_NODE)


def _jobs(document: Json) -> Iterator[tuple[str, Iterable[Json]]]:
    """Yield the queue of each Job and of each other PodGroup, and its pods or their templates."""
    members = members_of(items(document.get("pods")))
    jobs = {key_of(job): job for job in items(document.get("jobs"))}
    for group in items(document.get("podgroups")):
        if not any(owner in jobs for owner in owning_jobs(group)):
            yield _queue(group), members.get(key_of(group), ())
    for job in jobs.values():
        yield _queue(job), [task.get("template") or {} for task in (job.get("spec") or {}).get("tasks") or ()]


def _template(pod: Json) -> _Template:
    return _Template(amounts_of(request_of(pod.get("spec") or {})), _text(constraints_of(pod)))


def _queue(thing: Json) -> str:
    return str((thing.get("spec") or {}).get("queue") or "default")


def _text(constraints: Json) -> str:
    return json.dumps(constraints, sort_keys=True, ensure_ascii=False)


def _tolerations(constraints: str) -> str:
    return _text({name: value for name, value in json.loads(constraints).items() if name == "tolerations"})


def _ranked(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda text: (-counts[text], text)))
