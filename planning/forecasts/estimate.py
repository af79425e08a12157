"""Estimate of a forecast's computing time, from measured rates.

Fitted to windows of Philly's trace from two hours to 109 days, jobs of mostly one pod, 48 to 352 nodes, in
processor seconds of one core: 0.08 to 0.10 ms for each computed session without plugin nodeorder, 0.14 ms
with it; 0.20 and 0.32 ms where no session can be calm, as actions, plugins or delays of starts do not allow
it, or Jobs have a controller; 1.7 to 2.7 computed sessions for each job, and 0.06 to 0.2 ms to read and sum
up each job. Where jobs have many pods (20 on average in a cluster of 5,000 nodes) these take 0.06 to 0.09 ms
each. docs/replay.md has the table.

Sessions that evict, and those that cannot be calm, consider every waiting job. How many wait at
the same time is a result of the forecast, so that there the rates give only the least time; `Pace` says the
time left once it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planning.forecasts.clock import spelled
from planning.forecasts.demand import created, events_of, pods_of_jobs
from scheduler_core.conf import parse_conf
from scheduler_core.replay import may_be_calm
from traces.kubernetes import key_of
from traces.text import counted

SESSION = {(True, False): 0.0001, (True, True): 0.00015, (False, False): 0.0002, (False, True): 0.00033}
"""Seconds per session: whether it may be calm, and whether plugin nodeorder scores."""
SESSIONS_PER_JOB = 2.1
JOB, POD = 0.00005, 0.00007
MORE = "each session takes longer the more jobs wait in it and the more pods it evicts"
EVICTING = frozenset({"preempt", "reclaim", "gangpreempt", "gangreclaim", "shuffle"})

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Estimate:
    """The expected computing time of a forecast.

    Attributes
    ----------
    seconds : float
        Processor seconds.
    sessions : int
        How many sessions will be computed; all others change nothing.
    at_least : bool
        Whether it may take much longer, because sessions evict pods or cannot be calm.

    """

    seconds: float
    sessions: int
    at_least: bool

    @property
    def says(self) -> str:
        """Return the estimate in words."""
        seconds, sessions = spelled(max(round(self.seconds), 1)), counted(self.sessions, "session")
        if self.at_least:
            return f"At least {seconds} of computing for {sessions}; {MORE}."
        return f"About {seconds} of computing for {sessions}."


def estimated(document: Json) -> Estimate:
    """Return the expected computing time of a document's replay; its configuration is a structure."""
    replay = document["replay"]
    due = int(float(replay["horizon_seconds"]) / float(replay.get("period_seconds") or 1)) + 1
    jobs = sum(1 for kind in ("podgroups", "jobs") for _ in created(document, kind))
    others = sum("create" not in event for event in events_of(document))
    sessions = min(due, round(SESSIONS_PER_JOB * jobs) + others + 1)
    conf = parse_conf(document.get("scheduler_conf"))
    is_calm = may_be_calm(document, conf) and not any(created(document, "jobs"))
    each = SESSION[is_calm, conf.first_option("nodeorder") is not None]
    at_least = not is_calm or not EVICTING.isdisjoint(conf.actions)
    of_jobs = pods_of_jobs(document, map(key_of, created(document, "jobs")))
    pods = sum(1 for _ in created(document, "pods")) + sum(count for *_, count in of_jobs)
    return Estimate(sessions * each + jobs * JOB + pods * POD, sessions, at_least=at_least)


class Pace:
    """The speed of a forecast that runs, from the first report on."""

    def __init__(self) -> None:
        self._origin: tuple[float, float] | None = None

    def left(self, now: float, done: float) -> float | None:
        """Return the seconds left at the speed so far; None before it is known.

        Parameters
        ----------
        now : float
            A clock, in seconds.
        done : float
            The part of the forecast that is done, 0 to 1.

        """
        if self._origin is None:
            self._origin = now, done
        began, before = self._origin
        return (now - began) / (done - before) * (1.0 - done) if done > before else None
