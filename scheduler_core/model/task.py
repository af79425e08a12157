"""Tasks: pods as the scheduler sees them.

Source: volcano ``pkg/scheduler/api/job_info.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from scheduler_core.model.pod import PodShape
from scheduler_core.model.pod_info import PodInfo, pod_index
from scheduler_core.model.pod_kind import PodKind
from scheduler_core.model.status import TaskStatus
from scheduler_core.resource import Resource

NO_NODE = -1


class Transaction(NamedTuple):
    """The state of a task when its statement was discarded."""

    node_name: str
    status: TaskStatus
    eviction_occurred: bool


class Task:
    """One pod as the scheduler sees it, without its job, see `model.job.TaskInfo`.

    Attributes
    ----------
    number : int
        Its number in the snapshot.
    nominated : str
        The node that an earlier cycle nominated for the pod, empty if none did.

    """

    __slots__ = (
        "_pod",
        "creation",
        "eviction_occurred",
        "info",
        "key",
        "kind",
        "last_transaction",
        "name",
        "namespace",
        "node",
        "node_name",
        "node_status",
        "nominated",
        "number",
        "preemptable",
        "priority",
        "role",
        "shape",
        "status",
        "uid",
    )

    def __init__(self, number: int, info: PodInfo, kind: PodKind, shape: PodShape) -> None:
        self.number = number
        self.info = info
        self.kind = kind
        self._pod: Mapping[str, Any] | None = None
        self.uid = info.uid
        self.namespace = info.namespace
        self.name = info.name
        self.key = info.key
        self.shape = shape
        self.creation = info.creation
        self.role = kind.role
        self.priority = kind.priority
        self.preemptable = kind.preemptable
        self.nominated: str = (info.given.get("status") or {}).get("nominatedNodeName") or ""
        self.reset(NO_NODE)

    def reset(self, node: int) -> None:
        """Reset to the status of the pod, on the node of this number."""
        self.status = self.node_status = self.info.status
        self.node = node
        self.node_name = self.info.node_name
        self.eviction_occurred = False
        self.last_transaction: Transaction | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key}, {self.status.label})"

    @property
    def pod(self) -> Mapping[str, Any]:
        """Return the pod as the scheduler finds it."""
        if self._pod is None:
            self._pod = self.kind.admit(self.info.given)
        return self._pod

    @property
    def best_effort(self) -> bool:
        """Return whether nothing but `pods` is requested."""
        return self.shape.best_effort

    @property
    def request(self) -> Resource:
        """Return the task's request; never change it."""
        return self.shape.request

    @property
    def index(self) -> int | None:
        """Return the number at the end of the pod's name, None if it has none."""
        return pod_index(self.name)

    def annotations(self) -> Mapping[str, str]:
        """Return the pod's annotations."""
        return self.info.given["metadata"].get("annotations") or {}

    def labels(self) -> Mapping[str, str]:
        """Return the pod's labels."""
        return self.info.given["metadata"].get("labels") or {}

    def standing(self) -> Transaction | Task:
        """Return the task's state in the last discarded transaction, else the task itself."""
        return self.last_transaction or self
