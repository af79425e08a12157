"""What enters a scheduling cycle? Plain Kubernetes objects turned into tasks, jobs, nodes and queues.

Source: volcano ``pkg/scheduler/cache/cache.go`` (Snapshot), ``cache/event_handlers.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.model.axis import ResourceAxis
from scheduler_core.model.job import JobInfo, TaskInfo
from scheduler_core.model.node import NodeTable, allocatable_of
from scheduler_core.model.pod import ShapeTable
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.status import COMPLETED_STATUSES, status_of
from scheduler_core.model.timestamps import parse_time
from scheduler_core.resource import Resource

GROUP_NAME = "scheduling.k8s.io/group-name"


@dataclass
class Cluster:
    """The objects of a scenario after admission, as they change from cycle to cycle.

    Attributes
    ----------
    pods : dict
        Pods by namespace/name; a changed pod is replaced, never edited in place.
    podgroups : dict
        PodGroups by namespace/name, likewise.
    now : float
        The clock, seconds since 1970.

    """

    nodes: Sequence[Mapping[str, Any]]
    queues: Sequence[Mapping[str, Any]]
    podgroups: dict[str, Mapping[str, Any]]
    pods: dict[str, Mapping[str, Any]]
    priority_classes: Sequence[Mapping[str, Any]]
    resource_quotas: Sequence[Mapping[str, Any]]
    namespaces: Sequence[Mapping[str, Any]]
    pod_disruption_budgets: Sequence[Mapping[str, Any]]
    services: Sequence[Mapping[str, Any]]
    now: float
    shapes: ShapeTable
    scheduler_names: frozenset[str] = frozenset({"volcano"})


@dataclass
class Snapshot:
    """All that one session may know; made anew for every cycle.

    Attributes
    ----------
    jobs : dict
        Jobs whose PodGroup and queue exist, by key, ascending.
    queues : dict
        By name, ascending.
    """

    cluster: Cluster
    axis: ResourceAxis
    nodes: NodeTable
    allocatable: list[Resource]
    queues: dict[str, QueueInfo]
    jobs: dict[str, JobInfo]

    @property
    def now(self) -> float:
        """Return the clock, seconds since 1970."""
        return self.cluster.now


def creation_of(thing: Mapping[str, Any]) -> float:
    """Return when an object was made; one without a creationTimestamp is the oldest of all."""
    text = thing["metadata"].get("creationTimestamp")
    return parse_time(text) if text else float("-inf")


def take_snapshot(cluster: Cluster) -> Snapshot:
    """Return the snapshot of a cluster at its present clock."""
    objects = sorted(cluster.nodes, key=lambda node: str(node["metadata"]["name"]))
    allocatable = [allocatable_of(node) for node in objects]
    queues = {queue["metadata"]["name"]: QueueInfo(queue, creation_of(queue)) for queue in cluster.queues}
    queues = dict(sorted(queues.items()))
    tasks = [_task_of(pod, cluster) for pod in cluster.pods.values() if _is_known(pod, cluster)]
    tasks.sort(key=lambda task: task.uid)
    shapes = {task.shape.number: task.shape for task in tasks}.values()
    axis = ResourceAxis([*allocatable, *(shape.request for shape in shapes)])
    for shape in shapes:
        shape.place_on(axis)
    nodes = NodeTable(objects, allocatable, axis)
    snapshot = Snapshot(cluster, axis, nodes, allocatable, queues, _jobs_of(cluster, queues))
    for task in tasks:
        _file(task, snapshot)
    nodes.load([t for t in tasks if t.status not in COMPLETED_STATUSES and t.node_name in nodes.index])
    return snapshot


def _is_known(pod: Mapping[str, Any], cluster: Cluster) -> bool:
    spec = pod["spec"]
    return bool(spec.get("nodeName")) or spec.get("schedulerName") in cluster.scheduler_names


def _task_of(pod: Mapping[str, Any], cluster: Cluster) -> TaskInfo:
    spec, metadata = pod["spec"], pod["metadata"]
    status = status_of(
        (pod.get("status") or {}).get("phase") or "",
        deleting=bool(metadata.get("deletionTimestamp")),
        has_node=bool(spec.get("nodeName")),
    )
    return TaskInfo(pod, cluster.shapes.shape_of(spec), status, creation_of(pod))


def _jobs_of(cluster: Cluster, queues: Mapping[str, QueueInfo]) -> dict[str, JobInfo]:
    default, by_class = job_priorities(cluster.priority_classes)
    jobs = {}
    for key, podgroup in sorted(cluster.podgroups.items()):
        spec = podgroup.get("spec") or {}
        queue = spec.get("queue") or "default"
        if queue in queues:
            priority = by_class.get(spec.get("priorityClassName") or "", default)
            jobs[key] = JobInfo(podgroup, queue, priority, creation_of(podgroup))
    return jobs


def job_priorities(classes: Sequence[Mapping[str, Any]]) -> tuple[int, dict[str, int]]:
    """Return the priority of jobs without a known class, and that of each class."""
    default = 0
    by_class = {}
    for entry in classes:
        value = int(entry.get("value") or 0)
        by_class[entry["metadata"]["name"]] = value
        if entry.get("globalDefault"):
            default = value
    return default, by_class


def _file(task: TaskInfo, snapshot: Snapshot) -> None:
    """Give a task to the job that its annotation names, if that is in the session."""
    group = task.annotations().get(GROUP_NAME)
    job = snapshot.jobs.get(f"{task.namespace}/{group}") if group else None
    if job is not None:
        job.add_task(task)
