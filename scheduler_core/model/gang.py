"""The gang of a PodGroup: its phase, and how many of its tasks are placed.

Source: volcano ``pkg/scheduler/api/job_info.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.model.podgroup import PodGroup
from scheduler_core.resource import Resource

NOT_ENQUEUED = "", "Pending"
"""Phases of a PodGroup that is not enqueued."""


class Gang(PodGroup):
    """A PodGroup in a session: its phase, and how many of its tasks are placed.

    Attributes
    ----------
    ready_count, waiting_count, valid_count, allocated_count : int
        Numbers of tasks that have a node (including finished ones), that are pipelined, that are or may still
        be placed, and that are in an allocated status.
    pending_best_effort : int
        The number of pending best-effort tasks.
    allocated : Resource
        The sum over the tasks in an allocated status.

    """

    __slots__ = (
        "allocated",
        "allocated_count",
        "conditions",
        "pending_best_effort",
        "phase",
        "phase_before",
        "ready_count",
        "valid_count",
        "waiting_count",
    )

    def _begin(self) -> None:
        """Reset to the status of the PodGroup, without tasks."""
        status = self.podgroup.get("status") or {}
        self.phase: str = status.get("phase") or ""
        self.phase_before = self.phase
        self.conditions: list[Mapping[str, Any]] = list(status.get("conditions") or ())
        self.ready_count = self.waiting_count = self.valid_count = self.allocated_count = 0
        self.pending_best_effort = 0
        self.allocated = Resource()

    @property
    def is_pending(self) -> bool:
        """Return whether the PodGroup has not been enqueued yet."""
        return self.phase in NOT_ENQUEUED

    def is_ready(self) -> bool:
        """Return whether the gang has its minimum; best-effort tasks count as placed."""
        return self.ready_count + self.pending_best_effort >= self.min_available

    def is_pipelined(self) -> bool:
        """Return whether the gang will have its minimum once resources are released."""
        return self.waiting_count + self.ready_count + self.pending_best_effort >= self.min_available

    def is_starving(self) -> bool:
        """Return whether the gang lacks members; best-effort tasks do not help."""
        return self.waiting_count + self.ready_count < self.min_available
