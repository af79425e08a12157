"""Which nodes the pods of a trace may run on: like the pods of their queue in the snapshot.

Most traces say what a job requests, but not which taints its pods tolerate and which nodes they select.
Without tolerations no pod would run on nodes with a taint, which most nodes with devices have.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from planning.documents import items
from planning.forecasts.demand import key_of, members_of
from traces import Trace, TraceJob
from traces.kubernetes import constraints_of
from traces.text import counted

Json = Mapping[str, Any]
Devices = frozenset[str]
"""The names of extended resources."""

LIKE_QUEUE, NONE = "like_queue", "none"
NODE_CONSTRAINTS = {LIKE_QUEUE: "like their queue", NONE: "none"}
"""Where the node constraints of jobs come from, in words that follow "Node constraints"."""

_OF_ONE_NODE = ("kubernetes.io/hostname", "metadata.name")
"""Pods that select one node by its name are no example for others."""

_NOTES = {
    "queue": "of {jobs} of the trace select nodes and tolerate taints like pods of most jobs in their queue",
    "others": "of {jobs} of the trace tolerate taints like pods in other queues with the same devices",
    "devices": "of {jobs} of the trace tolerate taints that have the names of the devices they request",
}


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

    def of_job(self, job: TraceJob) -> tuple[str, str]:
        """Return the constraints of a job that states none, and where they come from, a key of `_NOTES`.

        Jobs with devices of which the scenario has no example tolerate what Kubernetes' admission plugin
        ExtendedResourceToleration adds.
        """
        devices = devices_of(job.requests)
        known = self.of_queue.get((job.queue, devices))
        if known is not None:
            return known, "queue"
        known = self.of_devices.get(devices)
        if devices and known is not None:
            return known, "others"
        effect = {"operator": "Exists", "effect": "NoSchedule"}
        added = [{"key": name, **effect} for name in sorted(devices)]
        return _text({"tolerations": added} if added else {}), "devices"


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


def with_constraints(trace: Trace, known: KnownConstraints) -> tuple[Trace, list[str]]:
    """Return a trace whose jobs all state their node constraints, and what was assumed for how many.

    The queues of the trace are those of the scenario.
    """
    read: dict[str, Json] = {}
    counts: Counter[str] = Counter()
    jobs = []
    for job in trace.jobs:
        if job.constraints is None:
            text, source = known.of_job(job)
            constraints = read.setdefault(text, json.loads(text))
            counts[source] += bool(constraints)
            jobs.append(replace(job, constraints=constraints))
        else:
            jobs.append(job)
    notes = [
        f"Assumed: pods {message.format(jobs=counted(counts[source], 'job'))}."
        for source, message in _NOTES.items()
        if counts[source]
    ]
    return replace(trace, jobs=tuple(jobs)), notes


def without_constraints(trace: Trace) -> Trace:
    """Return a trace whose jobs have no node constraints."""
    return replace(trace, jobs=tuple(replace(job, constraints={}) for job in trace.jobs))


def devices_of(requests: Mapping[str, object]) -> Devices:
    """Return the extended resources of which a pod requests some."""
    return frozenset(name for name, amount in requests.items() if "/" in name and str(amount) != "0")


@dataclass(frozen=True)
class _Template:
    devices: Devices
    constraints: str


def _jobs(document: Json) -> Iterator[tuple[str, Iterable[Json]]]:
    """Yield the queue of each PodGroup and of each Job, and its pods or their templates."""
    members = members_of(document)
    for group in items(document.get("podgroups")):
        yield _queue(group), members.get(key_of(group), ())
    for job in items(document.get("jobs")):
        yield _queue(job), [task.get("template") or {} for task in (job.get("spec") or {}).get("tasks") or ()]


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
