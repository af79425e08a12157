"""The states of the Jobs of a replay, and the events that wait for their controller."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from scheduler_core.controllers.lifecycle import Counts, Request, replicas
from scheduler_core.controllers.vcjob import Task, VolcanoJob
from scheduler_core.replay.census import Census
from scheduler_core.replay.progress import Life
from scheduler_core.replay.world import World

Object = Mapping[str, Any]

PARTITION = "volcano.sh/partition-id"
JOB_NAME = "volcano.sh/job-name"
TASK_NAME = "volcano.sh/task-spec"
JOB_VERSION = "volcano.sh/job-version"
INDEPENDENT = "queuecast/independent-pods"


@dataclass
class JobState:
    """The state of one Job in its controller.

    Attributes
    ----------
    job : mapping
        The object.
    scheduler : str
        The scheduler of Jobs that name none.
    version : int
        The number of times that the whole Job was killed.
    retries : int
        The number of requested restarts.
    counts : Counts
        Its pods when they were last counted; they are not counted while its PodGroup is pending.
    groups : int
        How many PodGroups it has had.
    refusals : int
        How often its PodGroup was refused since it was deleted.
    creating : dict
        The pods that were requested and do not exist yet.
    created : dict
        By pod: how often it was created.
    saved : dict
        By pod: the work done that survives an eviction.
    timers : dict
        The actions that wait for their timeout, by number (see `replay.delayed`).
    delayed : dict
        By pod: the number of its action that can still be cancelled.
    delays : int
        How many actions have been delayed.

    """

    job: Object
    scheduler: str
    phase: str = "Pending"
    version: int = 0
    retries: int = 0
    counts: Counts = field(default_factory=Counts)
    groups: int = 0
    refusals: int = 0
    creating: dict[str, None] = field(default_factory=dict)
    created: dict[str, int] = field(default_factory=dict)
    saved: dict[str, float] = field(default_factory=dict)
    timers: dict[str, list[str]] = field(default_factory=dict)
    delayed: dict[str, str] = field(default_factory=dict)
    delays: int = 0

    @cached_property
    def rules(self) -> VolcanoJob:
        """Return the Job with the defaults that the webhook sets."""
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

    @cached_property
    def siblings(self) -> Counter[str]:
        """Return how many pods each task has."""
        return Counter(task.name for task, _ in self.places.values())

    @property
    def group(self) -> str:
        """Return the key of its PodGroup."""
        return f"{self.rules.namespace}/{self.rules.name}-{self.rules.uid}"

    @property
    def needs_all(self) -> bool:
        """Return whether no pod of the Job makes progress while one is missing."""
        rules = self.rules
        independent = rules.annotations.get(INDEPENDENT) == "true"
        return not independent and rules.min_available == replicas(rules) > 1

    @cached_property
    def last_census(self) -> Census:
        """Return the sums over its pods as they were last counted."""
        return Census(self.places)

    def census(self, world: World) -> Census:
        """Return the sums over its pods."""
        return self.last_census.renew(world, self.creating)

    def counted(self, world: World) -> Counts:
        """Return the number of its pods in each state; requested pods count as pending."""
        return self.census(world).counts(len(self.creating))

    def request(self, key: str) -> None:
        """Note that a pod was requested."""
        self.creating[key] = None
        self.last_census.stirred[key] = None

    def withdraw(self, key: str) -> None:
        """Note that a pod is no longer requested."""
        del self.creating[key]
        self.last_census.stirred[key] = None

    def frozen(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return {**asdict(self), "creating": list(self.creating)}

    @classmethod
    def thawed(cls, frozen: Mapping[str, Any]) -> JobState:
        """Return the state that was frozen."""
        counts, creating = Counts(**frozen["counts"]), dict.fromkeys(frozen["creating"])
        return cls(**{**frozen, "counts": counts, "creating": creating})


class JobStates:
    """The Jobs of a replay.

    Attributes
    ----------
    states : dict
        By key.
    requests : deque
        The events that the controller has not handled yet, each with the key of its Job.

    """

    def __init__(self, world: World, frozen: Mapping[str, Any] | None = None) -> None:
        self.world = world
        self.states: dict[str, JobState] = {}
        self.requests: deque[tuple[str, Request]] = deque()
        if frozen is not None:
            for key, state in frozen["states"].items():
                self.add(key, JobState.thawed(state))
            world.vcjob_groups = {state.group: key for key, state in self.states.items()}

    def frozen(self) -> dict[str, Any]:
        """Return the states as plain data; no event waits between two steps."""
        return {key: self.states[key].frozen() for key in sorted(self.states)}

    def add(self, key: str, state: JobState) -> None:
        """Add a Job."""
        self.states[key] = state
        for pod in state.places:
            self.world.counted_in.setdefault(pod, []).append(state.last_census.stirred)

    def remove(self, key: str) -> None:
        """Remove a Job."""
        state, counted_in = self.states.pop(key), self.world.counted_in
        for pod in state.places:
            others = [stirred for stirred in counted_in.pop(pod) if stirred is not state.last_census.stirred]
            if others:
                counted_in[pod] = others

    def claim(self, key: str, life: Life, pod: Object) -> None:
        """Record which Job controls a pod, if any does."""
        metadata = pod["metadata"]
        annotations = metadata.get("annotations") or {}
        job = f"{metadata.get('namespace') or 'default'}/{annotations.get(JOB_NAME)}"
        state = self.states.get(job)
        if state is not None and key in state.places:
            life.vcjob, life.task = job, annotations.get(TASK_NAME) or ""
            life.version = int(annotations.get(JOB_VERSION) or 0)
            life.saved, life.returns = state.saved.get(key, 0.0), state.created.get(key, 1) - 1

    # events

    def request(self, key: str, event: str) -> None:
        """Queue an event of a Job itself, not of one of its pods, for the controller."""
        self.requests.append((key, Request(event)))

    def command(self, key: str, action: str) -> None:
        """Queue a command for a Job: AbortJob or ResumeJob."""
        self.requests.append((key, Request("CommandIssued", action=action)))

    def pod_event(self, key: str, event: str, exit_code: int = 0) -> None:
        """Report an event of a pod to its controller.

        An event that only syncs the Job is dropped if the next one syncs it as well: a sync that changes the
        phase requests another.
        """
        life = self.world.lives[key]
        partition = (self.world.cluster.pods[key]["metadata"].get("labels") or {}).get(PARTITION) or ""
        name = "OutOfSync" if life.out_of_sync else event
        if name in ("OutOfSync", "PodRunning") and self.requests:
            job, before = self.requests[-1]
            if job == life.vcjob and before.event == "OutOfSync":
                self.requests.pop()
        self.requests.append((life.vcjob, Request(name, life.task, key, partition, exit_code, life.version)))

    def succeeded(self, key: str) -> None:
        """Report that a pod has succeeded."""
        life = self.world.lives[key]
        state = self.states.get(life.vcjob)
        siblings = state.siblings.get(life.task, 0) if state else 0
        all_have = state is not None and state.census(self.world).succeeded[life.task] == siblings
        self.pod_event(key, "TaskCompleted" if siblings and all_have else "OutOfSync")

    def updated(self, key: str) -> None:
        """Report a change of a pod that does not change its phase.

        It is TaskFailed once the kubelet has restarted the containers of the task often enough.
        """
        life = self.world.lives[key]
        state = self.states.get(life.vcjob)
        if state is None:
            return
        self.pod_event(key, "TaskFailed" if self._has_task_failed(state, life.task) else "OutOfSync")

    def _has_task_failed(self, state: JobState, name: str) -> bool:
        """Return whether the containers of a task have restarted too often; only pods that live count."""
        task = next(task for task in state.rules.tasks if task.name == name)
        if (task.spec.get("restartPolicy") or "Never") == "Never":
            return False
        limit = int(task.raw.get("maxRetry") or 0) or 3
        return 0 <= limit <= state.census(self.world).restarts[id(task)]

    def group_changed(self, key: str, phase: str) -> None:
        """Report that a session has changed the phase of a PodGroup."""
        job = self.world.vcjob_groups.get(key)
        if job is not None:
            event = "Unknown" if phase == "Unknown" else "OutOfSync"
            self.requests.append((job, Request(event, version=0)))
