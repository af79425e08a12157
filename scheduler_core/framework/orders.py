"""The orders of jobs, queues, tasks and victims' queues.

Source: volcano ``pkg/scheduler/framework/session_plugins.go`` (JobOrderFn and the others) at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.functions import Functions
from scheduler_core.framework.plugin_fn import QueueOrderFn
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.queue import QueueInfo

# Read for each comparison; looking up the members of the enumeration would take as long as comparing.
JOB_ORDER, QUEUE_ORDER, TASK_ORDER = Point.JOB_ORDER, Point.QUEUE_ORDER, Point.TASK_ORDER
VICTIM_QUEUE_ORDER = Point.VICTIM_QUEUE_ORDER


class Orders:
    """The orders of one session: first by its plugins, then by age and name.

    Attributes
    ----------
    live_queues : bool
        Whether the heap of queues is rebuilt before every pop, by a rule that Volcano does not have.

    """

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._victim_queue_keys: dict[tuple[str, str], list[Any]] = {}
        self.live_queues = False

    def renew(self) -> None:
        """Drop the keys of the previous session; those of jobs are invalidated when jobs move."""
        self._victim_queue_keys.clear()

    def job_key(self, job: JobInfo) -> tuple[Any, ...]:
        """Return the sort key of a job: the plugins' keys, the PodGroup's age, the job's key."""
        if job.order is None:
            job.order = *[fn(job) for fn in self._functions[JOB_ORDER]], job.creation, job.key
        return job.order

    def compare_jobs(self, left: JobInfo, right: JobInfo) -> int:
        """Return a number below 0 if plugins order `left` first, 0 if they order neither first."""
        mine, theirs = self.job_key(left)[:-2], self.job_key(right)[:-2]
        return (mine > theirs) - (mine < theirs)

    def job_before(self, left: JobInfo, right: JobInfo) -> bool:
        """Return whether `left` is first in job order; ties go to the older PodGroup, then to the key."""
        return (left.order or self.job_key(left)) < (right.order or self.job_key(right))

    def queue_before(self, left: QueueInfo, right: QueueInfo) -> bool:
        """Return whether `left` is first in queue order; ties go to the older queue, then to the name."""
        for fn in self._functions[QUEUE_ORDER]:
            result: float = fn(left, right)
            if result:
                return result < 0
        return (left.creation, left.name) < (right.creation, right.name)

    def queue_key(self) -> Callable[[QueueInfo], tuple[Any, ...]] | None:
        """Return a sort key for queues, None if a plugin has none or reads live keys."""
        orders = self._functions.of_kind(QUEUE_ORDER, QueueOrderFn)
        keys = [order.key for order in orders if order.key is not None]
        if self.live_queues or len(keys) < len(orders):
            return None
        if not all(order.key_holds() for order in orders if order.key_holds is not None):
            return None
        return lambda queue: (*[key(queue) for key in keys], queue.creation, queue.name)

    def task_before(self, left: TaskInfo, right: TaskInfo) -> bool:
        """Return whether `left` is placed first.

        Ties go to the smaller pod index, the older pod, the smaller uid.
        """
        for fn in self._functions[TASK_ORDER]:
            mine, theirs = fn(left), fn(right)
            if mine != theirs:
                return bool(mine < theirs)
        if left.index is not None and right.index is not None and left.index != right.index:
            return left.index < right.index
        return (left.creation, left.uid) < (right.creation, right.uid)

    def task_key(self, task: TaskInfo) -> tuple[Any, ...]:
        """Return a sort key for tasks, valid if either all or none of them have a pod index."""
        return *[fn(task) for fn in self._functions[TASK_ORDER]], task.index or 0, task.creation, task.uid

    def victim_queue_before(self, left: QueueInfo, right: QueueInfo, preemptor: QueueInfo) -> bool:
        """Return whether `left` loses tasks first; ties go to the queue that is last in the queue order."""
        mine, theirs = self.victim_queue_key(left, preemptor), self.victim_queue_key(right, preemptor)
        return mine < theirs if mine != theirs else not self.queue_before(left, right)

    def victim_queue_key(self, queue: QueueInfo, preemptor: QueueInfo) -> list[Any]:
        """Return a key for the order in which queues lose tasks, regardless of the queue order."""
        names = queue.name, preemptor.name
        key = self._victim_queue_keys.get(names)
        if key is None:
            key = [fn(queue, preemptor) for fn in self._functions[VICTIM_QUEUE_ORDER]]
            self._victim_queue_keys[names] = key
        return key
