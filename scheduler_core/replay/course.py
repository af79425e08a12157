"""The events between two sessions, each passed to the module that handles it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from scheduler_core.controllers.made import key_of
from scheduler_core.model.pod_info import creation_of
from scheduler_core.replay.agenda import Due, Kind
from scheduler_core.replay.job_states import JobStates
from scheduler_core.replay.jobs import JobController
from scheduler_core.replay.machines import Machines
from scheduler_core.replay.outside import Outside
from scheduler_core.replay.runs import PodRuns
from scheduler_core.replay.schedules import Schedules
from scheduler_core.replay.terminations import Terminations
from scheduler_core.replay.world import World

Object = Mapping[str, Any]


class Course:
    """Everything that changes a world between sessions: pods, nodes, controllers, events of the document.

    Parameters
    ----------
    vcjobs : sequence of mapping
        The Jobs of the document.
    frozen : mapping, optional
        The return value of `frozen`; the world must have been thawed from it, too.

    """

    def __init__(self, world: World, vcjobs: Sequence[Object], frozen: Object | None = None) -> None:
        self.world = world
        self.states = JobStates(world, None if frozen is None else frozen["jobs"])
        self.runs = PodRuns(world, self.states)
        self.terminations = Terminations(world, self.runs, self.states)
        self.machines = Machines(world, self.runs, self.terminations, frozen)
        self.jobs = JobController(
            world, self.states, self.runs, self.terminations, None if frozen is None else frozen["jobs"]
        )
        self.schedules = Schedules(world, self.jobs, None if frozen is None else frozen["schedules"])
        self.outside = Outside(world, self.runs, self.machines, self.jobs, self.schedules)
        self._happens = {
            Kind.FINISH: self.runs.finish,
            Kind.GONE: self.terminations.remove,
            Kind.START: self.runs.start,
            Kind.NODE: self.machines.process,
            Kind.EXPIRE: self.jobs.delete,
            Kind.CRON: self.schedules.process,
            Kind.CREATE: self.jobs.create,
            Kind.ACTION: self.jobs.act,
        }
        if frozen is None:
            self._begin(vcjobs)

    def _begin(self, vcjobs: Sequence[Object]) -> None:
        """Plan the next events of the document's objects, and the events of the document."""
        world = self.world
        for key, podgroup in world.cluster.podgroups.items():
            world.add_podgroup(key, podgroup, self._since_begin(podgroup))
        for job in sorted(vcjobs, key=key_of):
            self.jobs.submit(job, self._since_begin(job) or 0.0, exists=True)
        for key in list(world.cluster.pods):
            self.runs.track(key, 0.0)
        for job_key in world.members:
            world.record_start(job_key, is_found=True)
        self.jobs.settle(0.0)
        for position, event in enumerate(world.timeline.events):
            world.agenda.plan_event(float(event["at"]), position)

    def _since_begin(self, thing: Object) -> float | None:
        """Return when an object was created, in seconds from the beginning; None without a timestamp."""
        created = creation_of(thing)
        return created - self.world.begin if isfinite(created) else None

    def frozen(self) -> dict[str, Any]:
        """Return everything that later sessions depend on, as plain data."""
        return {
            **self.world.frozen(),
            "machines": self.machines.frozen(),
            "jobs": self.jobs.frozen(),
            "schedules": self.schedules.frozen(),
        }

    def process(self, due: Due) -> None:
        """Process a due event, then let the controllers react."""
        if due.kind is Kind.EVENT:
            self.outside.apply(self.world.timeline.events[int(due.key)], due.time)
        else:
            self._happens[due.kind](str(due.key), due.time)
        self.jobs.settle(due.time)
