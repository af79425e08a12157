"""Helpers that query the queues of a session."""

from __future__ import annotations

from typing import Any

from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.recording.recorder import Recorder
from scheduler_core.rendering import plain
from scheduler_core.victims.selection import select_victims
from tests.builders import Object
from tests.scheduler_core.states import task_of

GI = 2**30


def reported(session: Session) -> dict[str, Object]:
    """Return the queue plugin's current report of each queue."""
    shown: dict[str, Any] = {}
    for report in session.registry.reports:
        shown.update(plain(report()))
    return {entry["name"]: entry for entry in shown["queues"]}


def derivation(session: Session, queue: str) -> list[Any]:
    """Return the recorded steps of the derivation of a queue's deserved amount."""
    assert isinstance(session.observer, Recorder)
    return session.observer.deserved[queue]


def tasks_of(session: Session, group: str, *, running: bool) -> list[TaskInfo]:
    """Return the running or the pending tasks of a PodGroup of the default namespace, by uid."""
    tasks = session.jobs[f"default/{group}"].tasks
    return [tasks[uid] for uid in sorted(tasks) if bool(tasks[uid].node_name) is running]


def names(tasks: list[TaskInfo]) -> list[str]:
    return [task.name for task in tasks]


def reclaimed(session: Session, reclaimer: str, *groups: str) -> list[str]:
    """Return the running pods of the groups that plugins permit a pending pod to evict, in order."""
    candidates = [task for group in groups for task in tasks_of(session, group, running=True)]
    verdict = select_victims(session, Point.RECLAIMABLE, task_of(session, f"default-{reclaimer}"), candidates)
    return names(verdict.victims)


def is_preemptive(session: Session, pod: str) -> bool:
    """Return whether the queue of a pending pod may evict for it."""
    task = task_of(session, f"default-{pod}")
    assert task.job is not None
    return session.plugins.preemptive(session.queues[task.job.queue], [task]) is None


def is_allocatable(session: Session, pod: str) -> bool:
    """Return whether the queue of a pending pod may allocate it."""
    task = task_of(session, f"default-{pod}")
    assert task.job is not None
    return session.plugins.allocatable(session.queues[task.job.queue], task) is None


def in_order(session: Session, *queues: str) -> list[str]:
    """Return the queues in scheduling order."""
    ordered: list[str] = []
    for name in queues:
        position = 0
        while position < len(ordered) and not session.orders.queue_before(
            session.queues[name], session.queues[ordered[position]]
        ):
            position += 1
        ordered.insert(position, name)
    return ordered
