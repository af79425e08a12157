"""Sessions, jobs, tasks, nodes and queues as JSON for the extender.

Keys and their order are those of Volcano's structs; maps are sorted by key.

Source: volcano ``pkg/scheduler/api/*.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.session import Session
from scheduler_core.model.allocatable import OVERSUBSCRIPTION
from scheduler_core.model.annotations import (
    budget_of,
    may_use_revocable_nodes,
    revocable_zone_of,
    waiting_time_of,
)
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.pod import is_sidecar
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.timestamps import format_time
from scheduler_core.plugins.extender.kubernetes import (
    Json,
    namespaces_json,
    node_json,
    pod_json,
    podgroup_json,
    queue_json,
)
from scheduler_core.resource import CPU, MEMORY, PODS, Resource
from scheduler_core.resource_list import read_resource_list

NEVER = "0001-01-01T00:00:00Z"
NUMA_POLICY = "volcano.sh/numa-topology-policy"


class Wire:
    """Encodes the objects of one session.

    Attributes
    ----------
    allocated_to : dict
        The node to which each pod was last allocated in this session, by uid; undoing does not clear it.

    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.allocated_to: dict[str, str] = {}
        self._images: dict[str, int] | None = None

    # tasks

    def task(self, task: TaskInfo) -> Json:
        """Return a TaskInfo."""
        request = _resource(task.request)
        return {
            "UID": task.uid,
            "Job": task.job.key if task.job is not None else "",
            "Name": task.name,
            "Namespace": task.namespace,
            "TaskRole": task.role,
            "Resreq": request,
            "InitResreq": request,
            "DRAResreq": None,
            "ResourceClaimKeys": None,
            "ResourceClaimDRAResreq": None,
            "NodeName": task.node_name,
            "EvictionOccurred": task.eviction_occurred,
            "JobAllocatedHyperNode": "",
            "Status": int(task.status),
            "LastTransaction": _transaction(task),
            "Priority": task.priority,
            "VolumeReady": False,
            "Preemptable": task.preemptable,
            "BestEffort": task.best_effort,
            "HasRestartableInitContainer": any(
                is_sidecar(container) for container in task.pod["spec"].get("initContainers") or ()
            ),
            "SchGated": task.shape.gated,
            "RevocableZone": _zone(task.annotations()),
            "NumaInfo": {"Policy": task.annotations().get(NUMA_POLICY) or "", "ResMap": {}},
            "Pod": pod_json(task.pod, self.allocated_to.get(task.uid)),
            "CustomBindErrHandlerSucceeded": False,
        }

    def tasks(self, tasks: Mapping[str, TaskInfo]) -> Json:
        """Return tasks, sorted by key."""
        return {key: self.task(tasks[key]) for key in sorted(tasks)}

    # nodes

    def node(self, number: int) -> Json:
        """Return a NodeInfo."""
        table = self.session.nodes
        node = table.objects[number]
        metadata = node["metadata"]
        annotations, labels = metadata.get("annotations") or {}, metadata.get("labels") or {}
        status = node.get("status") or {}
        pods = int(table.allocatable[number][table.axis.index[PODS]]) if PODS in table.axis.index else 0
        return {
            "Name": table.names[number],
            "Node": node_json(node),
            "State": {"Phase": 1, "Reason": ""},
            "Releasing": self._amounts(table.releasing[number]),
            "Pipelined": self._amounts(table.pipelined[number]),
            "Idle": self._amounts(table.idle[number], like=number, pods=pods),
            "Used": self._amounts(table.used[number]),
            "Allocatable": self._amounts(table.allocatable[number], pods=pods),
            "Capacity": _resource(read_resource_list(status.get("capacity")), pods_as_limit=True),
            "ResourceUsage": {"MetricsTime": NEVER, "CPUUsageAvg": {}, "MEMUsageAvg": {}},
            "Tasks": self.tasks(table.tasks[number]),
            "NumaInfo": None,
            "NumaChgFlag": 0,
            "NumaSchedulerInfo": None,
            "RevocableZone": revocable_zone_of(labels),
            "Others": {},
            "OversubscriptionNode": labels.get("volcano.sh/oversubscription") == "true",
            "OfflineJobEvicting": annotations.get("volcano.sh/offline-job-evicting") == "true",
            "OversubscriptionResource": _resource(_oversubscription(annotations)),
            "ImageStates": self._image_states(status),
            "Generation": 0,
            "BindGeneration": 0,
        }

    def nodes(self, numbers: Sequence[int]) -> Json:
        """Return nodes, sorted by name."""
        names = self.session.nodes.names
        return {names[number]: self.node(number) for number in sorted(numbers)}

    def _amounts(self, row: NDArray[np.float64], *, like: int | None = None, pods: int = 0) -> Json:
        """Return amounts; a scalar of 0 is named only if node `like` has it."""
        axis = self.session.nodes.axis
        named = row != 0.0 if like is None else (row != 0.0) | (self.session.nodes.allocatable[like] != 0.0)
        scalars = {
            name: float(row[position])
            for position, name in enumerate(axis.names)
            if position > 1 and named[position]
        }
        return _amounts_json(float(row[0]), float(row[1]), scalars or None, pods)

    def _image_states(self, status: Mapping[str, Any]) -> Json:
        if self._images is None:
            self._images = _image_counts(self.session.nodes.objects)
        states = {}
        for image in status.get("images") or ():
            for name in image.get("names") or ():
                states[name] = {
                    "Size": image.get("sizeBytes") or 0,
                    "NumNodes": self._images[name],
                    "Nodes": None,
                }
        return dict(sorted(states.items()))

    # jobs

    def job(self, job: JobInfo) -> Json:
        """Return a JobInfo."""
        waiting = waiting_time_of(job.annotations())
        tasks = self.tasks(job.tasks)
        by_number = {str(int(status)): of_status for status, of_status in job.by_status.items() if of_status}
        by_status = {number: self.tasks(of_status) for number, of_status in sorted(by_number.items())}
        minimum, maximum = budget_of(job.annotations())
        return {
            "UID": job.key,
            "PgUID": job.podgroup["metadata"].get("uid") or "",
            "Name": job.name,
            "Namespace": job.namespace,
            "Queue": job.queue,
            "Priority": job.priority,
            "MinAvailable": job.min_available,
            "WaitingTime": None if waiting is None else round(waiting * 1e9),
            "JobFitErrors": "",
            "NodesFitErrors": {uid: {} for uid in sorted(job.fit_errors)},
            "AllocatedHyperNode": "",
            "NetworkTopology": None,
            "SubJobs": {job.key: self._only_sub_job(job, tasks, by_status)},
            "TaskToSubJob": dict.fromkeys(sorted(job.tasks), job.key),
            "MinSubJobs": {},
            "TaskStatusIndex": by_status,
            "Tasks": tasks,
            "TaskMinAvailable": dict(sorted(job.task_min_available.items())),
            "TaskMinAvailableTotal": job.task_min_total,
            "Allocated": _resource(job.allocated),
            "TotalRequest": _resource(job.total_request()),
            "CreationTimestamp": job.podgroup["metadata"].get("creationTimestamp"),
            "PodGroup": podgroup_json(job.podgroup, job.phase),
            "ScheduleStartTimestamp": self._schedule_start(),
            "Preemptable": job.preemptable,
            "RevocableZone": _zone(job.annotations()),
            "Budget": {"MinAvailable": minimum, "MaxUnavailable": maximum},
        }

    def _only_sub_job(self, job: JobInfo, tasks: Json, by_status: Json) -> Json:
        return {
            "GID": job.key,
            "UID": job.key,
            "Job": job.key,
            "MinAvailable": job.min_available,
            "Priority": max([0, *(task.priority for task in job.tasks.values())]),
            "MatchIndex": 0,
            "Tasks": tasks,
            "TaskStatusIndex": by_status,
            "AllocatedHyperNode": "",
            "NominatedHyperNode": "",
            "NetworkTopology": None,
        }

    def _schedule_start(self) -> str | None:
        """Return the session's time once enqueue has started, None before that."""
        actions, present = self.session.conf.actions, self.session.action
        if "enqueue" not in actions or present not in actions:
            return None
        begun = actions.index(present) >= actions.index("enqueue")
        return format_time(self.session.now) if begun else None

    # queues and the whole session

    def queue(self, queue: QueueInfo) -> Json:
        """Return a QueueInfo."""
        return {
            "UID": queue.name,
            "Name": queue.name,
            "Weight": queue.weight,
            "Weights": queue.hierarchy_weights,
            "Hierarchy": queue.hierarchy,
            "Queue": queue_json(queue.queue),
        }

    def session_open(self) -> Json:
        """Return the request of onSessionOpen; NodeList is always null."""
        session = self.session
        nodes = range(len(session.nodes))
        revocable = [number for number in nodes if revocable_zone_of(session.nodes.labels(number))]
        return {
            "Jobs": {key: self.job(session.jobs[key]) for key in sorted(session.jobs)},
            "Nodes": self.nodes(nodes),
            "Queues": {name: self.queue(session.queues[name]) for name in sorted(session.queues)},
            "NamespaceInfo": namespaces_json(session.snapshot.cluster.resource_quotas),
            "RevocableNodes": self.nodes(revocable),
            "NodeList": None,
        }


