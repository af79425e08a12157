"""The fields that the scheduler reads from a Queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.errors import SchedulerHang, SchedulerPanic
from scheduler_core.resource_list import read_resource_list

HIERARCHY = "volcano.sh/hierarchy"
HIERARCHY_WEIGHTS = "volcano.sh/hierarchy-weights"
ROOT = "root"


class QueueInfo:
    """One Queue; its name is its identity.

    Attributes
    ----------
    parent : str
        As written; empty if the queue names none, in which case the parent is `root`.
    guarantee, deserved, capability : Resource
        Empty if the queue has none.

    """

    def __init__(self, queue: Mapping[str, Any], creation: float) -> None:
        spec, metadata = queue.get("spec") or {}, queue["metadata"]
        annotations = metadata.get("annotations") or {}
        self.queue = queue
        self.name: str = metadata["name"]
        self.creation = creation
        self.weight = int(spec.get("weight") or 0)
        self.priority = int(spec.get("priority") or 0)
        self.reclaimable: bool = spec.get("reclaimable") is not False
        self.parent: str = spec.get("parent") or ""
        self.state: str = (queue.get("status") or {}).get("state") or ""
        self.hierarchy: str = annotations.get(HIERARCHY) or ""
        self.hierarchy_weights: str = annotations.get(HIERARCHY_WEIGHTS) or ""
        self.affinity: Mapping[str, Any] | None = spec.get("affinity")
        self.guarantee = read_resource_list((spec.get("guarantee") or {}).get("resource"))
        self.deserved = read_resource_list(spec.get("deserved"))
        self.capability = read_resource_list(spec.get("capability"))
        self.names_capability = bool(spec.get("capability"))

    def __repr__(self) -> str:
        return f"QueueInfo({self.name})"

    @property
    def is_open(self) -> bool:
        """Return whether the state is exactly Open; an empty state is not."""
        return self.state == "Open"


def rooted(annotations: Mapping[str, str]) -> dict[str, str] | None:
    """Return a new queue's annotations with a hierarchy path from root, None if they need no change."""
    path, weights = annotations.get(HIERARCHY), annotations.get(HIERARCHY_WEIGHTS)
    if not path or not weights or path.startswith(ROOT):
        return None
    return {**annotations, HIERARCHY: f"{ROOT}/{path}", HIERARCHY_WEIGHTS: f"1/{weights}"}


def ancestors(queues: Mapping[str, QueueInfo], name: str) -> list[str]:
    """Return the ancestors of a queue, nearest first; `root` is followed by `root` once more, as in Volcano.

    Raises
    ------
    SchedulerPanic, SchedulerHang
        If Volcano, which follows the parents of queues with allocated pods, would crash or hang.

    """
    chain: list[str] = []
    while not chain or name != ROOT:
        child, name = name, queues[name].parent or ROOT
        if name not in queues:
            raise SchedulerPanic(f"queue {child} has allocated pods, and its parent {name} does not exist")
        if name in chain:
            raise SchedulerHang(f"queue {name} is its own ancestor and has allocated pods")
        chain.append(name)
    return chain
