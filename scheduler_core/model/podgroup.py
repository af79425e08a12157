"""The specification of a PodGroup, which no session changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.model.pod_template import flag_of
from scheduler_core.resource_list import resource_of


class PodGroup:
    """The specification of a PodGroup, which no session changes.

    Attributes
    ----------
    task_min_available : dict
        The minimum number of tasks of each role, by role in ascending order.
    task_min_total : int
        The sum of these minimums.
    min_resources : Resource or None
        None: the PodGroup has none, which differs from an empty map. Never change it.

    """

    __slots__ = (
        "creation",
        "key",
        "min_available",
        "min_resources",
        "name",
        "namespace",
        "podgroup",
        "priority",
        "queue",
        "task_min_available",
        "task_min_total",
    )

    def __init__(self, podgroup: Mapping[str, Any], queue: str, priority: int, creation: float) -> None:
        metadata, spec = podgroup["metadata"], podgroup.get("spec") or {}
        self.podgroup = podgroup
        self.namespace: str = metadata["namespace"]
        self.name: str = metadata["name"]
        self.key = f"{self.namespace}/{self.name}"
        self.queue = queue
        self.priority = priority
        self.creation = creation
        self.min_available = int(spec.get("minMember") or 0)
        roles = spec.get("minTaskMember")
        self.task_min_available = _minimum_of_roles(roles) if roles else {}
        self.task_min_total = sum(self.task_min_available.values())
        minimum = spec.get("minResources")
        self.min_resources = None if minimum is None else resource_of(minimum)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key})"

    def annotations(self) -> Mapping[str, str]:
        """Return the PodGroup's annotations."""
        return self.podgroup["metadata"].get("annotations") or {}

    def labels(self) -> Mapping[str, str]:
        """Return the PodGroup's labels."""
        return self.podgroup["metadata"].get("labels") or {}

    @property
    def preemptable(self) -> bool:
        """Return the PodGroup's own preemptable flag, False if it has none."""
        return flag_of(self.annotations(), self.labels(), default=False)

    @property
    def role_minimums_apply(self) -> bool:
        """Return whether minimums per role apply: not if minMember is below their sum."""
        return self.min_available >= self.task_min_total


def _minimum_of_roles(roles: Mapping[str, Any]) -> dict[str, int]:
    return {role: int(roles[role] or 0) for role in sorted(roles)}
