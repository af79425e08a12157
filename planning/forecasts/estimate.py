"""Estimate of a forecast's computing time, from measured rates.

Fitted to windows of Philly's trace from two hours to 109 days, jobs of mostly one pod, 48 to 352 nodes, in
processor seconds of one core: 0.08 to 0.10 ms for each computed session without plugin nodeorder, 0.14 ms
with it; 0.20 and 0.32 ms where no session can be calm, as actions, plugins or delays of starts do not allow
it, or Jobs have a controller; 1.7 to 2.7 computed sessions for each job, and 0.06 to 0.2 ms to read and sum
up each job. docs/replay.md has the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planning.forecasts.clock import spelled
from planning.forecasts.demand import created, events_of
from scheduler_core.conf import parse_conf
from scheduler_core.replay import may_be_calm

SESSION = {(True, False): 0.0001, (True, True): 0.00015, (False, False): 0.0002, (False, True): 0.00033}
"""Seconds per session: whether it may be calm, and whether plugin nodeorder scores."""
SESSIONS_PER_JOB = 2.1
JOB = 0.00012
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
        Whether it may take much longer, because the configuration evicts an unknown number of pods.

    """

    seconds: float
    sessions: int
    at_least: bool

    @property
    def says(self) -> str:
        """Return the estimate in words."""
        more = ", longer when many pods are evicted" if self.at_least else ""
        return (
            f"About {spelled(max(round(self.seconds), 1))} of computing for {self.sessions:,} sessions{more}."
        )


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
    return Estimate(sessions * each + jobs * JOB, sessions, at_least=not EVICTING.isdisjoint(conf.actions))
