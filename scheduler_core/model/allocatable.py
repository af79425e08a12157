"""The allocatable amounts of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.resource import Resource
from scheduler_core.resource_list import resource_of

OVERSUBSCRIPTION = {"cpu": "volcano.sh/oversubscription-cpu", "memory": "volcano.sh/oversubscription-memory"}


def allocatable_of(node: Mapping[str, Any]) -> Resource:
    """Return a node's allocatable with its oversubscription annotations (milli-cores and bytes) added."""
    allocatable = resource_of((node.get("status") or {}).get("allocatable") or {}).clone()
    annotations = node["metadata"].get("annotations") or {}
    for name, key in OVERSUBSCRIPTION.items():
        if key in annotations:
            allocatable.set(name, allocatable.get(name) + _float_or_zero(annotations[key]))
    return allocatable


def _float_or_zero(text: object) -> float:
    try:
        return float(str(text))
    except ValueError:
        return 0.0
