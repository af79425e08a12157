"""Waiting copies of the objects of a workload."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planning.states import Json
from planning.workload_fields import DEFAULT, JOBS, PODGROUPS, PODS
from scheduler_core.model.pod_info import GROUP_NAME

SERVER_MADE = ("uid", "resourceVersion", "generation", "selfLink", "managedFields", "generateName")
_NAMING_THE_JOB = ("volcano.sh/job-name", "volcano.sh/template-uid")
"""Annotations and labels that the job controller derives from the name of the job."""


@dataclass(frozen=True)
class Naming:
    """The name of a workload and of its copy, and the names of their PodGroups, empty without one."""

    name: str
    new_name: str
    group: str = ""
    new_group: str = ""

    @classmethod
    def of(cls, namespace: str, name: str, new_name: str, group: str) -> "Naming":
        """Return the names of a copy; the PodGroup is named as the job controller names that of the copy."""
        is_made = group not in ("", name)
        return cls(name, new_name, group, f"{new_name}-{namespace}-{new_name}" if is_made else new_name)

    def new(self, text: str) -> str:
        """Return the name in the copy of an object, or of what it refers to."""
        return self.new_group if text == self.group else renamed(text, self.name, self.new_name)


def waiting_copy(kind: str, manifest: Mapping[str, Any], naming: Naming, now: str | None) -> Json:
    """Return a waiting copy of an object, on no node, created `now`, a time like the cluster's."""
    twin: Json = copy.deepcopy(dict(manifest))
    metadata = {part: value for part, value in twin["metadata"].items() if part not in SERVER_MADE}
    metadata["namespace"] = metadata.get("namespace") or DEFAULT
    metadata["name"] = naming.new(metadata["name"])
    for entries in (metadata.get("annotations") or {}, metadata.get("labels") or {}):
        for entry in (GROUP_NAME, *_NAMING_THE_JOB):
            if entry in entries:
                entries[entry] = naming.new(entries[entry])
    owners = metadata.get("ownerReferences") or []
    for owner in owners:
        if owner.get("name") == naming.name:
            owner["name"] = naming.new_name
            owner.pop("uid", None)
    if kind == PODGROUPS:
        # The PodGroup of a copy of its own belongs to no job.
        kept = [owner for owner in owners if owner.get("kind") != "Job" or owner["name"] == naming.new_name]
        metadata = {**metadata, "ownerReferences": kept} if owners else metadata
    if now:
        metadata["creationTimestamp"] = now
    twin["metadata"] = metadata
    twin["status"] = {} if kind == JOBS else {"phase": "Pending"}
    if kind == PODS:
        twin["spec"] = {part: value for part, value in twin["spec"].items() if part != "nodeName"}
    return twin


def renamed(text: str, name: str, new_name: str) -> str:
    """Return a name that began with the workload's, beginning with another one.

    >>> renamed("train-0", "train", "train-copy-1"), renamed("worker", "train", "train-copy-1")
    ('train-copy-1-0', 'train-copy-1-worker')
    """
    return new_name + text.removeprefix(name) if text.startswith(name) else f"{new_name}-{text}"
