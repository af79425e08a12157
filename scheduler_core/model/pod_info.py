"""What does the scheduler read from a Pod? Worked out once for as long as the pod stays the same object.

Source: volcano ``pkg/scheduler/api/job_info.go`` (NewTaskInfo) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from operator import attrgetter

from scheduler_core.model.axis import ResourceAxis
from scheduler_core.model.journal import Journal
from scheduler_core.model.pod import PodShape, ShapeTable
from scheduler_core.model.pod_columns import NOTHING, Object, PodColumns
from scheduler_core.model.pod_template import PodTemplate, TemplateTable
from scheduler_core.model.timestamps import parse_time

GROUP_NAME = "scheduling.k8s.io/group-name"
DEFAULT_NAMESPACE = "default"
_uid = attrgetter("uid")
_template = attrgetter("template")


def creation_of(thing: Object) -> float:
    """Return when an object was made; one without a creationTimestamp is the oldest of all."""
    text = thing["metadata"].get("creationTimestamp")
    return parse_time(text) if text else float("-inf")


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
    given : mapping
        The pod as it is written, before admission.
    creation : float
        Seconds since 1970, minus infinity without a creationTimestamp.
    job_key : str
        The namespace and name of the PodGroup that the pod names, empty when it names none.

    """

    __slots__ = (
        "creation",
        "given",
        "job_key",
        "key",
        "name",
        "namespace",
        "node_name",
        "status",
        "template",
        "uid",
    )

    def __init__(
        self,
        given: Object,
        template: PodTemplate,
        name: str,
        namespace: str,
        uid: str | None,
        node_name: str | None,
        creation: float,
        group: str | None,
    ) -> None:
        self.given = given
        self.template = template
        self.name = name
        self.namespace = namespace
        self.key = f"{namespace}/{name}"
        self.uid = uid or f"{namespace}-{name}"
        self.node_name = node_name or ""
        self.status = template.placed if node_name else template.pending
        self.creation = creation
        self.job_key = f"{namespace}/{group}" if group else ""

    @property
    def role(self) -> str:
        """Return the task of the job that the pod belongs to, empty without one."""
        return self.template.role

    def followed_by(self, given: Object, template: PodTemplate) -> PodInfo:
        """Return what is read of the pod once its node, its status or its deletion were written."""
        after = PodInfo.__new__(PodInfo)
        after.name, after.namespace, after.key = self.name, self.namespace, self.key
        after.uid, after.creation, after.job_key = self.uid, self.creation, self.job_key
        after.given, after.template = given, template
        after.node_name = given["spec"].get("nodeName") or ""
        deleting = bool(given["metadata"].get("deletionTimestamp"))
        after.status = template.status(deleting=deleting, has_node=bool(after.node_name))
        return after


class PodTable:
    """Reads pods, each template and each time once."""

    def __init__(self) -> None:
        self._templates = TemplateTable()
        self._times: dict[str | None, float] = {None: float("-inf"), "": float("-inf")}

    def read(self, pod: Object) -> PodInfo:
        """Return what is read of a sound pod."""
        metadata, times = pod["metadata"], self._times
        created = metadata.get("creationTimestamp")
        if created not in times:
            times[created] = parse_time(created)
        info = PodInfo(
            pod,
            self._templates.template_of(pod),
            metadata["name"],
            metadata.get("namespace") or DEFAULT_NAMESPACE,
            metadata.get("uid"),
            (pod.get("spec") or NOTHING).get("nodeName"),
            times[created],
            (metadata.get("annotations") or NOTHING).get(GROUP_NAME),
        )
        if metadata.get("deletionTimestamp"):
            info.status = info.template.status(deleting=True, has_node=bool(info.node_name))
        return info

    def read_after(self, before: PodInfo, pod: Object) -> PodInfo:
        """Return what is read of a pod after a bind, an eviction or its containers wrote it.

        Sound, as these write no part of a template but the phase: pods that were of one template, and were
        admitted, are of one again.
        """
        phase: str = (pod.get("status") or NOTHING).get("phase") or ""
        template = before.template.followers.get(phase)
        if template is not None:
            return before.followed_by(pod, template)
        info = self.read(pod)
        before.template.followers[phase] = info.template
        return info

    def read_all(self, columns: PodColumns) -> list[PodInfo]:
        """Return what is read of sound pods.

        Others may be read, too: it is for the caller to look at what came of it.

        Raises
        ------
        KeyError, TypeError, AttributeError, ValueError, InputError
            For pods that are not sound.

        """
        times = self._times
        for text in set(columns.created).difference(times):
            times[text] = parse_time(text)
        namespaces = [namespace or DEFAULT_NAMESPACE for namespace in columns.namespaces]
        infos = list(
            map(
                PodInfo,
                columns.pods,
                self._templates.templates_of(columns),
                columns.names,
                namespaces,
                columns.uids,
                columns.nodes,
                [times[text] for text in columns.created],
                [table.get(GROUP_NAME) for table in columns.annotations],
            )
        )
        if "deletionTimestamp" in columns.metadata_fields:
            for info, metadata in zip(infos, columns.metadata, strict=True):
                if metadata.get("deletionTimestamp"):
                    info.status = info.template.status(deleting=True, has_node=bool(info.node_name))
        return infos


