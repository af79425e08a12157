"""Copies of a node, to enlarge its pool."""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

HOSTNAME = "kubernetes.io/hostname"
LIKE = "queuecast/like"
"""The annotation of a copy, with the name of the original. The core gives copies pods of DaemonSets."""
_OF_ITS_STATE = "node.kubernetes.io/"
"""The prefix of taints that Kubernetes sets while a node is cordoned, not ready or under pressure."""


def node_like(node: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a new node with the same shape, taints and labels, ready and not cordoned."""
    twin: dict[str, Any] = copy.deepcopy(dict(node))
    metadata = twin["metadata"]
    labels = dict(metadata.get("labels") or {})
    if HOSTNAME in labels:
        labels[HOSTNAME] = name
    annotations = {LIKE: metadata["name"], **(metadata.get("annotations") or {})}
    twin["metadata"] = {"name": name, "labels": labels, "annotations": annotations}
    taints = (twin.get("spec") or {}).get("taints") or []
    taints = [taint for taint in taints if not str(taint.get("key") or "").startswith(_OF_ITS_STATE)]
    twin["spec"] = {"taints": taints} if taints else {}
    if (twin.get("status") or {}).get("conditions"):
        twin["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    return twin


def numbered_names(prefix: str, count: int, taken: Iterable[str]) -> list[str]:
    """Return free names: the prefix with unused numbers.

    >>> numbered_names("gpu", 2, ["gpu-1"])
    ['gpu-2', 'gpu-3']
    """
    names: list[str] = []
    seen, number = set(taken), 0
    while len(names) < count:
        number += 1
        if (name := f"{prefix}-{number}") not in seen:
            names.append(name)
    return names
