"""Dry runs of evictions: check whether a task fits a node after some evictions, without changing the session.

Source: volcano ``pkg/scheduler/framework/session_plugins.go`` (Simulate*) at v1.15.1.
"""

from __future__ import annotations

from typing import Any

from scheduler_core.errors import CoreError, SchedulerPanic
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.rows import add_pairs, fits


class DryRun:
    """The state of one node without some of its tasks, for one preemptor.

    Attributes
    ----------
    available : list of float
        The future idle amounts of the node.
    state : dict
        The plugins' cycle state of the preemptor, by plugin, cloned where possible.

    """

    def __init__(self, session: Session, queue: QueueInfo, preemptor: TaskInfo, node: int) -> None:
        self.session = session
        self.queue = queue
        self.preemptor = preemptor
        self.node = node
        self.available = list(session.nodes.future_of[node])
        self.state: dict[str, Any] = {
            plugin: value.clone() if hasattr(value, "clone") else value
            for plugin, value in session.cycle_state(preemptor).items()
        }

    def remove(self, task: TaskInfo) -> bool:
        """Remove a task from the node; return False if a plugin cannot simulate that."""
        add_pairs(self.available, task.shape.amounts, 1.0)
        return self._simulate(Point.SIMULATE_REMOVE_TASK, task)

    def add(self, task: TaskInfo) -> bool:
        """Add a task to the node again; return False if a plugin cannot simulate that."""
        add_pairs(self.available, task.shape.amounts, -1.0)
        return self._simulate(Point.SIMULATE_ADD_TASK, task)

    def _simulate(self, point: Point, task: TaskInfo) -> bool:
        try:
            for fn in self.session.functions[point]:
                fn(self, task)
        except SchedulerPanic:
            raise
        except CoreError:
            return False
        return True

    def takes_preemptor(self) -> bool:
        """Return whether queue, node and filters would accept the preemptor now."""
        return (
            all(
                fn(self, self.queue, self.preemptor)
                for fn in self.session.functions[Point.SIMULATE_ALLOCATABLE]
            )
            and fits(self.preemptor, self.available)
            and self.passes_filters()
        )

    def passes_filters(self) -> bool:
        """Return whether the filters would accept the preemptor now, regardless of amounts."""
        return all(fn(self, self.preemptor) for fn in self.session.functions[Point.SIMULATE_PREDICATE])
