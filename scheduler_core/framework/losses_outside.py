"""On which nodes could a queue gain enough from all others, before any node is looked at closely?

The tasks of all queues as arrays: what moved since is judged again in one go, whosever it is. What was found
for one task is kept for the next one like it, and only nodes that changed are compared again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from operator import sub
from typing import NamedTuple

import numpy as np

from scheduler_core.framework.bounds import PerJobBound, PerShapeBound, PluginBound, StaticBound
from scheduler_core.framework.held_tasks import Amounts, HeldTasks, Mask
from scheduler_core.framework.holdings import COUNT, SLACK, Holdings, Rows, fits_with
from scheduler_core.framework.numbering import distinct
from scheduler_core.framework.placement import FEW, Nodes
from scheduler_core.framework.session import Session
from scheduler_core.model.changes import ChangeLog, RowTable, as_array
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import add_pairs
from scheduler_core.model.pod import Pairs
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.status import TaskStatus

Sums = RowTable[list[list[float]], np.float64]


class Part:
    """Where what one queue holds is among what all hold.

    Attributes
    ----------
    rows : slice
        Its tasks, P of them.
    nodes : (K,) intp
        The nodes that have any.
    starts : (K,) intp
        Where the tasks of each node begin among them.
    shapes : tuple of PodShape
        The different ones.
    shape_of : (P,) intp
        The position of each task's shape in `shapes`.

    """

    def __init__(self, held: HeldTasks, rows: slice) -> None:
        first, last = held.starts.searchsorted([rows.start, rows.stop]).tolist()
        shapes, self.shape_of = distinct(held.shape_of[rows])
        self.rows = rows
        self.nodes = held.nodes[first:last]
        self.starts = held.starts[first:last] - rows.start
        self.shapes = tuple([held.shapes[shape] for shape in shapes.tolist()])

    @cached_property
    def places(self) -> Mapping[int, int]:
        """Return the position of each node in `nodes`."""
        return {node: position for position, node in enumerate(self.nodes.tolist())}


class Own(NamedTuple):
    """A queue's own part in the sums on its nodes, (K, S, R + 1)."""

    part: Part
    sums: Amounts


class Found(NamedTuple):
    """On which nodes, (N,), there was enough for tasks that ask alike, when so much had changed."""

    enough: Mask
    node_changes: int
    sum_changes: int


