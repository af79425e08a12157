"""Arrivals of jobs of equal pods: their events, and the kind of each job.

Most events of a trace are such arrivals: a PodGroup, and pods that differ by name only. Every session treats
jobs of one kind equally, so that the results for one job hold for the next.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scheduler_core.model.pod_info import GROUP_NAME, pod_index
from scheduler_core.model.pod_template import TASK_SPEC
from scheduler_core.model.run_annotations import RUN_SECONDS
from scheduler_core.replay.timeline import run_seconds

Object = Mapping[str, Any]

_EVENT, _CREATED = frozenset({"at", "create"}), frozenset({"podgroups", "pods"})
_METADATA = frozenset({"name", "namespace", "uid", "annotations", "labels"})
_OF_GROUP, _OF_POD = frozenset({RUN_SECONDS}), frozenset({RUN_SECONDS, GROUP_NAME, TASK_SPEC})
_NOTHING: Object = {}
BLOCK = 64
"""The number of events that are read together."""


class Arrival(NamedTuple):
    """A job of equal pods.

    Attributes
    ----------
    key : str
        Namespace and name of the PodGroup.
    pods : list of mapping
        In the order in which a session places them.
    pod_keys : list of str
        Their namespaces and names, in the same order.
    kind : bytes
        Identifies everything that sessions read of the job, except its name, its age and the names of its
        pods.
    seconds : float or None
        How long each pod runs; None: forever.

    """

    key: str
    podgroup: Object
    pods: list[Object]
    pod_keys: list[str]
    kind: bytes
    seconds: float | None


class Arrivals:
    """The arrivals among the events of a document.

    They are read in blocks, which takes half as long as reading each between two sessions: the processor's
    caches then hold the code and the part of the document.
    """

    def __init__(self, events: Sequence[Object]) -> None:
        self._events = events
        self._block: dict[int, Arrival | None] = {}

    def of(self, position: int) -> Arrival | None:
        """Return the arrival of an event, see `arrival_of`."""
        if position not in self._block:
            block = self._events[position : position + BLOCK]
            self._block = dict(enumerate(map(arrival_of, block), position))
        return self._block[position]


def arrival_of(event: Object) -> Arrival | None:
    """Return the job of equal pods that an event creates, None if it does anything else."""
    created = event.get("create")
    if not created or created.keys() != _CREATED or not _EVENT.issuperset(event):
        return None
    if len(created["podgroups"]) != 1 or not created["pods"]:
        return None
    podgroup, pods = created["podgroups"][0], created["pods"]
    meta = podgroup["metadata"]
    annotations = meta.get("annotations") or _NOTHING
    if not (_METADATA.issuperset(meta) and _OF_GROUP.issuperset(annotations) and meta.get("namespace")):
        return None
    for pod in pods:
        if not _is_of(pod, meta):
            return None
    first, *others = pods
    traits, seconds = _traits(first), run_seconds(first, podgroup)
    if not all(_traits(pod) == traits and run_seconds(pod, podgroup) == seconds for pod in others):
        return None
    if others:
        pods = _in_order(pods)
        if pods is None:
            return None
    try:
        kind = marshal.dumps(
            (podgroup.get("spec"), podgroup.get("status"), meta.get("labels"), len(pods), *traits), 2
        )
    except ValueError:
        return None  # only objects that were read from JSON are known to have names
    namespace = meta["namespace"]
    keys = [f"{namespace}/{pod['metadata']['name']}" for pod in pods]
    if len({*keys}) < len(keys):
        return None
    return Arrival(f"{namespace}/{meta['name']}", podgroup, pods, keys, kind, seconds)


def _is_of(pod: Object, group: Object) -> bool:
    """Return whether a pod names the PodGroup and has no field that distinguishes it but its name."""
    meta, spec = pod["metadata"], pod.get("spec") or _NOTHING
    annotations = meta.get("annotations") or _NOTHING
    return (
        _METADATA.issuperset(meta)
        and _OF_POD.issuperset(annotations)
        and annotations.get(GROUP_NAME) == group["name"]
        and meta.get("namespace") == group["namespace"]
        and not (spec.get("nodeName") or spec.get("volumes") or spec.get("resourceClaims"))
    )


def _traits(pod: Object) -> tuple[Any, ...]:
    meta = pod["metadata"]
    role = (meta.get("annotations") or _NOTHING).get(TASK_SPEC)
    return pod.get("spec"), pod.get("status"), meta.get("labels"), role


def _in_order(pods: list[Object]) -> list[Object] | None:
    """Return equal pods by the index in their names, then uid; None if only some have an index."""
    indexes = [pod_index(pod["metadata"]["name"]) for pod in pods]
    if any(index is None for index in indexes) and any(index is not None for index in indexes):
        return None
    places = sorted(range(len(pods)), key=lambda place: (indexes[place] or 0, _uid(pods[place])))
    return [pods[place] for place in places]


def _uid(pod: Object) -> str:
    """Return the uid of a pod, or the one that admission gives it."""
    meta = pod["metadata"]
    return meta.get("uid") or f"{meta['namespace']}-{meta['name']}"
