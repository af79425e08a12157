"""The nodes on which a queue could gain enough from all others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import sub
from typing import NamedTuple

import numpy as np

from scheduler_core.framework.bounds import PerJobBound, PerShapeBound, StaticBound
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.node_columns import FEW, Nodes
from scheduler_core.framework.numbering import distinct
from scheduler_core.framework.session import LivingView, Session
from scheduler_core.model.changes import ChangeLog, RowTable, as_array
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import add_pairs
from scheduler_core.model.pod import Pairs
from scheduler_core.model.state import Renewal
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
from scheduler_core.victims.index import Amounts, Mask, TaskIndex

Sums = RowTable[list[list[float]], np.float64]


class Compared(NamedTuple):
    """The nodes, (N,), with enough victims for tasks of equal requests, and the change count at that time."""

    enough: Mask
    node_changes: int
    sum_changes: int


class OwnPart(NamedTuple):
    """The reclaiming queue's own part in the sums, by node with any of its tasks, (S, R + 1) each."""

    nodes: Nodes
    sums: Amounts
    by_node: dict[int, Amounts]


def reclaim_bound(session: Session) -> Bound:
    """Return the bound that finds nodes where evicting tasks of other queues might help."""
    tiers = bounds_of(session, Point.RECLAIMABLE)
    if tiers is None:
        return AnyCandidate(session, candidates_outside)
    return ReclaimBound(session, tiers)


