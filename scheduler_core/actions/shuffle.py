"""Which running pods are moved although nobody needs their place yet?

Source: volcano ``pkg/scheduler/actions/shuffle/shuffle.go`` at v1.15.1.
"""

from __future__ import annotations

from typing import Any

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import evict
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.status import TaskStatus
from scheduler_core.victims.ask import DECIDED

NAME = "shuffle"


def execute(session: Session) -> None:
    """Evict what the first tier that names anybody names, all its plugins together, by namespace/name."""
    running = [task for job in session.jobs.values() for task in job.tasks_in([TaskStatus.RUNNING])]
    for number, tier in enumerate(session.registry.tiers_of(Point.VICTIM_TASKS), start=1):
        named_by: dict[str, list[str]] = {}
        victims: dict[str, TaskInfo] = {}
        for added in tier:
            for task in added.fn(running):
                victims[task.key] = task
                named_by.setdefault(task.key, []).append(added.plugin)
        if victims:
            for position, key in enumerate(sorted(victims), start=1):
                victim = victims[key]
                decision = evict(session, victim, NAME, for_pod="", state="committed")
                if session.trace is not None:
                    decision.explanation = _explanation(number, position, named_by[key], victim)
            return


def _explanation(tier: int, position: int, plugins: list[str], task: TaskInfo) -> dict[str, Any]:
    return {
        "tier": tier,
        "order": position,
        "votes": [
            {
                "tier": tier,
                "plugin": plugin,
                "verdict": "permit",
                "why": "the plugin wants it moved",
                "numbers": {},
            }
            for plugin in plugins
        ],
        "ballots": [{"tier": tier, "plugins": plugins, "outcome": DECIDED}],
        "freed": task.request.as_dict(),
        "needed": {},
        "queue": _queue_of(task.job),
        "for_job": "",
    }


def _queue_of(job: JobInfo | None) -> str:
    return job.queue if job is not None else ""
