"""The job controller: creates, kills and recreates pods, and their PodGroups.

It reacts at once to every event of its pods and PodGroups; only requests that create pods take time. No
session runs before all events are handled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scheduler_core.controllers.lifecycle import (
    ENDED,
    ENDING,
    FINISHED,
    RESTART,
    RESTARTS_OF,
    RESUME,
    SYNC,
    Counts,
    Request,
    max_retry,
    phase_after,
    reaction,
)
from scheduler_core.controllers.made import key_of
from scheduler_core.controllers.vcjob import dependencies_met, pod_of
from scheduler_core.replay.agenda import Kind
from scheduler_core.replay.delayed import DelayedActions
from scheduler_core.replay.job_groups import RETRY, JobGroups
from scheduler_core.replay.job_states import PARTITION, JobState, JobStates
from scheduler_core.replay.rate import Rate
from scheduler_core.replay.records import VcjobRecord
from scheduler_core.replay.runs import PodRuns
from scheduler_core.replay.terminations import Terminations
from scheduler_core.replay.world import World
from scheduler_core.workload_rules import WorkloadAdmission

Object = Mapping[str, Any]


def ignore(_job: str, _time: float) -> None:
    """Ignore that the status of a Job changed or that it was deleted."""


class JobController:
    """The Jobs of a replay."""

    def __init__(
        self,
        world: World,
        known: JobStates,
        runs: PodRuns,
        terminations: Terminations,
        frozen: Mapping[str, Any] | None = None,
    ) -> None:
        self.world = world
        self.known = known
        self.states = known.states
        self.runs = runs
        self.terminations = terminations
        self.groups = JobGroups(world, known)
        self.delayed = DelayedActions(world.agenda)
        self.on_status: Callable[[str, float], None] = ignore
        self.on_deletion: Callable[[str, float], None] = ignore
        self.rate = Rate(world.timeline.create_rate, world.timeline.create_burst)
        self._requested_by = {pod: key for key, state in self.states.items() for pod in state.creating}
        if frozen is not None:
            self.rate.tokens, self.rate.at = frozen["rate"]

    def frozen(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {"rate": [self.rate.tokens, self.rate.at], "states": self.known.frozen()}

    # adding and deleting Jobs

    def submit(self, job: Object, time: float, *, exists: bool = False) -> None:
        """Add a Job; one that the webhook rejects is only recorded. `exists`: it existed at the start."""
        world, key = self.world, key_of(job)
        state = JobState(job, world.admission.first_scheduler)
        record = world.records.vcjobs[key] = VcjobRecord(state.rules.queue, state.group, time)
        if not exists:
            problems = WorkloadAdmission(world.cluster.queues).on_create_job(job)
            if problems:
                record.refused = problems[0].message
                return
        if state.rules.scheduler not in world.scheduler_names:
            record.refused = f"belongs to scheduler {state.rules.scheduler}"
            return
        status = state.rules.status
        state.phase = (status.get("state") or {}).get("phase") or "Pending"
        state.version, state.retries = int(status.get("version") or 0), int(status.get("retryCount") or 0)
        self.known.add(key, state)
        record.phases.append([time, state.phase])
        world.vcjob_groups[state.group] = key
        state.groups = int(state.group in world.podgroups)
        self.known.request(key, "OutOfSync")

    def delete(self, key: str, time: float) -> None:
        """Delete a Job with its PodGroup and its pods."""
        state = self.states.get(key)
        if state is not None:
            self._kill(state, state.places, time)
            self.groups.remove(state)
            self.world.agenda.cancel(key, Kind.EXPIRE)
            self.delayed.drop_all(key, state)
            self.groups.forget(key, state)
            self.known.remove(key)
            self.world.records.vcjobs[key].deleted = time
            self.on_deletion(key, time)

    def settle(self, time: float) -> None:
        """Handle queued events until none is left."""
        while self.known.requests:
            key, request = self.known.requests.popleft()
            state = self.states.get(key)
            if state is not None:
                self._handle(key, state, request, time)

    def _handle(self, key: str, state: JobState, request: Request, time: float) -> None:
        self.delayed.forget_outdated(key, state, request)
        follows = reaction(state.rules, state.version, request)
        if follows.delay > 0:
            self.delayed.plan(key, state, request, follows, time)
            return
        self._execute(key, state, follows.action, request, time)

    def act(self, planned: str, time: float) -> None:
        """Execute an action whose timeout has passed, or repeat a request for a PodGroup."""
        key, _, number = planned.partition(" ")
        state = self.states.get(key)
        if state is not None and number == RETRY:
            self.groups.retry(key, state, time)
            return
        due = None if state is None else self.delayed.pop(state, number)
        if state is not None and due is not None:
            cause = Request(due.event, due.task, due.pod, due.partition)
            self._execute(key, state, due.action, cause, time)

    # actions

    def _execute(self, key: str, state: JobState, action: str, request: Request, time: float) -> None:
        before = state.phase
        if before in ("Pending", "Running"):
            self._act_on_active(state, action, request, time)
        elif before == "Restarting":
            self._act_on_restarting(state, action, request, time)
        else:
            self._kill_all(state, time, keeps_ended=True)
            if action == RESUME and before in ("Aborting", "Aborted"):
                state.retries += 1
                state.phase = "Restarting"
            elif before in ENDED and not state.counts.live:
                state.phase = ENDED[before]
        if action != SYNC:
            self.delayed.drop_alike(key, state, action, request)
        if state.phase != before:
            self._enter_phase(key, state, time)
            self.known.request(key, "OutOfSync")

    def _act_on_active(self, state: JobState, action: str, request: Request, time: float) -> None:
        if action == RESTART:
            self._kill_all(state, time, keeps_ended=False)
            state.retries += 1
            state.phase = "Restarting"
        elif action in RESTARTS_OF:
            if self._kill_part(state, action, request, time):
                state.retries += 1
                state.phase = "Restarting"
        elif action in ENDING:
            self._kill_all(state, time, keeps_ended=True)
            state.phase = ENDING[action]
        else:
            self._sync(state, time)

    def _act_on_restarting(self, state: JobState, action: str, request: Request, time: float) -> None:
        if action == SYNC:
            self._sync(state, time)
            return
        if action not in RESTARTS_OF:
            self._kill_all(state, time, keeps_ended=False)
        elif not self._kill_part(state, action, request, time):
            return
        state.phase = phase_after(state.rules, state.phase, state.counts, state.retries)

    def _enter_phase(self, key: str, state: JobState, time: float) -> None:
        """Record a phase that a Job entered, and plan its consequences."""
        record = self.world.records.vcjobs[key]
        record.phases.append([time, state.phase])
        record.retries = state.retries
        lifetime = state.rules.spec.get("ttlSecondsAfterFinished")
        if state.phase in FINISHED:
            if state.phase == "Completed":
                self.world.records.jobs[state.group].finished = time
            if lifetime is not None:
                self.world.agenda.plan(time + float(lifetime), Kind.EXPIRE, key)
        self.on_status(key, time)

    # killing

    def _kill_part(self, state: JobState, action: str, request: Request, time: float) -> bool:
        """Kill a task, a pod or a partition; return whether the controller acts.

        It does nothing for a partition without pods, but restarts the Job for a pod that is gone.
        """
        part, pods = RESTARTS_OF[action], self.world.cluster.pods
        chosen = [
            key
            for key, (task, _) in state.places.items()
            if task.name == request.task
            and key in pods
            and (part != "pod" or key == request.pod)
            and (
                part != "partition"
                or (pods[key]["metadata"].get("labels") or {}).get(PARTITION) == request.partition
            )
        ]
        if part == "partition" and not chosen:
            return False
        self._kill(state, chosen, time)
        state.counts = Counts(terminating=len(chosen))
        if not self.world.timeline.targeted_restart_keeps_podgroup:
            self.groups.remove(state)
        return True

    def _kill_all(self, state: JobState, time: float, *, keeps_ended: bool) -> None:
        state.version += 1
        lives = self.world.lives
        keeps_ended = keeps_ended or state.retries >= max_retry(state.rules) - 1
        there = [key for key in state.places if key in lives]
        terminating = [key for key in there if lives[key].terminates]
        killed = [
            key for key in there if not (lives[key].terminates or (keeps_ended and lives[key].has_ended))
        ]
        self._kill(state, killed, time)
        for key in list(state.creating):
            self.world.agenda.cancel(key, Kind.CREATE)
            state.withdraw(key)
        state.counts = Counts(terminating=len(terminating) + len(killed))
        self.groups.remove(state)

    def _kill(self, state: JobState, keys: Iterable[str], time: float) -> None:
        """Delete pods; later changes of theirs cause no events of the Job."""
        for key in list(keys):
            life = self.world.lives.get(key)
            if life is not None and life.vcjob:
                life.out_of_sync = True
                if life.terminates:
                    self.known.updated(key)
                else:
                    self.terminations.delete(key, time)

    # synchronising

    def _sync(self, state: JobState, time: float) -> None:
        world = self.world
        key = world.vcjob_groups[state.group]
        if not self.groups.ensure(key, state, time):
            return
        phase = (world.podgroups[state.group].get("status") or {}).get("phase") or "Pending"
        if phase != "Pending":
            self._request_missing(key, state, time)
            before, state.counts = state.counts, state.counted(world)
            if state.counts != before:
                self.on_status(key, time)
        state.phase = phase_after(state.rules, state.phase, state.counts, state.retries)

    def _request_missing(self, job: str, state: JobState, time: float) -> None:
        """Request the missing pods of a Job whose tasks need not wait for other tasks."""
        absent = state.census(self.world).absent
        for task in state.rules.tasks:
            names = absent.get(id(task))
            if names and dependencies_met(state.rules, task, self.world.cluster.pods):
                for key in sorted(names, key=lambda key: state.places[key][1]):
                    state.request(key)
                    self._requested_by[key] = job
                    due = self.rate.next(time + self.world.timeline.controller_seconds)
                    self.world.agenda.plan(due, Kind.CREATE, key)

    def create(self, key: str, time: float) -> None:
        """Create a pod that was requested."""
        state = self.states.get(self._requested_by.pop(key, ""))
        if state is None or key not in state.creating:
            return
        state.withdraw(key)
        task, index = state.places[key]
        state.rules.status = {"version": state.version, "retryCount": state.retries}
        pod = pod_of(state.rules, task, index, state.group.partition("/")[2])
        times = state.created.get(key, 0)
        state.created[key] = times + 1
        uid = key.replace("/", "-") + (f"-re{times}" if times else "")
        metadata = {**pod["metadata"], "uid": uid, "creationTimestamp": self.world.timestamp(time)}
        self.runs.add(key, {**pod, "metadata": metadata}, time)
        self.known.pod_event(key, "PodPending")
