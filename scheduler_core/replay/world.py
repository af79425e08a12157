"""The objects between two sessions (nodes, queues, PodGroups and pods), and their planned events.

Every change has its own time; the timestamps that it writes are rounded down to whole seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import asdict
from math import floor
from typing import Any

from scheduler_core.admission import Admission
from scheduler_core.controllers.made import key_of
from scheduler_core.model.snapshot import Cluster, NodeList
from scheduler_core.model.timestamps import format_time
from scheduler_core.replay.agenda import Agenda
from scheduler_core.replay.progress import Life
from scheduler_core.replay.queues import closes, settled
from scheduler_core.replay.records import JobRecord, Records
from scheduler_core.replay.timeline import Timeline

Object = Mapping[str, Any]


class World:
    """The objects of a replay, their planned events, and their records.

    Attributes
    ----------
    lives : dict
        By the pod's namespace/name.
    members : dict
        The keys of a PodGroup's pods, by the PodGroup's key.
    restarting : dict
        The pods that must terminate before the pods of a job that restarts as a whole are recreated, by job.
    vcjob_groups : dict
        The key of the Job that a PodGroup belongs to, by the PodGroup's key.
    counted_in : dict
        By pod: for each Job with a place for it, the pods that the Job has to count again.
    scheduler_conf : mapping or None
        The configuration set by the last event that had one; None: that of the document.

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
        self.agenda = Agenda()
        self._stamped = (-1.0, "")
        self._looked_up: tuple[object, bool] = None, False
        self.lives: dict[str, Life] = {}
        self.members: dict[str, dict[str, None]] = {}
        self.podgroups: MutableMapping[str, Object] = self.cluster.podgroups
        self.restarting: dict[str, set[str]] = {}
        self.vcjob_groups: dict[str, str] = {}
        self.counted_in: dict[str, list[dict[str, None]]] = {}
        self.scheduler_conf: Object | None = None
        self.scheduler_names = self.cluster.pods.reader.scheduler_names
        if frozen is not None:
            self._thaw(frozen)

    # freezing

    def objects(self) -> dict[str, list[Object]]:
        """Return the current objects, by the names of their lists in a scenario."""
        return {
            "nodes": list(self.cluster.nodes.objects),
            "queues": list(self.cluster.queues),
            "podgroups": [self.podgroups[key] for key in sorted(self.podgroups)],
            "pods": [self.cluster.pods.infos[key].given for key in sorted(self.cluster.pods)],
        }

    def frozen(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            **self.objects(),
            "lives": {key: asdict(self.lives[key]) for key in sorted(self.lives)},
            "restarting": {job: sorted(keys) for job, keys in sorted(self.restarting.items())},
            "agenda": self.agenda.frozen(),
            "begin": self.begin,
            "scheduler_conf": self.scheduler_conf,
        }

    def _thaw(self, frozen: Object) -> None:
        self.begin = frozen["begin"]
        self.agenda = Agenda.thawed(frozen["agenda"])
        self.scheduler_conf = frozen["scheduler_conf"]
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
        self.restarting = {job: set(keys) for job, keys in frozen["restarting"].items()}

    def timestamp(self, time: float) -> str:
        """Return the timestamp of a time in seconds since the beginning."""
        if time != self._stamped[0]:
            self._stamped = time, format_time(floor(self.begin + time))
        return self._stamped[1]

    # PodGroups and queues

    def add_podgroup(self, key: str, podgroup: Object, submitted: float | None) -> None:
        """Add a PodGroup, and record its life; the PodGroups of one Job share a life."""
        self.podgroups[key] = podgroup
        self.members.setdefault(key, {})
        phase = (podgroup.get("status") or {}).get("phase") or "Pending"
        queue = (podgroup.get("spec") or {}).get("queue") or "default"
        if key in self.vcjob_groups and key in self.records.jobs:
            return
        record = self.records.jobs[key] = JobRecord(queue, submitted)
        if phase != "Pending":
            record.enqueued = 0.0

    def remove_group(self, key: str) -> None:
        """Delete a PodGroup, not its pods."""
        del self.podgroups[key]
        if self.has_closing_queue:
            self.cluster.queues = settled(self.cluster.queues, self.queues_in_use())

    @property
    def has_closing_queue(self) -> bool:
        """Return whether any queue is Closing, looked up once for each list of queues."""
        queues = self.cluster.queues
        if self._looked_up[0] is not queues:
            self._looked_up = queues, closes(queues)
        return self._looked_up[1]

    def queues_in_use(self) -> set[str]:
        """Return the queues that have PodGroups."""
        return {(group.get("spec") or {}).get("queue") or "default" for group in self.podgroups.values()}

    # pods and jobs

    def pods_on(self, node: str) -> list[str]:
        """Return the pods of a node, by namespace/name."""
        infos = self.cluster.pods.infos
        return sorted([key for key, info in infos.items() if info.node_name == node])

    def stir(self, key: str) -> None:
        """Let Jobs count a pod again: its life has changed."""
        for stirred in self.counted_in.get(key, ()):
            stirred[key] = None

    def forget(self, key: str) -> None:
        """Delete a pod at once."""
        self.agenda.cancel(key)
        self.stir(key)
        life = self.lives.pop(key)
        self.members[life.job].pop(key)
        del self.cluster.pods[key]

    def end_job(self, job: str, time: float) -> bool:
        """Delete a job if all of its pods have succeeded; return whether it was deleted."""
        members = self.members.get(job, {})
        if job not in self.podgroups or not members or job in self.vcjob_groups:
            return False
        if not all(self.lives[key].succeeded for key in members):
            return False
        self.records.jobs[job].finished = time
        for key in list(members):
            self.forget(key)
        del self.members[job]
        self.restarting.pop(job, None)
        self.remove_group(job)
        return True

    def record_start(self, job: str, *, is_found: bool = False) -> None:
        """Record the first time at which a job's minimum of pods run at the same time.

        Of a job that is found at the beginning, pods that have succeeded ran before those that still run.
        """
        record = self.records.jobs.get(job)
        if record is None or record.started is not None or job not in self.podgroups:
            return
        minimum = max(int((self.podgroups[job].get("spec") or {}).get("minMember") or 0), 1)
        lives = [self.lives[key] for key in self.members[job]]
        starts = [life.started for life in lives if life.started is not None and life.runs]
        ran = sum(life.succeeded for life in lives) if is_found else 0
        if starts and len(starts) + ran >= minimum:
            record.started = sorted(starts)[max(minimum - ran, 1) - 1]

    def record_loss(self, life: Life, seconds: float) -> None:
        """Record lost run time of a pod."""
        record = self.records.jobs.get(life.job)
        if record is not None:
            record.lost_seconds += seconds
