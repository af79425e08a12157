"""Was the same just tried in vain?"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from scheduler_core.framework.eviction import not_hopeless
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from scheduler_core.framework.victims import Verdict, tell_left_out, tell_spared
from scheduler_core.model.job import TaskInfo

Kind = tuple[Hashable, ...]


class Attempt(NamedTuple):
    """How a task looked for room that others hold.

    Attributes
    ----------
    kind : tuple or None
        What decides how it ends as long as nothing moves; None: more than can be said.
    left_out : int
        On how many nodes nobody was asked.
    heard : list
        The candidates that were asked about and what was said of them, node by node.

    """

    kind: Kind | None
    left_out: int
    heard: list[tuple[Sequence[TaskInfo], Verdict]]


class Attempts:
    """The attempts of one action, of which the last one that was in vain is kept.

    Parameters
    ----------
    point : Point
        Who says which candidates may be evicted.

    """

    def __init__(self, session: Session, point: Point) -> None:
        self._session = session
        self._alike = all(answer.is_alike for tier in session.tiers_of(point) for _, answer in tier)
        self._in_vain = Attempt(None, 0, [])

    def kind_of(self, task: TaskInfo, *among: Hashable) -> Kind | None:
        """Return the kind of an attempt; `among` says who the candidates are.

        Two tasks of one job that are equal in this find the same candidates and hear the same of them.
        """
        session, job = self._session, task.job
        if job is None or not self._alike or not session.placement.is_local(task):
            return None
        open_to = not_hopeless(session, task)
        return (
            *among,
            job.key,
            task.role,
            task.priority,
            session.class_of(task),
            None if open_to is None else open_to.tobytes(),
            len(session.nodes.changes),
        )

    def was_in_vain(self, task: TaskInfo, kind: Kind | None) -> bool:
        """Tell whether the attempt before was of this kind and in vain; then say the same of this task."""
        last = self._in_vain
        if kind is None or kind != last.kind:
            return False
        tell_left_out(self._session, task, last.left_out)
        for candidates, verdict in last.heard:
            tell_spared(self._session, task, candidates, verdict)
        return True

    def keep(self, attempt: Attempt) -> None:
        """Keep an attempt that was in vain."""
        self._in_vain = attempt
