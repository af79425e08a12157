"""Is an object one of the many that need no closer look? Parts that were checked once are known again.

A cluster has ten thousands of pods of a few shapes, and as many PodGroups that differ in little but their
name. To look at each in full would take longer than to schedule them all.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.errors import InputError
from scheduler_core.model.timestamps import parse_time

_TEXT_OR_NONE = frozenset({str, type(None)})
_FLAG_OR_NONE = frozenset({bool, type(None)})
_TEXTS = frozenset({str})
_OBJECTS = frozenset({dict})
_PHASES = frozenset({"Pending", "Running", "Succeeded", "Failed", "Unknown", "", None})
_POLICIES = frozenset({"Never", "PreemptLowerPriority", "", None})
_SPEC_PARTS = (
    "nodeSelector",
    "affinity",
    "tolerations",
    "topologySpreadConstraints",
    "schedulingGates",
    "overhead",
    "resources",
    "hostNetwork",
)
_SIMPLE_SPEC = frozenset(
    {"containers", "nodeName", "schedulerName", "priorityClassName", "priority", "preemptionPolicy"}
)
_CONTAINER_PARTS = ("name", "image", "resources", "restartPolicy", "ports")
_PLAIN = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})
_PLAIN_METADATA = frozenset({"name", "namespace", "uid", "annotations", "labels", "creationTimestamp"})
_STRANGE = (KeyError, TypeError, AttributeError, ValueError, InputError)


class Ordinary:
    """Knows objects again whose parts were all seen in sound objects of their kind before."""

    def __init__(self) -> None:
        self._times: set[str | None] = {None, ""}
        self._parts: set[bytes] = set()
        self._plain: set[tuple[str, ...]] = set()

    def learn(self, thing: Mapping[str, Any]) -> None:
        """Remember the parts of a sound object."""
        try:
            self._parts.update(self._parts_of(thing))
        except ValueError:
            return  # it holds something that JSON cannot, so it is looked at every time

    def knows(self, thing: Any) -> bool:
        """Tell whether an object is certainly sound; False means that somebody has to look."""
        try:
            metadata = thing["metadata"]
            name, get = metadata["name"], metadata.get
            if type(name) is not str or not name or "/" in name or len(name) > 253:
                return False
            if type(get("namespace")) not in _TEXT_OR_NONE or type(get("uid")) not in _TEXT_OR_NONE:
                return False
            annotations, labels = get("annotations"), get("labels")
            if annotations and not _TEXTS.issuperset(map(type, annotations.values())):
                return False
            if labels and not _TEXTS.issuperset(map(type, labels.values())):
                return False
            created = get("creationTimestamp")
            if created not in self._times:
                self._learn_time(created)
            if (
                (*metadata,) not in self._plain
                and not self._is_plain(metadata, _PLAIN_METADATA)
                and not self._rare_metadata(get)
            ):
                return False
            if (*thing,) not in self._plain and not self._is_plain(thing, _PLAIN):
                return False
            return self._knows_parts(thing.get("spec"), thing.get("status"))
        except _STRANGE:
            return False

    def _parts_of(self, thing: Mapping[str, Any]) -> list[bytes]:
        return [marshal.dumps(thing.get(part), 2) for part in ("spec", "status")]

    def _knows_parts(self, spec: Any, status: Any) -> bool:
        parts = self._parts
        return (not spec or marshal.dumps(spec, 2) in parts) and (
            not status or marshal.dumps(status, 2) in parts
        )

    def _is_plain(self, thing: Mapping[str, Any], fields: frozenset[str]) -> bool:
        """Tell whether an object has no other fields than these; thousands of objects have the same ones."""
        if not thing.keys() <= fields:
            return False
        self._plain.add((*thing,))
        return True

    def _rare_metadata(self, get: Callable[[str], Any]) -> bool:
        for owner in get("ownerReferences") or ():
            if (
                type(owner.get("uid")) not in _TEXT_OR_NONE
                or type(owner.get("controller")) not in _FLAG_OR_NONE
            ):
                return False
        deleted = get("deletionTimestamp")
        if deleted not in self._times:
            self._learn_time(deleted)
        return True

    def _learn_time(self, text: Any) -> None:
        parse_time(text)
        self._times.add(text)


class OrdinaryPods(Ordinary):
    """Knows pods again: what every pod has for itself is looked at, the rest is recognised."""

    def _parts_of(self, thing: Mapping[str, Any]) -> list[bytes]:
        spec = thing.get("spec") or {}
        return [_shape(spec), marshal.dumps(spec.get("containers"), 2)]

    def _knows_parts(self, spec: Any, status: Any) -> bool:
        get = spec.get
        if type(get("nodeName")) not in _TEXT_OR_NONE or type(get("schedulerName")) not in _TEXT_OR_NONE:
            return False
        if type(get("priorityClassName")) not in _TEXT_OR_NONE or get("preemptionPolicy") not in _POLICIES:
            return False
        priority = get("priority")
        if priority is not None and (type(priority) is not int or abs(priority) >= 2**31):
            return False
        simple = (*spec,) in self._plain or self._is_plain(spec, _SIMPLE_SPEC)
        if not simple or marshal.dumps(get("containers"), 2) not in self._parts:
            for part in (get("volumes"), get("resourceClaims")):
                if part and not _OBJECTS.issuperset(map(type, part)):
                    return False
            if _shape(spec) not in self._parts:
                return False
        if not status:
            return True
        return status.get("phase") in _PHASES and (len(status) == 1 or self._rare_status(status.get))

    def _rare_status(self, get: Callable[[str], Any]) -> bool:
        times = [get("startTime")]
        if type(get("nominatedNodeName")) not in _TEXT_OR_NONE:
            return False
        for condition in get("conditions") or ():
            part = condition.get
            times.append(part("lastTransitionTime"))
            if not _TEXT_OR_NONE.issuperset((type(part("type")), type(part("status")), type(part("reason")))):
                return False
        for container in get("containerStatuses") or ():
            part = container.get
            if type(part("ready")) not in _FLAG_OR_NONE or type(part("name")) not in _TEXT_OR_NONE:
                return False
        for time in times:
            if time not in self._times:
                self._learn_time(time)
        return True


def _shape(spec: Mapping[str, Any]) -> bytes:
    """Return the parts of a specification that are looked at."""
    get = spec.get
    parts: list[Any] = [get(part) for part in _SPEC_PARTS]
    for containers in (get("containers"), get("initContainers")):
        parts.append([[container.get(part) for part in _CONTAINER_PARTS] for container in containers or ()])
    return marshal.dumps(parts, 2)
