"""What is there between two sessions: nodes, pods and PodGroups, and how they change.

Every change happens at a time of its own; the timestamps that it writes are whole seconds, rounded down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import asdict
from math import floor, inf, isfinite
from typing import Any

from scheduler_core.admission import Admission
from scheduler_core.controllers.made import key_of
from scheduler_core.model.pod_info import creation_of
from scheduler_core.model.snapshot import Cluster, NodeList
from scheduler_core.model.timestamps import format_time, parse_time
from scheduler_core.replay.agenda import Agenda, Due, Kind
from scheduler_core.replay.jobs import JOB_NAME, JOB_VERSION, TASK_NAME, JobController
from scheduler_core.replay.machines import Machines
from scheduler_core.replay.outside import apply
from scheduler_core.replay.owners import is_replaced_at_once, is_replaced_when_gone, replacement
from scheduler_core.replay.progress import Life
from scheduler_core.replay.queues import closes, settled
from scheduler_core.replay.records import JobRecord, Records
from scheduler_core.replay.schedules import Schedules
from scheduler_core.replay.timeline import (
    CHECKPOINT_SECONDS,
    RESTORE_SECONDS,
    Timeline,
    annotation,
    exit_code,
    run_seconds,
)
from scheduler_core.transitions import created_again, ended, running, terminating

Object = Mapping[str, Any]

TERMINAL_FOR = 0.1
"""Seconds for which a pod that was deleted is seen in its terminal phase before the object is gone."""
FIRST_BACK_OFF, LONGEST_BACK_OFF = 10.0, 300.0
"""Seconds that the kubelet waits before it restarts a container in place."""


class World:
    """The objects of a replay, what is due for them, and what is recorded of them.

    Attributes
    ----------
    lives : dict
        By the pod's namespace/name.
    members : dict
        The keys of a PodGroup's pods, by its key.
    scheduler_conf : mapping or None
        The configuration that an event brought last; None: that of the document.

    """

    def __init__(
        self,
        cluster: Cluster,
        admission: Admission,
        timeline: Timeline,
        records: Records,
        frozen: Object | None = None,
        vcjobs: Sequence[Object] = (),
    ) -> None:
        self.admission = admission
        self.timeline = timeline
        self.records = records
        self.cluster = cluster
        self.vcjobs = vcjobs
        self.begin = self.cluster.now
        self.agenda = Agenda() if frozen is None else Agenda.thawed(frozen["agenda"])
        self.lives: dict[str, Life] = {}
        self.members: dict[str, dict[str, None]] = {}
        self.podgroups: MutableMapping[str, Object] = self.cluster.podgroups
        self._restarting: dict[str, set[str]] = {}
        self.scheduler_conf: Object | None = None if frozen is None else frozen["scheduler_conf"]
        self.scheduler_names = self.cluster.pods.reader.scheduler_names
        self.machines = Machines(self, frozen)
        self.jobs = JobController(self, None if frozen is None else frozen["jobs"])
        self.schedules = Schedules(self, None if frozen is None else frozen["schedules"])
        self.vcjob_groups = {state.group: key for key, state in self.jobs.states.items()}
        if frozen is None:
            self._know_all()
        else:
            self._thaw(frozen)

    def _know_all(self) -> None:
        """Plan what the objects of the document do next, and its events."""
        for key, podgroup in self.cluster.podgroups.items():
            self.know_podgroup(key, podgroup, self._since_begin(creation_of(podgroup)))
        for job in sorted(self.vcjobs, key=key_of):
            created = creation_of(job)
            self.jobs.submit(job, self._since_begin(created) or 0.0, exists=True)
        for key in list(self.cluster.pods):
            self._know_pod(key, 0.0)
        for job_key in self.members:
            self._record_start(job_key, 0.0)
        self.jobs.settle(0.0)
        for position, event in enumerate(self.timeline.events):
            self.agenda.plan_event(float(event["at"]), position)

    # freezing

    def objects(self) -> dict[str, list[Object]]:
        """Return the objects as they are now, by the names that a scenario gives their lists."""
        return {
            "nodes": list(self.cluster.nodes.objects),
            "queues": list(self.cluster.queues),
            "podgroups": [self.podgroups[key] for key in sorted(self.podgroups)],
            "pods": [self.cluster.pods.infos[key].given for key in sorted(self.cluster.pods)],
        }

    def frozen(self) -> dict[str, Any]:
        """Return everything that the next session and all that follows depend on, as plain data."""
        return {
            **self.objects(),
            "lives": {key: asdict(self.lives[key]) for key in sorted(self.lives)},
            "restarting": {job: sorted(keys) for job, keys in sorted(self._restarting.items())},
            "agenda": self.agenda.frozen(),
            "begin": self.begin,
            "scheduler_conf": self.scheduler_conf,
            "machines": self.machines.frozen(),
            "jobs": self.jobs.frozen(),
            "schedules": self.schedules.frozen(),
        }

    def _thaw(self, frozen: Object) -> None:
        self.begin = frozen["begin"]
        self.cluster.nodes = NodeList(frozen["nodes"])
        self.cluster.queues = list(frozen["queues"])
        self.podgroups.clear()
        self.podgroups.update((key_of(podgroup), podgroup) for podgroup in frozen["podgroups"])
        self.members = {key: {} for key in self.podgroups}
        for key in list(self.cluster.pods):
            del self.cluster.pods[key]
        for pod in frozen["pods"]:
            self.cluster.pods[key_of(pod)] = pod
        self.lives = {key: Life(**fields) for key, fields in frozen["lives"].items()}
        for key, life in self.lives.items():
            self.members.setdefault(life.job, {})[key] = None
        self._restarting = {job: set(keys) for job, keys in frozen["restarting"].items()}

    # times

    def timestamp(self, time: float) -> str:
        """Return the timestamp of a time since the beginning."""
        return format_time(floor(self.begin + time))

    def _since_begin(self, moment: float) -> float | None:
        return moment - self.begin if isfinite(moment) else None

    # who is known

    def know_podgroup(self, key: str, podgroup: Object, submitted: float | None) -> None:
        """Take a PodGroup that is there from now on, and record its life; of a Job it is one life."""
        self.podgroups[key] = podgroup
        self.members.setdefault(key, {})
        phase = (podgroup.get("status") or {}).get("phase") or "Pending"
        queue = (podgroup.get("spec") or {}).get("queue") or "default"
        if key in self.vcjob_groups and key in self.records.jobs:
            return
        record = self.records.jobs[key] = JobRecord(queue, submitted)
        if phase != "Pending":
            record.enqueued = 0.0

    def _know_pod(self, key: str, time: float) -> None:
        """Plan what a pod that is there from now on does next."""
        info, pod = self.cluster.pods.infos[key], self.cluster.pods[key]
        life = self.lives[key] = Life(info.uid, info.job_key)
        self.members.setdefault(info.job_key, {})[key] = None
        life.duration = run_seconds(pod, self.podgroups.get(info.job_key))
        self._know_controller(key, life, pod)
        status = pod.get("status") or {}
        phase = status.get("phase")
        life.succeeded, life.failed = phase == "Succeeded", phase == "Failed"
        deleted = pod["metadata"].get("deletionTimestamp")
        if phase == "Running":
            stated = status.get("startTime")
            started = parse_time(stated) - self.begin if stated else time
            life.started = life.since = min(started, time)
            if life.duration is not None and not deleted:
                self.agenda.plan(time + max(life.duration - (time - life.started), 1.0), Kind.FINISH, key)
        elif phase == "Pending" and info.node_name and not deleted:
            self.agenda.plan(time + self.timeline.start_delay, Kind.START, key)
        if deleted:
            life.terminates = True
            since = parse_time(deleted) - self.begin
            self.agenda.plan(max(since + self.timeline.termination_of(pod), time), Kind.GONE, key)

    def _know_controller(self, key: str, life: Life, pod: Object) -> None:
        """Note which Job controls a pod, if any does."""
        metadata = pod["metadata"]
        annotations = metadata.get("annotations") or {}
        job = f"{metadata.get('namespace') or 'default'}/{annotations.get(JOB_NAME)}"
        state = self.jobs.states.get(job)
        if state is not None and key in state.places:
            life.vcjob, life.task = job, annotations.get(TASK_NAME) or ""
            life.version = int(annotations.get(JOB_VERSION) or 0)
            life.saved, life.returns = state.saved.get(key, 0.0), state.created.get(key, 1) - 1

    # what controllers do

    def add_group(self, key: str, podgroup: Object) -> None:
        """Create the PodGroup of a Job."""
        job = self.vcjob_groups[key]
        self.know_podgroup(key, podgroup, self.records.vcjobs[job].submitted)

    def remove_group(self, key: str) -> None:
        """Delete a PodGroup, not its pods."""
        del self.podgroups[key]
        self._settle_queues()

    def add_pod(self, key: str, pod: Object, time: float) -> None:
        """Create a pod."""
        self.cluster.pods[key] = pod
        self._know_pod(key, time)

    def delete_pod(self, key: str, time: float) -> None:
        """Delete a pod: one that holds nothing is gone at once."""
        if self.lives[key].has_ended or not self.cluster.pods.infos[key].node_name:
            self.lives[key].terminates = True
            self._gone(key, time)
        else:
            self.terminate(key, terminating(self.cluster.pods[key], self.timestamp(time)), time)

    def go_on(self, key: str, time: float) -> None:
        """Let a pod's work go on, and plan its end."""
        life = self.lives[key]
        life.go_on(time)
        if life.left is not None:
            self.agenda.plan(time + life.left, Kind.FINISH, key)

    def pause(self, key: str, time: float) -> None:
        """Let a pod's work wait."""
        self.lives[key].pause(time)
        self.agenda.cancel(key)

    def group_changed(self, key: str, phase: str) -> None:
        """Tell the controllers that a session has changed the phase of a PodGroup."""
        self.jobs.group_changed(key, phase)

    def job_turned(self, key: str, time: float) -> None:
        """Tell the controllers that a Job has changed its phase."""
        self.schedules.job_turned(key, time)

    def settle(self, time: float) -> None:
        """Let the controllers work until nothing follows any more."""
        self.jobs.settle(time)

    def _settle_queues(self) -> None:
        if closes(self.cluster.queues):
            self.cluster.queues = settled(self.cluster.queues, self.queues_in_use())

    def queues_in_use(self) -> set[str]:
        """Return the queues that have PodGroups."""
        return {(group.get("spec") or {}).get("queue") or "default" for group in self.podgroups.values()}

    # what is due

    def happen(self, due: Due) -> None:
        """Let happen what is due, and the controllers work on what follows."""
        if due.kind is Kind.EVENT:
            apply(self, self.timeline.events[int(due.key)], due.time)
        else:
            happens = {
                Kind.FINISH: self._finish,
                Kind.GONE: self._gone,
                Kind.START: self.start,
                Kind.NODE: self.machines.happen,
                Kind.EXPIRE: self.jobs.delete,
                Kind.CRON: self.schedules.happen,
                Kind.CREATE: self.jobs.create,
                Kind.ACTION: self.jobs.act,
            }
            happens[due.kind](str(due.key), due.time)
        self.settle(due.time)

    def start(self, key: str, time: float) -> None:
        """Let a bound pod run."""
        self.cluster.pods[key] = running(self.cluster.pods[key], self.timestamp(time))
        self.began(key, time)

    def began(self, key: str, time: float) -> None:
        """Plan the end of a pod that runs from now on."""
        life = self.lives[key]
        restores = annotation(RESTORE_SECONDS, self.cluster.pods[key], self.podgroups.get(life.job))
        life.start(time, self.timeline.restore if restores is None else float(restores))
        if life.vcjob:
            self.jobs.pod_event(key, "PodRunning")
            self.jobs.pace(life.vcjob, time)
        else:
            self.go_on(key, time)
        self._record_start(life.job, time)

    def was_bound(self, key: str, time: float, delay: float) -> None:
        """Plan the start of a pod that was bound; without a delay it runs at once."""
        if self.machines.is_lost(self.cluster.pods.infos[key].node_name):
            self.lives[key].on_lost_node = True
        elif delay > 0:
            self.agenda.plan(time + delay, Kind.START, key)
        else:
            self.began(key, time)

    def start_delay(self, key: str, node: str, time: float) -> float:
        """Return the seconds from a bind until the pod runs: its images are pulled, then it starts."""
        if self.machines.is_lost(node):
            return inf
        spec = self.cluster.pods.infos[key].template.pod.get("spec") or {}
        return self.machines.pulls(node, spec, time) + self.timeline.start_delay

    def _record_start(self, job: str, time: float) -> None:
        """Record the first moment at which a job's minimum runs at once."""
        record = self.records.jobs.get(job)
        if record is None or record.started is not None or job not in self.podgroups:
            return
        minimum = max(int((self.podgroups[job].get("spec") or {}).get("minMember") or 0), 1)
        lives = [self.lives[key] for key in self.members[job]]
        starts = sorted([life.started for life in lives if life.runs and life.started is not None])
        if len(starts) >= minimum:
            record.started = starts[minimum - 1]

    def _finish(self, key: str, time: float) -> None:
        """End the containers of a pod: its work is done, or it was told to terminate."""
        life, pod = self.lives[key], self.cluster.pods[key]
        if life.terminates:
            self._fail(key, self.timeline.exit_code_on_termination)
            self.agenda.plan(life.vanishes, Kind.GONE, key)
            return
        code = exit_code(pod, self.podgroups.get(life.job), life.returns + life.restarts)
        if code:
            self._end_badly(key, code, time)
            return
        self._lose(life, life.finish(time))
        life.succeeded = True
        self.cluster.pods[key] = ended(pod, "Succeeded")
        if life.vcjob:
            self.jobs.succeeded(key)
            self.jobs.pace(life.vcjob, time)
        else:
            self._end_job(life.job, time)

    def _end_badly(self, key: str, code: int, time: float) -> None:
        """End a run with an exit code other than 0; the kubelet may start the container again in place."""
        life, pod = self.lives[key], self.cluster.pods[key]
        self._lose(life, life.stop(time, 0.0))
        if (pod["spec"].get("restartPolicy") or "Never") == "Never":
            self._fail(key, code)
        else:
            life.restarts += 1
            waits = min(FIRST_BACK_OFF * 2 ** (life.restarts - 1), LONGEST_BACK_OFF)
            self.agenda.plan(time + waits, Kind.START, key)
            if life.vcjob:
                self.jobs.restarted(key)
        if life.vcjob:
            self.jobs.pace(life.vcjob, time)

    def _fail(self, key: str, code: int) -> None:
        life = self.lives[key]
        life.failed = True
        self.cluster.pods[key] = ended(self.cluster.pods[key], "Failed")
        if life.vcjob:
            self.jobs.pod_event(key, "PodFailed", code)

    def _end_job(self, job: str, time: float) -> None:
        """Delete a job all of whose pods have succeeded."""
        members = self.members.get(job, {})
        if job not in self.podgroups or not members or job in self.vcjob_groups:
            return
        if all(self.lives[key].succeeded for key in members):
            self.records.jobs[job].finished = time
            for key in list(members):
                self._forget(key)
            del self.podgroups[job]
            del self.members[job]
            self._restarting.pop(job, None)
            self._settle_queues()

    def _forget(self, key: str) -> Life:
        self.agenda.cancel(key)
        life = self.lives.pop(key)
        self.members[life.job].pop(key)
        del self.cluster.pods[key]
        return life

    def _gone(self, key: str, time: float) -> None:
        """Delete a pod that has terminated; what controls it may create it again."""
        life = self.lives[key]
        if life.vcjob:
            self.jobs.pod_event(key, "PodEvicted")
            self._forget(key)
            return
        again = self.timeline.evicted != "delete"
        if self.timeline.evicted == "owner":
            again = is_replaced_when_gone(self.cluster.pods[key])
        if not again:
            self._forget(key)
            self._end_job(life.job, time)
            return
        self._come_back(key, time)
        rest = self._restarting.get(life.job)
        if rest is not None:
            rest.discard(key)
            if not rest:
                del self._restarting[life.job]
                for other in [k for k in self.members[life.job] if self.lives[k].succeeded]:
                    self._come_back(other, time)

    def _come_back(self, key: str, time: float) -> None:
        life, pod = self.lives[key], self.cluster.pods[key]
        self.agenda.cancel(key)
        life.returns += 1
        if life.succeeded:
            life.saved = 0.0
        life.terminates = life.succeeded = life.failed = life.on_lost_node = False
        life.started = life.since = None
        if self.timeline.evicted != "resume":
            life.duration = run_seconds(pod, self.podgroups.get(life.job))
        again = created_again(pod, f"{life.uid}-re{life.returns}", self.timestamp(time), self.scheduler_names)
        del self.cluster.pods[key]
        self.cluster.pods[key] = again

    # evictions

    def evict(self, key: str, pod: Object, time: float) -> None:
        """Let a pod terminate that the scheduler evicted; `pod` is what the eviction wrote."""
        life = self.lives[key]
        record = self.records.jobs.get(life.job)
        if record is not None:
            record.evictions += 1
        self.terminate(key, pod, time)

    def restart_jobs(self, jobs: Iterable[str], time: float) -> None:
        """Let terminate what else runs of jobs that are restarted whole."""
        for job in jobs:
            if job in self.vcjob_groups:
                continue
            for key in sorted(self.members[job]):
                life, pod = self.lives[key], self.cluster.pods[key]
                if not life.terminates and not life.succeeded and self.cluster.pods.infos[key].node_name:
                    self.terminate(key, terminating(pod, self.timestamp(time)), time)
                elif life.succeeded and life.ran:
                    self._lose(life, life.ran)
                    life.ran = 0.0
            rest = {key for key in self.members[job] if self.lives[key].terminates}
            self._restarting.setdefault(job, set()).update(rest)

    def terminate(self, key: str, pod: Object, time: float) -> None:
        """Let a pod terminate; `pod` is what was written on it."""
        life = self.lives[key]
        self.stop(key, time)
        life.terminates = True
        self.cluster.pods[key] = pod
        seconds = self.timeline.termination_of(pod)
        if life.on_lost_node:
            self.agenda.cancel(key)
        elif life.vcjob and self.timeline.terminal_phase_first and seconds > 0 and not life.has_ended:
            life.vanishes = time + seconds
            self.agenda.plan(max(life.vanishes - TERMINAL_FOR, time), Kind.FINISH, key)
        else:
            self.agenda.plan(time + seconds, Kind.GONE, key)
        if self.timeline.evicted == "owner" and not life.vcjob and is_replaced_at_once(pod):
            self._replace_pod(key, time)

    def _replace_pod(self, key: str, time: float) -> None:
        """Create the pod with which its owner replaces one that terminates."""
        pod = replacement(
            self.cluster.pods[key], self.cluster.pods, self.timestamp(time), self.scheduler_names
        )
        self.add_pod(key_of(pod), pod, time)
        self.lives[key_of(pod)].saved = self.lives[key].saved

    def stop(self, key: str, time: float) -> None:
        """Interrupt a pod's run, and count what of it is lost."""
        life = self.lives[key]
        if life.started is None:
            return
        text = annotation(CHECKPOINT_SECONDS, self.cluster.pods[key], self.podgroups.get(life.job))
        interval = self.timeline.checkpoint if text is None else float(text)
        self._lose(life, life.stop(time, inf if self.timeline.evicted == "resume" else interval))
        if life.vcjob:
            state = self.jobs.states.get(life.vcjob)
            if state is not None:
                state.saved[key] = life.saved
                self.jobs.pace(life.vcjob, time)

    def _lose(self, life: Life, seconds: float) -> None:
        record = self.records.jobs.get(life.job)
        if record is not None:
            record.lost_seconds += seconds

    def lose_node(self, name: str, time: float) -> None:
        """Take the pods of a node that is gone away with it."""
        infos = self.cluster.pods.infos
        stopped: set[str] = set()
        for key in sorted([key for key, info in infos.items() if info.node_name == name]):
            life = self.lives[key]
            if not life.has_ended:
                stopped.add(life.job)
                self.stop(key, time)
                self._gone(key, time)
        if self.timeline.evicted == "restart-job":
            self.restart_jobs(sorted(stopped & set(self.podgroups)), time)
