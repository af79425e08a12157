"""What is there between two sessions: nodes, pods and PodGroups, and how they change.

Every change happens at a time of its own; the timestamps that it writes are whole seconds, rounded down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from math import floor, isfinite
from typing import Any

from scheduler_core.admission import Admission
from scheduler_core.controllers.made import key_of
from scheduler_core.model.pod_info import creation_of
from scheduler_core.model.snapshot import Cluster, NodeList
from scheduler_core.model.timestamps import format_time, parse_time
from scheduler_core.replay.agenda import Agenda, Due, Kind
from scheduler_core.replay.queues import closed, closes, opened, settled
from scheduler_core.replay.records import JobRecord, Records
from scheduler_core.replay.timeline import Timeline, run_seconds
from scheduler_core.transitions import created_again, running, terminating

Object = Mapping[str, Any]


@dataclass
class Life:
    """What is known of a pod beside the object.

    Attributes
    ----------
    uid : str
        The uid that it was created with first.
    job : str
        The key of its PodGroup, empty without one.
    returns : int
        How often it has come back.
    started : float or None
        Since when it runs; None: it does not run.
    left : float or None
        How long it runs when it starts next; None: for ever.
    ran : float
        The run time with which it succeeded, 0 once that was counted as lost.
    terminates : bool
        Whether it is terminating.
    succeeded : bool
        Whether it has succeeded.

    """

    uid: str
    job: str
    returns: int = 0
    started: float | None = None
    left: float | None = None
    ran: float = 0.0
    terminates: bool = False
    succeeded: bool = False

    @property
    def runs(self) -> bool:
        """Return whether the pod runs and is not terminating."""
        return self.started is not None and not self.terminates and not self.succeeded


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
    ) -> None:
        self.admission = admission
        self.timeline = timeline
        self.records = records
        self.cluster = cluster
        self.begin = self.cluster.now
        self.agenda = Agenda() if frozen is None else Agenda.thawed(frozen["agenda"])
        self.lives: dict[str, Life] = {}
        self.members: dict[str, dict[str, None]] = {}
        self.podgroups: dict[str, Object] = {}
        self._restarting: dict[str, set[str]] = {}
        self.scheduler_conf: Object | None = None if frozen is None else frozen["scheduler_conf"]
        self.scheduler_names = self.cluster.pods.reader.scheduler_names
        if frozen is None:
            self._know_all()
        else:
            self._thaw(frozen)

    def _know_all(self) -> None:
        """Plan what the objects of the document do next, and its events."""
        for key, podgroup in self.cluster.podgroups.items():
            self._know_podgroup(key, podgroup, self._since_begin(creation_of(podgroup)))
        for key in list(self.cluster.pods):
            self._know_pod(key, 0.0)
        for job in self.members:
            self._record_start(job, 0.0)
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
        }

    def _thaw(self, frozen: Object) -> None:
        self.begin = frozen["begin"]
        self.cluster.nodes = NodeList(frozen["nodes"])
        self.cluster.queues = list(frozen["queues"])
        self.podgroups = {key_of(podgroup): podgroup for podgroup in frozen["podgroups"]}
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

    def _know_podgroup(self, key: str, podgroup: Object, submitted: float | None) -> None:
        self.podgroups[key] = podgroup
        self.members.setdefault(key, {})
        phase = (podgroup.get("status") or {}).get("phase") or "Pending"
        queue = (podgroup.get("spec") or {}).get("queue") or "default"
        record = self.records.jobs[key] = JobRecord(queue, submitted)
        if phase != "Pending":
            record.enqueued = 0.0

    def _know_pod(self, key: str, time: float) -> None:
        """Plan what a pod that is there from now on does next."""
        info, pod = self.cluster.pods.infos[key], self.cluster.pods[key]
        life = self.lives[key] = Life(info.uid, info.job_key)
        self.members.setdefault(info.job_key, {})[key] = None
        life.left = run_seconds(pod, self.podgroups.get(info.job_key))
        status = pod.get("status") or {}
        phase = status.get("phase")
        life.succeeded = phase == "Succeeded"
        deleted = pod["metadata"].get("deletionTimestamp")
        if phase == "Running":
            stated = status.get("startTime")
            started = parse_time(stated) - self.begin if stated else time
            life.started = min(started, time)
            if life.left is not None and not deleted:
                self.agenda.plan(time + max(life.left - (time - life.started), 1.0), Kind.FINISH, key)
        elif phase == "Pending" and info.node_name and not deleted:
            self.agenda.plan(time + self.timeline.start_delay, Kind.START, key)
        if deleted:
            life.terminates = True
            since = parse_time(deleted) - self.begin
            self.agenda.plan(max(since + self.timeline.termination_of(pod), time), Kind.GONE, key)

    # what is due

    def happen(self, due: Due) -> None:
        """Let happen what is due."""
        if due.kind is Kind.EVENT:
            self._event(self.timeline.events[int(due.key)], due.time)
        elif due.kind is Kind.FINISH:
            self._finish(str(due.key), due.time)
        elif due.kind is Kind.GONE:
            self._gone(str(due.key), due.time)
        else:
            self.start(str(due.key), due.time)

    def start(self, key: str, time: float) -> None:
        """Let a bound pod run."""
        self.cluster.pods[key] = running(self.cluster.pods[key], self.timestamp(time))
        self.began(key, time)

    def began(self, key: str, time: float) -> None:
        """Plan the end of a pod that runs from now on."""
        life = self.lives[key]
        life.started = time
        if life.left is not None:
            self.agenda.plan(time + life.left, Kind.FINISH, key)
        self._record_start(life.job, time)

    def was_bound(self, key: str, time: float) -> None:
        """Plan the start of a pod that was bound; without a delay it runs at once."""
        if self.timeline.start_delay > 0:
            self.agenda.plan(time + self.timeline.start_delay, Kind.START, key)
        else:
            self.began(key, time)

    def _record_start(self, job: str, time: float) -> None:
        """Record the first moment at which a job's minimum runs at once."""
        record = self.records.jobs.get(job)
        if record is None or record.started is not None:
            return
        minimum = max(int((self.podgroups[job].get("spec") or {}).get("minMember") or 0), 1)
        lives = [self.lives[key] for key in self.members[job]]
        starts = sorted([life.started for life in lives if life.runs and life.started is not None])
        if len(starts) >= minimum:
            record.started = starts[minimum - 1]

    def _finish(self, key: str, time: float) -> None:
        life, pod = self.lives[key], self.cluster.pods[key]
        life.ran = life.left or 0.0
        life.succeeded, life.started = True, None
        self.cluster.pods[key] = {**pod, "status": {**(pod.get("status") or {}), "phase": "Succeeded"}}
        self._end_job(life.job, time)

    def _end_job(self, job: str, time: float) -> None:
        """Delete a job all of whose pods have succeeded."""
        members = self.members.get(job, {})
        if job not in self.podgroups or not members:
            return
        if all(self.lives[key].succeeded for key in members):
            self.records.jobs[job].finished = time
            for key in list(members):
                self._forget(key)
            del self.podgroups[job]
            del self.members[job]
            self._restarting.pop(job, None)
            if closes(self.cluster.queues):
                self.cluster.queues = settled(self.cluster.queues, self._queues_in_use())

    def _forget(self, key: str) -> Life:
        self.agenda.cancel(key)
        life = self.lives.pop(key)
        self.members[life.job].pop(key)
        del self.cluster.pods[key]
        return life

    def _gone(self, key: str, time: float) -> None:
        """Delete a pod that has terminated; unless evicted pods are deleted it comes back."""
        life = self.lives[key]
        if self.timeline.evicted == "delete":
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
        life.terminates = life.succeeded = False
        life.started = None
        if self.timeline.evicted != "resume":
            life.left = run_seconds(pod, self.podgroups.get(life.job))
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
        self._terminate(key, pod, time)

    def restart_jobs(self, jobs: Iterable[str], time: float) -> None:
        """Let terminate what else runs of jobs that are restarted whole."""
        for job in jobs:
            for key in sorted(self.members[job]):
                life, pod = self.lives[key], self.cluster.pods[key]
                if not life.terminates and not life.succeeded and self.cluster.pods.infos[key].node_name:
                    self._terminate(key, terminating(pod, self.timestamp(time)), time)
                elif life.succeeded and life.ran:
                    self._lose(life, life.ran)
                    life.ran = 0.0
            rest = {key for key in self.members[job] if self.lives[key].terminates}
            self._restarting.setdefault(job, set()).update(rest)

    def _terminate(self, key: str, pod: Object, time: float) -> None:
        life = self.lives[key]
        self._stop(life, time)
        life.terminates = True
        self.cluster.pods[key] = pod
        self.agenda.plan(time + self.timeline.termination_of(pod), Kind.GONE, key)

    def _stop(self, life: Life, time: float) -> None:
        """Count what a pod that stops has run: lost, or kept for its next start."""
        if life.started is None:
            return
        if self.timeline.evicted == "resume":
            life.left = None if life.left is None else life.left - (time - life.started)
        else:
            self._lose(life, time - life.started)
        life.started = None

    def _lose(self, life: Life, seconds: float) -> None:
        record = self.records.jobs.get(life.job)
        if record is not None:
            record.lost_seconds += seconds

    # events of the document

    def _event(self, event: Object, time: float) -> None:
        for name, things in (event.get("create") or {}).items():
            self._create(name, things, time)
        for name, things in (event.get("replace") or {}).items():
            self._replace(name, things)
        for name in (event.get("delete") or {}).get("nodes") or ():
            self._delete_node(str(name), time)
        closing, opening = ((event.get(verb) or {}).get("queues") or () for verb in ("close", "open"))
        if closing:
            self.cluster.queues = closed(self.cluster.queues, closing, self._queues_in_use())
        if opening:
            self.cluster.queues = opened(self.cluster.queues, opening)
        if "scheduler_conf" in event:
            self.scheduler_conf = event["scheduler_conf"]

    def _queues_in_use(self) -> set[str]:
        """Return the queues that have PodGroups."""
        return {(group.get("spec") or {}).get("queue") or "default" for group in self.podgroups.values()}

    def _create(self, name: str, things: Iterable[Object], time: float) -> None:
        for thing in things:
            stamped = self._stamped(thing, time)
            if name == "podgroups":
                self._know_podgroup(key_of(stamped), stamped, time)
            elif name == "pods":
                self.cluster.pods[key_of(stamped)] = stamped
                self._know_pod(key_of(stamped), time)
            elif name == "nodes":
                node = self.admission.node(stamped, self.admission.changes)
                self.cluster.nodes = NodeList([*self.cluster.nodes.objects, node])
            else:
                self.cluster.queues = [*self.cluster.queues, self.admission.queue(stamped)]

    def _stamped(self, thing: Object, time: float) -> Object:
        metadata = {**thing["metadata"]}
        metadata.setdefault("creationTimestamp", self.timestamp(time))
        return {**thing, "metadata": metadata}

    def _replace(self, name: str, things: Iterable[Object]) -> None:
        for thing in things:
            if name == "queues":
                self.cluster.queues = [_replaced(queue, thing) for queue in self.cluster.queues]
            else:
                nodes = [_replaced(node, thing) for node in self.cluster.nodes.objects]
                self.cluster.nodes = NodeList(nodes)

    def _delete_node(self, name: str, time: float) -> None:
        nodes = self.cluster.nodes.objects
        self.cluster.nodes = NodeList([node for node in nodes if node["metadata"]["name"] != name])
        infos = self.cluster.pods.infos
        stopped: set[str] = set()
        for key in sorted([key for key, info in infos.items() if info.node_name == name]):
            life = self.lives[key]
            if not life.succeeded:
                stopped.add(life.job)
                self._stop(life, time)
                self._gone(key, time)
        if self.timeline.evicted == "restart-job":
            self.restart_jobs(sorted(stopped & set(self.podgroups)), time)


def _replaced(old: Object, new: Object) -> Object:
    """Return metadata and spec of a new object with the status of the old one, if it has the same name."""
    if old["metadata"]["name"] != new["metadata"]["name"]:
        return old
    return {**new, "status": old.get("status") or {}}
