"""What does the scheduler read from a Pod? Worked out once for as long as the pod stays the same object.

Source: volcano ``pkg/scheduler/api/job_info.go`` (NewTaskInfo) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from scheduler_core.conf import parse_bool
from scheduler_core.model.axis import ResourceAxis
from scheduler_core.model.pod import PodShape, ShapeTable
from scheduler_core.model.status import status_of
from scheduler_core.model.timestamps import parse_time

Object = Mapping[str, Any]

GROUP_NAME = "scheduling.k8s.io/group-name"
TASK_SPEC = "volcano.sh/task-spec"
TASK_PRIORITY = "volcano.sh/task-priority"
PREEMPTABLE = "volcano.sh/preemptable"

_NOTHING: Mapping[str, str] = {}


def creation_of(thing: Object) -> float:
    """Return when an object was made; one without a creationTimestamp is the oldest of all."""
    text = thing["metadata"].get("creationTimestamp")
    return parse_time(text) if text else float("-inf")


def flag_of(annotations: Mapping[str, str], labels: Mapping[str, str], *, default: bool) -> bool:
    """Return the `volcano.sh/preemptable` flag: the annotation, else the label, else `default`.

    Unparsable is False.
    """
    text = annotations.get(PREEMPTABLE, labels.get(PREEMPTABLE))
    return default if text is None else bool(parse_bool(text))


def _stated_priority(text: str, default: int) -> int:
    """Return the priority that an annotation states, `default` when it states none."""
    digits = text[1:] if text[:1] in "+-" else text
    if digits.isascii() and digits.isdigit() and -(2**31) <= int(text) < 2**31:
        return int(text)
    return default


class PodInfo:
    """One pod as every session finds it; never changed.

    Attributes
    ----------
    shape : PodShape
        As the reader knows it; a session has its own copy, on its own axis.
    job_key : str
        The namespace and name of the PodGroup that the pod names, empty when it names none.

    """

    __slots__ = (
        "creation",
        "job_key",
        "key",
        "name",
        "namespace",
        "node_name",
        "pod",
        "preemptable",
        "priority",
        "role",
        "shape",
        "status",
        "uid",
    )

    def __init__(self, pod: Object, shape: PodShape) -> None:
        metadata, spec = pod["metadata"], pod["spec"]
        get = metadata.get
        annotations, labels = get("annotations") or _NOTHING, get("labels") or _NOTHING
        self.pod = pod
        self.shape = shape
        self.uid: str = metadata["uid"]
        self.namespace: str = metadata["namespace"]
        self.name: str = metadata["name"]
        self.key = f"{self.namespace}/{self.name}"
        self.node_name: str = spec.get("nodeName") or ""
        self.status = status_of(
            (pod.get("status") or _NOTHING).get("phase") or "",
            deleting=bool(get("deletionTimestamp")),
            has_node=bool(self.node_name),
        )
        created = get("creationTimestamp")
        self.creation = parse_time(created) if created else float("-inf")
        self.role: str = annotations.get(TASK_SPEC) or labels.get(TASK_SPEC) or ""
        priority = spec.get("priority")
        self.priority: int = 1 if priority is None else int(priority)
        stated = annotations.get(TASK_PRIORITY)
        if stated is not None:
            self.priority = _stated_priority(stated, self.priority)
        self.preemptable = flag_of(annotations, labels, default=True)
        group = annotations.get(GROUP_NAME)
        self.job_key = f"{self.namespace}/{group}" if group else ""


class Roster:
    """The pods of one moment that the scheduler knows.

    Attributes
    ----------
    pods : list of PodInfo
        Ascending by uid.
    shapes : list of PodShape
        Those of the pods, each once, in order of first sight.
    numbers : list of int
        The position in `shapes` of each pod's shape.

    """

    def __init__(self, pods: list[PodInfo]) -> None:
        self.pods = sorted(pods, key=lambda info: info.uid)
        positions: dict[int, int] = {}
        self.numbers = [positions.setdefault(info.shape.number, len(positions)) for info in self.pods]
        by_number = {info.shape.number: info.shape for info in self.pods}
        self.shapes = [by_number[number] for number in positions]

    @cached_property
    def by_object(self) -> dict[int, PodInfo]:
        """Return what was read of each pod, by the identity of its object."""
        return {id(info.pod): info for info in self.pods}

    def shapes_on(self, axis: ResourceAxis) -> list[PodShape]:
        """Return copies of the shapes with their rows of an axis, numbered by their positions."""
        return [shape.on_axis(axis, number) for number, shape in enumerate(self.shapes)]


class PodReader:
    """Reads pods, each object once.

    Parameters
    ----------
    default_requests : bool
        Requests that a container lacks are its limits.
    scheduler_names : frozenset of str
        Pods of other schedulers are known only where they have a node.
    before : PodReader, optional
        One whose pods need not be read again; it is left as it is.

    """

    def __init__(
        self,
        *,
        default_requests: bool,
        scheduler_names: frozenset[str],
        before: PodReader | None = None,
    ) -> None:
        self.default_requests = default_requests
        self.scheduler_names = scheduler_names
        shapes = None if before is None else before._shapes
        self._shapes: ShapeTable = ShapeTable(default_requests=default_requests, before=shapes)
        self._pods: Mapping[str, Object] = {} if before is None else before._pods
        self._roster: Roster = Roster([]) if before is None else before._roster

    def roster(self, pods: Mapping[str, Object]) -> Roster:
        """Return the known ones of these pods; `pods` itself must never change afterwards."""
        if self._pods is not pods:
            read, shape_of, names = self._roster.by_object, self._shapes.shape_of, self.scheduler_names
            known = []
            for pod in pods.values():
                spec = pod["spec"]
                if spec.get("nodeName") or spec.get("schedulerName") in names:
                    known.append(read.get(id(pod)) or PodInfo(pod, shape_of(spec)))
            self._pods, self._roster = pods, Roster(known)
        return self._roster
