"""The statuses that filters collect for each node.

Source: volcano ``pkg/scheduler/plugins/predicates/predicates.go`` (Predicate) at v1.15.1.
"""

from __future__ import annotations

from scheduler_core.model.fit import ABORTING, Status, StatusTable, Why, no_refusals
from scheduler_core.model.labels import Mask


class Findings:
    """The statuses of several nodes for one pod, filter by filter; an aborting status ends a node's list.

    Parameters
    ----------
    why : (K,) int32
        The statuses so far, as numbers of the status table.
    is_open : (K,) bool, optional
        Which nodes are still to be filtered; None: all.

    """

    def __init__(self, statuses: StatusTable, why: Why, is_open: Mask | None = None) -> None:
        self.statuses = statuses
        self.why = why
        self.is_open = is_open

    @classmethod
    def empty(cls, statuses: StatusTable, count: int) -> Findings:
        """Return findings without any status."""
        return cls(statuses, no_refusals(count))

    def add(self, refused: Mask, status: Status) -> None:
        """Add a status to the list of each refused node that is still open."""
        if self.is_open is not None:
            refused = refused & self.is_open
        if not refused.any():
            return
        self.why = self.statuses.append(self.why, refused, status)
        if status.code in ABORTING:
            self.is_open = ~refused if self.is_open is None else self.is_open & ~refused
