"""The agenda: the planned events of a replay, in order of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from heapq import heappop, heappush
from typing import Any, NamedTuple


class Kind(IntEnum):
    """The kinds of planned events; among events at the same time, the smaller kind is first."""

    FINISH = 0
    GONE = 1
    START = 2
    EVENT = 3
    NODE = 4
    EXPIRE = 5
    CRON = 6
    CREATE = 7
    ACTION = 8


class Due(NamedTuple):
    """One planned event.

    Attributes
    ----------
    time : float
        Seconds from the beginning.
    key : str or int
        The affected object, mostly a pod's namespace/name; for an event of the document, its position there.
    token : int
        Distinguishes successive plans for a pod; 0 for an event of the document.

    """

    time: float
    kind: Kind
    key: str | int
    token: int = 0


class Agenda:
    """The planned events, in order of time, kind and key.

    A pod has at most one planned event; any other object has at most one of each kind. Planning another one
    replaces it.
    """

    def __init__(self) -> None:
        self._heap: list[Due] = []
        self._tokens: dict[str | tuple[int, str], int] = {}

    def plan(self, time: float, kind: Kind, key: str) -> None:
        """Plan the next event of a pod, or of another object of the kind."""
        lane = _lane(kind, key)
        token = self._tokens[lane] = self._tokens.get(lane, 0) + 1
        heappush(self._heap, Due(time, kind, key, token))

    def plan_event(self, time: float, position: int) -> None:
        """Plan an event of the document."""
        heappush(self._heap, Due(time, Kind.EVENT, position))

    def cancel(self, key: str, kind: Kind = Kind.FINISH) -> None:
        """Cancel the planned event of a pod, or of a kind."""
        lane = _lane(kind, key)
        self._tokens[lane] = self._tokens.get(lane, 0) + 1

    def next_time(self) -> float | None:
        """Return the time of the next event, None if there is none."""
        heap, tokens = self._heap, self._tokens
        while heap:
            time, kind, key, token = heap[0]
            if not token or tokens[_lane(kind, key)] == token:  # type: ignore[arg-type]
                return time
            heappop(heap)
        return None

    def pop(self, until: float) -> Due | None:
        """Remove and return the first event that is due by a time, None if there is none."""
        heap, tokens = self._heap, self._tokens
        while heap and heap[0][0] <= until:
            due = heappop(heap)
            _, kind, key, token = due
            if not token or tokens[_lane(kind, key)] == token:  # type: ignore[arg-type]
                return due
        return None

    def frozen(self) -> list[list[object]]:
        """Return the planned events, in order, as plain data."""
        return [
            [due.time, int(due.kind), due.key] for due in sorted(self._heap) if not self._is_cancelled(due)
        ]

    @classmethod
    def thawed(cls, frozen: Iterable[Sequence[Any]]) -> Agenda:
        """Return an agenda with frozen events."""
        agenda = cls()
        for time, kind, key in frozen:
            if isinstance(key, str):
                agenda.plan(time, Kind(kind), key)
            else:
                agenda.plan_event(time, key)
        return agenda

    def _is_cancelled(self, due: Due) -> bool:
        return isinstance(due.key, str) and self._tokens[_lane(due.kind, due.key)] != due.token


def _lane(kind: int, key: str) -> str | tuple[int, str]:
    """Return the key that has at most one planned event."""
    return key if kind < Kind.EVENT else (int(kind), key)
