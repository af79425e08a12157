"""What do the sessions of variants of one cluster find? It is made once, and put back after each of them."""

from __future__ import annotations

from scheduler_core.model.snapshot import Cluster, Snapshot
from scheduler_core.model.state import State


class Reuse:
    """A state for variants of one session each, one variant after the other.

    A session that fails gives nothing back, so that the next one finds everything made anew.
    """

    def __init__(self) -> None:
        self._kept: State | None = None
        self._lent: State | None = None

    def lend(self, cluster: Cluster) -> Snapshot:
        """Return what the one session of a cluster finds, which writes nothing; valid until the next call."""
        state, self._kept = self._kept, None
        if state is None or not state.follow(cluster):
            state = State(cluster, cluster.pods.journal)
        self._lent = state
        return state.snapshot

    def give_back(self) -> None:
        """Say that the session is over."""
        self._kept, self._lent = self._lent, None
