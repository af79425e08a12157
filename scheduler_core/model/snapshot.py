"""Snapshots: Kubernetes objects converted to tasks, jobs, nodes and queues for a session.

Source: volcano ``pkg/scheduler/cache/cache.go`` (Snapshot), ``cache/event_handlers.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import (
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    MutableMapping,
    Sequence,
    ValuesView,
)
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from scheduler_core.model.allocatable import allocatable_of
from scheduler_core.model.axis import ResourceAxis
from scheduler_core.model.job import JobInfo
from scheduler_core.model.job_index import JobIndex
from scheduler_core.model.node import NodeTable
from scheduler_core.model.node_facts import NodeFacts
from scheduler_core.model.pod import PodShape
from scheduler_core.model.pod_info import creation_of
from scheduler_core.model.pods import Pods
from scheduler_core.model.queue import QueueInfo
from scheduler_core.model.queue_sums import QueueSums
from scheduler_core.model.task_table import TaskTable
from scheduler_core.resource import Resource

Object = Mapping[str, Any]
Priorities = tuple[int, dict[str, int]]


class Jobs(dict[str, JobInfo]):
    """Jobs by key, iterated in ascending order."""

    __slots__ = ("_last", "_sorted")

    def __init__(self) -> None:
        self._last = ""
        self._sorted = True

    def __setitem__(self, key: str, job: JobInfo) -> None:
        if key not in self:
            self._sorted = self._sorted and key > self._last
            self._last = key
        super().__setitem__(key, job)

    def _sort(self) -> None:
        if not self._sorted:
            entries = sorted(super().items())
            super().clear()
            super().update(entries)
            self._last, self._sorted = entries[-1][0] if entries else "", True

    def __iter__(self) -> Iterator[str]:
        self._sort()
        return super().__iter__()

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """Return the keys, ascending."""
        self._sort()
        return super().keys()

    def values(self) -> ValuesView[JobInfo]:  # type: ignore[override]
        """Return the jobs, by key."""
        self._sort()
        return super().values()

    def items(self) -> ItemsView[str, JobInfo]:  # type: ignore[override]
        """Return keys and jobs, by key."""
        self._sort()
        return super().items()


class NodeList:
    """The nodes by name, in byte order, with their allocatable; never changed."""

    def __init__(self, nodes: Iterable[Mapping[str, Any]]) -> None:
        self.objects = sorted(nodes, key=lambda node: str(node["metadata"]["name"]))
        self.allocatable = [allocatable_of(node) for node in self.objects]

    @cached_property
    def facts(self) -> NodeFacts:
        """Return the facts that Kubernetes reads from the nodes, computed at first use."""
        return NodeFacts(self.objects)


@dataclass
class Cluster:
    """The objects of a scenario after admission, as they change from cycle to cycle.

    Attributes
    ----------
    nodes : NodeList
        The nodes by name, with their allocatable.
    pods, podgroups : mapping
        Pods and PodGroups by namespace/name. Objects are never edited; a change replaces them.
    now : float
        The current time, in seconds since 1970.

    """

    nodes: NodeList
    queues: Sequence[Mapping[str, Any]]
    podgroups: MutableMapping[str, Mapping[str, Any]]
    pods: Pods
    priority_classes: Sequence[Mapping[str, Any]]
    resource_quotas: Sequence[Mapping[str, Any]]
    namespaces: Sequence[Mapping[str, Any]]
    pod_disruption_budgets: Sequence[Mapping[str, Any]]
    services: Sequence[Mapping[str, Any]]
    now: float


@dataclass
class Snapshot:
    """The input of one session; `model.state` renews it between sessions.

    Attributes
    ----------
    shapes : list of PodShape
        The shapes of the known pods; the position is the shape's number.
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

    @cached_property
    def sums(self) -> QueueSums:
        """Return the sums over the jobs of each queue, in the state that the session finds."""
        return QueueSums(self.jobs)

    @cached_property
    def index(self) -> JobIndex:
        """Return the index of jobs that may wait, in the state that the session finds."""
        return JobIndex(self.jobs)

    @property
    def now(self) -> float:
        """Return the current time, in seconds since 1970."""
        return self.cluster.now


def take_snapshot(cluster: Cluster) -> Snapshot:
    """Return the snapshot of a cluster at its current time."""
    known_pods = cluster.pods.known_pods()
    allocatable = cluster.nodes.allocatable
    axis = ResourceAxis([*allocatable, *(shape.request for shape in known_pods.shapes)])
    nodes = NodeTable(cluster.nodes.objects, allocatable, axis)
    queues = queues_of(cluster)
    jobs = _jobs_of(cluster, queues)
    tasks = TaskTable(known_pods, axis, jobs, nodes.index)
    members = tasks.members()
    for key, job in jobs.items():
        job.load(tasks, members.get(key, ()))
    nodes.load(tasks)
    return Snapshot(cluster, axis, nodes, allocatable, tasks.shapes, queues, jobs, tasks)


def queues_of(
    cluster: Cluster, before: Mapping[str, QueueInfo] = MappingProxyType({})
) -> dict[str, QueueInfo]:
    """Return the queues of a cluster by name, ascending; `before` supplies those of unchanged objects."""
    queues = {}
    for queue in cluster.queues:
        name = queue["metadata"]["name"]
        known = before.get(name)
        same = known is not None and known.queue is queue
        queues[name] = known if known is not None and same else QueueInfo(queue, creation_of(queue))
    return dict(sorted(queues.items()))


def _jobs_of(cluster: Cluster, queues: Mapping[str, QueueInfo]) -> Jobs:
    priorities = job_priorities(cluster.priority_classes)
    jobs = Jobs()
    for key in sorted(cluster.podgroups):
        job = job_of(cluster.podgroups[key], queues, priorities)
        if job is not None:
            jobs[key] = job
    return jobs


def job_of(podgroup: Object, queues: Mapping[str, QueueInfo], priorities: Priorities) -> JobInfo | None:
    """Return the job of a PodGroup, not yet with tasks; None if its queue does not exist."""
    spec = podgroup.get("spec") or {}
    queue = spec.get("queue") or "default"
    if queue not in queues:
        return None
    default, by_class = priorities
    priority = by_class.get(spec.get("priorityClassName") or "", default)
    return JobInfo(podgroup, queue, priority, creation_of(podgroup))


def job_priorities(classes: Sequence[Mapping[str, Any]]) -> Priorities:
    """Return the priority of each class, and that of jobs without a known class."""
    default = 0
    by_class = {}
    for entry in classes:
        value = int(entry.get("value") or 0)
        by_class[entry["metadata"]["name"]] = value
        if entry.get("globalDefault"):
            default = value
    return default, by_class
