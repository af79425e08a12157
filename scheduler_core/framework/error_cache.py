"""Cache of the refusals of earlier tasks of the same job and role within one turn of an action."""

from __future__ import annotations

import numpy as np

from scheduler_core.model.fit import FITS, Why
from scheduler_core.model.job import TaskInfo

Group = tuple[str, str]


class ErrorCache:
    """The refusals of earlier tasks of the same job and role in one turn of an action.

    A task without a role neither reads nor writes them.

    Parameters
    ----------
    enabled : bool
        Whether refusals are stored.
    for_others : bool
        Whether only other tasks read the refusals of a task, because no node changes between two searches for
        one task in a turn. The only task of a job then stores nothing.

    """

    def __init__(self, *, enabled: bool, for_others: bool = False) -> None:
        self.enabled = enabled
        self._for_others = for_others
        self.remembered: dict[Group, Why] = {}

    def group_of(self, task: TaskInfo) -> Group | None:
        """Return the group of tasks that share refusals with this one, None if there is none."""
        if not self.enabled or not task.role:
            return None
        job = task.job
        if job is None:
            return "", task.role
        return None if self._for_others and job.size == 1 else (job.key, task.role)

    def forget(self) -> None:
        """Forget all refusals at the start of a turn."""
        self.remembered.clear()

    def remember(self, group: Group, refused: Why) -> None:
        """Store which nodes refused a task of the group, each with its first reason."""
        known = self.remembered.get(group)
        if known is None:
            self.remembered[group] = refused.copy()
        else:
            np.copyto(known, refused, where=known == FITS)
