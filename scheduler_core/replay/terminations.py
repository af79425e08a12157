"""Terminates, deletes and recreates evicted and deleted pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.controllers.made import key_of
from scheduler_core.replay.agenda import Kind
from scheduler_core.replay.job_states import JobStates
from scheduler_core.replay.owners import is_replaced_at_once, is_replaced_when_gone, replacement
from scheduler_core.replay.runs import PodRuns
from scheduler_core.replay.timeline import run_seconds
from scheduler_core.replay.world import World
from scheduler_core.transitions import created_again, terminating

Object = Mapping[str, Any]

TERMINAL_FOR = 0.1
"""Seconds between the terminal phase of a deleted pod and the deletion of the object."""


class Terminations:
    """The terminating pods of a replay."""

    def __init__(self, world: World, runs: PodRuns, states: JobStates) -> None:
        self.world = world
        self.runs = runs
        self.states = states

    def evict(self, key: str, pod: Object, time: float) -> None:
        """Terminate a pod that the scheduler evicted; `pod` is the object that the eviction wrote."""
        record = self.world.records.jobs.get(self.world.lives[key].job)
        if record is not None:
            record.evictions += 1
        self._terminate(key, pod, time)

    def delete(self, key: str, time: float) -> None:
        """Delete a pod; one without a node, or that has ended, is removed at once."""
        if self.world.lives[key].has_ended or not self.world.cluster.pods.infos[key].node_name:
            self.world.lives[key].terminates = True
            self.remove(key, time)
        else:
            self.terminate(key, time)

    def terminate(self, key: str, time: float) -> None:
        """Terminate a deleted pod."""
        self._terminate(key, terminating(self.world.cluster.pods[key], self.world.timestamp(time)), time)

    def _terminate(self, key: str, pod: Object, time: float) -> None:
        """Terminate a pod; `pod` is its new object."""
        world = self.world
        life, agenda = world.lives[key], world.agenda
        self.runs.stop(key, time)
        life.terminates = True
        world.stir(key)
        world.cluster.pods.follow(key, pod)
        self.states.updated(key)
        seconds = world.timeline.termination_of(pod)
        if life.on_lost_node:
            agenda.cancel(key)
        elif life.vcjob and world.timeline.terminal_phase_first and seconds > 0 and not life.has_ended:
            life.vanishes = time + seconds
            agenda.plan(max(life.vanishes - TERMINAL_FOR, time), Kind.FINISH, key)
        else:
            agenda.plan(time + seconds, Kind.GONE, key)
        if world.timeline.evicted == "owner" and not life.vcjob and is_replaced_at_once(pod):
            self._replace(key, time)

    def _replace(self, key: str, time: float) -> None:
        """Create the pod with which its owner replaces a terminating one."""
        world = self.world
        pods = world.cluster.pods
        pod = replacement(pods[key], pods, world.timestamp(time), world.scheduler_names)
        self.runs.add(key_of(pod), pod, time)
        world.lives[key_of(pod)].saved = world.lives[key].saved

    def restart_jobs(self, jobs: Iterable[str], time: float) -> None:
        """Terminate the other running pods of jobs that restart as a whole."""
        world = self.world
        for job in jobs:
            if job in world.vcjob_groups:
                continue
            for key in sorted(world.members[job]):
                life = world.lives[key]
                if not life.terminates and not life.succeeded and world.cluster.pods.infos[key].node_name:
                    self.terminate(key, time)
                elif life.succeeded and life.ran:
                    world.record_loss(life, life.ran)
                    life.ran = 0.0
            rest = {key for key in world.members[job] if world.lives[key].terminates}
            world.restarting.setdefault(job, set()).update(rest)

    def delete_pods_on(self, node: str, time: float) -> None:
        """Delete the pods of a deleted node.

        The deletion of a pod may end its job, or restart the job's other pods, which then leave the node.
        """
        world = self.world
        stopped: set[str] = set()
        for key in world.pods_on(node):
            life, info = world.lives.get(key), world.cluster.pods.infos.get(key)
            if life is not None and info is not None and info.node_name == node and not life.has_ended:
                stopped.add(life.job)
                self.runs.stop(key, time)
                self.remove(key, time)
        if world.timeline.evicted == "restart-job":
            self.restart_jobs(sorted(stopped & set(world.podgroups)), time)

    def remove(self, key: str, time: float) -> None:
        """Remove a pod that has terminated; its controller may create it again."""
        world = self.world
        life = world.lives[key]
        if life.vcjob:
            self.states.pod_event(key, "PodEvicted")
            world.forget(key)
            return
        again = world.timeline.evicted != "delete"
        if world.timeline.evicted == "owner":
            again = is_replaced_when_gone(world.cluster.pods[key])
        if not again:
            world.forget(key)
            world.end_job(life.job, time)
            return
        self._recreate(key, time)
        rest = world.restarting.get(life.job)
        if rest is not None:
            rest.discard(key)
            if not rest:
                del world.restarting[life.job]
                for other in [k for k in world.members[life.job] if world.lives[k].succeeded]:
                    self._recreate(other, time)

    def _recreate(self, key: str, time: float) -> None:
        world = self.world
        life, pod = world.lives[key], world.cluster.pods[key]
        world.agenda.cancel(key)
        life.returns += 1
        if life.succeeded:
            life.saved = 0.0
        life.terminates = life.succeeded = life.failed = life.on_lost_node = False
        life.started = life.since = None
        if world.timeline.evicted != "resume":
            life.duration = run_seconds(pod, world.podgroups.get(life.job))
        uid = f"{life.uid}-re{life.returns}"
        again = created_again(pod, uid, world.timestamp(time), world.scheduler_names)
        del world.cluster.pods[key]
        world.cluster.pods[key] = again
        world.stir(key)
