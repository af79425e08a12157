"""Did the same attempt just fail?"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.plugin_fn import EvictableFn
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.victims.ask import Verdict, tell_left_out, tell_spared
from scheduler_core.victims.eviction import not_hopeless

Kind = tuple[Hashable, ...]


class Attempt(NamedTuple):
    """How a task looked for room that others hold.

    Attributes
    ----------
    task : TaskInfo
        The task.
    among : hashable
        Says who the candidates are.
    moves : int
        How many changes of nodes there were before.
    left_out : int
        On how many nodes nobody was asked.
    heard : list
        The candidates that were asked about and what was said of them, node by node.

    """

    task: TaskInfo
    among: Hashable
    moves: int
    left_out: int
    heard: list[tuple[Sequence[TaskInfo], Verdict]]


class FailedAttempts:
    """The failed attempts of one action, of which the last one is kept.

    Sound, as an attempt that fails changes nothing: two tasks of one job that are of one class, role and
    priority have the same candidates, hear the same of them and find the same nodes too small, as long as
    nothing moves.

    Parameters
    ----------
    point : Point
        Who says which candidates may be evicted.

    """

    def __init__(self, session: Session, point: Point) -> None:
        self._session = session
        self._alike = all(
            added.same_for_equal_tasks for added in session.registry.of_kind(point, EvictableFn)
        )
        self._failed: Attempt | None = None

    def _kind_of(self, task: TaskInfo) -> Kind:
        """Return what decides, beside the job and who the candidates are, how an attempt ends.

        Two tasks of one job that are equal in this find the same candidates and hear the same of them as long
        as nothing moves.
        """
        open_to = not_hopeless(self._session, task)
        return (
            task.role,
            task.priority,
            self._session.registry.class_of(task),
            None if open_to is None else open_to.tobytes(),
        )

    def repeats(self, task: TaskInfo, among: Hashable = None) -> bool:
        """Tell whether the last failed attempt was like this one; then report the same of this task."""
        last, session = self._failed, self._session
        if last is None or last.moves != len(session.nodes.changes) or last.among != among:
            return False
        if task.job is None or task.job is not last.task.job or not session.placement.is_local(task):
            return False
        if self._kind_of(task) != self._kind_of(last.task):
            return False
        tell_left_out(self._session, task, last.left_out)
        for candidates, verdict in last.heard:
            tell_spared(self._session, task, candidates, verdict)
        return True

    def begin(self, task: TaskInfo, left_out: int, among: Hashable = None) -> Attempt:
        """Return an attempt of a task for which nobody is asked on so many nodes, and tell that."""
        tell_left_out(self._session, task, left_out)
        return Attempt(task, among, len(self._session.nodes.changes), left_out, [])

    def keep(self, attempt: Attempt) -> None:
        """Keep an attempt that failed."""
        if self._alike:
            self._failed = attempt