def _zone(annotations: Mapping[str, str]) -> str:
    return "*" if may_use_revocable_nodes(annotations) else ""


def _transaction(task: TaskInfo) -> Json | None:
    last = task.last_transaction
    if last is None:
        return None
    return {
        "NodeName": last.node_name,
        "EvictionOccurred": last.eviction_occurred,
        "JobAllocatedHyperNode": "",
        "Status": int(last.status),
    }


def _resource(resource: Resource, *, pods_as_limit: bool = False) -> Json:
    limit = int(resource.get(PODS)) if pods_as_limit else 0
    return _amounts_json(resource.cpu, resource.memory, resource.scalars, limit)


def _amounts_json(cpu: float, memory: float, scalars: Mapping[str, float] | None, pods: int) -> Json:
    return {
        "MilliCPU": cpu,
        "Memory": memory,
        "ScalarResources": None if scalars is None else dict(sorted(scalars.items())),
        "MaxTaskNum": pods,
    }


def _oversubscription(annotations: Mapping[str, str]) -> Resource:
    extra = Resource()
    for name in (CPU, MEMORY):
        try:
            extra.set(name, float(annotations.get(OVERSUBSCRIPTION[name]) or 0))
        except ValueError:
            continue
    return extra


def _image_counts(nodes: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of nodes with each image."""
    counts: dict[str, int] = {}
    for node in nodes:
        images = (node.get("status") or {}).get("images") or ()
        for name in {name for image in images for name in image.get("names") or ()}:
            counts[name] = counts.get(name, 0) + 1
    return counts
