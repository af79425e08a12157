"""The objects of a job: a vcjob, its PodGroups and their pods."""

from collections.abc import Mapping
from typing import Any

from queuecast.plans import Key, key_of
from scheduler_core.explain import podgroup_keys
from scheduler_core.model.pod_info import GROUP_NAME


def parts_of(document: Mapping[str, Any], name: str) -> dict[str, set[Key]]:
    """Return the objects of the vcjob or PodGroup `namespace/name`, by list; empty if there is none."""
    namespace, _, own = name.rpartition("/")
    key = (namespace or "default", own)
    keys = {kind: {key_of(kind, one) for one in document.get(kind) or ()} for kind in ("jobs", "podgroups")}
    names = {key, *(_key(made) for made in podgroup_keys(document, "/".join(key)))}
    parts = {"jobs": keys["jobs"] & {key}}
    parts["podgroups"] = keys["podgroups"] & (names if parts["jobs"] else {key})
    parts["pods"] = {
        key_of("pods", pod) for pod in document.get("pods") or () if _group_of(pod) in parts["podgroups"]
    }
    return {kind: held for kind, held in parts.items() if held}


def _key(text: str) -> Key:
    namespace, _, name = text.partition("/")
    return namespace, name


def _group_of(pod: Mapping[str, Any]) -> Key:
    annotations = pod["metadata"].get("annotations") or {}
    return key_of("pods", pod)[0], annotations.get(GROUP_NAME) or ""
