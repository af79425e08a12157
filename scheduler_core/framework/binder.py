"""Binds tasks to nodes in the cache of the scheduler, outside any statement.

Source: volcano ``pkg/scheduler/cache/cache.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import NodeTable
from scheduler_core.model.rows import add_pairs, fits
from scheduler_core.model.status import TaskStatus

BINDING = TaskStatus.BINDING


class Binder:
    """The nodes in the cache of the scheduler.

    They account only for pods that the session has bound, so a node that was over-committed from the start
    may refuse a task.

    Attributes
    ----------
    idle : list of list of float
        The idle amounts of each node in the cache.

    """

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self.idle = [list(row) for row in nodes.idle_of]

    def renew(self, nodes: Iterable[int]) -> None:
        """Update the changed nodes for the next session."""
        for node in nodes:
            self.idle[node] = list(self._nodes.idle_of[node])

    def bind(self, task: TaskInfo) -> bool:
        """Bind a task; return False if its node in the cache has no room for it."""
        idle = self.idle[task.node]
        if not fits(task, idle):
            return False
        add_pairs(idle, task.shape.amounts, -1.0)
        if task.job is not None:
            task.job.update_task_status(task, BINDING)
        return True
