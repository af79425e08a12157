"""The timeline of a document: period, horizon, delays and events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.model.run_annotations import EXIT_CODE, RUN_SECONDS, exit_codes_of, seconds_of

Object = Mapping[str, Any]

DEFAULT_TERMINATION = 30.0
EVICTED = ("restart", "resume", "restart-job", "delete", "owner")


@dataclass(frozen=True)
class Timeline:
    """The key `replay` of a document.

    Attributes
    ----------
    period : float
        Seconds from one session to the next.
    horizon : float
        The time of the last possible session, in seconds.
    start_delay : float
        Seconds from a bind until the pod runs.
    termination : float or None
        Seconds for which an evicted pod terminates; None: its own grace period.
    evicted : str
        What happens to an evicted pod: one of `EVICTED`.
    events : list of mapping
        The external events, in the document's order.
    pull : mapping
        How many seconds pulling an image to a node takes, by image.
    checkpoint, restore : float
        Seconds of work between two checkpoints (0: there are none), and seconds to restore from one.
    create_rate : float
        Pods that the job controller may create per second; 0: no limit.
    create_burst : int
        Pods that it may create at once.
    controller_seconds : float
        Seconds from the cause of a pod's creation until the request that creates it.
    terminal_phase_first : bool
        Whether an evicted pod of a Job becomes Failed before it is deleted, as in Kubernetes 1.27 and later.
    exit_code_on_termination : int
        The exit code of a terminated container.
    targeted_restart_keeps_podgroup : bool
        Whether a restart of part of a Job keeps its PodGroup; Volcano 1.15.1 deletes it.

    """

    period: float
    horizon: float
    start_delay: float
    termination: float | None
    evicted: str
    events: list[Object]
    pull: Mapping[str, float]
    checkpoint: float
    restore: float
    create_rate: float
    create_burst: int
    controller_seconds: float
    terminal_phase_first: bool
    exit_code_on_termination: int
    targeted_restart_keeps_podgroup: bool

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
            pull=replay.get("pull_seconds") or {},
            checkpoint=float(replay.get("checkpoint_seconds") or 0),
            restore=float(replay.get("restore_seconds") or 0),
            create_rate=float(_given(replay, "create_rate", 50)),
            create_burst=int(_given(replay, "create_burst", 100)),
            controller_seconds=float(_given(replay, "controller_seconds", 0.05)),
            terminal_phase_first=replay.get("terminal_phase_first") is not False,
            exit_code_on_termination=int(_given(replay, "exit_code_on_termination", 143)),
            targeted_restart_keeps_podgroup=replay.get("targeted_restart_keeps_podgroup") is True,
        )

    def termination_of(self, pod: Object) -> float:
        """Return how long a pod terminates, in seconds."""
        if self.termination is not None:
            return self.termination
        grace = (pod.get("spec") or {}).get("terminationGracePeriodSeconds")
        return DEFAULT_TERMINATION if grace is None else float(grace)

    def session_at_or_after(self, time: float, first: int, begin: float = 0.0) -> int:
        """Return the number of the first session, from number `first` on, at or after a time.

        Times count from `begin`, and are added up as in the clock of a session.

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
    """Return how long a pod runs: by its own annotation, else its PodGroup's; None: forever."""
    text = annotation(RUN_SECONDS, pod, podgroup)
    return None if text is None else seconds_of(text)


def exit_code(pod: Object, podgroup: Object | None, run: int) -> int:
    """Return the exit code of a pod's run, counted from 0; the last code applies to all further runs.

    Examples
    --------
    >>> pod = {"metadata": {"annotations": {EXIT_CODE: "1,0"}}}
    >>> [exit_code(pod, None, run) for run in range(3)]
    [1, 0, 0]

    """
    codes = exit_codes_of(annotation(EXIT_CODE, pod, podgroup) or "0")
    return codes[min(run, len(codes) - 1)]


def annotation(name: str, pod: Object, podgroup: Object | None) -> str | None:
    """Return an annotation of a pod, or else of its PodGroup."""
    for thing in (pod, podgroup):
        if thing is not None:
            text: str | None = (thing["metadata"].get("annotations") or {}).get(name)
            if text is not None:
                return text
    return None


def _given(replay: Object, name: str, default: float) -> float:
    value = replay.get(name)
    return default if value is None else value
