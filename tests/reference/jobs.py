"""Jobs, from their PodGroups and tasks: ``spec/resources.md`` 6, ``gang_priority.md`` 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.reference.pods import ALLOCATED, PREEMPTABLE, READY, TRUE, Task
from tests.reference.resources import Vector, exceeded, is_empty, is_scalar, total, vector
from tests.reference.times import seconds

Object = Mapping[str, Any]


class Job:
    """A PodGroup with its tasks, by uid."""

    def __init__(self, group: Object, classes: Mapping[str, Object]) -> None:
        meta, spec = group["metadata"], group["spec"]
        self.group, self.namespace = group, meta.get("namespace") or "default"
        self.key = f"{self.namespace}/{meta['name']}"
        self.creation = seconds(meta.get("creationTimestamp"))
        self.notes = meta.get("annotations") or {}
        flag = self.notes.get(PREEMPTABLE, (meta.get("labels") or {}).get(PREEMPTABLE))
        self.says_preemptable = flag is not None
        self.preemptable = flag in TRUE
        self.queue = spec.get("queue") or "default"
        self.min_available = int(spec.get("minMember") or 0)
        self.minimums: dict[str, int] = spec.get("minTaskMember") or {}
        self.amounts = spec.get("minResources")
        self.min_resources = None if self.amounts is None else vector(self.amounts)
        named = classes.get(spec.get("priorityClassName") or "") or classes.get("")
        self.priority = named["value"] if named else 0
        self.phase = (group.get("status") or {}).get("phase") or ""
        self.tasks: list[Task] = []
        self.fit_errors: dict[str, dict[str, list[int]]] = {}

    def count(self, *statuses: str) -> int:
        """Return the number of tasks with one of some statuses."""
        return sum(task.status in statuses for task in self.tasks)

    def pending(self) -> list[Task]:
        """Return the pending tasks without scheduling gates, by uid."""
        return [task for task in self.tasks if task.status == "Pending" and not task.gated]

    def waiting_best_effort(self) -> int:
        """Return how many best-effort tasks are pending."""
        return sum(task.status == "Pending" and task.best_effort for task in self.tasks)

    @property
    def is_pending(self) -> bool:
        """Return whether the job has not been enqueued."""
        return self.phase in ("", "Pending")

    def is_ready(self) -> bool:
        """Return whether the minimum is placed."""
        return self.count(*READY) + self.waiting_best_effort() >= self.min_available

    def is_pipelined(self) -> bool:
        """Return whether the minimum is placed or pipelined."""
        return self.count("Pipelined", *READY) + self.waiting_best_effort() >= self.min_available

    def roles_have(self, statuses: tuple[str, ...], *, best_effort: bool = False) -> bool:
        """Return whether every role has its minimum; true if the roles' minimums exceed the job's."""
        if self.min_available < sum(self.minimums.values()):
            return True
        return all(
            self.of_role(role, statuses, best_effort) >= least for role, least in self.minimums.items()
        )

    def of_role(self, role: str, statuses: tuple[str, ...], best_effort: bool) -> int:
        """Return the number of tasks of a role with one of some statuses."""
        return sum(
            task.status in statuses or (best_effort and task.status == "Pending" and task.best_effort)
            for task in self.tasks
            if task.role == role
        )

    def allocated(self) -> Vector:
        """Return the requests of the allocated tasks."""
        return total(task.request for task in self.tasks if task.status in ALLOCATED)

    def without_gated(self, amounts: Vector) -> Vector:
        """Return amounts without those of gated tasks."""
        gated = total(task.request for task in self.tasks if task.deducted)
        if is_empty(gated):
            return amounts
        return {name: max(amount - gated.get(name, 0.0), 0.0) for name, amount in amounts.items()}

    def reserved(self) -> Vector:
        """Return the part of the minimum that is not allocated."""
        allocated, result = self.allocated(), vector(None)
        for name in self.amounts or ():
            missing = (self.min_resources or {}).get(name, 0.0) - allocated.get(name, 0.0)
            if name in ("cpu", "memory", "pods") or (is_scalar(name) and name in allocated):
                result |= {name: missing} if missing > 0 else {}
            elif is_scalar(name):
                result[name] = (self.min_resources or {})[name]
        return result

    def elastic(self) -> Vector:
        """Return the allocated amount above the minimum."""
        return exceeded(self.allocated(), self.min_resources or vector(None))
