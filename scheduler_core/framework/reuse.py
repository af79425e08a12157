"""State and session that successive variants of one cluster share."""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.conf import SchedulerConf
from scheduler_core.framework.session import Session
from scheduler_core.model.renewal import Renewal
from scheduler_core.model.snapshot import Cluster, Snapshot, take_snapshot
from scheduler_core.model.state import State


class Reuse:
    """The state, and the session on it, for successive variants of one session each.

    After a failed session the state is rebuilt. A variant that the state cannot follow gets a snapshot of its
    own; after two of these in a row the state is rebuilt from the second. A session is renewed only for the
    next variant, because it would not know the moves of later ones.
    """

    def __init__(self) -> None:
        self._kept: State | None = None
        self._in_use: State | None = None
        self._session: Session | None = None
        self._before: Session | None = None
        self._renewal = Renewal(anew=True)
        self._was_other = False

    def acquire(self, cluster: Cluster) -> Snapshot:
        """Return the snapshot for a variant's session, which writes no objects; valid until the next call."""
        state, self._renewal = self._kept, Renewal(anew=True)
        self._before, self._session = self._session, None
        renewal = None if state is None else state.follow(cluster)
        if state is not None and renewal is None and not self._was_other:
            self._was_other = True
            return take_snapshot(cluster)
        if state is None or renewal is None:
            state = State(cluster, cluster.pods.journal)
        else:
            self._renewal = renewal
        self._kept, self._in_use, self._was_other = None, state, False
        return state.snapshot

    def session(
        self, snapshot: Snapshot, conf: SchedulerConf, reasons: bool, open_new: Callable[[Snapshot], Session]
    ) -> Session:
        """Return a session on the acquired state: the previous session, renewed, if possible."""
        if self._in_use is None:
            return open_new(snapshot)
        session = self._before
        if (
            session is None
            or self._renewal.anew
            or session.conf is not conf
            or session.reasons is not reasons
            or not session.renew(self._renewal)
        ):
            session = open_new(snapshot)
        self._session = session
        return session

    def release(self) -> None:
        """Release the state after the session."""
        if self._in_use is not None:
            self._kept, self._in_use = self._in_use, None
