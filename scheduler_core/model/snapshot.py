"""What enters a scheduling cycle? Plain Kubernetes objects turned into tasks, jobs, nodes and queues.

Source: volcano ``pkg/scheduler/cache/cache.go`` (Snapshot), ``cache/event_handlers.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scheduler_core.model.axis import ResourceAxis
from scheduler_core.model.job import JobInfo
from scheduler_core.model.node import NodeTable, allocatable_of
from scheduler_core.model.node_facts import NodeFacts
from scheduler_core.model.pod import PodShape
from scheduler_core.model.pod_info import Pods, creation_of
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.task_table import TaskTable
from scheduler_core.resource import Resource


class NodeList:
    """The nodes by name, in byte order, and what each offers; never changed."""

    def __init__(self, nodes: Iterable[Mapping[str, Any]]) -> None:
        self.objects = sorted(nodes, key=lambda node: str(node["metadata"]["name"]))
        self.allocatable = [allocatable_of(node) for node in self.objects]

    @cached_property
    def facts(self) -> NodeFacts:
        """Return what Kubernetes reads of the nodes, read when the first session asks."""
        return NodeFacts(self.objects)


@dataclass
class Cluster:
    """The objects of a scenario after admission, as they change from cycle to cycle.

    Attributes
    ----------
    nodes : NodeList
        The nodes by name, with what they offer.
    pods, podgroups : mapping
        Pods and PodGroups by namespace/name. Neither an object nor the mapping is ever edited: a change makes
        new ones.
    now : float
        The clock, seconds since 1970.

    """

    nodes: NodeList
    queues: Sequence[Mapping[str, Any]]
    podgroups: Mapping[str, Mapping[str, Any]]
    pods: Pods
    priority_classes: Sequence[Mapping[str, Any]]
    resource_quotas: Sequence[Mapping[str, Any]]
    namespaces: Sequence[Mapping[str, Any]]
    pod_disruption_budgets: Sequence[Mapping[str, Any]]
    services: Sequence[Mapping[str, Any]]
    now: float


@dataclass
class Snapshot:
    """All that one session may know; made anew for every cycle.

    Attributes
    ----------
    shapes : list of PodShape
        Of the known pods; the position is the shape's number.
    jobs : dict
        Jobs whose PodGroup and queue exist, by key, ascending.
    queues : dict
        By name, ascending.
    tasks : TaskTable
        All tasks.
    """

    cluster: Cluster
    axis: ResourceAxis
    nodes: NodeTable
    allocatable: list[Resource]
    shapes: list[PodShape]
    queues: dict[str, QueueInfo]
    jobs: dict[str, JobInfo]
    tasks: TaskTable

    @property
    def now(self) -> float:
        """Return the clock, seconds since 1970."""
        return self.cluster.now


def take_snapshot(cluster: Cluster) -> Snapshot:
    """Return the snapshot of a cluster at its present clock."""
    roster = cluster.pods.roster()
    allocatable = cluster.nodes.allocatable
    axis = ResourceAxis([*allocatable, *(shape.request for shape in roster.shapes)])
    shapes = roster.shapes_on(axis)
    nodes = NodeTable(cluster.nodes.objects, allocatable, axis)
    queues = {queue["metadata"]["name"]: QueueInfo(queue, creation_of(queue)) for queue in cluster.queues}
    queues = dict(sorted(queues.items()))
    jobs = _jobs_of(cluster, queues)
    tasks = TaskTable(roster, shapes, jobs, nodes.index)
    tasks.load_jobs()
    nodes.load(tasks, shapes)
    return Snapshot(cluster, axis, nodes, allocatable, shapes, queues, jobs, tasks)


def _jobs_of(cluster: Cluster, queues: Mapping[str, QueueInfo]) -> dict[str, JobInfo]:
    default, by_class = job_priorities(cluster.priority_classes)
    jobs = {}
    for key in sorted(cluster.podgroups):
        podgroup = cluster.podgroups[key]
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
