"""What do the sessions of variants of one cluster find? It is made once, and put back after each of them."""

from __future__ import annotations

from scheduler_core.model.snapshot import Cluster, Snapshot, take_snapshot
from scheduler_core.model.state import State


class Reuse:
    """A state for variants of one session each, one variant after the other.

    A session that fails gives nothing back, so that the next one finds everything made anew. A variant that
    the state cannot follow has a snapshot of its own; after two of them in a row the state is the second's.
    """

    def __init__(self) -> None:
        self._kept: State | None = None
        self._lent: State | None = None
        self._was_other = False

    def lend(self, cluster: Cluster) -> Snapshot:
        """Return what the one session of a cluster finds, which writes nothing; valid until the next call."""
        state = self._kept
        follows = state is not None and state.follow(cluster)
        if state is not None and not follows and not self._was_other:
            self._was_other = True
            return take_snapshot(cluster)
        if state is None or not follows:
            state = State(cluster, cluster.pods.journal)
        self._kept, self._lent, self._was_other = None, state, False
        return state.snapshot

    def give_back(self) -> None:
        """Say that the session is over."""
        if self._lent is not None:
            self._kept, self._lent = self._lent, None
