"""The node for the next task of a gang, counting resources that are still being released.

Source: volcano ``pkg/scheduler/actions/utils/simulate.go`` at v1.15.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scheduler_core.errors import PrePredicateError
from scheduler_core.framework.error_cache import ErrorCache, Group
from scheduler_core.framework.node_columns import Nodes
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.victims.eviction import resolvable_nodes


class NodeSearch:
    """The search for nodes for the tasks of one job, with the refusals so far."""

    def __init__(self, session: Session, cache: ErrorCache) -> None:
        self.session = session
        self.cache = cache
        self.too_small: dict[Group, NDArray[np.bool_]] = {}

    def node_for(self, queue: QueueInfo, task: TaskInfo) -> int | None:
        """Return the best node for a task, None if there is none."""
        session = self.session
        if session.plugins.allocatable(queue, task) is not None:
            return None
        among = resolvable_nodes(session, task)
        if among is not None and not len(among):
            among = None  # if every node was ruled out, Volcano considers all of them
        try:
            session.plugins.pre_predicate(task)
        except PrePredicateError:
            return None
        candidates, _ = session.placement.predicates.examine(
            task, resources=False, lenient=True, cache=self.cache, among=among
        )
        return session.placement.choose(task, candidates[self._large_enough(task)[candidates]])

    def _large_enough(self, task: TaskInfo) -> NDArray[np.bool_]:
        """Return which nodes will have room, (N,), without those too small for a task of the same role."""
        nodes: Nodes = self.session.placement.all
        fits = self.session.placement.will_fit(task, nodes)
        group = self.cache.group_of(task)
        if group is not None:
            fits = fits & ~self.too_small.get(group, np.zeros(len(nodes), dtype=np.bool_))
            self.too_small[group] = ~fits
        return fits
