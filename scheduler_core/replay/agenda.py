"""The agenda: what is due, in order of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from heapq import heappop, heappush
from typing import Any, NamedTuple


class Kind(IntEnum):
    """What can be due; of things due at one time the smaller kind comes first."""

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
    """One thing that is due.

    Attributes
    ----------
    time : float
        Seconds from the beginning.
    key : str or int
        What it happens to: mostly a pod's namespace/name; of an event its position in the document.
    token : int
        Tells apart what was planned for a pod one after the other; 0 for an event.

    """

    time: float
    kind: Kind
    key: str | int
    token: int = 0


class Agenda:
    """What is due, in order of time, kind and key.

    Of each pod one thing is planned at most, and of anything else one of a kind: to plan another one, or
    none, cancels it.
    """

    def __init__(self) -> None:
        self._heap: list[Due] = []
        self._tokens: dict[str | tuple[int, str], int] = {}

    def plan(self, time: float, kind: Kind, key: str) -> None:
        """Plan what happens next to a pod, or to what else the kind is about."""
        lane = _lane(kind, key)
        token = self._tokens[lane] = self._tokens.get(lane, 0) + 1
        heappush(self._heap, Due(time, kind, key, token))

    def plan_event(self, time: float, position: int) -> None:
        """Plan an event of the document."""
        heappush(self._heap, Due(time, Kind.EVENT, position))

    def cancel(self, key: str, kind: Kind = Kind.FINISH) -> None:
        """Plan nothing for a pod, or of a kind."""
        lane = _lane(kind, key)
        self._tokens[lane] = self._tokens.get(lane, 0) + 1

    def next_time(self) -> float | None:
        """Return when the next thing is due, None when nothing is."""
        heap, tokens = self._heap, self._tokens
        while heap:
            time, kind, key, token = heap[0]
            if not token or tokens[_lane(kind, key)] == token:  # type: ignore[arg-type]
                return time
            heappop(heap)
        return None

    def pop(self, until: float) -> Due | None:
        """Remove and return the first thing that is due by a time, None when nothing is."""
        heap, tokens = self._heap, self._tokens
        while heap and heap[0][0] <= until:
            due = heappop(heap)
            _, kind, key, token = due
            if not token or tokens[_lane(kind, key)] == token:  # type: ignore[arg-type]
                return due
        return None

    def frozen(self) -> list[list[object]]:
        """Return what is planned, in its order, as plain data."""
        return [
            [due.time, int(due.kind), due.key] for due in sorted(self._heap) if not self._is_cancelled(due)
        ]

    @classmethod
    def thawed(cls, frozen: Iterable[Sequence[Any]]) -> Agenda:
        """Return an agenda with what was planned."""
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
    """Return what at most one thing is planned of."""
    return key if kind < Kind.EVENT else (int(kind), key)
