"""Is a pod one of the many that need no closer look? Shapes that were checked once are known again.

A cluster has ten thousands of pods of a few shapes. To look at each in full would take longer than to
schedule them all.
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
_PLAIN_METADATA = frozenset({"name", "namespace", "uid", "annotations", "labels", "creationTimestamp"})


class OrdinaryPods:
    """Knows pods again whose parts were all seen in sound pods before."""

    def __init__(self) -> None:
        self._times: set[str | None] = {None, ""}
        self._shapes: set[bytes] = set()

    def learn(self, pod: Mapping[str, Any]) -> None:
        """Remember the shape of a sound pod."""
        spec = pod.get("spec") or {}
        try:
            self._shapes.add(_shape(spec))
            self._shapes.add(marshal.dumps(spec.get("containers"), 2))
        except ValueError:
            return  # it holds something that JSON cannot, so it is looked at every time

    def knows(self, pod: Any) -> bool:
        """Tell whether a pod is certainly sound; False means that somebody has to look."""
        try:
            metadata, spec, status = pod["metadata"], pod["spec"], pod.get("status")
            return self._metadata(metadata) and self._spec(spec) and (not status or self._status(status))
        except (KeyError, TypeError, AttributeError, ValueError, InputError):
            return False

    def _metadata(self, metadata: dict[str, Any]) -> bool:
        name, get = metadata["name"], metadata.get
        if type(name) is not str or not name or "/" in name or len(name) > 253:
            return False
        if type(get("namespace")) not in _TEXT_OR_NONE or type(get("uid")) not in _TEXT_OR_NONE:
            return False
        created, annotations, labels = get("creationTimestamp"), get("annotations"), get("labels")
        if annotations and not _TEXTS.issuperset(map(type, annotations.values())):
            return False
        if labels and not _TEXTS.issuperset(map(type, labels.values())):
            return False
        if created not in self._times:
            self._learn_time(created)
        return metadata.keys() <= _PLAIN_METADATA or self._rare_metadata(get)

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

    def _status(self, status: dict[str, Any]) -> bool:
        get = status.get
        if get("phase") not in _PHASES:
            return False
        return len(status) == 1 or self._rare_status(get)

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

    def _spec(self, spec: dict[str, Any]) -> bool:
        get = spec.get
        if type(get("nodeName")) not in _TEXT_OR_NONE or type(get("schedulerName")) not in _TEXT_OR_NONE:
            return False
        if type(get("priorityClassName")) not in _TEXT_OR_NONE or get("preemptionPolicy") not in _POLICIES:
            return False
        priority = get("priority")
        if priority is not None and (type(priority) is not int or abs(priority) >= 2**31):
            return False
        if spec.keys() <= _SIMPLE_SPEC and marshal.dumps(get("containers"), 2) in self._shapes:
            return True
        for part in (get("volumes"), get("resourceClaims")):
            if part and not _OBJECTS.issuperset(map(type, part)):
                return False
        return _shape(spec) in self._shapes


def _shape(spec: Mapping[str, Any]) -> bytes:
    """Return the parts of a specification that are looked at."""
    get = spec.get
    parts: list[Any] = [get(part) for part in _SPEC_PARTS]
    for containers in (get("containers"), get("initContainers")):
        parts.append([[container.get(part) for part in _CONTAINER_PARTS] for container in containers or ()])
    return marshal.dumps(parts, 2)
