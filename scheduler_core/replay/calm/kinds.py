"""Kinds of equal jobs, learned from sessions with one such job alone in the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

from scheduler_core import transitions
from scheduler_core.errors import PrePredicateError
from scheduler_core.framework.closing import close_session
from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.job_index import is_settled
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.queue_part import Part, computed_part
from scheduler_core.model.status import TaskStatus
from scheduler_core.replay.calm.arrivals import Arrival
from scheduler_core.replay.fixpoint import reads_whole_minimum
from scheduler_core.simulate import Simulation

Object = Mapping[str, Any]

SOME_TIME = "2000-01-01T00:00:00Z"

FIRST_KINDS, JOBS_PER_KIND = 16, 4
"""The number of kinds to learn at first, and the number of jobs of known kinds required per further kind."""


class Standing(NamedTuple):
    """The state of a job between two sessions.

    Attributes
    ----------
    part : Part
        What the job adds to the sums of its queue.
    status : mapping
        The status of its PodGroup.

    """

    part: Part
    status: Object


class JobKind(NamedTuple):
    """The jobs of one kind.

    Attributes
    ----------
    queue : QueueInfo
        Their queue.
    order : tuple
        Their key in the job order, without the age and the name.
    job : JobInfo
        Represents a new job of the kind in calls of plugins; it has no key and no tasks.
    task : TaskInfo
        Represents any of their pods.
    new, enqueued : Standing
        While it waits.
    bound, running : Standing
        After the session that binds it, and after the next one.
    runs : JobInfo
        Represents a running job of the kind.

    """

    queue: QueueInfo
    order: tuple[Any, ...]
    job: JobInfo
    task: TaskInfo
    new: Standing
    enqueued: Standing
    bound: Standing
    running: Standing
    runs: JobInfo


class JobKinds:
    """The kinds of jobs under one configuration, with the same nodes, queues and classes.

    Parameters
    ----------
    simulation : Simulation
        The simulation of the jobs.
    session : Session
        The session of its living state.

    """

    def __init__(self, simulation: Simulation, session: Session) -> None:
        self._simulation = simulation
        self._session = session
        self._known: dict[bytes, JobKind | None] = {}
        self._arrivals_of_known = 0

    def running(self) -> list[JobInfo]:
        """Return a running job of each kind."""
        return [kind.runs for kind in self._known.values() if kind is not None]

    def of(self, arrival: Arrival) -> JobKind | None:
        """Return the kind of an arriving job.

        None if the job is not simple: it does not fit an empty cluster as a whole, it needs fewer pods than
        it has, or the node of a pod does not follow from the amounts on each node. None also if so few jobs
        are of known kinds that learning more does not pay.
        """
        known = self._known
        if arrival.kind in known:
            self._arrivals_of_known += 1
        elif len(known) < FIRST_KINDS + self._arrivals_of_known // JOBS_PER_KIND:
            known[arrival.kind] = self._learn(arrival)
        return known.get(arrival.kind)

    @cached_property
    def _alone(self) -> Simulation:
        """Return the simulation of one job at a time."""
        return self._simulation.emptied()

    def _learn(self, arrival: Arrival) -> JobKind | None:
        """Run sessions in which one job of a kind is enqueued, bound and set to Running; return the kind.

        Sound, as everything in a kind (the order, and the parts of jobs with none or all of their pods
        placed) follows from the job's own objects, the queue and the classes.
        """
        cluster = self._alone.cluster
        cluster.podgroups[arrival.key] = transitions.created(arrival.podgroup, SOME_TIME)
        for key, pod in zip(arrival.pod_keys, arrival.pods, strict=True):
            cluster.pods[key] = transitions.created(pod, SOME_TIME)
        kind = self._observe(arrival.key)
        del cluster.podgroups[arrival.key]
        for key in arrival.pod_keys:
            del cluster.pods[key]
        return kind

    def _observe(self, key: str) -> JobKind | None:
        """Return the kind of the only job of the simulation."""
        alone = self._alone
        session = alone.open_session()
        job = session.jobs.get(key)
        if job is None or not _waits_simply(job) or not _is_placed_whole(session, job):
            return None
        first = next(iter(job.by_status[TaskStatus.PENDING].values()))
        task = self._session.snapshot.tasks.sample(first.info, first.kind)
        if task is None or not _places_by_amounts(self._session, task):
            return None
        order, new, enqueued = session.orders.job_key(job)[:-2], _standing(session, job), _once_enqueued(job)
        standings = []
        for _ in range(2):
            _run(alone, session)
            session = alone.open_session()
            job = session.jobs[key]
            if not is_settled(job) or job.allocated_count != job.size:
                return None
            standings.append(_standing(session, job))
        bound, running = standings
        if job.phase != "Running":
            return None
        job.by_status.make()  # later, its pods are deleted
        if bound.part.counts_like(running.part, whole=reads_whole_minimum(session)):
            running = running._replace(part=bound.part)
        twin = task.job = JobInfo(job.podgroup, job.queue, job.priority, job.creation)
        twin.key = ""
        queue = self._session.queues[job.queue]
        return JobKind(queue, order, twin, task, new, enqueued, bound, running, job)


def _waits_simply(job: JobInfo) -> bool:
    """Return whether a job is pending, needs all of its pods, and all of them wait.

    A job with minMember 0 is Completed after the session that enqueues it, although its pods wait.
    """
    tasks = job.by_status[TaskStatus.PENDING].values()
    return (
        job.is_pending
        and len(tasks) == job.size == job.min_available
        and not job.task_min_available
        and not any(task.shape.gated or task.shape.best_effort or task.nominated for task in tasks)
    )


def _is_placed_whole(session: Session, job: JobInfo) -> bool:
    """Return whether a waiting job is placed as a whole in one turn, or not at all."""
    return job.size == 1 or not (session.plugins.job_ready(job) or session.plugins.job_pipelined(job))


def _run(simulation: Simulation, session: Session) -> None:
    """Run a session and write its decisions."""
    for action in simulation.conf.actions:
        simulation.act(session, action)
    close_session(session)
    cluster = simulation.cluster
    for job in session.moved.in_order():
        transitions.write_status(cluster.podgroups, job)
        for task in job.tasks.values():
            if task.status is TaskStatus.BINDING:
                cluster.pods.follow(task.key, transitions.bound(task.pod, task.node_name, SOME_TIME))


def _standing(session: Session, job: JobInfo) -> Standing:
    part = session.snapshot.sums.part(job.key)
    assert part is not None, "every job adds something, or nothing, to its queue"
    return Standing(part, job.podgroup.get("status") or {})


def _once_enqueued(job: JobInfo) -> Standing:
    """Return the state of a pending job after a session has enqueued it and before one binds it."""
    phase, job.phase = job.phase, "Inqueue"
    part, job.phase = computed_part(job), phase
    return Standing(part, {**(job.podgroup.get("status") or {}), "phase": "Inqueue"})


def _places_by_amounts(session: Session, task: TaskInfo) -> bool:
    """Return whether the node of a task follows from its class and the amounts on each node."""
    try:
        session.plugins.pre_predicate(task)
    except PrePredicateError:
        return False
    return session.functions.classes_are_shapes and session.placement.is_local(task)
