"""Refusals of earlier tasks of the same job and role within one turn of an action."""

from __future__ import annotations

import numpy as np

from scheduler_core.model.fit import FITS, Why
from scheduler_core.model.job import TaskInfo

Group = tuple[str, str]


class ErrorCache:
    """What tasks of the same job and role were refused earlier in one turn of an action.

    A task without a role neither reads nor writes it.

    Parameters
    ----------
    enabled : bool
        Whether anything is remembered.
    for_others : bool
        No node changes between two looks at one task in a turn: what it was refused is of use to others only,
        so that a task which is its whole job leaves nothing.

    """

    def __init__(self, *, enabled: bool, for_others: bool = False) -> None:
        self.enabled = enabled
        self._for_others = for_others
        self.remembered: dict[Group, Why] = {}

    def group_of(self, task: TaskInfo) -> Group | None:
        """Return the group whose refusals a task shares, None when it shares none."""
        if not self.enabled or not task.role:
            return None
        job = task.job
        if job is None:
            return "", task.role
        return None if self._for_others and job.size == 1 else (job.key, task.role)

    def forget(self) -> None:
        """Begin another turn."""
        self.remembered.clear()

    def remember(self, group: Group, refused: Why) -> None:
        """Keep which nodes refused a task of the group, and why they did so first."""
        known = self.remembered.get(group)
        if known is None:
            self.remembered[group] = refused.copy()
        else:
            np.copyto(known, refused, where=known == FITS)
