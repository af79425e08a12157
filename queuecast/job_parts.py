"""The objects of a job: a vcjob, its PodGroups and their pods."""

from collections.abc import Mapping
from typing import Any

from queuecast.plans import Key, key_of
from scheduler_core.model.pod_info import GROUP_NAME


def parts_of(document: Mapping[str, Any], name: str) -> dict[str, set[Key]]:
    """Return the objects of the vcjob or PodGroup `namespace/name`, by list; empty if there is none."""
    jobs = {key_of("jobs", one): one for one in document.get("jobs") or ()}
    groups = {key_of("podgroups", one): one for one in document.get("podgroups") or ()}
    namespace, _, own = name.rpartition("/")
    key = (namespace or "default", own)
    parts: dict[str, set[Key]] = {}
    if key in jobs:
        parts["jobs"] = {key}
    made = {of for of, group in groups.items() if of == key or (key in jobs and _is_of(group, of, key))}
    if made:
        parts["podgroups"] = made
        pods = {key_of("pods", pod) for pod in document.get("pods") or () if _group_of(pod) in made}
        if pods:
            parts["pods"] = pods
    return parts


def _is_of(group: Mapping[str, Any], key: Key, job: Key) -> bool:
    owners = group["metadata"].get("ownerReferences") or ()
    return key[0] == job[0] and any(
        owner.get("kind") == "Job" and owner.get("name") == job[1] for owner in owners
    )


def _group_of(pod: Mapping[str, Any]) -> Key:
    annotations = pod["metadata"].get("annotations") or {}
    return key_of("pods", pod)[0], annotations.get(GROUP_NAME) or ""
