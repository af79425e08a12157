"""CronJobs: Jobs that are created on a schedule.

Source: volcano ``pkg/controllers/cronjob`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.controllers.cron import Every, Schedule, schedule_of
from scheduler_core.controllers.lifecycle import FINISHED
from scheduler_core.controllers.made import job_from_template, key_of
from scheduler_core.replay.agenda import Kind
from scheduler_core.replay.jobs import JobController
from scheduler_core.replay.world import World

Object = Mapping[str, Any]

CONTROLLER_DELAY = 0.1
"""Seconds from the due minute until the controller acts."""
KEPT_SUCCESSES, KEPT_FAILURES = 3, 1


@dataclass
class CronState:
    """The state of one CronJob in its controller; times are seconds since 1970.

    Attributes
    ----------
    recent : float
        The last due time that has passed; before the first, the creation.
    started : float
        The due time of the last Job that was created, or the creation.
    made : list of str
        The Jobs that it created and that still exist, in the order of their creation.

    """

    cron: Object
    recent: float
    started: float
    made: list[str] = field(default_factory=list)

    @property
    def spec(self) -> Object:
        """Return the specification."""
        spec: Object = self.cron["spec"]
        return spec

    @property
    def schedule(self) -> Schedule | Every:
        """Return when it is due."""
        return schedule_of(self.spec["schedule"])


class CronJobs:
    """The CronJobs of a replay."""

    def __init__(self, world: World, jobs: JobController, frozen: Mapping[str, Any] | None = None) -> None:
        self.world = world
        self.jobs = jobs
        self.states = {key: CronState(**state) for key, state in (frozen or {}).items()}

    def submit(self, cron: Object, time: float) -> None:
        """Add a CronJob."""
        now = float(int(self.world.begin + time))
        self.states[key_of(cron)] = CronState(cron, now, now)
        self.plan(key_of(cron), time)

    def plan(self, key: str, time: float) -> None:
        """Plan when a CronJob is due next."""
        state, begin = self.states[key], self.world.begin
        self._pass(state, begin + time)
        due = state.schedule.after(state.recent)
        if due is not None:
            self.world.agenda.plan(due - begin + CONTROLLER_DELAY, Kind.CRON, key)

    def sync(self, key: str, time: float) -> list[str]:
        """Delete a CronJob's old Jobs, and create the Job of the last due time; return the created Jobs.

        With `Forbid` a Job that is due while another is active is created once that one has finished.
        """
        state = self.states[key]
        state.made = [job for job in state.made if job in self.jobs.states]
        self._tidy(state, time)
        due = None if state.spec.get("suspend") else self._due(state, self.world.begin + time)
        active = [job for job in state.made if self.jobs.states[job].phase not in FINISHED]
        policy = state.spec.get("concurrencyPolicy") or "Allow"
        if due is None or (policy == "Forbid" and active):
            return []
        if policy == "Replace":
            for job in active:
                self.jobs.delete(job, time)
        state.started = state.recent = due
        return [self._create(state, due, time)]

    def _due(self, state: CronState, now: float) -> float | None:
        """Return the last due time, None if its Job was created or its starting deadline has passed."""
        self._pass(state, now)
        earliest, deadline = state.started, state.spec.get("startingDeadlineSeconds")
        if deadline is not None:
            earliest = max(earliest, now - float(deadline))
        schedule = state.schedule
        first = schedule.after(earliest)
        if first is None or first > now:
            return None
        if isinstance(schedule, Every):
            return first + (now - first) // schedule.seconds * schedule.seconds
        return state.recent

    def _pass(self, state: CronState, now: float) -> None:
        """Move on to the last due time up to now."""
        while (following := state.schedule.after(state.recent)) is not None and following <= now:
            state.recent = following

    def _create(self, state: CronState, due: float, time: float) -> str:
        metadata, template = state.cron["metadata"], state.spec.get("jobTemplate") or {}
        job = job_from_template(
            metadata.get("namespace") or "default",
            f"{metadata['name']}-{int(due // 60)}",
            template.get("metadata") or {},
            template.get("spec") or {},
            self.world.timestamp(time),
        )
        self.jobs.submit(job, time)
        state.made.append(key_of(job))
        return key_of(job)

    def _tidy(self, state: CronState, time: float) -> None:
        """Delete the oldest Completed and Failed Jobs beyond the limits; Terminated ones are kept."""
        limits = (
            ("Completed", state.spec.get("successfulJobsHistoryLimit"), KEPT_SUCCESSES),
            ("Failed", state.spec.get("failedJobsHistoryLimit"), KEPT_FAILURES),
        )
        for phase, limit, default in limits:
            over = [job for job in state.made if self.jobs.states[job].phase == phase]
            for job in over[: max(len(over) - (default if limit is None else int(limit)), 0)]:
                self.jobs.delete(job, time)
                state.made.remove(job)
