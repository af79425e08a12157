"""What do pods have in common that differ in little but name, time and place? Worked out once for all.

A cluster has ten thousands of pods of a few templates. To read each in full would take longer than to
schedule them all.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from typing import Any

from scheduler_core.conf import parse_bool
from scheduler_core.model.status import TaskStatus, status_of

Object = Mapping[str, Any]

TASK_SPEC = "volcano.sh/task-spec"
TASK_PRIORITY = "volcano.sh/task-priority"
PREEMPTABLE = "volcano.sh/preemptable"

NOTHING: Mapping[str, Any] = {}
_TOLD = (TASK_SPEC, TASK_PRIORITY, PREEMPTABLE)
_NOTHING_TOLD = [0] * 2 * len(_TOLD)
_SCALARS = ("schedulerName", "priorityClassName", "priority", "preemptionPolicy")
_SIMPLE_SPEC = frozenset({"containers", "nodeName", *_SCALARS})
_PARTS = (
    *_SCALARS,
    "nodeSelector",
    "affinity",
    "tolerations",
    "topologySpreadConstraints",
    "schedulingGates",
    "overhead",
    "resources",
    "hostNetwork",
)
_CONTAINER_PARTS = ("name", "image", "resources", "restartPolicy", "ports")


def flag_of(annotations: Mapping[str, str], labels: Mapping[str, str], *, default: bool) -> bool:
    """Return the `volcano.sh/preemptable` flag: the annotation, else the label, else `default`.

    Unparsable is False.
    """
    text = annotations.get(PREEMPTABLE, labels.get(PREEMPTABLE))
    return default if text is None else bool(parse_bool(text))


class PodTemplate:
    """All that the scheduler reads of pods which share it, but for names, times, nodes and conditions.

    Attributes
    ----------
    pod : mapping
        The first pod that was seen.
    sound : bool
        Somebody looked at a pod of this template in full and had nothing to say about it.
    phase : str
        As it is written, empty when it is not.
    pending, placed : TaskStatus
        The status of a pod that is not being deleted, without and with a node.
    role : str
        The task of the job that the pod belongs to, empty without one.
    priority : str or None
        What the annotation of a task's priority says.
    claims : bool
        The pods name volumes or resource claims, each its own.

    """

    __slots__ = ("claims", "pending", "phase", "placed", "pod", "preemptable", "priority", "role", "sound")

    def __init__(self, pod: Object) -> None:
        metadata = pod["metadata"]
        annotations, labels = metadata.get("annotations") or NOTHING, metadata.get("labels") or NOTHING
        self.pod = pod
        self.sound = False
        self.phase: str = (pod.get("status") or NOTHING).get("phase") or ""
        self.pending = self.status(deleting=False, has_node=False)
        self.placed = self.status(deleting=False, has_node=True)
        self.role: str = annotations.get(TASK_SPEC) or labels.get(TASK_SPEC) or ""
        self.priority: str | None = annotations.get(TASK_PRIORITY)
        self.preemptable = flag_of(annotations, labels, default=True)
        self.claims = _claims(pod.get("spec") or NOTHING)

    def status(self, *, deleting: bool, has_node: bool) -> TaskStatus:
        """Return the status of a pod of this template; without a phase it runs where it has a node."""
        phase = self.phase or ("Running" if has_node else "Pending")
        return status_of(phase, deleting=deleting, has_node=has_node)


class TemplateTable:
    """Every template seen so far."""

    def __init__(self) -> None:
        self._templates: dict[bytes, PodTemplate] = {}
        self._simple: set[tuple[str, ...]] = set()
        self._silent: set[tuple[str, ...]] = {()}

    def template_of(
        self, pod: Object, spec: Object, phase: Any, annotations: Mapping[str, str], labels: Mapping[str, str]
    ) -> PodTemplate:
        """Return the template of a pod whose parts are given, empty where it has none."""
        silent = self._silent
        told = None if (*annotations,) in silent and (*labels,) in silent else self._told(annotations, labels)
        if (*spec,) not in self._simple and not self._is_simple(spec):
            return self._of_parts(pod, spec, phase, told)
        get = spec.get
        parts = (
            get("containers"),
            get("schedulerName"),
            get("priorityClassName"),
            get("priority"),
            get("preemptionPolicy"),
            phase,
            told,
        )
        key = marshal.dumps(parts, 2)
        template = self._templates.get(key)
        if template is None:
            template = self._templates[key] = self._of_parts(pod, spec, phase, told)
        return template

    def _is_simple(self, spec: Object) -> bool:
        """Tell whether a specification has only fields of which the key is quickly made."""
        if not spec.keys() <= _SIMPLE_SPEC:
            return False
        self._simple.add((*spec,))
        return True

    def _told(self, *tables: Mapping[str, str]) -> list[str | int] | None:
        """Return what annotations and labels say to the scheduler, None when they say nothing to it.

        What is absent is 0, which no text is.
        """
        for table in tables:
            if table.keys().isdisjoint(_TOLD):
                self._silent.add((*table,))
        told = [table.get(name, 0) for table in tables for name in _TOLD]
        return None if told == _NOTHING_TOLD else told

    def _of_parts(self, pod: Object, spec: Object, phase: Any, told: Any) -> PodTemplate:
        parts: list[Any] = [spec.get(part) for part in _PARTS]
        for name in ("containers", "initContainers"):
            containers = spec.get(name)
            parts.append(
                [[container.get(part) for part in _CONTAINER_PARTS] for container in containers]
                if containers
                else containers
            )
        key = marshal.dumps((*parts, _claims(spec), phase, told), 2)
        template = self._templates.get(key)
        if template is None:
            template = self._templates.setdefault(key, PodTemplate(pod))
        return template


def _claims(spec: Object) -> bool:
    return bool(spec.get("volumes") or spec.get("resourceClaims"))
