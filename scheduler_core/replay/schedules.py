"""The Jobs that CronJobs and JobFlows create over time.

Source: volcano ``pkg/controllers/cronjob``, ``pkg/controllers/jobflow`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.controllers.cron import schedule_of
from scheduler_core.controllers.lifecycle import FINISHED
from scheduler_core.controllers.made import key_of
from scheduler_core.replay.agenda import Kind
from scheduler_core.replay.jobs import JobController
from scheduler_core.replay.world import World

Object = Mapping[str, Any]

CONTROLLER_DELAY = 0.1
"""Seconds from the due minute until the controller acts."""
KEPT_SUCCESSES, KEPT_FAILURES = 3, 1
OVER = FINISHED | {"Aborted"}


class Schedules:
    """The CronJobs, JobFlows and JobTemplates of a replay."""

    def __init__(self, world: World, jobs: JobController, frozen: Mapping[str, Any] | None = None) -> None:
        self.world = world
        self.jobs = jobs
        jobs.on_phase = self._phase_changed
        kept: Mapping[str, Any] = frozen or {"crons": {}, "flows": {}, "templates": {}, "made": {}}
        self._crons: dict[str, Object] = dict(kept["crons"])
        self._flows: dict[str, Object] = dict(kept["flows"])
        self._templates: dict[str, Object] = dict(kept["templates"])
        self._made: dict[str, list[str]] = {key: list(names) for key, names in kept["made"].items()}

    def frozen(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "crons": self._crons,
            "flows": self._flows,
            "templates": self._templates,
            "made": self._made,
        }

    def submit(self, kind: str, thing: Object, time: float) -> None:
        """Add a CronJob, a JobFlow or a JobTemplate."""
        key = key_of(thing)
        if kind == "cronjobs":
            self._crons[key] = thing
            self._made[f"cron {key}"] = []
            self._plan(key, time)
        elif kind == "jobflows":
            self._flows[key] = thing
            self._made[f"flow {key}"] = []
            self._deploy(key, time)
        else:
            self._templates[key] = thing
            for flow in sorted(self._flows):
                self._deploy(flow, time)

    # CronJobs

    def _plan(self, key: str, time: float) -> None:
        begin = self.world.begin
        due = schedule_of(self._crons[key]["spec"]["schedule"]).after(begin + time)
        if due is not None:
            self.world.agenda.plan(due - begin + CONTROLLER_DELAY, Kind.CRON, key)

    def process(self, key: str, time: float) -> None:
        """Create the Job of a due CronJob if its concurrency policy allows it."""
        cron = self._crons[key]
        spec = cron["spec"]
        self._plan(key, time)
        if spec.get("suspend"):
            return
        made = self._made[f"cron {key}"]
        active = [job for job in made if self._phase(job) not in OVER]
        policy = spec.get("concurrencyPolicy") or "Allow"
        if policy == "Forbid" and active:
            return
        if policy == "Replace":
            for job in active:
                self.jobs.delete(job, time)
        metadata = cron["metadata"]
        minute = int((self.world.begin + time) // 60)
        made.append(
            self._create(
                metadata.get("namespace") or "default",
                f"{metadata['name']}-{minute}",
                spec.get("jobTemplate") or {},
                time,
            )
        )

    def _tidy(self, key: str, time: float) -> None:
        """Delete the oldest finished Jobs of a CronJob beyond its limits."""
        spec, made = self._crons[key]["spec"], self._made[f"cron {key}"]
        limits = (
            ({"Completed"}, spec.get("successfulJobsHistoryLimit"), KEPT_SUCCESSES),
            (OVER - {"Completed"}, spec.get("failedJobsHistoryLimit"), KEPT_FAILURES),
        )
        for phases, limit, default in limits:
            over = [job for job in made if self._phase(job) in phases and job in self.jobs.states]
            for job in over[: max(len(over) - (default if limit is None else int(limit)), 0)]:
                self.jobs.delete(job, time)

    # JobFlows

    def _deploy(self, key: str, time: float) -> None:
        """Create the Jobs of a flow whose targets are all Completed."""
        flow = self._flows[key]
        space, name = flow["metadata"].get("namespace") or "default", flow["metadata"]["name"]
        made = self._made[f"flow {key}"]
        steps = flow["spec"].get("flows") or ()
        for step in steps:
            job, template = f"{space}/{name}-{step['name']}", self._templates.get(f"{space}/{step['name']}")
            targets = (step.get("dependsOn") or {}).get("targets") or ()
            met = all(self._phase(f"{space}/{name}-{target}") == "Completed" for target in targets)
            if job not in made and template is not None and met:
                self._create(space, f"{name}-{step['name']}", template, time)
                made.append(job)
        done = steps and all(self._phase(f"{space}/{name}-{step['name']}") == "Completed" for step in steps)
        if done and flow["spec"].get("jobRetainPolicy") == "delete":
            for job in made:
                self.jobs.delete(job, time)

    # both

    def _phase_changed(self, job: str, time: float) -> None:
        """Update a Job's CronJob or JobFlow after the Job has entered another phase."""
        for owner, made in sorted(self._made.items()):
            if job in made:
                kind, _, key = owner.partition(" ")
                (self._tidy if kind == "cron" else self._deploy)(key, time)

    def _create(self, namespace: str, name: str, template: Object, time: float) -> str:
        given = template.get("metadata") or {}
        metadata = {
            "name": name,
            "namespace": namespace,
            "creationTimestamp": self.world.timestamp(time),
            "labels": dict(given.get("labels") or {}),
            "annotations": dict(given.get("annotations") or {}),
        }
        self.jobs.submit({"metadata": metadata, "spec": template.get("spec") or {}}, time)
        return f"{namespace}/{name}"

    def _phase(self, job: str) -> str:
        """Return the current phase of a Job, empty if it does not exist yet."""
        record = self.world.records.vcjobs.get(job)
        if record is None:
            return ""
        phase: str = record.phases[-1][1] if record.phases else "Failed"
        return phase