class PodKind:
    """What a scheduler makes of the pods of one template.

    Attributes
    ----------
    shape : PodShape
        As the reader knows it; a session has its own copy, on its own axis.
    is_ours : bool
        The pods name one of the schedulers that are simulated.
    admit : callable
        ``admit(pod)``: the pod as the scheduler finds it.
    resolved : bool
        The pods get a priority that they do not name.
    priority_class : str
        The name of their class, empty without one.
    never_evicts : bool
        The pods evict nobody, by their preemption policy.

    """

    __slots__ = (
        "admit",
        "is_ours",
        "never_evicts",
        "preemptable",
        "priority",
        "priority_class",
        "resolved",
        "role",
        "shape",
    )

    def __init__(
        self, template: PodTemplate, shape: PodShape, admit: Callable[[Object], Object], names: frozenset[str]
    ) -> None:
        spec = admit(template.pod)["spec"]
        priority = spec.get("priority")
        self.shape = shape
        self.admit = admit
        self.role = template.role
        self.preemptable = template.preemptable
        self.is_ours = spec.get("schedulerName") in names
        self.priority_class: str = spec.get("priorityClassName") or ""
        self.never_evicts: bool = spec.get("preemptionPolicy") == "Never"
        self.resolved = priority is not None and (template.pod.get("spec") or NOTHING).get("priority") is None
        self.priority: int = 1 if priority is None else int(priority)
        if template.priority is not None:
            self.priority = _stated_priority(template.priority, self.priority)


class PodReader:
    """Tells what a scheduler makes of pods.

    Parameters
    ----------
    admit : callable
        ``admit(pod)``: a pod as the scheduler finds it; one that was admitted stays as it is.
    default_requests : bool
        Requests that a container lacks are its limits.
    scheduler_names : frozenset of str
        Pods of other schedulers are known only where they have a node.
    before : PodReader, optional
        One that makes the same of pods; it is left as it is.

    """

    def __init__(
        self,
        admit: Callable[[Object], Object],
        *,
        default_requests: bool,
        scheduler_names: frozenset[str],
        before: PodReader | None = None,
    ) -> None:
        self.admit = admit
        self.default_requests = default_requests
        self.scheduler_names = scheduler_names
        shapes = None if before is None else before._shapes
        self._shapes: ShapeTable = ShapeTable(default_requests=default_requests, before=shapes)
        self._kinds: dict[PodTemplate, PodKind] = {} if before is None else dict(before._kinds)

    def kind_of(self, template: PodTemplate) -> PodKind:
        """Return what becomes of the pods of a template."""
        kind = self._kinds.get(template)
        if kind is None:
            shape = self._shapes.shape_of(template.pod.get("spec") or NOTHING)
            kind = self._kinds[template] = PodKind(template, shape, self.admit, self.scheduler_names)
        return kind


class KnownPods:
    """The pods of one moment that the scheduler knows.

    Attributes
    ----------
    pods : list of PodInfo
        Ascending by uid.
    kinds : list of PodKind
        Those of the pods, each once, in order of first sight.
    numbers : list of int
        The position in `kinds` of each pod's kind.
    shapes : list of PodShape
        Those of the kinds, each once, in order of first sight.

    """

    def __init__(self, pods: Iterable[PodInfo], reader: PodReader) -> None:
        pods = list(pods)
        templates = dict.fromkeys(map(_template, pods))
        foreign = {template for template in templates if not reader.kind_of(template).is_ours}
        if foreign:
            pods = [info for info in pods if info.node_name or info.template not in foreign]
        self.pods = sorted(pods, key=_uid)
        numbers = {
            template: number for number, template in enumerate(dict.fromkeys(map(_template, self.pods)))
        }
        self.kinds = [reader.kind_of(template) for template in numbers]
        self.numbers = [numbers[info.template] for info in self.pods]
        self.shapes = list({kind.shape.number: kind.shape for kind in self.kinds}.values())

    def shapes_on(self, axis: ResourceAxis) -> list[PodShape]:
        """Return copies of the shapes with their rows of an axis, numbered by their positions."""
        return [shape.on_axis(axis, number) for number, shape in enumerate(self.shapes)]


class Pods(MutableMapping[str, Object]):
    """Pods by namespace/name as the scheduler finds them, each admitted when somebody looks at it.

    Attributes
    ----------
    infos : dict
        What is read of each, by the same keys.
    reader : PodReader
        What the scheduler makes of them.
    journal : Journal
        Where is noted which of them change.

    """

    def __init__(self, infos: Iterable[PodInfo], table: PodTable, reader: PodReader) -> None:
        self.infos = {info.key: info for info in infos}
        self._table = table
        self.reader = reader
        self.journal = Journal()
        self._known_pods: KnownPods | None = None

    def __getitem__(self, key: str) -> Object:
        return self.reader.admit(self.infos[key].given)

    def __setitem__(self, key: str, pod: Object) -> None:
        self.infos[key] = self._table.read(pod)
        self.journal.pods[key] = None
        self._known_pods = None

    def follow(self, key: str, pod: Object) -> None:
        """Write a pod of which `transitions` changed the node, the status or the deletion."""
        self.infos[key] = self._table.read_after(self.infos[key], pod)
        self.journal.pods[key] = None
        self._known_pods = None

    def __delitem__(self, key: str) -> None:
        del self.infos[key]
        self.journal.pods[key] = None
        self._known_pods = None

    def __contains__(self, key: object) -> bool:
        return key in self.infos

    def __iter__(self) -> Iterator[str]:
        return iter(self.infos)

    def __len__(self) -> int:
        return len(self.infos)

    def copy(self) -> Pods:
        """Return the same pods, to be changed."""
        pods = Pods(self.infos.values(), self._table, self.reader)
        pods._known_pods = self._known_pods
        return pods

    def only(self, pods: Iterable[Object]) -> Pods:
        """Return other pods that are read in the same way."""
        return Pods(map(self._table.read, pods), self._table, self.reader)

    def known_pods(self) -> KnownPods:
        """Return those that the scheduler knows."""
        if self._known_pods is None:
            self._known_pods = KnownPods(self.infos.values(), self.reader)
        return self._known_pods
