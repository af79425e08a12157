"""What does the cluster look like when the next cycle starts?

After a session the PodGroups' status is written, bound pods run, evicted pods terminate and may come back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scheduler_core.framework.session import Session
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.messages import is_waiting, task_reason
from scheduler_core.model.snapshot import Cluster
from scheduler_core.model.status import TaskStatus
from scheduler_core.model.timestamps import format_time

Object = Mapping[str, Any]
_REQUEUED = re.compile(r"-re\d+$")


class Afterwards:
    """Moves a cluster from one cycle to the next.

    Parameters
    ----------
    requeue : bool
        Whether evicted pods come back as pending ones.
    termination_cycles : int
        How many sessions still see an evicted pod as terminating.
    cycle_seconds : float
        How far the clock moves.

    """

    def __init__(
        self, cluster: Cluster, *, requeue: bool, termination_cycles: int, cycle_seconds: float
    ) -> None:
        self.cluster = cluster
        self.requeue = requeue
        self.termination_cycles = termination_cycles
        self.cycle_seconds = cycle_seconds
        self.terminating: dict[str, int] = {}
        self.pods = cluster.pods

    def advance(self, session: Session, cycle: int) -> None:
        """Write what cycle number `cycle` decided, at the clock of the next one."""
        cluster = self.cluster
        cluster.now += self.cycle_seconds
        after = {job.key: _podgroup_after(job) for job in session.jobs.values()}
        cluster.podgroups = {**cluster.podgroups, **after}
        cluster.pods = self.pods = cluster.pods.copy()
        evicted = {
            decision.pod
            for decision in session.decisions
            if decision.op == "evict" and decision.state == "committed"
        }
        for job in session.jobs.values():
            for task in job.tasks.values():
                if task.key in evicted:
                    continue
                if task.status is TaskStatus.BINDING:
                    self.pods[task.key] = _bound(task, format_time(cluster.now))
                elif is_waiting(task):
                    self._nominate(task)
        self._terminate(cycle)
        for key in sorted(evicted):
            if self.termination_cycles > 0:
                self.pods[key] = _evicted(self.pods[key], format_time(cluster.now))
                self.terminating[key] = cycle + self.termination_cycles
            else:
                self._remove(key, cycle)

    def _terminate(self, cycle: int) -> None:
        for key in sorted(key for key, last in self.terminating.items() if last <= cycle):
            del self.terminating[key]
            self._remove(key, cycle)

    def _remove(self, key: str, cycle: int) -> None:
        pod = self.pods.pop(key)
        if self.requeue:
            self.pods[key] = _requeued(pod, cycle, format_time(self.cluster.now), self.cluster)

    def _nominate(self, task: TaskInfo) -> None:
        if task.shape.gated:
            return
        nominated = task_reason(task)[2]
        if nominated:
            pod = self.pods[task.key]
            status = {**(pod.get("status") or {}), "nominatedNodeName": nominated}
            self.pods[task.key] = {**pod, "status": status}


def _podgroup_after(job: JobInfo) -> Object:
    status = {
        **(job.podgroup.get("status") or {}),
        "phase": job.phase,
        "conditions": job.conditions,
        "running": len(job.by_status[TaskStatus.RUNNING]),
        "succeeded": len(job.by_status[TaskStatus.SUCCEEDED]),
        "failed": len(job.by_status[TaskStatus.FAILED]),
    }
    return {**job.podgroup, "status": status}


def _bound(task: TaskInfo, now: str) -> Object:
    pod = task.pod
    status = dict(pod.get("status") or {})
    status.pop("nominatedNodeName", None)
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": now}
    others = [entry for entry in status.get("conditions") or () if entry.get("type") != "PodScheduled"]
    status.update(phase="Running", startTime=now, conditions=[*others, scheduled])
    return {**pod, "spec": {**pod["spec"], "nodeName": task.node_name}, "status": status}


def _evicted(pod: Object, now: str) -> Object:
    status = dict(pod.get("status") or {})
    status["conditions"] = [
        *(e for e in status.get("conditions") or () if e.get("type") not in ("Ready", "DisruptionTarget")),
        {"type": "Ready", "status": "False", "reason": "Evict", "lastTransitionTime": now},
        {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "PreemptionByScheduler",
            "lastTransitionTime": now,
        },
    ]
    return {**pod, "metadata": {**pod["metadata"], "deletionTimestamp": now}, "status": status}


def _requeued(pod: Object, cycle: int, now: str, cluster: Cluster) -> Object:
    metadata = {name: value for name, value in pod["metadata"].items() if name != "deletionTimestamp"}
    metadata["uid"] = f"{_REQUEUED.sub('', metadata['uid'])}-re{cycle}"
    metadata["creationTimestamp"] = now
    spec = {name: value for name, value in pod["spec"].items() if name != "nodeName"}
    names = cluster.pods.reader.scheduler_names
    if spec.get("schedulerName") not in names:
        spec["schedulerName"] = min(names)
    return {**pod, "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}
