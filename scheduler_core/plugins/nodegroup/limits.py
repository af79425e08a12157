"""Limits of queues per node group.

Source: volcano ``pkg/scheduler/plugins/nodegroup/nodegroup.go`` at v1.16.0-alpha.1.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

from scheduler_core.errors import InputError
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.status import ALLOCATED_STATUSES
from scheduler_core.resource import MIN_RESOURCE, Resource
from scheduler_core.resource_list import read_resource_list

ANNOTATION = "volcano.sh/nodegroup-resource-limits"

Limits = Mapping[str, Mapping[str, float]]
"""Amounts by resource, in the scheduler's units, by node group."""


def limits_of(queue: QueueInfo) -> Limits | None:
    """Return a queue's limits by node group; None if its annotation is malformed."""
    text = (queue.queue["metadata"].get("annotations") or {}).get(ANNOTATION)
    if not text:
        return {}
    try:
        return {group: dict(_amounts(amounts)) for group, amounts in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError, InputError):
        return None


def _amounts(amounts: Mapping[str, object] | None) -> dict[str, float]:
    read = read_resource_list(amounts)
    return {name: read.get(name) for name in amounts or ()}


class GroupLimits:
    """The limits of one session's queues, and the allocated amounts in each group.

    Attributes
    ----------
    limits : dict
        By queue, for queues that have limits.
    unreadable : set of str
        The queues whose limits are malformed: none of their tasks fits a node.

    """

    def __init__(self, session: Session, groups: Sequence[str | None]) -> None:
        self.groups = groups
        self.limits: dict[str, Limits] = {}
        self.unreadable: set[str] = set()
        for queue in session.queues.values():
            limits = limits_of(queue)
            if limits is None:
                self.unreadable.add(queue.name)
            elif limits:
                self.limits[queue.name] = limits
        self._allocated: dict[tuple[str, str], Resource] = defaultdict(Resource)
        for job in session.jobs.values():
            if job.queue in self.limits:
                for task in job.tasks.values():
                    if task.status in ALLOCATED_STATUSES:
                        self.allocate(task)

    def allocate(self, task: TaskInfo) -> None:
        """Charge an allocated task to its node's group."""
        key = self._key(task)
        if key is not None:
            self._allocated[key].add(task.request)

    def deallocate(self, task: TaskInfo) -> None:
        """Credit a task that is evicted or removed from its node."""
        key = self._key(task)
        if key is not None:
            self._allocated[key].sub(task.request)

    def _key(self, task: TaskInfo) -> tuple[str, str] | None:
        """Return queue and group of a placed task, None if the queue has no limits or the node no group."""
        if task.job is None or task.job.queue not in self.limits:
            return None
        group = self.groups[task.node] if task.node >= 0 else None
        return None if group is None else (task.job.queue, group)

    def is_limited(self, task: TaskInfo) -> bool:
        """Return whether a task's queue has limits."""
        return task.job is not None and task.job.queue in self.limits

    def full_groups(self, task: TaskInfo) -> set[str]:
        """Return the groups in which a task would exceed its queue's limits."""
        if task.job is None:
            return set()
        queue = task.job.queue
        return {
            group
            for group, limit in self.limits.get(queue, {}).items()
            if self._exceeds(self._allocated[queue, group], task.request, limit)
        }

    @staticmethod
    def _exceeds(allocated: Resource, request: Resource, limit: Mapping[str, float]) -> bool:
        return any(
            allocated.get(name) + request.get(name) - amount >= MIN_RESOURCE for name, amount in limit.items()
        )
