"""The state of a pod between pre-predicate and predicate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scheduler_core.plugins.predicates.inter_pod import PodCounters

NAME = "predicates"


class PodState:
    """The results of the pre-predicates of a session for one pod.

    Attributes
    ----------
    ignores_pods : bool
        Whether the inter-pod affinity filter is skipped, once a pre-predicate says so until the session ends.
    counters : PodCounters or None
        The numbers that this filter compares, as of the last pre-predicate.
    spread : (N,) int8 or None
        The refusals of the topology spread filter, as of then; None: the pod has no constraint.

    """

    __slots__ = ("counters", "ignores_pods", "spread")

    def __init__(self, *, ignores_pods: bool = False) -> None:
        self.ignores_pods = ignores_pods
        self.counters: PodCounters | None = None
        self.spread: NDArray[np.int8] | None = None

    def clone(self) -> PodState:
        """Return a copy with independent counters."""
        state = PodState(ignores_pods=self.ignores_pods)
        state.spread = self.spread
        state.counters = self.counters.copy() if self.counters is not None else None
        return state

    @property
    def active_counters(self) -> PodCounters | None:
        """Return the counters unless the filter is skipped."""
        return None if self.ignores_pods else self.counters


PLAIN = PodState(ignores_pods=True)
