"""What did the pre-predicates of a session find out about one pod?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scheduler_core.plugins.predicates.inter_pod import PodCounters

NAME = "predicates"


class PodState:
    """What the pre-predicates of a session found out about one pod.

    Attributes
    ----------
    ignores_pods : bool
        The filter on other pods is skipped; once it is, it stays so until the session ends.
    counters : PodCounters or None
        What that filter compares, as it was when the pod was last looked at.
    uneven : (N,) int8 or None
        What the filter on topology spread says of each node, likewise; None: the pod has no constraint.

    """

    __slots__ = ("counters", "ignores_pods", "uneven")

    def __init__(self, *, ignores_pods: bool = False) -> None:
        self.ignores_pods = ignores_pods
        self.counters: PodCounters | None = None
        self.uneven: NDArray[np.int8] | None = None

    def clone(self) -> PodState:
        """Return a state whose counters can be changed on their own."""
        state = PodState(ignores_pods=self.ignores_pods)
        state.uneven = self.uneven
        state.counters = self.counters.copy() if self.counters is not None else None
        return state

    @property
    def active_counters(self) -> PodCounters | None:
        """Return the counters unless the filter is skipped."""
        return None if self.ignores_pods else self.counters


PLAIN = PodState(ignores_pods=True)
