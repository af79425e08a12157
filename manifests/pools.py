"""Copies of a node, to enlarge its pool."""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

HOSTNAME = "kubernetes.io/hostname"
_CORDONED = "node.kubernetes.io/unschedulable"


def node_like(node: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a new node with the same shape, taints and labels, not cordoned."""
    twin: dict[str, Any] = copy.deepcopy(dict(node))
    metadata = twin["metadata"]
    labels = dict(metadata.get("labels") or {})
    if HOSTNAME in labels:
        labels[HOSTNAME] = name
    kept = {"annotations": metadata["annotations"]} if metadata.get("annotations") else {}
    twin["metadata"] = {"name": name, "labels": labels, **kept}
    taints = (twin.get("spec") or {}).get("taints") or []
    taints = [taint for taint in taints if taint.get("key") != _CORDONED]
    twin["spec"] = {"taints": taints} if taints else {}
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
