"""Pod templates: the common part of pods that differ only in name, time and node, read once for all of them.

A cluster has tens of thousands of pods of few templates. Reading each pod in full would take longer than
scheduling all of them.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.conf import parse_bool
from scheduler_core.model.pod_columns import NOTHING, Object, PodColumns, column
from scheduler_core.model.status import TaskStatus, status_of

TASK_SPEC = "volcano.sh/task-spec"
TASK_PRIORITY = "volcano.sh/task-priority"
PREEMPTABLE = "volcano.sh/preemptable"

_MARKED = (TASK_SPEC, TASK_PRIORITY, PREEMPTABLE)
_NO_MARKS = [0] * 2 * len(_MARKED)
_SCALARS = ("schedulerName", "priorityClassName", "priority", "preemptionPolicy")
_WORDS = ("containers", "schedulerName", "priorityClassName", "preemptionPolicy")
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

    A value that cannot be parsed is False.
    """
    text = annotations.get(PREEMPTABLE, labels.get(PREEMPTABLE))
    return default if text is None else bool(parse_bool(text))


class PodTemplate:
    """All that the scheduler reads from pods, except names, times, nodes and conditions.

    Attributes
    ----------
    pod : mapping
        The first pod with this template.
    sound : bool
        Whether a pod of this template was fully validated without problems.
    phase : str
        As written, empty if absent.
    pending, placed : TaskStatus
        The status of a pod that is not being deleted, without and with a node.
    role : str
        The task of the job that the pods belong to, empty if none.
    priority : str or None
        The annotation with the task's priority.
    claims : bool
        Whether the pods name volumes or resource claims, which may differ between pods.
    followers : dict
        The templates of this one's pods after a write to their status, by phase.

    """

    __slots__ = (
        "claims",
        "followers",
        "pending",
        "phase",
        "placed",
        "pod",
        "preemptable",
        "priority",
        "role",
        "sound",
    )

    def __init__(self, pod: Object) -> None:
        metadata = pod["metadata"]
        annotations, labels = metadata.get("annotations") or NOTHING, metadata.get("labels") or NOTHING
        self.pod = pod
        self.sound = False
        self.followers: dict[str, PodTemplate] = {}
        self.phase: str = (pod.get("status") or NOTHING).get("phase") or ""
        self.pending = self.status(deleting=False, has_node=False)
        self.placed = self.status(deleting=False, has_node=True)
        self.role: str = annotations.get(TASK_SPEC) or labels.get(TASK_SPEC) or ""
        self.priority: str | None = annotations.get(TASK_PRIORITY)
        self.preemptable = flag_of(annotations, labels, default=True)
        self.claims = _claims(pod.get("spec") or NOTHING)

    def status(self, *, deleting: bool, has_node: bool) -> TaskStatus:
        """Return the status of a pod of this template; without a phase it is Running if it has a node."""
        phase = self.phase or ("Running" if has_node else "Pending")
        return status_of(phase, deleting=deleting, has_node=has_node)


class TemplateTable:
    """All templates that have occurred."""

    def __init__(self) -> None:
        self._templates: dict[bytes, PodTemplate] = {}
        self._of_words: dict[bytes, bool] = {}

    def templates_of(self, columns: PodColumns) -> list[PodTemplate]:
        """Return the template of each pod."""
        marks = _marks(columns)
        if not columns.spec_fields <= _SIMPLE_SPEC:
            return list(map(self._of_parts, columns.pods, columns.specs, columns.phases, marks))
        priorities, *fields = [column(columns.specs, name) for name in ("priority", *_WORDS)]
        keys = self._keys_of(
            zip(map(type, priorities), priorities, marks, columns.phases, *fields, strict=True)
        )
        templates = self._templates
        for number in [number for number, key in enumerate(keys) if key not in templates]:
            templates[keys[number]] = self._of_parts(
                columns.pods[number], columns.specs[number], columns.phases[number], marks[number]
            )
        return [templates[key] for key in keys]

    def template_of(self, pod: Object) -> PodTemplate:
        """Return the template of one pod, the same as from `templates_of`."""
        spec, metadata = pod.get("spec") or NOTHING, pod["metadata"]
        phase = (pod.get("status") or NOTHING).get("phase")
        marks = _marks_of(metadata.get("annotations") or NOTHING, metadata.get("labels") or NOTHING)
        if not spec.keys() <= _SIMPLE_SPEC:
            return self._of_parts(pod, spec, phase, marks)
        key = marshal.dumps((spec.get("priority"), marks, phase, *map(spec.get, _WORDS)), 2)
        template = self._templates.get(key)
        if template is None:
            template = self._templates[key] = self._of_parts(pod, spec, phase, marks)
        return template

    def _keys_of(self, pods: Iterable[tuple[Any, ...]]) -> list[bytes]:
        """Return the keys of the parts of some pods, each preceded by the type of its priority.

        Parts that contain only strings are the same if they are equal; with other values, 1 equals true.
        """
        keys, key, words = [], b"", None
        for parts in pods:
            if parts != words:
                key = marshal.dumps(parts[1:], 2)
                if key not in self._of_words:
                    self._of_words[key] = _is_of_words(parts[3:])
                words = parts if self._of_words[key] else None
            keys.append(key)
        return keys

    def _of_parts(self, pod: Object, spec: Object, phase: Any, marks: Any) -> PodTemplate:
        parts: list[Any] = [spec.get(part) for part in _PARTS]
        for name in ("containers", "initContainers"):
            containers = spec.get(name)
            parts.append(
                [[container.get(part) for part in _CONTAINER_PARTS] for container in containers]
                if containers
                else containers
            )
        key = marshal.dumps((*parts, _claims(spec), phase, marks), 2)
        template = self._templates.get(key)
        if template is None:
            template = self._templates.setdefault(key, PodTemplate(pod))
        return template


def _marks(columns: PodColumns) -> list[list[str | int] | None]:
    """Return the annotations and labels of each pod that the scheduler reads, None if it has none.

    An absent one is 0, which differs from every text.
    """
    if set().union(*columns.annotations, *columns.labels).isdisjoint(_MARKED):
        return [None] * len(columns.pods)
    return list(map(_marks_of, columns.annotations, columns.labels))


def _marks_of(annotations: Object, labels: Object) -> list[str | int] | None:
    """Return the same for one pod."""
    marks = [table.get(name, 0) for table in (annotations, labels) for name in _MARKED]
    return None if marks == _NO_MARKS else marks


def _is_of_words(value: Any, levels: int = 16) -> bool:
    """Return whether a value contains only strings and None, not nested too deeply."""
    if isinstance(value, Mapping):
        value = [*value.values()]
    if isinstance(value, (list, tuple)):
        return levels > 0 and all(_is_of_words(part, levels - 1) for part in value)
    return value is None or isinstance(value, str)


def _claims(spec: Object) -> bool:
    return bool(spec.get("volumes") or spec.get("resourceClaims"))
