"""The Jobs that CronJobs and JobFlows create over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from scheduler_core.controllers.made import key_of
from scheduler_core.replay.crons import CronJobs
from scheduler_core.replay.flows import JobFlows
from scheduler_core.replay.jobs import JobController
from scheduler_core.replay.world import World

Object = Mapping[str, Any]


class Schedules:
    """The CronJobs, JobFlows and JobTemplates of a replay."""

    def __init__(self, world: World, jobs: JobController, frozen: Mapping[str, Any] | None = None) -> None:
        kept: Mapping[str, Any] = frozen or {"crons": None, "flows": None}
        self.crons = CronJobs(world, jobs, kept["crons"])
        self.flows = JobFlows(jobs, kept["flows"])
        jobs.on_status, jobs.on_deletion = self._status_changed, self._job_deleted
        self._owners: dict[str, tuple[str, str]] = {}
        for key, state in self.crons.states.items():
            self._owners.update(dict.fromkeys(state.made, ("cron", key)))
        for key in self.flows.states:
            self._owners.update(dict.fromkeys(self.flows.jobs_of(key), ("flow", key)))
        self._waiting: list[tuple[str, str]] = []
        self._works = False

    def frozen(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "crons": {key: asdict(state) for key, state in self.crons.states.items()},
            "flows": {
                "states": {key: asdict(state) for key, state in self.flows.states.items()},
                "templates": self.flows.templates,
            },
        }

    def submit(self, kind: str, thing: Object, time: float) -> None:
        """Add a CronJob, a JobFlow or a JobTemplate."""
        key = key_of(thing)
        if kind == "cronjobs":
            self.crons.submit(thing, time)
        elif kind == "jobflows":
            self.flows.submit(thing)
            self._owners.update(dict.fromkeys(self.flows.jobs_of(key), ("flow", key)))
            self._sync(("flow", key), time)
        else:
            self.flows.templates[key] = thing
            for flow in sorted(self.flows.states):
                self._sync(("flow", flow), time)

    def process(self, key: str, time: float) -> None:
        """Create the Job of a due CronJob, if its concurrency policy allows it."""
        self.crons.plan(key, time)
        self._sync(("cron", key), time)

    def _status_changed(self, job: str, time: float) -> None:
        """Update the CronJob or JobFlow of a Job whose phase or number of pods in a phase has changed."""
        owner = self._owners.get(job)
        if owner is not None:
            self._sync(owner, time)

    def _job_deleted(self, job: str, time: float) -> None:
        """Update the CronJob of a deleted Job; a JobFlow waits until another of its Jobs changes."""
        owner = self._owners.get(job)
        if owner is not None and owner[0] == "cron":
            self._sync(owner, time)

    def _sync(self, owner: tuple[str, str], time: float) -> None:
        """Sync a CronJob or JobFlow; one whose Jobs change meanwhile is synced again afterwards."""
        if owner not in self._waiting:
            self._waiting.append(owner)
        if self._works:
            return
        self._works = True
        while self._waiting:
            kind, key = self._waiting.pop(0)
            if kind == "flow":
                self.flows.sync(key, time)
            else:
                self._owners.update(dict.fromkeys(self.crons.sync(key, time), ("cron", key)))
        self._works = False
