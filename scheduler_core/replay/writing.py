"""Writes the decisions of a session to the PodGroups and pods of a world."""

from __future__ import annotations

from collections.abc import Collection

from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo
from scheduler_core.model.messages import is_waiting
from scheduler_core.model.status import TaskStatus
from scheduler_core.replay.course import Course
from scheduler_core.replay.fixpoint import Change, change_of_phases
from scheduler_core.transitions import bound, evicted, nominated, nominated_node, write_status


def write_session(course: Course, session: Session, time: float) -> Change:
    """Write the decisions of a closed session; return how much that changes for later sessions."""
    changed = course.world.records.record_decisions(time, session.decisions)
    moved = session.moved.in_order()
    for job in moved:
        changed = _write_podgroup(course, job, time) or changed
    victims = {
        decision.pod
        for decision in session.decisions
        if decision.op == "evict" and decision.state == "committed"
    }
    changed = _write_placed(course, session, victims, time) or changed
    _write_evicted(course, victims, time)
    course.jobs.settle(time)
    return Change.STATE if changed else change_of_phases(session, moved)


def _write_podgroup(course: Course, job: JobInfo, time: float) -> bool:
    """Write the status of a job's PodGroup; return whether its controller reacts to it."""
    world = course.world
    write_status(world.podgroups, job)
    is_changed = job.phase != job.phase_before
    controller_acts = is_changed and job.key in world.vcjob_groups
    if is_changed:
        course.states.group_changed(job.key, job.phase)
    record = world.records.jobs[job.key]
    if record.enqueued is None and not job.is_pending:
        record.enqueued = time
    return controller_acts


def _write_placed(course: Course, session: Session, victims: Collection[str], time: float) -> bool:
    """Write the bound and nominated pods; return whether a pod was nominated."""
    world, pods, changed = course.world, course.world.cluster.pods, False
    for _, job in sorted(session.snapshot.tasks.touched.items()):
        for task in list(job.tasks.values()):
            if task.key in victims:
                continue
            if task.status is TaskStatus.BINDING:
                delay = course.machines.start_delay(task.key, task.node_name, time)
                now, node = world.timestamp(time), task.node_name
                pods.follow(task.key, bound(task.pod, node, now, runs=delay == 0))
                course.machines.bound(task.key, time, delay)
            elif is_waiting(task):
                node = nominated_node(task)
                if node and node != task.nominated:
                    pods.follow(task.key, nominated(pods[task.key], node))
                    changed = True
    return changed


def _write_evicted(course: Course, victims: Collection[str], time: float) -> None:
    """Write the evicted pods, and restart their jobs if the document says so."""
    world = course.world
    for key in sorted(victims):
        course.terminations.evict(key, evicted(world.cluster.pods[key], world.timestamp(time)), time)
    if world.timeline.evicted == "restart-job":
        course.terminations.restart_jobs(sorted({world.lives[key].job for key in victims}), time)
