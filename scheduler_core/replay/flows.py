"""JobFlows: Jobs that are created in the order of their dependencies.

Source: volcano ``pkg/controllers/jobflow`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.controllers.made import job_from_template, key_of
from scheduler_core.replay.jobs import JobController

Object = Mapping[str, Any]

OUR_ANNOTATIONS = "queuecast/"


@dataclass
class FlowState:
    """The state of one JobFlow in its controller: Pending, Running, Succeed or Failed."""

    flow: Object
    phase: str = "Pending"

    @property
    def namespace(self) -> str:
        """Return the namespace of the flow and its Jobs."""
        return self.flow["metadata"].get("namespace") or "default"

    @property
    def steps(self) -> list[Object]:
        """Return the steps, in the order of the specification."""
        return list(self.flow["spec"].get("flows") or ())

    @property
    def has_only_to_delete(self) -> bool:
        """Return whether it succeeded and deletes its Jobs then."""
        return self.phase == "Succeed" and self.flow["spec"].get("jobRetainPolicy") == "delete"

    def name_of(self, step: str) -> str:
        """Return the name of the Job of a step."""
        return f"{self.flow['metadata']['name']}-{step}"

    def job_of(self, step: str) -> str:
        """Return the key of the Job of a step."""
        return f"{self.namespace}/{self.name_of(step)}"


class JobFlows:
    """The JobFlows and JobTemplates of a replay."""

    def __init__(self, jobs: JobController, frozen: Mapping[str, Any] | None = None) -> None:
        self.jobs = jobs
        kept: Mapping[str, Any] = frozen or {"states": {}, "templates": {}}
        self.states = {key: FlowState(**state) for key, state in kept["states"].items()}
        self.templates: dict[str, Object] = dict(kept["templates"])

    def submit(self, flow: Object) -> None:
        """Add a JobFlow."""
        self.states[key_of(flow)] = FlowState(flow)

    def jobs_of(self, key: str) -> list[str]:
        """Return the keys of a flow's Jobs, whether they exist or not."""
        state = self.states[key]
        return [state.job_of(step["name"]) for step in state.steps]

    def sync(self, key: str, time: float) -> None:
        """Create the Jobs of a flow that may start, and update its phase.

        A Failed flow creates no more Jobs; one that keeps its Jobs creates deleted ones again.
        """
        state = self.states[key]
        if state.phase == "Failed":
            return
        if not state.has_only_to_delete and self._deploy(state, time):
            state.phase = self._phase_after(state)
        if state.has_only_to_delete:
            for job in [job for job in self.jobs_of(key) if job in self.jobs.states]:
                self.jobs.delete(job, time)

    def _deploy(self, state: FlowState, time: float) -> bool:
        """Create the Jobs whose targets are all Completed; return whether no template was missing.

        A missing template stops the steps after it.
        """
        for step in state.steps:
            name: str = step["name"]
            targets = (step.get("dependsOn") or {}).get("targets") or ()
            if state.job_of(name) in self.jobs.states or not all(
                self._phase(state.job_of(target)) == "Completed" for target in targets
            ):
                continue
            template = self.templates.get(f"{state.namespace}/{name}")
            if template is None:
                return False
            annotations = (template.get("metadata") or {}).get("annotations") or {}
            ours = {key: text for key, text in annotations.items() if key.startswith(OUR_ANNOTATIONS)}
            given, spec = {"annotations": ours}, template.get("spec") or {}
            now = self.jobs.world.timestamp(time)
            self.jobs.submit(job_from_template(state.namespace, state.name_of(name), given, spec, now), time)
        return True

    def _phase_after(self, state: FlowState) -> str:
        """Return the phase of a flow that follows from those of its Jobs."""
        phases = [self._phase(state.job_of(step["name"])) for step in state.steps]
        if state.phase == "Pending":
            if "Failed" not in phases and ("Running" in phases or "Completed" in phases):
                return "Running"
            return "Failed" if "Failed" in phases or "Terminated" in phases else "Pending"
        if state.phase == "Running":
            if phases.count("Completed") == len(phases):
                return "Succeed"
            return "Failed" if "Failed" in phases else "Running"
        return state.phase

    def _phase(self, job: str) -> str:
        """Return the phase of a Job, empty if it does not exist."""
        state = self.jobs.states.get(job)
        return "" if state is None else state.phase
