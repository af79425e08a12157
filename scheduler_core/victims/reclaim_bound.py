"""The bound of reclaim: nodes on which all other queues could lose enough for a task."""

from __future__ import annotations

from operator import sub
from typing import NamedTuple

import numpy as np

from scheduler_core.framework.bounds import PerShapeBound
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.living_view import LivingView
from scheduler_core.framework.node_columns import FEW, Nodes
from scheduler_core.framework.session import Session
from scheduler_core.model.changes import as_array
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.pod import Pairs
from scheduler_core.model.renewal import Renewal
from scheduler_core.victims.bound import (
    COUNT,
    SLACK,
    AnyCandidate,
    Bound,
    Tiers,
    bounds_of,
    candidates_outside,
    fits_with,
)
from scheduler_core.victims.index import Mask
from scheduler_core.victims.reclaim_sums import OwnPart, ReclaimSums


class Compared(NamedTuple):
    """The nodes with enough victims for tasks of equal requests, (N,), and the change counts at the time."""

    enough: Mask
    node_changes: int
    sum_changes: int


def reclaim_bound(session: Session) -> Bound:
    """Return the bound for evictions of tasks of other queues."""
    tiers = bounds_of(session, Point.RECLAIMABLE)
    if tiers is None:
        return AnyCandidate(session, candidates_outside)
    return ReclaimBound(session, tiers)


class ReclaimBound(Bound, LivingView):
    """The nodes where the sums over all reclaimable queues, less the reclaimer's own part, might be enough.

    Sound, as each sum covers at least the tasks that it stands for, see `ReclaimSums`. The first tier that
    names a victim decides; if its answer is exact, later tiers are not considered. A queue's own part may be
    subtracted, as no plugin's bound on a task depends on tasks of other queues. The comparison for one
    request is repeated only on nodes that changed since, as it reads only the node's future idle amounts and
    sums.
    """

    def __init__(self, session: Session, tiers: Tiers) -> None:
        self._session = session
        self._sums = ReclaimSums(session, tiers)
        self._decides = [
            len(tier) <= 2 and not any(isinstance(bound, PerShapeBound) for bound in tier) for tier in tiers
        ]
        self._compared: dict[tuple[str | None, Pairs], Compared] = {}
        self._own: OwnPart | None = None

    def renew(self, renewal: Renewal) -> bool:
        """Return whether the next session finds the same tasks; mark every queue for an update."""
        return self._sums.renew(renewal)

    def nodes_for(self, task: TaskInfo) -> Mask:
        """Return which nodes have candidates of other queues, possibly enough for a task, (N,)."""
        assert task.job is not None, "only tasks of a job reclaim"
        queue, demands = task.job.queue, task.shape.demands
        self._sums.catch_up(queue)
        known = self._compared.get((queue, demands))
        if known is None:
            compared = self._without(queue, demands)
        else:
            self._own = self._sums.own_part(queue)
            compared = self._update(demands, known)
        self._compared[queue, demands] = compared
        return compared.enough

    def _without(self, queue: str, demands: Pairs) -> Compared:
        """Compare all nodes with a request, without the tasks of the reclaiming queue."""
        found = self._compared[None, demands] = self._with_all(demands)
        enough = found.enough.copy()
        self._own = self._sums.own_part(queue)
        if self._own is not None:
            enough[self._own.nodes] = self._enough(demands, self._own.nodes)
        return found._replace(enough=enough)

    def _with_all(self, demands: Pairs) -> Compared:
        """Compare all nodes with a request, with the tasks of all queues."""
        self._own = None
        found = self._compared.get((None, demands))
        if found is None:
            return self._compared_now(self._enough(demands, self._session.placement.all))
        return self._update(demands, found)

    def _update(self, demands: Pairs, found: Compared) -> Compared:
        """Repeat a comparison for the nodes that changed since."""
        changed = {
            *self._session.nodes.changes.since(found.node_changes),
            *self._sums.changes.since(found.sum_changes),
        }
        if not changed:
            return found
        if len(changed) <= FEW:
            for node in changed:
                found.enough[node] = self._is_enough_on(node, demands)
        else:
            nodes = as_array(changed)
            found.enough[nodes] = self._enough(demands, nodes)
        return self._compared_now(found.enough)

    def _compared_now(self, enough: Mask) -> Compared:
        return Compared(enough, len(self._session.nodes.changes), len(self._sums.changes))

    def _enough(self, demands: Pairs, nodes: Nodes) -> Mask:
        """Return on which nodes there are candidates, possibly enough, (K,)."""
        future = self._session.nodes.future.take(nodes, axis=0)
        sums = self._sums.table.array.take(nodes, axis=0)
        if self._own is not None:
            places = self._own.nodes.searchsorted(nodes)
            is_own = self._own.nodes.take(places, mode="clip") == nodes
            sums[is_own] -= self._own.sums[places[is_own]]
        undecided = sums[:, 0, COUNT] > 0
        enough = undecided & fits_with(demands, future, np.zeros_like(future))
        for tier, decides in enumerate(self._decides, start=1):
            losses = sums[:, tier]
            enough |= undecided & fits_with(demands, future, losses)
            if decides:
                undecided &= losses[:, COUNT] == 0
        return enough

    def _is_enough_on(self, node: int, demands: Pairs) -> bool:
        """Return `_enough` for one node."""
        future, sums = self._session.nodes.future_of[node], self._sums.table.rows[node]
        own = None if self._own is None else self._own.by_node.get(node)
        if own is not None:
            sums = [list(map(sub, *of_tier)) for of_tier in zip(sums, own.tolist(), strict=True)]
        if not sums[0][COUNT]:
            return False
        if all(future[position] > amount - SLACK for position, amount in demands):
            return True
        for losses, decides in zip(sums[1:], self._decides, strict=True):
            if all(future[position] + losses[position] > amount - SLACK for position, amount in demands):
                return True
            if decides and losses[COUNT]:
                return False
        return False
