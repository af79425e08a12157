"""Failed attempts to evict that need not be repeated."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.lines import name_of
from scheduler_core.framework.plugin_fn import EvictableFn
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.victims.eviction import resolvable_nodes
from scheduler_core.victims.selection import NodeVerdict

Kind = tuple[Hashable, ...]


class Attempt(NamedTuple):
    """One search for a node on which evictions make room for a task.

    Attributes
    ----------
    task : TaskInfo
        The preemptor.
    is_own : bool
        Whether the candidates are tasks of its own job.
    moves : int
        The number of node changes before the attempt.
    left_out : int
        The number of nodes left out.
    verdicts : list
        The candidates with the plugins' votes, node by node.

    """

    task: TaskInfo
    is_own: bool
    moves: int
    left_out: int
    verdicts: list[NodeVerdict]


class FailedAttempts:
    """The failed attempts of one action: the last one, or, if equal jobs share them, all since the last move.

    Sound, as a failed attempt changes nothing: as long as nothing moves, two tasks of one job with equal
    class, role and priority have the same candidates, get the same votes, and fail on the same nodes. The
    same holds for tasks of equal jobs whose pods all wait, if plugins give them the same answers, as none of
    these jobs has a candidate of its own. Reasons are recorded for each job separately.

    Parameters
    ----------
    point : Point
        The extension point that names the victims.

    """

    def __init__(self, session: Session, point: Point) -> None:
        self._session = session
        self._alike = all(
            added.same_for_equal_tasks for added in session.functions.of_kind(point, EvictableFn)
        )
        self._is_shared = not session.reasons and session.functions.same_for_equal_jobs(point)
        self._failed: dict[Kind, Attempt] = {}
        self._moves = 0

    def _kind_of(self, task: TaskInfo, *, is_own: bool) -> Kind:
        """Return the key that determines the result of an attempt as long as nothing moves."""
        job, open_to = task.job, resolvable_nodes(self._session, task)
        name = name_of(job) if job is not None and self._is_shared else None
        return (
            is_own,
            job if job is None or name is None else (job.queue, name),
            task.role,
            task.priority,
            self._session.functions.class_of(task),
            None if open_to is None else open_to.tobytes(),
        )

    def repeats(self, task: TaskInfo, *, is_own: bool = False) -> bool:
        """Return whether an equal attempt has failed; if so, report the same reasons for this task."""
        session = self._session
        if not self._failed or task.job is None or not session.placement.is_local(task):
            return False
        failed = self._failed.get(self._kind_of(task, is_own=is_own))
        if failed is None or failed.moves != len(session.nodes.changes):
            return False
        session.observer.nodes_left_out(task, failed.left_out)
        for candidates, verdict in failed.verdicts:
            session.observer.plugins_voted(task, candidates, verdict.votes)
        return True

    def begin(self, task: TaskInfo, left_out: int, *, is_own: bool = False) -> Attempt:
        """Return an attempt of a task that leaves out a number of nodes, and report that number."""
        self._session.observer.nodes_left_out(task, left_out)
        return Attempt(task, is_own, len(self._session.nodes.changes), left_out, [])

    def keep(self, attempt: Attempt) -> None:
        """Store a failed attempt."""
        if not self._alike:
            return
        if not self._is_shared or attempt.moves != self._moves:
            self._failed.clear()
        self._moves = attempt.moves
        self._failed[self._kind_of(attempt.task, is_own=attempt.is_own)] = attempt
