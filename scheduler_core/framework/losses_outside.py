"""On which nodes could a queue gain enough from all others, before any node is looked at closely?

The tasks of all queues as arrays: what moved since is judged again in one go, whosever it is. What was found
for one task is kept for the next one like it, and only nodes that changed are compared again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import sub
from typing import NamedTuple

import numpy as np

from scheduler_core.framework.held_tasks import Amounts, HeldTasks, Mask
from scheduler_core.framework.holdings import (
    COUNT,
    SLACK,
    FactJudge,
    Holdings,
    JobJudge,
    Judge,
    Rows,
    ShapeJudge,
    fits_with,
)
from scheduler_core.framework.placement import FEW, Nodes
from scheduler_core.framework.session import Session
from scheduler_core.model.changes import ChangeLog, RowTable, as_array
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.node import add_pairs
from scheduler_core.model.pod import Pairs
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.status import TaskStatus

Sums = RowTable[list[list[float]], np.float64]


class Part(NamedTuple):
    """Where the tasks and jobs of one queue are among those of all."""

    held: HeldTasks
    rows: slice
    first_job: int


class Own(NamedTuple):
    """A queue's own part in the sums.

    Attributes
    ----------
    nodes : (K,) intp
        Where it has any.
    places : dict
        The position of each node among them.
    sums : (S, K, R + 1) float64
        The sums.

    """

    nodes: Nodes
    places: Mapping[int, int]
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

    def __init__(self, session: Session, judges: Sequence[Sequence[Judge]]) -> None:
        self._session = session
        self._judges = [_with_a_say(tier) for tier in judges]
        self._shape_judges = {
            judge for tier in self._judges for judge in tier if isinstance(judge, ShapeJudge)
        }
        self._accepted: dict[str, dict[ShapeJudge, list[bool]]] = {}
        self._limited: dict[int, list[float]] = {}
        self._most = [[judge.most for judge in tier if isinstance(judge, JobJudge)] for tier in self._judges]
        self._decides = [len(tier) <= 2 and all(judge.is_exact for judge in tier) for tier in judges]
        self._parts = _parts_of(session)
        sums = np.zeros((1 + len(judges), len(session.nodes.axis) + 1, len(session.nodes)))
        self._changes = ChangeLog(len(session.nodes))
        self._moved: dict[str, dict[int, list[int]]] = {}
        self._alike: dict[Pairs, Found] = {}
        self._last: tuple[str, Pairs, Found] | None = None
        self._own: Own | None = None
        if self._parts:
            held = session.held.of_several(self._parts)
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
        enough[part.held.nodes] = self._enough(demands, part.held.nodes)
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
        enough, undecided = fits_with(demands, future, None), sums[0, :, COUNT] > 0
        enough &= undecided
        for losses, decides in zip(sums[1:], self._decides, strict=True):
            enough |= undecided & fits_with(demands, future, losses)
            if decides:
                undecided &= losses[:, COUNT] == 0
                if not undecided.any():
                    break
        return enough

    def _is_enough_on(self, node: int, demands: Pairs) -> bool:
        """Tell the same of one node."""
        future, sums = self._session.nodes.future_of[node], self._sums.rows[node]
        if self._own is not None and node in self._own.places:
            own: list[list[float]] = self._own.sums[:, self._own.places[node]].tolist()
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
        """Return the sums of some nodes without those of the queue that asks, (S, K, R + 1)."""
        sums: Amounts = self._sums.array.take(nodes, axis=0).transpose(1, 0, 2)
        if self._own is not None:
            places = self._own.nodes.searchsorted(nodes)
            is_own = self._own.nodes.take(places, mode="clip") == nodes
            sums[:, is_own] -= self._own.sums.take(places[is_own], axis=1)
        return sums

    def _own_of(self, part: Part) -> Own:
        """Return a queue's own part in the sums."""
        held = part.held
        chosen = self._chosen[:, None, part.rows] * held.columns
        return Own(held.nodes, held.places, np.add.reduceat(chosen, held.starts, axis=2).transpose(0, 2, 1))

    # judging

    def _follow(self, task: TaskInfo, _before: TaskStatus | None, after: TaskStatus | None) -> None:
        part = self._parts.get(task.job.queue) if task.job is not None else None
        if part is None:
            return
        row, job = part.held.row_of(task), part.held.position_of(task.job)
        jobs = self._moved.setdefault(part.held.queue, {})
        if job is not None:
            moved = jobs.setdefault(part.first_job + job, [])
            if row is not None:
                moved.append(part.rows.start + row)
                self._holdings.present[part.rows.start + row] = after is TaskStatus.RUNNING

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
        held, rows, _ = self._parts[queue]
        accepted = {judge: judge.accepts(queue, held.shapes) for judge in self._shape_judges}
        if self._accepted.get(queue) == accepted:
            return False
        self._accepted[queue] = accepted
        for allowed, judges in zip(self._allowed, self._judges, strict=True):
            allowed[rows] = True
            for judge in judges:
                if isinstance(judge, ShapeJudge):
                    allowed[rows] &= np.array(accepted[judge]).take(held.shape_of)
                elif isinstance(judge, FactJudge):
                    allowed[rows] &= held.each(judge.fact)
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
        jobs, positions = np.unique(holdings.job_of.take(rows), return_inverse=True)
        for job in jobs.tolist():
            self._limited[job] = self._limits(job)
        limits = np.array([self._limited[job] for job in jobs.tolist()]).T
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


def _with_a_say(tier: Sequence[Judge]) -> Sequence[Judge]:
    """Return the plugins of a tier without which nobody is a victim.

    Two plugins must agree on a victim. With more, the later ones start afresh where the earlier ones do not
    agree, so that only the last one's word counts.
    """
    return tier if len(tier) == 2 else tier[-1:]


def _parts_of(session: Session) -> dict[str, Part]:
    """Return the queues that others may take something from, with what they held at first."""
    parts: dict[str, Part] = {}
    tasks = jobs = 0
    for queue in session.held.queues:
        held = session.held.of(queue) if session.queues[queue].reclaimable else None
        if held is not None:
            parts[queue] = Part(held, slice(tasks, tasks + len(held)), jobs)
            tasks, jobs = tasks + len(held), jobs + len(held.jobs)
    return parts
