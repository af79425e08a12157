"""The jobs that waited when a forecast began, and when they start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from planning.forecasts.clock import spelled
from planning.forecasts.record import Record
from scheduler_core.explain.wording import agreed
from traces.text import counted

MOST_NAMED = 3
LONG, SOON = 3600.0, 60.0
"""Seconds: how long jobs must have waited, and how soon they start, to say that this is surprising."""


@dataclass(frozen=True)
class Backlog:
    """The jobs that waited when a forecast began.

    Attributes
    ----------
    jobs : int
    by_queue : mapping
        How many of each queue, most first.
    started : int
        How many started during the forecast.
    last : str
        The job that started last; empty if none did.
    last_started : float
        When, in seconds; 0 if none did.
    at_once : int
        How many had waited for `LONG` or longer and start within `SOON`, although the real scheduler had not
        started them.

    """

    jobs: int
    by_queue: Mapping[str, int]
    started: int
    last: str
    last_started: float
    at_once: int = 0

    @property
    def says(self) -> str:
        """Return the backlog in a sentence."""
        jobs, began = counted(self.jobs, "job"), "waited when the forecast began"
        (queue, *others) = self.by_queue
        waited = f"{jobs} {began}: {queues_text(self.by_queue)}." if others else f"{jobs} of {queue} {began}."
        if not self.started:
            return f"{waited} {'It does not start.' if self.jobs == 1 else 'None of them starts.'}"
        if self.jobs == 1:
            return f"{waited} It {self._starts}.{self._doubt}"
        left = self.jobs - self.started
        who = f"{self.started:,}" if left else "All of them"
        rest = f"; {left:,} {agreed(left, 'does', 'do')} not" if left else ""
        return f"{waited} {who} {self._starts}{rest}.{self._doubt}"

    @property
    def _starts(self) -> str:
        """Return the verb with the time of the last start."""
        after = f"after {spelled(self.last_started)}" if self.last_started else "at once"
        if self.started == 1:
            return f"starts {after}" if self.jobs == 1 else f"starts, {self.last}, {after}"
        return f"start, the last one, {self.last}, {after}"

    @property
    def _doubt(self) -> str:
        if not self.at_once:
            return ""
        who = "It" if self.jobs == 1 else f"{self.at_once:,} of them"
        return (
            f" {who} had waited for {spelled(LONG)} or longer and {agreed(self.at_once, 'starts', 'start')}"
            f" within {spelled(SOON)}: what kept the real scheduler from starting"
            f" {agreed(self.at_once, 'it', 'them')} may be missing in the snapshot."
        )


def by_queue(queues: Iterable[str]) -> dict[str, int]:
    """Return how often each queue occurs, most often first."""
    return dict(sorted(Counter(queues).items(), key=lambda entry: (-entry[1], entry[0])))


def queues_text(counts: Mapping[str, int]) -> str:
    """Return the counts of queues, most first, the first few in full.

    >>> queues_text({"a": 3, "b": 2}), queues_text({"a": 3, "b": 2, "c": 1, "d": 1})
    ('3 of a, 2 of b', '3 of a, 2 of b, 1 of c and 1 other queue')
    """
    named = ", ".join(f"{count:,} of {queue}" for queue, count in list(counts.items())[:MOST_NAMED])
    others = len(counts) - MOST_NAMED
    return named + (f" and {others} other queue{'' if others == 1 else 's'}" if others > 0 else "")


def backlog_of(record: Record) -> Backlog | None:
    """Return the jobs that waited when a forecast began; None without any.

    These are the jobs submitted before it that had not started then: sessions bind them, or do not.
    """
    jobs = record.jobs
    had_started = ~np.isnan(jobs.started) & np.isnan(jobs.bound)
    waiting = np.flatnonzero((jobs.submitted < 0) & ~had_started & ~(jobs.over <= 0)).tolist()
    if not waiting:
        return None
    started = [row for row in waiting if not np.isnan(jobs.started[row])]
    last = max(started, key=lambda row: (jobs.started[row], jobs.names[row]), default=None)
    return Backlog(
        len(waiting),
        by_queue(jobs.queues[row] for row in waiting),
        len(started),
        "" if last is None else jobs.names[last],
        0.0 if last is None else float(jobs.started[last]),
        sum(bool(jobs.submitted[row] <= -LONG and jobs.started[row] <= SOON) for row in started),
    )
