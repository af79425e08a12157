"""The queues and nodes of a scenario, by ``spec/resources.md`` 7 and 8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.reference.admission import HIERARCHY, WEIGHTS, classes_of, items, nodes_of, pods_of, queues_of
from tests.reference.jobs import Job
from tests.reference.pods import Task
from tests.reference.resources import Vector, added, fits, minus, sub, total, vector
from tests.reference.times import seconds

Object = Mapping[str, Any]


class Queue:
    """A Queue object."""

    def __init__(self, queue: Object) -> None:
        spec, notes = queue.get("spec") or {}, queue["metadata"].get("annotations") or {}
        self.name, self.creation = (
            queue["metadata"]["name"],
            seconds(queue["metadata"].get("creationTimestamp")),
        )
        self.weight, self.priority = int(spec.get("weight") or 0), int(spec.get("priority") or 0)
        self.reclaimable = spec.get("reclaimable") is not False
        self.is_open = (queue.get("status") or {}).get("state") == "Open"
        self.capability, self.deserved = spec.get("capability"), spec.get("deserved")
        self.parent = "" if self.name == "root" else spec.get("parent") or "root"
        self.guarantee = vector((spec.get("guarantee") or {}).get("resource"))
        self.affinity = spec.get("affinity")
        self.path = str(notes.get(HIERARCHY) or "").split("/")
        self.path_weights = str(notes.get(WEIGHTS) or "").split("/")


class Node:
    """A node with its tasks, each with its status on the node."""

    def __init__(self, node: Object) -> None:
        metadata, status = node["metadata"], node.get("status") or {}
        notes = metadata.get("annotations") or {}
        self.name, self.labels = metadata["name"], metadata.get("labels") or {}
        self.taints = (node.get("spec") or {}).get("taints") or []
        self.unschedulable = bool((node.get("spec") or {}).get("unschedulable"))
        self.declared = vector(status.get("allocatable"))
        oversold = {
            name: _float(notes.get(f"volcano.sh/oversubscription-{name}")) for name in ("cpu", "memory")
        }
        self.allocatable = added(self.declared, oversold)
        self.idle = dict(self.allocatable)
        self.used, self.releasing, self.pipelined = vector(None), vector(None), vector(None)
        self.tasks: dict[str, tuple[Task, str]] = {}
        self.seen: list[Task] = []  # what Kubernetes' filters and scores see
        self.ports: set[tuple[Any, ...]] = set()

    def future(self) -> Vector:
        """Return the future idle amounts, after releasing pods are gone."""
        return minus(added(self.idle, self.releasing), self.pipelined)

    def add(self, task: Task) -> None:
        """Put a task on the node."""
        self.tasks[task.key] = task, task.status
        if task.status == "Pipelined":
            self.pipelined = added(self.pipelined, task.request)
            return
        self.idle, self.used = minus(self.idle, task.request), added(self.used, task.request)
        if task.status == "Releasing":
            self.releasing = added(self.releasing, task.request)

    def remove(self, task: Task) -> None:
        """Remove a task with its status on the node."""
        _, status = self.tasks.pop(task.key)
        if status == "Pipelined":
            self.pipelined = sub(self.pipelined, task.request)
            return
        self.idle, self.used = added(self.idle, task.request), sub(self.used, task.request)
        if status == "Releasing":
            self.releasing = sub(self.releasing, task.request)

    def show(self, task: Task) -> None:
        """Make a pod visible to Kubernetes' filters and scores."""
        self.seen.append(task)
        self.ports |= {*task.ports}

    def hide(self, task: Task) -> None:
        """Hide it; a port becomes free even if another pod uses it."""
        if task in self.seen:
            self.seen.remove(task)
            self.ports -= {*task.ports}

    def in_order(self) -> list[Task]:
        """Return the tasks by namespace/name."""
        return [self.tasks[key][0] for key in sorted(self.tasks)]


def _float(text: Any) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        return 0.0


class Cluster:
    """Everything in a scenario, by name, in order."""

    def __init__(self, document: Object) -> None:
        self.now = clock(document)
        classes = classes_of(document)
        self.nodes = {
            node.name: node for node in sorted(map(Node, nodes_of(document)), key=lambda node: node.name)
        }
        queues = {queue.name: queue for queue in map(Queue, queues_of(document))}
        self.queues = dict(sorted(queues.items()))
        jobs = {job.key: job for job in (Job(group, classes) for group in items(document, "podgroups"))}
        self.jobs = {key: jobs[key] for key in sorted(jobs) if jobs[key].queue in queues}
        self.namespaces = {
            entry["metadata"]["name"]: entry["metadata"].get("labels") or {}
            for entry in items(document, "namespaces")
        }
        self.budgets = items(document, "poddisruptionbudgets")
        self.quotas = items(document, "resourcequotas")
        ours = document.get("scheduler_names") or ["volcano"]
        for task in map(Task, pods_of(document)):
            if not task.node and (task.spec.get("schedulerName") or ours[0]) not in ours:
                continue
            task.job = self.jobs.get(task.group)
            if task.job is not None:
                task.job.tasks.append(task)
            if task.is_on_a_node and task.node in self.nodes:
                self.nodes[task.node].show(task)
                self.nodes[task.node].add(task)
        for job in self.jobs.values():
            job.tasks.sort(key=lambda task: task.uid)
        self.total = total(node.allocatable for node in self.nodes.values())
        # Kubernetes lists the nodes with pods with affinities once, when the session opens.
        self.with_anti = [
            node
            for node in self.nodes.values()
            if any(task.required(task.anti_affinity) for task in node.seen)
        ]
        self.with_affinity = [node for node in self.nodes.values() if any(map(has_affinity, node.seen))]


def has_affinity(task: Task) -> bool:
    """Return whether a pod has affinity or anti-affinity to other pods."""
    return task.affinity is not None or task.anti_affinity is not None


def clock(document: Object) -> float:
    """Return the scenario's time, in seconds: `now`, else the newest creation of any object."""
    if document.get("now"):
        return seconds(document["now"])
    kinds = ("nodes", "queues", "podgroups", "pods", "priorityclasses")
    times = [entry["metadata"].get("creationTimestamp") for kind in kinds for entry in items(document, kind)]
    return max((seconds(text) for text in times if text), default=0.0)


def fits_future(task: Task, node: Node) -> bool:
    """Return whether a task fits the future idle amounts."""
    return fits(task.request, node.future())
