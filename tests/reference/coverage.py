"""Which scenarios does the reference engine cover? All but those for which `left_out` gives a reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.reference.cluster import GROUP, conf_of, items
from tests.reference.engine import ACTIONS
from tests.reference.plugins import PLUGINS

Object = Mapping[str, Any]

NODE_NOTES = ("volcano.sh/oversubscription-cpu", "volcano.sh/oversubscription-memory")


def left_out(document: Object) -> str | None:
    """Return why a scenario is not covered, None when it is."""
    return next(_reasons(document), None)


def _reasons(document: Object) -> Iterator[str]:
    conf = conf_of(document)
    if not isinstance(conf, Mapping) or not isinstance(conf.get("tiers"), list) or conf.get("metrics"):
        yield "no configuration of tiers"
        return
    if {name.strip() for name in conf.get("actions", "").split(",")} - {*ACTIONS}:
        yield "an action that is not covered"
    entries = [entry for tier in conf["tiers"] for entry in tier.get("plugins") or ()]
    names = [entry["name"] for entry in entries]
    if {*names} - {*PLUGINS}:
        yield "a plugin that is not covered"
    if len({*names}) < len(names):
        yield "a plugin named twice"
    if any(entry.get("enableHierarchy") for entry in entries if entry["name"] != "capacity"):
        yield "a hierarchy of drf"
    if any(entry["name"] == "capacity" and entry.get("enableHierarchy") for entry in entries):
        yield from _of_tree(document)
    elif any(
        (queue.get("spec") or {}).get("parent") not in (None, "", "root")
        for queue in items(document, "queues")
    ):
        yield "queues in a tree that no plugin reads"
    if any((entry.get("arguments") or {}) for entry in entries if entry["name"] == "predicates"):
        yield "arguments of predicates"
    if conf.get("configurations"):
        yield "arguments of actions"
    for name in ("jobs", "services", "release", "volcano_version"):
        if document.get(name):
            yield f"{name} in the scenario"
    if document.get("admission_defaults", True) is not True:
        yield "admission defaults switched off"
    for pod in items(document, "pods"):
        yield from _of_pod(pod)
    names = {node["metadata"]["name"] for node in items(document, "nodes")}
    if any(pod["spec"].get("nodeName", "") not in {"", *names} for pod in items(document, "pods")):
        yield "a pod on an unknown node"
    for node in items(document, "nodes"):
        notes = node["metadata"].get("annotations") or {}
        if (node.get("status") or {}).get("images") or any(name in notes for name in NODE_NOTES):
            yield "images or oversubscription of a node"


def _of_tree(document: Object) -> Iterator[str]:
    queues = items(document, "queues")
    names = {queue["metadata"]["name"] for queue in queues}
    if document.get("default_queues", True):
        names |= {"root", "default"}
    parents = {
        queue["metadata"]["name"]: (queue.get("spec") or {}).get("parent") or "root"
        for queue in queues
        if queue["metadata"]["name"] != "root"
    }
    if "root" not in names or {*parents.values()} - names:
        yield "a tree with missing queues"
        return
    for name in parents:
        path = [name]
        while path[-1] != "root" and len(path) <= len(parents):
            path.append(parents.get(path[-1], "root"))
        if path[-1] != "root":
            yield "a circle of queues"
            return
    inner = {*parents.values(), "root"}
    if any((group.get("spec") or {}).get("queue") in inner for group in items(document, "podgroups")):
        yield "a job in a queue with children"


def _of_pod(pod: Object) -> Iterator[str]:
    spec, status = pod["spec"], pod.get("status") or {}
    if spec.get("affinity") or spec.get("topologySpreadConstraints"):
        yield "affinity or topology spread of a pod"
    if spec.get("resources") or spec.get("volumes"):
        yield "requests or volumes of a whole pod"
    if status.get("nominatedNodeName") or status.get("containerStatuses"):
        yield "a nominated node, or statuses of containers"
    if spec.get("schedulerName") not in (None, "volcano") and not spec.get("nodeName"):
        yield "a pod of another scheduler without a node"
    if GROUP not in (pod["metadata"].get("annotations") or {}) and not spec.get("nodeName"):
        yield "a pending pod without a PodGroup"