class LossesOutside:
    """What a queue could gain on each node from all others.

    The first of the S sums are those of everybody who might be asked about, the others those of the tiers.
    """

    def __init__(self, session: Session, judges: Sequence[Sequence[PluginBound]]) -> None:
        self._session = session
        self._judges = [_with_a_say(tier) for tier in judges]
        self._shape_judges = {
            judge for tier in self._judges for judge in tier if isinstance(judge, PerShapeBound)
        }
        self._accepted: dict[str, dict[PerShapeBound, list[bool]]] = {}
        self._limited: dict[int, list[float]] = {}
        self._most = [
            [judge.most for judge in tier if isinstance(judge, PerJobBound)] for tier in self._judges
        ]
        self._decides = [
            len(tier) <= 2 and not any(isinstance(judge, PerShapeBound) for judge in tier) for tier in judges
        ]
        queues = [queue for queue in session.held.queues if session.queues[queue].reclaimable]
        self._parts: dict[str, Part] = {}
        sums = np.zeros((1 + len(judges), len(session.nodes.axis) + 1, len(session.nodes)))
        self._changes = ChangeLog(len(session.nodes))
        self._moved: dict[str, dict[int, list[int]]] = {}
        self._alike: dict[Pairs, Found] = {}
        self._last: tuple[str, Pairs, Found] | None = None
        self._own: Own | None = None
        if queues:
            held, rows = session.held.of_several(queues)
            self._parts = {queue: Part(held, rows[queue]) for queue in queues}
            self._holdings = Holdings(held, held.are_in({TaskStatus.RUNNING}))
            places = held.nodes.take(held.node_of)
            self._places: list[int] = places.tolist()
            self._shape_of: list[int] = held.shape_of.tolist()
            self._crowds: list[int] = held.crowds.tolist()
            self._allowed: Mask = np.ones((len(judges), len(held)), dtype=np.bool_)
            for queue in self._parts:
                self._allow(queue)
            self._chosen = self._judged(np.arange(len(held)))
            for chosen, of_tier in zip(self._chosen, sums, strict=True):
                for amounts, of_resource in zip(held.columns, of_tier, strict=True):
                    of_resource += np.bincount(places, amounts * chosen, sums.shape[2])
            session.nodes.listeners.append(self._follow)
        self._sums: Sums = RowTable(np.ascontiguousarray(sums.transpose(2, 0, 1)), self._changes)

    def enough_for(self, task: TaskInfo, queue: QueueInfo) -> Mask:
        """Tell which nodes have candidates of other queues, perhaps enough of them for a task, (N,)."""
        self._catch_up(queue.name)
        demands = task.shape.demands
        if self._last is not None and self._last[:2] == (queue.name, demands):
            found = self._compared_again(demands, self._last[2])
        else:
            found = self._compared(demands, queue.name)
        self._last = queue.name, demands, found
        return found.enough

    # comparing

    def _compared(self, demands: Pairs, queue: str) -> Found:
        """Compare all nodes with what a queue's tasks demand."""
        self._own = None
        found = self._alike.get(demands)
        if found is None:
            nodes = self._session.placement.all
            found = self._found_now(self._enough(demands, nodes))
        else:
            found = self._compared_again(demands, found)
        self._alike[demands] = found
        part = self._parts.get(queue)
        if part is None:
            return found._replace(enough=found.enough.copy())
        self._own = self._own_of(part)
        enough = found.enough.copy()
        enough[part.nodes] = self._enough(demands, part.nodes)
        return found._replace(enough=enough)

    def _compared_again(self, demands: Pairs, found: Found) -> Found:
        """Compare those nodes again that changed since."""
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
        return self._found_now(found.enough)

    def _found_now(self, enough: Mask) -> Found:
        return Found(enough, len(self._session.nodes.changes), len(self._changes))

    def _enough(self, demands: Pairs, nodes: Nodes) -> Mask:
        """Tell on which nodes there are candidates, perhaps enough of them, (K,)."""
        future, sums = self._session.nodes.future.take(nodes, axis=0), self._sums_of_others(nodes)
        undecided = sums[:, 0, COUNT] > 0
        enough = undecided & fits_with(demands, future, np.zeros_like(future))
        for tier, decides in enumerate(self._decides, start=1):
            losses = sums[:, tier]
            enough |= undecided & fits_with(demands, future, losses)
            if decides:
                undecided &= losses[:, COUNT] == 0
                if not undecided.any():
                    break
        return enough

    def _is_enough_on(self, node: int, demands: Pairs) -> bool:
        """Tell the same of one node."""
        future, sums = self._session.nodes.future_of[node], self._sums.rows[node]
        place = None if self._own is None else self._own.part.places.get(node)
        if self._own is not None and place is not None:
            own: list[list[float]] = self._own.sums[place].tolist()
            sums = [list(map(sub, *of_tier)) for of_tier in zip(sums, own, strict=True)]
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

    def _sums_of_others(self, nodes: Nodes) -> Amounts:
        """Return the sums of some nodes without those of the queue that asks, (K, S, R + 1)."""
        sums: Amounts = self._sums.array.take(nodes, axis=0)
        if self._own is None:
            return sums
        (part, own) = self._own
        if nodes is part.nodes:
            sums -= own
        else:
            places = part.nodes.searchsorted(nodes)
            is_own = part.nodes.take(places, mode="clip") == nodes
            sums[is_own] -= own.take(places[is_own], axis=0)
        return sums

    def _own_of(self, part: Part) -> Own:
        """Return a queue's own part in the sums."""
        chosen = self._chosen[:, None, part.rows] * self._holdings.held.columns[:, part.rows]
        return Own(part, np.add.reduceat(chosen, part.starts, axis=2).transpose(2, 0, 1))

    # judging

    def _follow(self, task: TaskInfo, _before: TaskStatus | None, after: TaskStatus | None) -> None:
        if task.job is None or task.job.queue not in self._parts:
            return
        held = self._holdings.held
        row, job = held.row_of(task), held.position_of(task.job)
        jobs = self._moved.setdefault(task.job.queue, {})
        if job is not None:
            moved = jobs.setdefault(job, [])
            if row is not None:
                moved.append(row)
                self._holdings.present[row] = after is TaskStatus.RUNNING

    def _catch_up(self, asking: str) -> None:
        """Judge again what moved in other queues than the one that asks, whose own tasks do not count."""
        moved = self._moved
        self._moved = {asking: moved.pop(asking)} if asking in moved else {}
        for queue, jobs in moved.items():
            if self._allow(queue):
                rows = self._parts[queue].rows
                self._judge_rows(np.arange(rows.start, rows.stop))
            else:
                for job, tasks in jobs.items():
                    self._judge_job(job, tasks)

    def _allow(self, queue: str) -> bool:
        """Ask which shapes a queue might lose; tell whether that is something new."""
        part = self._parts[queue]
        accepted = {judge: judge.accepts(queue, part.shapes) for judge in self._shape_judges}
        if self._accepted.get(queue) == accepted:
            return False
        self._accepted[queue] = accepted
        for allowed, judges in zip(self._allowed, self._judges, strict=True):
            allowed[part.rows] = True
            for judge in judges:
                if isinstance(judge, PerShapeBound):
                    allowed[part.rows] &= np.array(accepted[judge]).take(part.shape_of)
                elif isinstance(judge, StaticBound):
                    allowed[part.rows] &= self._holdings.held.each(judge.fact)[part.rows]
        return True

    def _limits(self, number: int) -> list[float]:
        """Return how many tasks of a job might be victims on one node, by tier; no more than there are."""
        job, crowd = self._holdings.jobs[number], self._crowds[number]
        return [min([crowd, *[most(job, None) for most in of_tier]]) for of_tier in self._most]

    def _judge_job(self, number: int, moved: Collection[int]) -> None:
        """Judge those tasks of a job again of which anything may be said anew, as some of them moved."""
        limits = self._limits(number)
        if limits == self._limited[number] and self._crowds[number] == 1:
            self._judge_tasks(dict.fromkeys(moved), limits)
            return
        places, rows = self._places, self._holdings.held.rows_of([number])
        if limits == self._limited[number]:
            nodes = {places[row] for row in moved}
            self._judge_tasks([row for row in rows.tolist() if places[row] in nodes], limits)
        elif len(rows) <= FEW:
            self._limited[number] = limits
            self._judge_tasks(rows.tolist(), limits)
        else:
            self._judge_rows(rows)

    def _judge_tasks(self, rows: Iterable[int], limits: Sequence[float]) -> None:
        """Judge tasks of one job again, one by one: all that it has on some nodes."""
        ranks: dict[int, int] = {}
        for row in rows:
            node, is_present = self._places[row], self._holdings.present.item(row)
            rank = ranks.get(node, 0)
            ranks[node] = rank + is_present
            before, allowed = self._chosen[:, row].tolist(), self._allowed[:, row].tolist()
            if before[0] != is_present:
                self._turn(0, row)
            for tier, limit in enumerate(limits):
                if before[tier + 1] != (is_present and rank < limit and allowed[tier]):
                    self._turn(tier + 1, row)

    def _judge_rows(self, rows: Rows) -> None:
        """Judge all tasks of some jobs again, those of each job ascending."""
        differing = np.flatnonzero(self._judged(rows) != self._chosen.take(rows, axis=1))
        tiers, places = np.divmod(differing, len(rows))
        for tier, row in zip(tiers.tolist(), rows.take(places).tolist(), strict=True):
            self._turn(tier, row)

    def _judged(self, rows: Rows) -> Mask:
        """Tell which of some tasks belong in which sum, (S, len(rows))."""
        holdings = self._holdings
        numbers, positions = distinct(holdings.job_of.take(rows))
        jobs = [holdings.jobs[number] for number in numbers.tolist()]
        crowds = holdings.held.crowds[numbers]
        limits = np.empty((len(self._most), len(jobs)))
        for limit, of_tier in zip(limits, self._most, strict=True):
            limit[:] = crowds
            for most in of_tier:
                np.minimum(limit, [most(job, None) for job in jobs], out=limit)
        self._limited.update(zip(numbers.tolist(), limits.T.tolist(), strict=True))
        chosen = np.ones((len(self._judges) + 1, len(rows)), dtype=np.bool_)
        is_among_first = holdings.rank_in_job(rows) < limits.take(positions, axis=1)
        chosen[1:] = self._allowed.take(rows, axis=1) & is_among_first
        return chosen & holdings.present.take(rows)

    def _turn(self, tier: int, row: int) -> None:
        """Count a task in a sum from now on, or no longer."""
        counts = not self._chosen[tier, row]
        self._chosen[tier, row] = counts
        node = self._places[row]
        sums, sign = self._sums.rows[node][tier], 1.0 if counts else -1.0
        add_pairs(sums, self._holdings.held.shapes[self._shape_of[row]].amounts, sign)
        sums[COUNT] += sign
        self._changes.add(node)


def _with_a_say(tier: Sequence[PluginBound]) -> Sequence[PluginBound]:
    """Return the plugins of a tier without which nobody is a victim.

    Two plugins must agree on a victim. With more, the later ones start afresh where the earlier ones do not
    agree, so that only the last one's word counts.
    """
    return tier if len(tier) == 2 else tier[-1:]
