"""On which nodes is there anybody who could be evicted?

Counts that spare a look at every pod of every node.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.held_tasks import AllHeldTasks
from scheduler_core.model.job import NO_NODE, JobInfo, TaskInfo
from scheduler_core.model.node import NodeTable
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.status import PREEMPTABLE_STATUSES, TaskStatus

Counts = NDArray[np.int64]


class EvictableCounts:
    """How many tasks each node has that preempt or reclaim might take, kept up to date with the nodes.

    What depends on the task that looks for room is not in the counts: a node with none of them has no
    candidate, one with some may have none either.

    Attributes
    ----------
    held : dict
        Per queue, (N,): its bound and running tasks that do not forbid eviction.
    reclaimable : (N,) int64
        The running ones among them, over all queues that may be reclaimed from.

    """

    def __init__(self, nodes: NodeTable, queues: Mapping[str, QueueInfo], tasks: AllHeldTasks) -> None:
        self.nodes = nodes
        self.held: dict[str, Counts] = {name: np.zeros(len(nodes), dtype=np.int64) for name in queues}
        self.running: dict[str, Counts] = {name: np.zeros(len(nodes), dtype=np.int64) for name in queues}
        self.reclaimable: Counts = np.zeros(len(nodes), dtype=np.int64)
        self._may_lose = {name for name, queue in queues.items() if queue.reclaimable}
        self.held.update(tasks.counts(PREEMPTABLE_STATUSES))
        self.running.update(tasks.counts({TaskStatus.RUNNING}))
        for queue in self._may_lose:
            self.reclaimable += self.running[queue]
        nodes.listeners.append(self._follow)

    def _follow(self, task: TaskInfo, before: TaskStatus | None, after: TaskStatus | None) -> None:
        self._count(task, before, -1)
        self._count(task, after, 1)

    def _count(self, task: TaskInfo, status: TaskStatus | None, sign: int) -> None:
        if task.job is None or not task.preemptable or status not in PREEMPTABLE_STATUSES:
            return
        queue, number = task.job.queue, task.node
        self.held[queue][number] += sign
        if status is TaskStatus.RUNNING:
            self.running[queue][number] += sign
            if queue in self._may_lose:
                self.reclaimable[number] += sign

    def of_other_jobs(self, job: JobInfo) -> Counts:
        """Return the tasks on each node that other jobs of the job's queue might lose, (N,)."""
        return self.held[job.queue] - self.of_job(job)

    def of_job(self, job: JobInfo) -> Counts:
        """Return the tasks on each node that the job itself might lose, (N,)."""
        numbers = [
            task.node
            for status in PREEMPTABLE_STATUSES
            for task in job.by_status[status].values()
            if task.preemptable and task.node != NO_NODE
        ]
        return (
            np.bincount(numbers, minlength=len(self.nodes))
            if numbers
            else np.zeros(len(self.nodes), dtype=np.int64)
        )

    def of_other_queues(self, queue: str) -> Counts:
        """Return the tasks on each node that other queues might lose to a queue, (N,)."""
        if queue in self._may_lose:
            return self.reclaimable - self.running[queue]
        return self.reclaimable
