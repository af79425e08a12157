"""Plugin cdp: protect recently scheduled pods from eviction during their cool-down.

Source: volcano ``pkg/scheduler/plugins/cdp/cdp.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.conf import Arguments
from scheduler_core.decision import Why
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.timestamps import parse_duration, parse_time

NAME = "cdp"

COOLDOWN_TIME = "volcano.sh/cooldown-time"


def open_session(session: Session, _arguments: Arguments) -> None:
    """Register the callbacks of cdp."""

    def tasks_out_of_cooldown(
        _preemptor: TaskInfo, candidates: Sequence[TaskInfo], why: Why | None
    ) -> list[TaskInfo]:
        accepted = []
        for task in candidates:
            left = seconds_protected(task, session.now)
            if left <= 0:
                accepted.append(task)
            if why is not None:
                protected = f"cool-down for another {left:g} s"
                why[task.uid] = (
                    protected if left > 0 else "not in a cool-down",
                    {"cooldown_seconds_left": max(left, 0.0)},
                )
        return accepted

    session.registry.add_evictable(Point.PREEMPTABLE, NAME, tasks_out_of_cooldown)
    session.registry.add_evictable(Point.RECLAIMABLE, NAME, tasks_out_of_cooldown)


def seconds_protected(task: TaskInfo, now: float) -> float:
    """Return the remaining seconds of the pod's cool-down at `now`; 0 or less if it is over or was never set.

    The cool-down starts when the pod is scheduled, not when it starts to run.
    """
    cooldown = cooldown_of(task)
    status = task.pod.get("status") or {}
    if cooldown is None or status.get("phase") != "Running":
        return 0.0
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "True":
            scheduled = condition.get("lastTransitionTime")
            return parse_time(scheduled) + cooldown - now if scheduled else 0.0
    return 0.0


def cooldown_of(task: TaskInfo) -> float | None:
    """Return the pod's cool-down in seconds, None without a valid one; the label overrides the annotation."""
    text = task.labels().get(COOLDOWN_TIME, task.annotations().get(COOLDOWN_TIME))
    return None if text is None else parse_duration(text)
