"""What does a document say about time? Period, horizon, delays, and what happens from outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Object = Mapping[str, Any]

RUN_SECONDS = "queuecast/run-seconds"
DEFAULT_TERMINATION = 30.0
EVICTED = ("restart", "resume", "restart-job", "delete")


@dataclass(frozen=True)
class Timeline:
    """The key `replay` of a document.

    Attributes
    ----------
    period : float
        Seconds from one session to the next.
    horizon : float
        No session is later, in seconds.
    start_delay : float
        Seconds from a bind until the pod runs.
    termination : float or None
        Seconds for which an evicted pod terminates; None: its own grace period.
    evicted : str
        What becomes of an evicted pod: one of `EVICTED`.
    events : list of mapping
        What happens from outside, in the document's order.

    """

    period: float
    horizon: float
    start_delay: float
    termination: float | None
    evicted: str
    events: list[Object]

    @classmethod
    def read(cls, document: Object) -> Timeline:
        """Return the timeline of a document without errors."""
        replay = document.get("replay") or {}
        termination = replay.get("termination_seconds")
        return cls(
            period=float(replay.get("period_seconds") or 1),
            horizon=float(replay.get("horizon_seconds") or 0),
            start_delay=float(replay.get("start_delay_seconds") or 0),
            termination=None if termination is None else float(termination),
            evicted=replay.get("evicted") or EVICTED[0],
            events=list(replay.get("events") or ()),
        )

    def termination_of(self, pod: Object) -> float:
        """Return how long a pod terminates, in seconds."""
        if self.termination is not None:
            return self.termination
        grace = (pod.get("spec") or {}).get("terminationGracePeriodSeconds")
        return DEFAULT_TERMINATION if grace is None else float(grace)

    def session_at_or_after(self, time: float, first: int, begin: float = 0.0) -> int:
        """Return the number of the first session from number `first` on that is not before a time.

        Times count from `begin`, with the same additions as the clock of a session has.

        Examples
        --------
        >>> Timeline.read({"replay": {"period_seconds": 5}}).session_at_or_after(10.1, 0)
        3

        """
        number = max(first, int((time - begin) // self.period))
        while number > first and begin + (number - 1) * self.period >= time:
            number -= 1
        while begin + number * self.period < time:
            number += 1
        return number

    @property
    def last_session(self) -> int:
        """Return the number of the last session within the horizon."""
        number = int(self.horizon // self.period)
        while (number + 1) * self.period <= self.horizon:
            number += 1
        return number


def run_seconds(pod: Object, podgroup: Object | None) -> float | None:
    """Return how long a pod runs: by its own annotation, else its PodGroup's; None: for ever."""
    for thing in (pod, podgroup):
        if thing is not None:
            text = (thing["metadata"].get("annotations") or {}).get(RUN_SECONDS)
            if text is not None:
                return float(text)
    return None
