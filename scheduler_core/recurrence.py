"""Detection of loops: states of cycles that recur, except for uids and times."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple


class Loop(NamedTuple):
    """Cycles after which the cluster is in the same state, with evictions in between.

    Attributes
    ----------
    first_cycle : int
        The first cycle that starts in a recurring state.
    period : int
        The number of cycles after which it recurs.

    """

    first_cycle: int
    period: int


class Recurrence:
    """Tracks the changes of cycles, and finds the first loop.

    The state is everything that later decisions can depend on: the parts that differ from the start, and the
    order in which evicted pods were recreated.

    Attributes
    ----------
    loop : Loop or None
        The first one found.

    """

    def __init__(self) -> None:
        self.loop: Loop | None = None
        self._at_first: dict[Hashable, object] = {}
        self._differs: dict[Hashable, object] = {}
        self._requeued: dict[Hashable, None] = {}
        self._last_seen: dict[bytes, int] = {}
        self._evicted_in = 0
        self.close(0, terminating=(), evicts=False)

    def change(self, part: Hashable, before: object, after: object) -> None:
        """Record a change of one part; None: absent."""
        if self._at_first.setdefault(part, before) == after:
            self._differs.pop(part, None)
        else:
            self._differs[part] = after

    def requeue(self, pod: Hashable) -> None:
        """Record that an evicted pod is pending again, now as the youngest of all."""
        self._requeued.pop(pod, None)
        self._requeued[pod] = None

    def close(self, cycle: int, *, terminating: Iterable[tuple[str, int]], evicts: bool) -> None:
        """End a cycle; `terminating` has the terminating pods, and for how many more cycles they exist."""
        if evicts:
            self._evicted_in = cycle
        state = sorted(map(repr, self._differs.items())), list(self._requeued), sorted(terminating)
        import hashlib

        digest = hashlib.sha256(repr(state).encode()).digest()
        before = self._last_seen.get(digest)
        if self.loop is None and before is not None and self._evicted_in >= before:
            self.loop = Loop(before, cycle + 1 - before)
        self._last_seen[digest] = cycle + 1
