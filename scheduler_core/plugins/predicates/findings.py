"""Which statuses has each node collected so far?

Source: volcano ``pkg/scheduler/plugins/predicates/predicates.go`` (Predicate) at v1.15.1.
"""

from __future__ import annotations

from scheduler_core.model.fit import ABORTING, FITS, Status, StatusTable, Why, no_refusals
from scheduler_core.model.labels import Mask


class Findings:
    """The statuses of several nodes for one pod, filter by filter; an aborting one ends the list of its node.

    Parameters
    ----------
    why : (K,) int32
        What is known already, as numbers of the status table.
    is_open : (K,) bool, optional
        Nodes that are still to be looked at; None: all.

    """

    def __init__(self, statuses: StatusTable, why: Why, is_open: Mask | None = None) -> None:
        self.statuses = statuses
        self.why = why
        self.is_open = is_open

    @classmethod
    def none_yet(cls, statuses: StatusTable, count: int) -> Findings:
        """Return the findings on nodes that nobody has looked at."""
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

    def clean(self) -> Mask:
        """Return which nodes have collected nothing."""
        clean: Mask = self.why == FITS
        return clean