class ReclaimBound(Bound, LivingView):
    """The largest possible losses of all reclaimable queues on each node, less the reclaimer's own part.

    The first of the S sums of a node covers all candidates; each other sum covers those that a tier might
    accept.

    Sound, as each plugin's bound accepts at least the tasks that the plugin accepts, and a tier's sum
    contains at least the tasks that it might name: two plugins must agree; of more only the last one's answer
    counts, as it replaces an empty intersection of those before it. The first tier that names a victim
    decides; if its answer is exact, later ones are not added. A queue's own part may be subtracted, as no
    plugin's bound on a task depends on tasks of other queues. The moves of the reclaiming queue itself wait
    until another one reclaims: they would change the sums and its own part equally. The comparison for one
    request is repeated only on nodes that changed since, as it reads nothing but the node's future idle
    amounts and sums. All of this is kept for the next session if the index is; but bounds on whole queues are
    computed again, as they may depend on jobs that have no tasks yet.
    """

    def __init__(self, session: Session, tiers: Tiers) -> None:
        self._session = session
        self._index = index = session.view(TaskIndex)
        self._tiers = [tier if len(tier) == 2 else tier[-1:] for tier in tiers]
        self._most = [
            [bound.most for bound in tier if isinstance(bound, PerJobBound)] for tier in self._tiers
        ]
        self._decides = [
            len(tier) <= 2 and not any(isinstance(bound, PerShapeBound) for bound in tier) for tier in tiers
        ]
        self._queues = {name: rows for name, rows in index.queues.items() if session.queues[name].reclaimable}
        self._shapes_of = {
            name: np.bincount(index.shape_of[rows]).nonzero()[0] for name, rows in self._queues.items()
        }
        self._shapes = {
            name: tuple([index.shapes[shape] for shape in shapes.tolist()])
            for name, shapes in self._shapes_of.items()
        }
        self._accepted: dict[str, list[list[list[bool]]]] = {}
        self._allowed: Mask = np.zeros((len(tiers), len(index)), dtype=np.bool_)
        self._limits: Amounts = np.zeros((len(tiers), len(index.jobs)))
        for name in self._queues:
            self._allow(name)
        self._chosen = self._counted(slice(0, len(index)))
        for name, rows in index.queues.items():
            if name not in self._queues:
                self._chosen[:, rows] = False
        sums = np.array(
            [
                [
                    np.bincount(index.node_of[of_tier], column[of_tier], len(session.nodes))
                    for column in index.columns
                ]
                for of_tier in self._chosen
            ]
        )
        self._changes = ChangeLog(len(session.nodes))
        self._sums: Sums = RowTable(np.ascontiguousarray(sums.transpose(2, 0, 1)), self._changes)
        self._seen = index.count
        self._moved: dict[str, dict[int, list[int]]] = {}
        self._compared: dict[Pairs, Compared] = {}
        self._last: tuple[str, Pairs, Compared] | None = None
        self._own: OwnPart | None = None

    def renew(self, renewal: Renewal) -> bool:
        """Return whether the next session finds the same tasks, and mark every queue for an update."""
        queues = self._session.queues
        if {name for name in self._index.queues if queues[name].reclaimable} != self._queues.keys():
            return False
        self._record_moves()
        for queue in self._queues:
            self._moved.setdefault(queue, {})
        return self._index.keeps_tasks(renewal)

    def nodes_for(self, task: TaskInfo) -> Mask:
        """Return which nodes have candidates of other queues, possibly enough of them for a task."""
        assert task.job is not None, "only tasks of a job reclaim"
        queue, demands = task.job.queue, task.shape.demands
        self._catch_up(queue)
        if self._last is not None and self._last[:2] == (queue, demands):
            compared = self._again(demands, self._last[2])
        else:
            compared = self._without(queue, demands)
        self._last = queue, demands, compared
        return compared.enough

    # comparing

    def _without(self, queue: str, demands: Pairs) -> Compared:
        """Compare all nodes with the request of a task, without the tasks of its own queue."""
        self._own = None
        nodes = self._session.placement.all
        found = self._compared.get(demands)
        found = self._now(self._enough(demands, nodes)) if found is None else self._again(demands, found)
        self._compared[demands] = found
        enough = found.enough.copy()
        if queue in self._queues:
            self._own = self._own_part(self._queues[queue])
            enough[self._own.nodes] = self._enough(demands, self._own.nodes)
        return found._replace(enough=enough)

    def _again(self, demands: Pairs, found: Compared) -> Compared:
        """Compare the nodes that changed since again."""
        changed = {
            *self._session.nodes.changes.since(found.node_changes),
            *self._changes.since(found.sum_changes),
        }
        if not changed:
            return found
        if len(changed) <= FEW:
            for node in changed:
                found.enough[node] = self._is_enough_on(node, demands)
        else:
            nodes = as_array(changed)
            found.enough[nodes] = self._enough(demands, nodes)
        return self._now(found.enough)

    def _now(self, enough: Mask) -> Compared:
        return Compared(enough, len(self._session.nodes.changes), len(self._changes))

    def _enough(self, demands: Pairs, nodes: Nodes) -> Mask:
        """Return on which nodes there are candidates, possibly enough of them, (K,)."""
        future, sums = self._session.nodes.future.take(nodes, axis=0), self._sums.array.take(nodes, axis=0)
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
        future, sums = self._session.nodes.future_of[node], self._sums.rows[node]
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

    def _own_part(self, rows: slice) -> OwnPart:
        """Return a queue's own part in the sums."""
        nodes, place_of = distinct(self._index.node_of[rows])
        columns = self._index.columns[:, rows]
        sums = np.array(
            [
                [np.bincount(place_of[of_tier], column[of_tier], len(nodes)) for column in columns]
                for of_tier in self._chosen[:, rows]
            ]
        ).transpose(2, 0, 1)
        return OwnPart(nodes, sums, dict(zip(nodes.tolist(), sums, strict=True)))

    # updating the sums

    def _record_moves(self) -> None:
        """Record the moves since the last call, by queue and job."""
        for queue, job, row in self._index.moves_since(self._seen):
            if queue in self._queues:
                jobs = self._moved.setdefault(queue, {})
                if job is not None:
                    jobs.setdefault(job, []).extend(() if row is None else (row,))
        self._seen = self._index.count

    def _catch_up(self, reclaiming: str) -> None:
        """Update the sums for the moves in queues other than the reclaiming one."""
        self._record_moves()
        for queue in [queue for queue in self._moved if queue != reclaiming]:
            jobs = self._moved.pop(queue)
            if self._allow(queue):
                rows = self._queues[queue]
                tiers, places = np.nonzero(self._counted(rows) != self._chosen[:, rows])
                for tier, row in zip(tiers.tolist(), (places + rows.start).tolist(), strict=True):
                    self._toggle(tier, row)
            else:
                for job, tasks in jobs.items():
                    self._update_job(job, tasks)

    def _allow(self, queue: str) -> bool:
        """Compute which shapes a queue might lose in each tier; return whether that changed."""
        answers = [
            [bound.accepts(queue, self._shapes[queue]) for bound in tier if isinstance(bound, PerShapeBound)]
            for tier in self._tiers
        ]
        if self._accepted.get(queue) == answers:
            return False
        self._accepted[queue] = answers
        rows, by_shape = self._queues[queue], np.zeros(len(self._index.shapes), dtype=np.bool_)
        for allowed, tier, accepted in zip(self._allowed, self._tiers, answers, strict=True):
            allowed[rows] = True
            for of_shapes in accepted:
                by_shape[self._shapes_of[queue]] = of_shapes
                allowed[rows] &= by_shape[self._index.shape_of[rows]]
            for bound in tier:
                if isinstance(bound, StaticBound):
                    allowed[rows] &= self._index.each(bound.fact)[rows]
        return True

    def _limits_of(self, number: int) -> list[float]:
        """Return how many of a job's tasks might be victims on one node, by tier."""
        job, crowd = self._index.jobs[number], self._index.crowds.item(number)
        return [min([crowd, *[most(job, None) for most in of_tier]]) for of_tier in self._most]

    def _counted(self, rows: slice) -> Mask:
        """Return which tasks of a queue, or of all queues, count in which sum, (S, P)."""
        index, running = self._index, self._index.running
        owners = index.job_of[rows]
        if len(owners):
            jobs = slice(owners.item(0), owners.item(-1) + 1)
            for limits, of_tier in zip(self._limits, self._most, strict=True):
                limits[jobs] = index.crowds[jobs]
                for most in of_tier:
                    np.minimum(limits[jobs], [most(job, None) for job in index.jobs[jobs]], out=limits[jobs])
        ranks = 0 if index.are_alone else index.ranks(rows, running)
        chosen = np.ones((1 + len(self._tiers), len(owners)), dtype=np.bool_)
        chosen[1:] = self._allowed[:, rows] & (self._limits.take(owners, axis=1) > ranks)
        return chosen & running[rows]

    def _update_job(self, number: int, moved: Sequence[int]) -> None:
        """Update the tasks of a job whose answers may have changed because some of its tasks moved."""
        index, rows = self._index, self._index.rows_of_job[number]
        limits = self._limits_of(number)
        if limits != self._limits[:, number].tolist():
            self._limits[:, number] = limits
            self._update_tasks(range(rows.start, rows.stop), limits)
        elif index.crowds.item(number) == 1:
            self._update_tasks(dict.fromkeys(moved), limits)
        elif moved:
            nodes = {index.node_of.item(row) for row in moved}
            of_job = enumerate(index.node_of[rows].tolist(), rows.start)
            self._update_tasks([row for row, node in of_job if node in nodes], limits)

    def _update_tasks(self, rows: Iterable[int], limits: Sequence[float]) -> None:
        """Update the tasks of one job on some nodes, one by one."""
        ranks: dict[int, int] = {}
        for row in rows:
            node, is_running = self._index.node_of.item(row), self._index.running.item(row)
            rank = ranks.get(node, 0)
            ranks[node] = rank + is_running
            before, allowed = self._chosen[:, row].tolist(), self._allowed[:, row].tolist()
            if before[0] != is_running:
                self._toggle(0, row)
            for tier, limit in enumerate(limits):
                if before[tier + 1] != (is_running and rank < limit and allowed[tier]):
                    self._toggle(tier + 1, row)

    def _toggle(self, tier: int, row: int) -> None:
        """Add a task to a sum, or remove it."""
        counts = not self._chosen[tier, row]
        self._chosen[tier, row] = counts
        index = self._index
        node = index.node_of.item(row)
        sums, sign = self._sums.rows[node][tier], 1.0 if counts else -1.0
        add_pairs(sums, index.shapes[index.shape_of.item(row)].amounts, sign)
        sums[COUNT] += sign
        self._changes.add(node)
