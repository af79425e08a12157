"""Action shuffle: evict running tasks that plugins select, without a preemptor.

Source: volcano ``pkg/scheduler/actions/shuffle/shuffle.go`` at v1.15.1.
"""

from __future__ import annotations

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import evict
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.status import TaskStatus

NAME = "shuffle"


def execute(session: Session) -> None:
    """Evict the tasks that the plugins of the first tier that selects any select, by namespace/name."""
    running = [task for job in session.jobs.values() for task in job.tasks_in([TaskStatus.RUNNING])]
    for number, tier in enumerate(session.functions.tiers_of(Point.VICTIM_TASKS), start=1):
        named_by: dict[str, list[str]] = {}
        victims: dict[str, TaskInfo] = {}
        records: set[str] = set()
        for added in tier:
            for task in added.fn(running):
                victims[task.key] = task
                named_by.setdefault(task.key, []).append(added.plugin)
                if added.returns_records:
                    records.add(task.key)
        if victims:
            for position, key in enumerate(sorted(victims), start=1):
                victim = victims[key]
                decision = evict(
                    session, victim, NAME, for_pod="", state="committed", is_record=key in records
                )
                decision.explanation = session.observer.explain_shuffle(
                    victim, number, position, named_by[key]
                )
            return
