"""The runs of pods: start, failure and success."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from scheduler_core.model.run_annotations import CHECKPOINT_SECONDS, RESTORE_SECONDS, seconds_of
from scheduler_core.model.timestamps import parse_time
from scheduler_core.replay.agenda import Kind
from scheduler_core.replay.job_states import JobStates
from scheduler_core.replay.progress import Life
from scheduler_core.replay.timeline import annotation, exit_code, run_seconds
from scheduler_core.replay.world import World
from scheduler_core.transitions import ended, running

Object = Mapping[str, Any]

FIRST_BACK_OFF, LONGEST_BACK_OFF = 10.0, 300.0
"""Seconds that the kubelet waits before it restarts a container in place."""


class PodRuns:
    """The runs of the pods of a replay."""

    def __init__(self, world: World, states: JobStates) -> None:
        self.world = world
        self.states = states

    def track(self, key: str, time: float) -> None:
        """Start tracking a new pod, and plan its next event."""
        world = self.world
        info, pod = world.cluster.pods.infos[key], world.cluster.pods[key]
        life = world.lives[key] = Life(info.uid, info.job_key)
        world.members.setdefault(info.job_key, {})[key] = None
        life.duration = run_seconds(pod, world.podgroups.get(info.job_key))
        self.states.claim(key, life, pod)
        status = pod.get("status") or {}
        phase = status.get("phase")
        life.succeeded, life.failed = phase == "Succeeded", phase == "Failed"
        deleted = pod["metadata"].get("deletionTimestamp")
        if phase == "Running" and not deleted:
            stated = status.get("startTime")
            started = parse_time(stated) - world.begin if stated else time
            life.started = life.since = min(started, time)
            if life.duration is not None:
                world.agenda.plan(time + max(life.duration - (time - life.started), 1.0), Kind.FINISH, key)
        elif phase == "Pending" and info.node_name and not deleted:
            world.agenda.plan(time + world.timeline.start_delay, Kind.START, key)
        if deleted:
            life.terminates = True
            since = parse_time(deleted) - world.begin
            world.agenda.plan(max(since + world.timeline.termination_of(pod), time), Kind.GONE, key)
        world.stir(key)

    def add(self, key: str, pod: Object, time: float) -> None:
        """Create a pod."""
        self.world.cluster.pods[key] = pod
        self.track(key, time)

    # starting

    def start(self, key: str, time: float) -> None:
        """Start a bound pod."""
        pods = self.world.cluster.pods
        pods.follow(key, running(pods[key], self.world.timestamp(time)))
        self.plan_end(key, time)

    def plan_end(self, key: str, time: float) -> None:
        """Plan the end of a pod that has just started."""
        world = self.world
        life, pod = world.lives[key], world.cluster.pods.infos[key].given
        restores = annotation(RESTORE_SECONDS, pod, world.podgroups.get(life.job))
        life.start(time, world.timeline.restore if restores is None else seconds_of(restores))
        world.stir(key)
        if life.backs_off:
            life.backs_off = False
            life.restarts += 1
            self.states.updated(key)
        elif life.vcjob:
            self.states.pod_event(key, "PodRunning")
        if life.vcjob:
            self.pace(life.vcjob, time)
        else:
            self._resume(key, time)
        world.record_start(life.job)

    def pace(self, job: str, time: float) -> None:
        """Continue the work of a Job's pods, or pause it while a pod that they need is missing."""
        world, state = self.world, self.states.states.get(job)
        if state is None:
            return
        census = state.census(world)
        if not state.needs_all or census.ready == len(state.places):
            for pod in census.paused:
                self._resume(pod, time)
        else:
            for pod in census.going:
                world.lives[pod].pause(time)
                world.agenda.cancel(pod)
                world.stir(pod)

    def _resume(self, key: str, time: float) -> None:
        """Continue a pod's work, and plan its end."""
        life = self.world.lives[key]
        life.resume(time)
        self.world.stir(key)
        if life.left is not None:
            self.world.agenda.plan(time + life.left, Kind.FINISH, key)

    # ending

    def finish(self, key: str, time: float) -> None:
        """End the containers of a pod: its work is done, or it terminates."""
        world = self.world
        life, pod = world.lives[key], world.cluster.pods[key]
        if life.terminates:
            self._fail(key, world.timeline.exit_code_on_termination)
            world.agenda.plan(life.vanishes, Kind.GONE, key)
            return
        code = exit_code(pod, world.podgroups.get(life.job), life.returns + life.restarts)
        if code:
            self._exit(key, code, time)
            return
        world.record_loss(life, life.finish(time))
        life.succeeded = True
        world.stir(key)
        if not life.vcjob and world.end_job(life.job, time):
            return
        world.cluster.pods.follow(key, ended(pod, "Succeeded"))
        if life.vcjob:
            self.states.succeeded(key)
            self.pace(life.vcjob, time)

    def _exit(self, key: str, code: int, time: float) -> None:
        """End a run with an exit code other than 0; the kubelet may restart the container in place."""
        world = self.world
        life, pod = world.lives[key], world.cluster.pods[key]
        world.record_loss(life, life.stop(time, 0.0))
        world.stir(key)
        if (pod["spec"].get("restartPolicy") or "Never") == "Never":
            self._fail(key, code)
        else:
            life.backs_off = True
            waits = min(FIRST_BACK_OFF * 2**life.restarts, LONGEST_BACK_OFF)
            world.agenda.plan(time + waits, Kind.START, key)
            self.states.updated(key)
        if life.vcjob:
            self.pace(life.vcjob, time)

    def _fail(self, key: str, code: int) -> None:
        life, pods = self.world.lives[key], self.world.cluster.pods
        life.failed = True
        self.world.stir(key)
        pods.follow(key, ended(pods[key], "Failed"))
        if life.vcjob:
            self.states.pod_event(key, "PodFailed", code)

    def stop(self, key: str, time: float) -> None:
        """Interrupt a pod's run, and count its lost time."""
        world = self.world
        life = world.lives[key]
        if life.started is None:
            return
        text = annotation(CHECKPOINT_SECONDS, world.cluster.pods[key], world.podgroups.get(life.job))
        interval = world.timeline.checkpoint if text is None else seconds_of(text)
        world.record_loss(life, life.stop(time, inf if world.timeline.evicted == "resume" else interval))
        world.stir(key)
        state = self.states.states.get(life.vcjob) if life.vcjob else None
        if state is not None:
            state.saved[key] = life.saved
            self.pace(life.vcjob, time)
