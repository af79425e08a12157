"""The fields that the scheduler reads from a Pod, read once per object.

Source: volcano ``pkg/scheduler/api/job_info.go`` (NewTaskInfo) at v1.15.1.
"""

from __future__ import annotations

from functools import lru_cache

from scheduler_core.model.pod_columns import NOTHING, Object, PodColumns
from scheduler_core.model.pod_template import PodTemplate, TemplateTable
from scheduler_core.model.timestamps import parse_time

GROUP_NAME = "scheduling.k8s.io/group-name"
DEFAULT_NAMESPACE = "default"


def creation_of(thing: Object) -> float:
    """Return when an object was created; minus infinity without a creationTimestamp."""
    text = thing["metadata"].get("creationTimestamp")
    return parse_time(text) if text else float("-inf")


class PodInfo:
    """One pod as sessions find it; immutable.

    Attributes
    ----------
    given : mapping
        The pod as written, before admission.
    creation : float
        Seconds since 1970, minus infinity without a creationTimestamp.
    job_key : str
        The namespace and name of the PodGroup that the pod names, empty if it names none.

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
        """Return the same pod after a write to its node, status or deletion timestamp."""
        after = PodInfo.__new__(PodInfo)
        after.name, after.namespace, after.key = self.name, self.namespace, self.key
        after.uid, after.creation, after.job_key = self.uid, self.creation, self.job_key
        after.given, after.template = given, template
        after.node_name = given["spec"].get("nodeName") or ""
        deleting = bool(given["metadata"].get("deletionTimestamp"))
        after.status = template.status(deleting=deleting, has_node=bool(after.node_name))
        return after


class PodTable:
    """Reads pods, each distinct template and timestamp once."""

    def __init__(self) -> None:
        self._templates = TemplateTable()
        self._times: dict[str | None, float] = {None: float("-inf"), "": float("-inf")}

    def read(self, pod: Object) -> PodInfo:
        """Read a valid pod."""
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
        """Read a pod after a bind, an eviction or a status update.

        Sound, as these write no part of a template but the phase: admitted pods that share a template also
        share one afterwards.
        """
        phase: str = (pod.get("status") or NOTHING).get("phase") or ""
        template = before.template.followers.get(phase)
        if template is not None:
            return before.followed_by(pod, template)
        info = self.read(pod)
        before.template.followers[phase] = info.template
        return info

    def read_all(self, columns: PodColumns) -> list[PodInfo]:
        """Read valid pods.

        Invalid pods may be read without an error; the caller validates the result.

        Raises
        ------
        KeyError, TypeError, AttributeError, ValueError, InputError
            For some invalid pods.

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


@lru_cache(maxsize=65536)
def pod_index(name: str) -> int | None:
    """Return the number at the end of a pod's name; None for fewer than three parts or no number."""
    parts = name.split("-")
    if len(parts) < 3:
        return None
    last = parts[-1]
    digits = last[1:] if last[:1] == "+" else last
    return int(last) if digits.isascii() and digits.isdigit() and abs(int(last)) < 2**63 else None
