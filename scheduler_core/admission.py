"""What do the API server, the webhooks and the controllers make of an object before the scheduler sees it?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.controllers import Made, expand_jobs, group_plain_pods
from scheduler_core.controllers.made import key_of
from scheduler_core.model.pod import ShapeTable
from scheduler_core.model.queue import HIERARCHY, HIERARCHY_WEIGHTS
from scheduler_core.model.snapshot import Cluster
from scheduler_core.model.timestamps import parse_time

Object = Mapping[str, Any]
DEFAULT_SCHEDULER = "volcano"
DEFAULT_NAMESPACE = "default"
DEFAULT_QUEUE = "default"

LISTS = (
    "nodes",
    "queues",
    "podgroups",
    "pods",
    "jobs",
    "priorityclasses",
    "resourcequotas",
    "namespaces",
    "poddisruptionbudgets",
    "services",
)


class Admission:
    """One pass over the objects of a scenario; `notes` counts what was changed."""

    def __init__(self, document: Object) -> None:
        self.document = document
        self.defaults = document.get("admission_defaults") is not False
        self.changes: Counter[str] = Counter()
        self.scheduler_order: list[str] = list(document.get("scheduler_names") or [DEFAULT_SCHEDULER])
        self.scheduler_names = frozenset(self.scheduler_order)
        self.first_scheduler = self.scheduler_order[0]
        self.classes = {entry["metadata"]["name"]: entry for entry in self.items("priorityclasses")}
        self.default_class = next(
            (entry for entry in self.classes.values() if entry.get("globalDefault")), None
        )

    def items(self, name: str) -> Sequence[Object]:
        """Return the objects of one list, given as a plain list or as a Kubernetes List."""
        value = self.document.get(name) or []
        items: Sequence[Object] = value.get("items") or [] if isinstance(value, Mapping) else value
        return items

    def cluster(self) -> Cluster:
        """Return the admitted objects."""
        pods = {}
        for entry in self.items("pods"):
            pod = self.pod(entry)
            pods[f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"] = pod
        podgroups = {}
        for entry in self.items("podgroups"):
            podgroup = _namespaced(entry)
            podgroups[f"{podgroup['metadata']['namespace']}/{podgroup['metadata']['name']}"] = podgroup
        self.run_controllers(pods, podgroups)
        return Cluster(
            nodes=[self.node(entry) for entry in self.items("nodes")],
            queues=self.queues(),
            podgroups=podgroups,
            pods=pods,
            priority_classes=self.items("priorityclasses"),
            resource_quotas=[_namespaced(entry) for entry in self.items("resourcequotas")],
            namespaces=self.items("namespaces"),
            pod_disruption_budgets=[_namespaced(entry) for entry in self.items("poddisruptionbudgets")],
            services=[_namespaced(entry) for entry in self.items("services")],
            now=self.now(pods.values(), podgroups.values()),
            shapes=ShapeTable(default_requests=self.defaults),
            scheduler_names=self.scheduler_names,
        )

    def run_controllers(self, pods: dict[str, Object], podgroups: dict[str, Object]) -> None:
        """Add what Jobs lack; with `controllers` give plain pods their PodGroups, too."""
        jobs = self.items("jobs")
        if jobs:
            made = expand_jobs(
                jobs,
                podgroups=podgroups,
                pods=pods,
                namespaces=self.items("namespaces"),
                class_values={name: int(entry.get("value") or 0) for name, entry in self.classes.items()},
                scheduler_names=self.scheduler_order,
            )
            self.take(made, pods, podgroups)
        if self.document.get("controllers") is True:
            made = group_plain_pods(
                pods,
                podgroups=podgroups,
                namespaces=self.items("namespaces"),
                scheduler_names=self.scheduler_order,
                default_requests=self.defaults,
            )
            self.take(made, pods, podgroups)

    def take(self, made: Made, pods: dict[str, Object], podgroups: dict[str, Object]) -> None:
        """Add what a controller made."""
        pods.update((key_of(pod), self.pod(pod)) for pod in made.pods)
        podgroups.update((key_of(podgroup), podgroup) for podgroup in made.podgroups)
        self.changes.update(made.notes)

    def now(self, pods: Any, podgroups: Any) -> float:
        """Return the scenario's clock: `now`, else the newest creationTimestamp of its pods and PodGroups."""
        text = self.document.get("now")
        if text:
            return parse_time(text)
        times = [
            thing["metadata"].get("creationTimestamp") for things in (pods, podgroups) for thing in things
        ]
        return max((parse_time(time) for time in times if time), default=0.0)

    def notes(self) -> list[str]:
        """Return what was changed, with counts."""
        return [f"{change}: {count}" for change, count in sorted(self.changes.items())]

    # kind by kind

    def node(self, node: Object) -> Object:
        """Return a node whose missing allocatable is its capacity."""
        status = node.get("status") or {}
        if self.defaults and status.get("allocatable") is None and status.get("capacity") is not None:
            self.changes["node status.allocatable set from capacity"] += 1
            return {**node, "status": {**status, "allocatable": status["capacity"]}}
        return node

    def queues(self) -> list[Object]:
        """Return the queues, `root` and `default` among them."""
        queues = [self.queue(entry) for entry in self.items("queues")]
        if self.document.get("default_queues") is not False:
            names = {queue["metadata"]["name"] for queue in queues}
            for name, reclaimable in ((DEFAULT_QUEUE, True), ("root", False)):
                if name not in names:
                    queues.append(_made_queue(name, reclaimable))
                    self.changes[f"queue {name} added (default_queues)"] += 1
        return queues

    def queue(self, queue: Object) -> Object:
        """Return a queue as its webhook and its controller leave it."""
        if not self.defaults:
            return queue
        spec, status, metadata = queue.get("spec") or {}, queue.get("status") or {}, queue["metadata"]
        changed_spec: dict[str, Any] = {}
        if not spec.get("weight"):
            changed_spec["weight"] = 1
            self.changes["queue spec.weight set to 1"] += 1
        if spec.get("reclaimable") is None:
            changed_spec["reclaimable"] = True
            self.changes["queue spec.reclaimable set to true"] += 1
        changed: dict[str, Any] = {}
        if changed_spec:
            changed["spec"] = {**spec, **changed_spec}
        if not status.get("state"):
            changed["status"] = {**status, "state": "Open"}
            self.changes["queue status.state set to Open"] += 1
        annotations = _rooted(metadata.get("annotations") or {})
        if annotations is not None:
            changed["metadata"] = {**metadata, "annotations": annotations}
            self.changes["queue hierarchy annotation rooted"] += 1
        return {**queue, **changed} if changed else queue

    def pod(self, pod: Object) -> Object:
        """Return a pod with namespace, uid, phase, scheduler name and priority."""
        metadata, spec, status = pod["metadata"], pod.get("spec") or {}, pod.get("status") or {}
        namespace = metadata.get("namespace") or DEFAULT_NAMESPACE
        changed: dict[str, Any] = {}
        if not metadata.get("namespace") or not metadata.get("uid"):
            uid = metadata.get("uid") or f"{namespace}-{metadata['name']}"
            changed["metadata"] = {**metadata, "namespace": namespace, "uid": uid}
        changed_spec = {} if spec.get("schedulerName") else {"schedulerName": self.first_scheduler}
        if self.defaults:
            changed_spec.update(self.priority_of(spec))
        if changed_spec or "spec" not in pod:
            changed["spec"] = {**spec, **changed_spec}
        if not status.get("phase"):
            phase = "Running" if spec.get("nodeName") else "Pending"
            changed["status"] = {**status, "phase": phase}
        return {**pod, **changed} if changed else pod

    def priority_of(self, spec: Object) -> dict[str, Any]:
        """Return the priority and preemption policy that a pod gets from its class or the global default."""
        if spec.get("priority") is not None:
            return {}
        chosen = self.classes.get(spec.get("priorityClassName") or "", self.default_class)
        if chosen is None:
            return {}
        self.changes["pod spec.priority resolved from priority class"] += 1
        resolved: dict[str, Any] = {"priority": chosen.get("value") or 0}
        if spec.get("preemptionPolicy") is None and chosen.get("preemptionPolicy"):
            resolved["preemptionPolicy"] = chosen["preemptionPolicy"]
        return resolved


def _made_queue(name: str, reclaimable: bool) -> Object:
    return {
        "metadata": {"name": name},
        "spec": {"weight": 1, "reclaimable": reclaimable},
        "status": {"state": "Open"},
    }


def _namespaced(thing: Object) -> Object:
    metadata = thing["metadata"]
    if metadata.get("namespace"):
        return thing
    return {**thing, "metadata": {**metadata, "namespace": DEFAULT_NAMESPACE}}


def _rooted(annotations: Mapping[str, str]) -> dict[str, str] | None:
    """Return the annotations with a hierarchy path that starts at root, None when nothing changes."""
    path, weights = annotations.get(HIERARCHY), annotations.get(HIERARCHY_WEIGHTS)
    if not path or not weights or path.startswith("root"):
        return None
    return {**annotations, HIERARCHY: f"root/{path}", HIERARCHY_WEIGHTS: f"1/{weights}"}
