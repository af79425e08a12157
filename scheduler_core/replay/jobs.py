"""What does the job controller do while time passes? Pods made, killed and made again; PodGroups with them.

It reacts at once to every event of its pods and PodGroups; only requests that create pods take time. Until
nothing follows from anything any more no session runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scheduler_core.controllers.lifecycle import (
    ENDED,
    ENDING,
    FINISHED,
    RESTART,
    RESTARTS_OF,
    RESUME,
    SYNC,
    Counts,
    Reaction,
    Request,
    max_retry,
    phase_after,
    reaction,
    replicas,
)
from scheduler_core.controllers.made import key_of
from scheduler_core.controllers.vcjob import Task, VolcanoJob, dependencies_met, pod_of, podgroup_of
from scheduler_core.replay.agenda import Kind
from scheduler_core.replay.rate import Rate
from scheduler_core.replay.records import VcjobRecord
from scheduler_core.workload_rules import WorkloadAdmission

if TYPE_CHECKING:
    from scheduler_core.replay.world import World

Object = Mapping[str, Any]

PARTITION = "volcano.sh/partition-id"
JOB_NAME = "volcano.sh/job-name"
TASK_NAME = "volcano.sh/task-spec"
JOB_VERSION = "volcano.sh/job-version"
INDEPENDENT = "queuecast/independent-pods"


@dataclass
class JobState:
    """One Job as its controller knows it.

    Attributes
    ----------
    job : mapping
        The object.
    scheduler : str
        The scheduler of Jobs that name none.
    version : int
        How often the whole Job was killed.
    retries : int
        How often a restart was demanded.
    counts : Counts
        Its pods at the last time that they were counted: not while its PodGroup is pending.
    groups : int
        How many PodGroups it has had.
    creating : list of str
        Pods that were requested and do not exist yet.
    created, restarts : dict
        By pod: how often it was created, and how often its container was restarted in place.
    saved : dict
        By pod: the work that survives.
    delayed : dict
        By pod: the action that waits for its timeout, with its event, task and partition.

    """

    job: Object
    scheduler: str
    phase: str = "Pending"
    version: int = 0
    retries: int = 0
    counts: Counts = field(default_factory=Counts)
    groups: int = 0
    creating: list[str] = field(default_factory=list)
    created: dict[str, int] = field(default_factory=dict)
    restarts: dict[str, int] = field(default_factory=dict)
    saved: dict[str, float] = field(default_factory=dict)
    delayed: dict[str, list[str]] = field(default_factory=dict)

    @cached_property
    def rules(self) -> VolcanoJob:
        """Return the Job with the defaults that its webhook gives it."""
        return VolcanoJob(self.job, self.scheduler)

    @cached_property
    def places(self) -> dict[str, tuple[Task, int]]:
        """Return task and index of every pod of the Job, by namespace/name."""
        rules = self.rules
        return {
            f"{rules.namespace}/{rules.name}-{task.name}-{index}": (task, index)
            for task in rules.tasks
            for index in range(task.replicas)
        }

    @property
    def group(self) -> str:
        """Return the key of its PodGroup."""
        return f"{self.rules.namespace}/{self.rules.name}-{self.rules.uid}"

    @property
    def needs_all(self) -> bool:
        """Return whether no pod of the Job gets on while one is missing."""
        rules = self.rules
        independent = rules.annotations.get(INDEPENDENT) == "true"
        return not independent and rules.min_available == replicas(rules) > 1

    def frozen(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return asdict(self)

    @classmethod
    def thawed(cls, frozen: Mapping[str, Any]) -> JobState:
        """Return the state that was frozen."""
        return cls(**{**frozen, "counts": Counts(**frozen["counts"])})


class JobController:
    """The Jobs of a replay."""

    def __init__(self, world: World, frozen: Mapping[str, Any] | None = None) -> None:
        self.world = world
        timeline = world.timeline
        self.rate = Rate(timeline.create_rate, timeline.create_burst)
        self.states: dict[str, JobState] = {}
        self._requests: deque[tuple[str, Request]] = deque()
        if frozen is not None:
            self.rate.tokens, self.rate.at = frozen["rate"]
            self.states = {key: JobState.thawed(state) for key, state in frozen["states"].items()}

    def frozen(self) -> dict[str, Any]:
        """Return everything as plain data."""
        states = {key: self.states[key].frozen() for key in sorted(self.states)}
        return {"rate": [self.rate.tokens, self.rate.at], "states": states}

    # Jobs come and go

    def submit(self, job: Object, time: float, *, exists: bool = False) -> None:
        """Take a Job; one that its webhook refuses is only recorded. `exists`: it was there at the start."""
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
        self.states[key] = state
        record.phases.append([time, state.phase])
        world.vcjob_groups[state.group] = key
        state.groups = int(state.group in world.podgroups)
        self._sync_later(key)

    def delete(self, key: str, time: float) -> None:
        """Delete a Job with its PodGroup and its pods."""
        state = self.states.get(key)
        if state is not None:
            self._kill(state, state.places, time)
            self._remove_group(state)
            self.world.agenda.cancel(key, Kind.EXPIRE)
            for pod in list(state.delayed):
                self._drop(key, state, pod)
            del self.states[key]
            self.world.records.vcjobs[key].deleted = time

    def command(self, key: str, action: str) -> None:
        """Give a command to a Job: AbortJob or ResumeJob."""
        self._requests.append((key, Request("CommandIssued", action=action)))

    # events

    def pod_event(self, key: str, event: str, exit_code: int = 0) -> None:
        """Tell the controller of a pod that something happened to it."""
        life = self.world.lives[key]
        partition = (self.world.cluster.pods[key]["metadata"].get("labels") or {}).get(PARTITION) or ""
        name = "OutOfSync" if life.out_of_sync else event
        self._requests.append((life.vcjob, Request(name, life.task, key, partition, exit_code, life.version)))

    def succeeded(self, key: str) -> None:
        """Tell that a pod has succeeded."""
        life = self.world.lives[key]
        state = self.states.get(life.vcjob)
        siblings = [k for k, (task, _) in state.places.items() if task.name == life.task] if state else []
        lives = self.world.lives
        all_have = all(k in lives and lives[k].succeeded for k in siblings)
        self.pod_event(key, "TaskCompleted" if siblings and all_have else "OutOfSync")

    def restarted(self, key: str) -> None:
        """Tell that the kubelet has restarted a pod's container in place."""
        life = self.world.lives[key]
        state = self.states.get(life.vcjob)
        if state is None:
            return
        state.restarts[key] = state.restarts.get(key, 0) + 1
        task = next(task for task in state.rules.tasks if task.name == life.task)
        limit = int(task.raw.get("maxRetry") or 0) or 3
        restarts = sum(count for k, count in state.restarts.items() if state.places[k][0].name == life.task)
        self.pod_event(key, "TaskFailed" if 0 <= limit <= restarts else "OutOfSync")

    def group_changed(self, key: str, phase: str) -> None:
        """Tell that a session has changed the phase of a PodGroup."""
        job = self.world.vcjob_groups.get(key)
        if job is not None:
            self._requests.append((job, Request("Unknown" if phase == "Unknown" else "OutOfSync")))

    def _sync_later(self, key: str) -> None:
        self._requests.append((key, Request("OutOfSync")))

    def settle(self, time: float) -> None:
        """Work until nothing follows from anything any more."""
        while self._requests:
            key, request = self._requests.popleft()
            state = self.states.get(key)
            if state is not None:
                self._handle(key, state, request, time)

    def _handle(self, key: str, state: JobState, request: Request, time: float) -> None:
        self._forget_delayed(key, state, request)
        follows = reaction(state.rules, state.version, request)
        if follows.delay > 0:
            self._delay(key, state, request, follows, time)
            return
        self._execute(key, state, follows.action, request, time)

    # delayed actions

    def _delay(self, key: str, state: JobState, request: Request, follows: Reaction, time: float) -> None:
        waiting = state.delayed.get(request.pod)
        if waiting is None or waiting[0] != follows.action:
            state.delayed[request.pod] = [follows.action, request.event, request.task, request.partition]
            self.world.agenda.plan(time + follows.delay, Kind.ACTION, f"{key} {request.pod}")

    def act(self, planned: str, time: float) -> None:
        """Carry out an action whose timeout is over."""
        key, _, pod = planned.partition(" ")
        state = self.states.get(key)
        if state is not None and pod in state.delayed:
            action, event, task, partition = state.delayed.pop(pod)
            self._execute(key, state, action, Request(event, task, pod, partition), time)

    def _forget_delayed(self, key: str, state: JobState, request: Request) -> None:
        """Drop what waits for a pod that no longer does what it waited for."""
        waiting = state.delayed.get(request.pod)
        if waiting is None or request.event not in ("PodRunning", "PodFailed", "PodEvicted"):
            return
        ran = request.event == "PodRunning" and waiting[1] in ("PodFailed", "PodEvicted")
        if waiting[1] == "PodPending" or ran:
            self._drop(key, state, request.pod)

    def _drop_alike(self, key: str, state: JobState, action: str, request: Request) -> None:
        """Drop the delayed actions that one of the same kind has made needless."""
        kind = RESTARTS_OF.get(action)
        for pod, (other, _, task, partition) in list(state.delayed.items()):
            same_part = {"task": task == request.task, "pod": pod == request.pod}.get(
                kind or "", kind is None or partition == request.partition
            )
            if RESTARTS_OF.get(other) == kind and same_part:
                self._drop(key, state, pod)

    def _drop(self, key: str, state: JobState, pod: str) -> None:
        del state.delayed[pod]
        self.world.agenda.cancel(f"{key} {pod}", Kind.ACTION)

    # actions

    def _execute(self, key: str, state: JobState, action: str, request: Request, time: float) -> None:
        before = state.phase
        if before in ("Pending", "Running"):
            self._act_on_active(state, action, request, time)
        elif before == "Restarting":
            self._act_on_restarting(state, action, request, time)
        elif action == RESUME and before in ("Aborting", "Aborted"):
            state.retries += 1
            state.phase = "Restarting"
        else:
            self._kill_all(state, time, keeps_ended=True)
            if before in ENDED and not state.counts.live:
                state.phase = ENDED[before]
        if action != SYNC:
            self._drop_alike(key, state, action, request)
        if state.phase != before:
            self._turned(key, state, time)
        if action != SYNC or state.phase != before:
            self._sync_later(key)

    def _act_on_active(self, state: JobState, action: str, request: Request, time: float) -> None:
        if action == RESTART:
            self._kill_all(state, time, keeps_ended=False)
            state.retries += 1
            state.phase = "Restarting"
        elif action in RESTARTS_OF:
            self._kill_part(state, action, request, time)
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
        if action in RESTARTS_OF:
            self._kill_part(state, action, request, time)
        else:
            self._kill_all(state, time, keeps_ended=False)
        state.phase = phase_after(state.rules, state.phase, state.counts, state.retries)

    def _turned(self, key: str, state: JobState, time: float) -> None:
        """Record a phase, and plan what follows from it."""
        record = self.world.records.vcjobs[key]
        record.phases.append([time, state.phase])
        record.retries = state.retries
        lifetime = state.rules.spec.get("ttlSecondsAfterFinished")
        if state.phase in FINISHED:
            if state.phase == "Completed":
                self.world.records.jobs[state.group].finished = time
            if lifetime is not None:
                self.world.agenda.plan(time + float(lifetime), Kind.EXPIRE, key)
        self.world.job_turned(key, time)

    # killing

    def _kill_part(self, state: JobState, action: str, request: Request, time: float) -> None:
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
        self._kill(state, chosen, time)
        state.counts = Counts(terminating=len([key for key in chosen if key in self.world.lives]))
        if not self.world.timeline.targeted_restart_keeps_podgroup:
            self._remove_group(state)

    def _kill_all(self, state: JobState, time: float, *, keeps_ended: bool) -> None:
        state.version += 1
        lives = self.world.lives
        keeps_ended = keeps_ended or state.retries >= max_retry(state.rules) - 1
        there = [key for key in state.places if key in lives]
        self._kill(state, [key for key in there if not (keeps_ended and lives[key].has_ended)], time)
        for key in state.creating:
            self.world.agenda.cancel(key, Kind.CREATE)
        state.creating.clear()
        state.counts = self._counted(state, there)
        self._remove_group(state)

    def _kill(self, state: JobState, keys: Iterable[str], time: float) -> None:
        """Delete pods; what happens to them afterwards is no event of the Job."""
        for key in list(keys):
            life = self.world.lives.get(key)
            if life is not None and life.vcjob:
                life.out_of_sync = True
                if not life.terminates:
                    self.world.delete_pod(key, time)

    def _remove_group(self, state: JobState) -> None:
        if state.group in self.world.podgroups:
            self.world.remove_group(state.group)

    # bringing up to date

    def _sync(self, state: JobState, time: float) -> None:
        world = self.world
        if state.group not in world.podgroups:
            self._create_group(state, time)
        phase = (world.podgroups[state.group].get("status") or {}).get("phase") or "Pending"
        if phase != "Pending":
            self._request_missing(state, time)
            state.counts = self._counted(state, state.places)
        state.phase = phase_after(state.rules, state.phase, state.counts, state.retries)

    def _create_group(self, state: JobState, time: float) -> None:
        admission = self.world.admission
        values = {name: int(entry.get("value") or 0) for name, entry in admission.classes.items()}
        group = podgroup_of(state.rules, admission.items("namespaces"), values)
        if state.groups or "creationTimestamp" not in group["metadata"]:
            metadata = {**group["metadata"], "creationTimestamp": self.world.timestamp(time)}
            group = {**group, "metadata": metadata}
        state.groups += 1
        self.world.add_group(state.group, group)

    def _request_missing(self, state: JobState, time: float) -> None:
        """Request the pods that the Job lacks and whose tasks need not wait for others."""
        pods, requested = self.world.cluster.pods, set(state.creating)
        for task in state.rules.tasks:
            names = [
                key
                for key, (other, _) in state.places.items()
                if other is task and key not in pods and key not in requested
            ]
            if names and dependencies_met(state.rules, task, pods):
                for key in names:
                    state.creating.append(key)
                    due = self.rate.next(time + self.world.timeline.controller_seconds)
                    self.world.agenda.plan(due, Kind.CREATE, key)

    def create(self, key: str, time: float) -> None:
        """Create a pod that was requested."""
        job = next((job for job, state in self.states.items() if key in state.places), None)
        if job is None or key not in self.states[job].creating:
            return
        state = self.states[job]
        state.creating.remove(key)
        task, index = state.places[key]
        state.rules.status = {"version": state.version, "retryCount": state.retries}
        pod = pod_of(state.rules, task, index, state.group.partition("/")[2])
        times = state.created.get(key, 0)
        state.created[key] = times + 1
        uid = key.replace("/", "-") + (f"-re{times}" if times else "")
        metadata = {**pod["metadata"], "uid": uid, "creationTimestamp": self.world.timestamp(time)}
        self.world.add_pod(key, {**pod, "metadata": metadata}, time)
        self.pod_event(key, "PodPending")

    def _counted(self, state: JobState, keys: Iterable[str]) -> Counts:
        counts = Counts(pending=len(state.creating))
        for key in keys:
            life = self.world.lives.get(key)
            if life is None:
                continue
            if life.terminates:
                counts.terminating += 1
            elif life.succeeded:
                counts.succeeded += 1
                counts.successes[life.task] = counts.successes.get(life.task, 0) + 1
            elif life.failed:
                counts.failed += 1
            elif life.started is not None:
                counts.running += 1
            else:
                counts.pending += 1
        return counts

    # work

    def pace(self, key: str, time: float) -> None:
        """Let the work of a Job's pods go on, or wait while a pod that they need is missing."""
        state, world = self.states.get(key), self.world
        if state is None:
            return
        lives = [world.lives.get(pod) for pod in state.places] if state.needs_all else []
        complete = all(
            life is not None and (life.has_ended or (life.runs and not life.on_lost_node)) for life in lives
        )
        for pod in state.places:
            life = world.lives.get(pod)
            if life is None or not life.runs or life.on_lost_node:
                continue
            if complete and life.since is None:
                world.go_on(pod, time)
            elif not complete and life.since is not None:
                world.pause(pod, time)
