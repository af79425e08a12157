"""Totals over the tasks of a job, shared by jobs with equal tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from scheduler_core.model.pod import PodShape
from scheduler_core.model.status import ALLOCATED_STATUSES, READY_STATUSES, VALID_STATUSES, TaskStatus
from scheduler_core.resource import Resource


class JobTotals:
    """The totals over some tasks; immutable.

    Attributes
    ----------
    counts : mapping
        The number of tasks by status, without statuses that no task has.
    valid_count, ready_count, allocated_count, pending_best_effort : int
        As in `JobInfo`.
    allocated : Resource
        The sum over the tasks in an allocated status.
    gated_by_others : bool
        Whether some task has a scheduling gate that is not Volcano's.
    added : dict
        The amounts that jobs with these tasks add to their queues, see `queue_part`.

    Parameters
    ----------
    tasks : iterable
        The status and the shape of each task.

    """

    __slots__ = (
        "added",
        "allocated",
        "allocated_count",
        "counts",
        "gated_by_others",
        "pending_best_effort",
        "ready_count",
        "valid_count",
    )

    def __init__(self, tasks: Iterable[tuple[TaskStatus, PodShape]]) -> None:
        self.valid_count = self.ready_count = self.allocated_count = self.pending_best_effort = 0
        self.allocated = Resource()
        self.gated_by_others = False
        self.added: dict[Hashable, Any] = {}
        counts: Counter[TaskStatus] = Counter()
        for (status, shape), count in Counter(tasks).items():
            counts[status] += count
            self.gated_by_others = self.gated_by_others or shape.gated_by_others
            if status in VALID_STATUSES:
                self._count(status, shape, count)
        self.counts: Mapping[TaskStatus, int] = dict(sorted(counts.items()))

    def _count(self, status: TaskStatus, shape: PodShape, count: int) -> None:
        self.valid_count += count
        if status in READY_STATUSES:
            self.ready_count += count
            if status in ALLOCATED_STATUSES:
                self.allocated_count += count
                self.allocated.add(shape.request.clone().multi(count))
        elif shape.best_effort:
            self.pending_best_effort += count
