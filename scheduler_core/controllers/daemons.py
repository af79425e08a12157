"""Pods that belong to their node, on nodes that are copies: those of DaemonSets, and static ones.

A node that was copied (annotation `LIKE`) gets the pods of a node with the same labels and taints. The
DaemonSets themselves are not part of a scenario, and their pods no longer say which nodes their template
selects. All other nodes have the pods that the scenario gives them.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

from scheduler_core.controllers.made import Made, key_of
from scheduler_core.model.topology_spread import HOSTNAME
from scheduler_core.model.unmodelled import belongs_to_node, is_of_daemonset
from scheduler_core.model.workloads import NodePods

Object = Mapping[str, Any]

LIKE = "queuecast/like"
"""The annotation of a copied node; its value is the name of the node that was copied."""
ADDED = "Added: {n} pod{s} of DaemonSets on new nodes, like those of a node with the same labels and taints."
_OF_ITS_STATE = "node.kubernetes.io/"
"""The prefix of taints that Kubernetes sets while a node is cordoned, not ready or under pressure."""
_ENDED = ("Succeeded", "Failed")


def pods_of_nodes(pods: Iterable[Object]) -> NodePods:
    """Return the pods that belong to their node, for each node with a pod of a DaemonSet."""
    found: dict[str, list[Object]] = {}
    for pod in pods:
        node = (pod.get("spec") or {}).get("nodeName")
        if node and belongs_to_node(pod) and (pod.get("status") or {}).get("phase") not in _ENDED:
            found.setdefault(node, []).append(pod)
    return {node: of_node for node, of_node in found.items() if any(map(is_of_daemonset, of_node))}


def twins_of(
    nodes: Iterable[Object], equipped: NodePods, only: Collection[str] | None = None
) -> dict[str, str]:
    """Return for each copied node without pods of DaemonSets an equal node that has some, if there is one.

    Of several the one with most of them, then the first by name. With `only`, for nodes of these names.
    """
    listed = list(nodes) if equipped else []
    bare = {node["metadata"]["name"] for node in listed if _is_copy(node)} - equipped.keys()
    if not bare:
        return {}
    kinds = {node["metadata"]["name"]: _kind(node) for node in listed}
    models: dict[Hashable, str] = {}
    for name in sorted(kinds.keys() & equipped.keys(), key=lambda name: (-len(equipped[name]), name)):
        models.setdefault(kinds[name], name)
    return {
        name: models[kind]
        for name, kind in kinds.items()
        if name in bare and kind in models and (only is None or name in only)
    }


def bare_nodes(nodes: Iterable[Object], equipped: NodePods, twins: Mapping[str, str]) -> set[str]:
    """Return the nodes that have and get no pods of DaemonSets, in a cluster in which others have some."""
    named = {node["metadata"]["name"] for node in nodes} if equipped else set()
    return named - equipped.keys() - twins.keys()


def equip(twins: Mapping[str, str], equipped: NodePods, taken: Collection[str] = ()) -> Made:
    """Return the pods that nodes get like their twins; none whose key is taken."""
    made = Made()
    for node, twin in sorted(twins.items()):
        copies = {key_of(copy): copy for copy in (_copy(pod, twin, node) for pod in equipped[twin])}
        made.pods += [copy for key, copy in sorted(copies.items()) if key not in taken]
    if made.pods:
        made.notes[ADDED] += len(made.pods)
    return made


def _is_copy(node: Object) -> bool:
    return LIKE in (node["metadata"].get("annotations") or ())


def _kind(node: Object) -> Hashable:
    """Return all labels but the host name, and the taints that a node of the same pool has, too."""
    labels = node["metadata"].get("labels") or {}
    taints = (node.get("spec") or {}).get("taints") or ()
    return (
        frozenset(label for label in labels.items() if label[0] != HOSTNAME),
        frozenset(
            (taint.get("key"), taint.get("value"), taint.get("effect"))
            for taint in taints
            if not str(taint.get("key") or "").startswith(_OF_ITS_STATE)
        ),
    )


def _copy(pod: Object, twin: str, node: str) -> Object:
    """Return a running pod of a node like one of its twin."""
    metadata, spec = pod["metadata"], pod["spec"]
    sets = [owner["name"] for owner in metadata["ownerReferences"] if owner.get("kind") == "DaemonSet"]
    name = sets[0] if sets else str(metadata["name"]).removesuffix(f"-{twin}")
    kept = {part: metadata[part] for part in ("namespace", "labels", "annotations") if part in metadata}
    others = {part: value for part, value in (spec.get("affinity") or {}).items() if part != "nodeAffinity"}
    return {
        "metadata": {**kept, "name": f"{name}-{node}", "ownerReferences": metadata["ownerReferences"]},
        "spec": {**spec, "nodeName": node, "affinity": others},
        "status": {"phase": "Running"},
    }
