"""The amounts that a queue could gain from all others on each node, as sums over possible victims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from scheduler_core.framework.bounds import PerJobBound, PerShapeBound, StaticBound
from scheduler_core.framework.node_columns import Nodes
from scheduler_core.framework.numbering import distinct
from scheduler_core.framework.session import Session
from scheduler_core.model.changes import ChangeLog, RowTable
from scheduler_core.model.renewal import Renewal
from scheduler_core.model.rows import add_pairs
from scheduler_core.victims.bound import COUNT, Tiers
from scheduler_core.victims.index import Amounts, Mask, TaskIndex

Sums = RowTable[list[list[float]], np.float64]


class OwnPart(NamedTuple):
    """The reclaiming queue's own part in the sums, by node that has any of its tasks, (S, R + 1) each."""

    nodes: Nodes
    sums: Amounts
    by_node: dict[int, Amounts]


class ReclaimSums:
    """The largest possible losses of all reclaimable queues on each node.

    The first of the S sums of a node covers all candidates; each of the others covers those that one tier
    might accept.

    Sound, as each plugin's bound accepts at least the tasks that the plugin accepts, and a tier's sum covers
    at least the tasks that it might name: two plugins must agree; with more, only the last one's answer
    counts, as it replaces an empty intersection of those before it. Moves in the reclaiming queue itself are
    applied only when another queue reclaims, because they would change the sums and its own part equally. All
    of this is kept for the next session if the index is; but bounds on whole queues are recomputed, as they
    may depend on jobs without tasks in the index.

    Attributes
    ----------
    table : RowTable
        The sums, (N, S, R + 1); the last column counts the tasks.
    changes : ChangeLog
        The nodes whose sums changed.

    """

    def __init__(self, session: Session, tiers: Tiers) -> None:
        self._session = session
        self._index = index = session.view(TaskIndex)
        self._tiers = [tier if len(tier) == 2 else tier[-1:] for tier in tiers]
        self._most = [
            [bound.most for bound in tier if isinstance(bound, PerJobBound)] for tier in self._tiers
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
        self.changes = ChangeLog(len(session.nodes))
        self.table: Sums = RowTable(np.ascontiguousarray(sums.transpose(2, 0, 1)), self.changes)
        self._seen = index.count
        self._moved: dict[str, dict[int, list[int]]] = {}
        self._own: dict[str, OwnPart] = {}

    def renew(self, renewal: Renewal) -> bool:
        """Return whether the next session finds the same tasks, and mark every queue for an update."""
        queues = self._session.queues
        if {name for name in self._index.queues if queues[name].reclaimable} != self._queues.keys():
            return False
        self._record_moves()
        for queue in self._queues:
            self._moved.setdefault(queue, {})
        return self._index.keeps_tasks(renewal)

    def own_part(self, queue: str) -> OwnPart | None:
        """Return a queue's own part in the sums, None if it is not reclaimable or has no tasks.

        It is computed again only after moves in the queue were applied, as the sums are.
        """
        rows, known = self._queues.get(queue), self._own.get(queue)
        if rows is None or known is not None:
            return known
        nodes, place_of = distinct(self._index.node_of[rows])
        columns = self._index.columns[:, rows]
        sums = np.array(
            [
                [np.bincount(place_of[of_tier], column[of_tier], len(nodes)) for column in columns]
                for of_tier in self._chosen[:, rows]
            ]
        ).transpose(2, 0, 1)
        own = self._own[queue] = OwnPart(nodes, sums, dict(zip(nodes.tolist(), sums, strict=True)))
        return own

    def catch_up(self, reclaiming: str) -> None:
        """Update the sums for the moves in queues other than the reclaiming one."""
        self._record_moves()
        for queue in [queue for queue in self._moved if queue != reclaiming]:
            jobs = self._moved.pop(queue)
            self._own.pop(queue, None)
            if self._allow(queue):
                rows = self._queues[queue]
                tiers, places = np.nonzero(self._counted(rows) != self._chosen[:, rows])
                for tier, row in zip(tiers.tolist(), (places + rows.start).tolist(), strict=True):
                    self._toggle(tier, row)
            else:
                for job, tasks in jobs.items():
                    self._update_job(job, tasks)

    def _record_moves(self) -> None:
        """Record the moves since the last call, by queue and job."""
        for queue, job, row in self._index.moves_since(self._seen):
            if queue in self._queues:
                jobs = self._moved.setdefault(queue, {})
                if job is not None:
                    jobs.setdefault(job, []).extend(() if row is None else (row,))
        self._seen = self._index.count

    def _allow(self, queue: str) -> bool:
        """Compute which shapes a queue might lose in each tier; return whether they changed."""
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
        """Return by tier how many of a job's tasks might be victims on one node."""
        job, crowd = self._index.jobs[number], self._index.crowds.item(number)
        return [min([crowd, *[most(job, None) for most in of_tier]]) for of_tier in self._most]

    def _counted(self, rows: slice) -> Mask:
        """Return which tasks of a queue, or of all queues, each sum includes, (S, P)."""
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
        """Update the tasks of a job for which answers may have changed because some of its tasks moved."""
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
        sums, sign = self.table.rows[node][tier], 1.0 if counts else -1.0
        add_pairs(sums, index.shapes[index.shape_of.item(row)].amounts, sign)
        sums[COUNT] += sign
        self.changes.add(node)
