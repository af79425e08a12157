"""Effects of API server, webhooks and controllers on objects before the scheduler reads them.

``golden/README.md``, "admission_defaults"; the queues that the scheduler adds, ``spec/queues.md`` 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

Object = Mapping[str, Any]

HIERARCHY, WEIGHTS = "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"


def items(document: Object, name: str) -> list[Object]:
    """Return a list of the scenario."""
    found = document.get(name) or []
    return found["items"] if isinstance(found, Mapping) else list(found)


def key_of(thing: Object) -> str:
    """Return the namespace/name of an object."""
    return f"{thing['metadata'].get('namespace') or 'default'}/{thing['metadata']['name']}"


def conf_of(document: Object) -> Any:
    """Return the scheduler configuration, read from its text if it is one."""
    conf = document.get("scheduler_conf")
    if isinstance(conf, Mapping) and conf.get("kind") == "ConfigMap":
        conf = next((text for key, text in conf["data"].items() if key.endswith(".conf")), None)
    return yaml.safe_load(conf) if isinstance(conf, str) else conf


def classes_of(document: Object) -> dict[str, Object]:
    """Return the priority classes by name, the global default as ``""``."""
    classes = {entry["metadata"]["name"]: entry for entry in items(document, "priorityclasses")}
    for entry in [entry for entry in classes.values() if entry.get("globalDefault")]:
        classes[""] = entry
    return classes


def is_defaulted(document: Object) -> bool:
    """Return whether admission sets defaults."""
    return document.get("admission_defaults", True) is True


def queues_of(document: Object) -> list[Object]:
    """Return the queues, including those added by the scheduler."""
    queues = list(items(document, "queues"))
    names = {queue["metadata"]["name"] for queue in queues}
    if document.get("default_queues", True):
        queues += [
            {
                "metadata": {"name": name},
                "spec": {"weight": 1, "reclaimable": name == "default"},
                "status": {"state": "Open"},
            }
            for name in ("default", "root")
            if name not in names
        ]
    return [_queue(queue) for queue in queues] if is_defaulted(document) else queues


def _queue(queue: Object) -> Object:
    metadata, spec, status = queue["metadata"], queue.get("spec") or {}, queue.get("status") or {}
    notes = dict(metadata.get("annotations") or {})
    path, weights = notes.get(HIERARCHY), notes.get(WEIGHTS)
    if path and weights and not path.startswith("root"):
        notes |= {HIERARCHY: f"root/{path}", WEIGHTS: f"1/{weights}"}
    return {
        "metadata": {**metadata, "annotations": notes},
        "spec": {**spec, "weight": spec.get("weight") or 1},
        "status": {**status, "state": status.get("state") or "Open"},
    }


def nodes_of(document: Object) -> list[Object]:
    """Return the nodes."""
    nodes = items(document, "nodes")
    if not is_defaulted(document):
        return nodes
    return [{**node, "status": _node_status(node.get("status") or {})} for node in nodes]


def _node_status(status: Object) -> Object:
    missing = status.get("allocatable") is None
    return {**status, "allocatable": status.get("capacity" if missing else "allocatable")}


def pods_of(document: Object) -> list[Object]:
    """Return the pods."""
    pods = items(document, "pods")
    if not is_defaulted(document):
        return pods
    classes = classes_of(document)
    return [{**pod, "spec": _pod_spec(pod["spec"], classes)} for pod in pods]


def _pod_spec(spec: Object, classes: Mapping[str, Object]) -> Object:
    named = classes.get(spec.get("priorityClassName") or "") or classes.get("")
    defaults: dict[str, Any] = {}
    if named is not None:
        defaults = {"priority": named["value"], "preemptionPolicy": named.get("preemptionPolicy")}
    for kind in ("containers", "initContainers"):
        defaults[kind] = [_with_requests(container) for container in spec.get(kind) or ()]
    if spec.get("resources"):
        defaults |= {"resources": _with_requests(spec)["resources"]}
    given = {key: value for key, value in spec.items() if key in ("priority", "preemptionPolicy")}
    return {**spec, **defaults, **given}


def _with_requests(holder: Object) -> dict[str, Any]:
    resources = holder.get("resources") or {}
    requests = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {**holder, "resources": {**resources, "requests": requests}}
