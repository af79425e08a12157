"""The due events of a plain replay, and the state of pods and jobs beside their objects.

By ``spec/replay.md``.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

FINISH, GONE, START, EVENT = range(4)


@dataclass
class Run:
    """The state of a pod's runs beside its object.

    Attributes
    ----------
    uid : str
        The first one.
    left : float or None
        Remaining run time in seconds; None if it never ends.
    returns : int
        How often the pod was recreated.
    since : float or None
        The start of its current run.

    """

    uid: str
    group: str
    left: float | None
    returns: int = 0
    since: float | None = None


@dataclass
class Story:
    """The reported facts of a job."""

    queue: str
    submitted: float | None
    enqueued: float | None = None
    started: float | None = None
    finished: float | None = None
    evictions: int = 0
    lost_seconds: float = 0.0


class Due:
    """The due events, ordered by time, kind, and key or number."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Any]] = []
        self._planned: dict[str, tuple[float, int]] = {}

    def event(self, time: float, number: int) -> None:
        """Add an event of the document."""
        heapq.heappush(self._heap, (time, EVENT, number))

    def plan(self, key: str, kind: int, time: float) -> None:
        """Plan an event of a pod, replacing the earlier one."""
        self._planned[key] = time, kind
        heapq.heappush(self._heap, (time, kind, key))

    def cancel(self, key: str) -> None:
        """Cancel the planned event of a pod."""
        self._planned.pop(key, None)

    def next_time(self) -> float | None:
        """Return the time of the next event."""
        while self._heap and not self._is_planned(*self._heap[0]):
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def _is_planned(self, time: float, kind: int, key: Any) -> bool:
        return kind == EVENT or self._planned.get(key) == (time, kind)

    def pop(self) -> tuple[int, Any]:
        """Remove the next event; return its kind, and the key of a pod or the number of an event."""
        _, kind, key = heapq.heappop(self._heap)
        self.cancel(key)
        return kind, key
