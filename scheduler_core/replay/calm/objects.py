"""Writes the objects of jobs that calm sessions have enqueued, bound and ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.replay.agenda import Kind
from scheduler_core.replay.calm.lines import CalmJob
from scheduler_core.replay.course import Course
from scheduler_core.transitions import bound, created

Object = Mapping[str, Any]


class Objects:
    """Writes the objects that the decisions of the actions would have written."""

    def __init__(self, course: Course) -> None:
        self.world = course.world
        self.runs = course.runs
        self.machines = course.machines

    def write(self, job: CalmJob, nodes: Sequence[str]) -> None:
        """Write all objects of a job without any; `nodes` are the names of all nodes."""
        world, arrival = self.world, job.arrival
        submitted = world.timestamp(job.submitted)
        world.podgroups[job.key] = created(arrival.podgroup, submitted)
        world.members.setdefault(job.key, {})
        for key, pod in zip(arrival.pod_keys, arrival.pods, strict=True):
            self.runs.add(key, created(pod, submitted), job.submitted)
        if job.nodes or job.enqueued:
            self.write_status(job)
        for number, node in enumerate(job.nodes):
            key = arrival.pod_keys[number]
            self._bind(key, nodes[node], job.bound)
            life = world.lives[key]
            life.start(job.bound, 0.0)
            life.resume(job.bound)
            world.stir(key)
            if number and arrival.seconds is not None:
                world.agenda.plan(job.bound + arrival.seconds, Kind.FINISH, key)

    def bind(self, job: CalmJob, nodes: Sequence[str]) -> None:
        """Set the pods of a job with objects to running."""
        self.write_status(job)
        for key, node in zip(job.arrival.pod_keys, job.nodes, strict=True):
            self._bind(key, nodes[node], job.bound)
            self.machines.bound(key, job.bound, 0.0)

    def write_status(self, job: CalmJob) -> None:
        """Write the status of a PodGroup."""
        kind, podgroup = job.kind, self.world.podgroups[job.key]
        standing = kind.running if job.runs else kind.bound if job.nodes else kind.enqueued
        self.world.podgroups[job.key] = {**podgroup, "status": standing.status}

    def _bind(self, key: str, node: str, time: float) -> None:
        pods = self.world.cluster.pods
        pods.follow(key, bound(pods[key], node, self.world.timestamp(time)))
