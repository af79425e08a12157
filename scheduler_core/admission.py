"""Admission: the changes by API server, webhooks and controllers before the scheduler runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite
from typing import Any, NamedTuple

from scheduler_core.controllers import (
    Made,
    equip,
    expand_jobs,
    group_plain_pods,
    pods_of_nodes,
    twins_of,
)
from scheduler_core.controllers.made import key_of
from scheduler_core.model.pod_columns import PodColumns
from scheduler_core.model.pod_info import DEFAULT_NAMESPACE, PodInfo, PodTable, creation_of
from scheduler_core.model.pod_kind import PodReader
from scheduler_core.model.pods import Pods
from scheduler_core.model.snapshot import Cluster, NodeList
from scheduler_core.model.status import TaskStatus
from scheduler_core.model.timestamps import parse_time
from scheduler_core.model.unmodelled import (
    UNREAD_LISTS,
    other_scheduler_notes,
    unmodelled_notes,
)
from scheduler_core.model.workloads import Workloads
from scheduler_core.queue_defaults import queues_of_volcano, with_defaults
from scheduler_core.release import Release, Rule, release_of

Object = Mapping[str, Any]
_NOTHING: Object = {}

DEFAULT_SCHEDULER = "volcano"
DEFAULT_QUEUE = "default"
RESOLVED = "Assumed: {n} pod{s} without spec.priority: priority from the priority class."

WORKLOAD_PARTS = ("pods", "podgroups", "jobs", "namespaces", "controllers", *UNREAD_LISTS)
DATED_PARTS = (
    *("queues", "nodes", "jobs", "priorityclasses", "resourcequotas"),
    *("namespaces", "poddisruptionbudgets", "services"),
)
"""The lists, besides pods and podgroups, whose newest object may set the current time."""


class Nodes(NamedTuple):
    """The nodes as the scheduler finds them; `sources` are the parts of the document that contain them."""

    sources: tuple[Any, ...]
    nodes: NodeList
    changes: Counter[str]


class Admission:
    """Admits the objects of a scenario; `notes` says what was changed.

    Parameters
    ----------
    document : mapping
        A scenario without errors. None of its objects may be edited afterwards.
    pods : sequence of PodInfo, optional
        The scenario's pods as read, in their order; without it they are read.
    before : Admission, optional
        An admission from which results for the same objects are taken; it is not changed.
    release : Release, optional
        The simulated release; None: the one that the document names.

    """

    def __init__(
        self,
        document: Object,
        pods: Sequence[PodInfo] | None = None,
        before: Admission | None = None,
        release: Release | None = None,
    ) -> None:
        self.document = document
        self._pod_level = (release or release_of(document)).follows(Rule.POD_LEVEL_REQUESTS)
        self.defaults = document.get("admission_defaults") is not False
        self.changes: Counter[str] = Counter()
        self.scheduler_order: list[str] = list(document.get("scheduler_names") or [DEFAULT_SCHEDULER])
        self.first_scheduler = self.scheduler_order[0]
        self.classes = {entry["metadata"]["name"]: entry for entry in self.items("priorityclasses")}
        self.default_class = next(
            (entry for entry in self.classes.values() if entry.get("globalDefault")), None
        )
        alike = before if before is not None and before._treatment() == self._treatment() else None
        self.nodes: Nodes = self._nodes(None if alike is None else alike.nodes)
        self.reader: PodReader = PodReader(
            self.pod,
            default_requests=self.defaults,
            pod_level=self._pod_level,
            scheduler_names=frozenset(self.scheduler_order),
            before=None if alike is None else alike.reader,
        )
        self.workloads: Workloads = self._workloads(pods, None if alike is None else alike.workloads)
        self.workloads.pods.known_pods()

    def items(self, name: str) -> Sequence[Object]:
        """Return the objects of one list of the scenario."""
        return self.listed(self.document, name)

    @staticmethod
    def listed(document: Object, name: str) -> Sequence[Object]:
        """Return the objects of one list, given as a plain list or as a Kubernetes List."""
        value = document.get(name) or []
        items: Sequence[Object] = value.get("items") or [] if isinstance(value, Mapping) else value
        return items

    def cluster(self) -> Cluster:
        """Return the admitted objects."""
        text = self.document.get("now")
        return Cluster(
            nodes=self.nodes.nodes,
            queues=self.queues(),
            podgroups=self.workloads.podgroups,
            pods=self.workloads.pods,
            priority_classes=self.items("priorityclasses"),
            resource_quotas=[namespaced(entry) for entry in self.items("resourcequotas")],
            namespaces=self.items("namespaces"),
            pod_disruption_budgets=[namespaced(entry) for entry in self.items("poddisruptionbudgets")],
            services=[namespaced(entry) for entry in self.items("services")],
            now=parse_time(text) if text else self._newest(),
        )

    def notes(self) -> list[str]:
        """Return notes on the changes, with counts."""
        changes = self.changes + self.nodes.changes + self.workloads.changes
        return [counted(change, count) for change, count in sorted(changes.items())]

    def _newest(self) -> float:
        """Return the newest creationTimestamp of any object, seconds since 1970; 0 without any."""
        others = [creation_of(entry) for name in DATED_PARTS for entry in self.items(name)]
        newest = max(self.workloads.newest(), *others, -inf)
        return newest if isfinite(newest) else 0.0

    def _treatment(self) -> tuple[Any, ...]:
        """Return the settings that determine how each single object is admitted."""
        return self.defaults, self._pod_level, self.scheduler_order, [*map(id, self.items("priorityclasses"))]

    def _nodes(self, before: Nodes | None) -> Nodes:
        sources = (self.document.get("nodes"),)
        if before is not None and _same(before.sources, sources):
            return before
        changes: Counter[str] = Counter()
        return Nodes(sources, NodeList([self.node(entry, changes) for entry in self.items("nodes")]), changes)

    def _workloads(self, pods: Sequence[PodInfo] | None, before: Workloads | None) -> Workloads:
        sources = tuple(self.document.get(name) for name in WORKLOAD_PARTS)
        nodes = self.nodes.nodes.objects
        if (
            before is not None
            and _same(before.sources, sources)
            and twins_of(nodes, before.of_nodes) == before.twins
        ):
            return before
        table = PodTable()
        infos = table.read_all(PodColumns(self.items("pods"))) if pods is None else pods
        work = Workloads(sources, Pods(infos, table, self.reader))
        self._count_resolved(infos, work)
        work.podgroups = {key_of(podgroup): podgroup for podgroup in map(namespaced, self.items("podgroups"))}
        work.of_nodes = pods_of_nodes(info.given for info in infos)
        work.twins = twins_of(nodes, work.of_nodes)
        self.run_controllers(work)
        claiming = {key: info.given for key, info in work.pods.infos.items() if info.template.claims}
        waiting = [info.given for info in work.pods.infos.values() if info.status == TaskStatus.PENDING]
        work.unmodelled = [
            *unmodelled_notes(self.document, claiming, work.podgroups),
            *other_scheduler_notes(waiting, self.scheduler_order),
        ]
        return work

    def _count_resolved(self, infos: Iterable[PodInfo], work: Workloads) -> None:
        """Count the pods whose priority is set."""
        for template, count in Counter([info.template for info in infos]).items():
            work.changes[RESOLVED] += count * self.reader.kind_of(template).resolved

    def run_controllers(self, work: Workloads) -> None:
        """Add the missing objects of nodes and Jobs; with `controllers`, also the PodGroups of plain pods."""
        self.add_created(equip(work.twins, work.of_nodes, work.pods), work)
        jobs = self.items("jobs")
        if jobs:
            made = expand_jobs(
                jobs,
                podgroups=work.podgroups,
                pods=work.pods,
                namespaces=self.items("namespaces"),
                class_values={name: int(entry.get("value") or 0) for name, entry in self.classes.items()},
                scheduler_names=self.scheduler_order,
            )
            self.add_created(made, work)
        if self.document.get("controllers") is True:
            made = group_plain_pods(
                work.pods,
                podgroups=work.podgroups,
                namespaces=self.items("namespaces"),
                scheduler_names=self.scheduler_order,
                default_requests=self.defaults,
            )
            self.add_created(made, work)

    def add_created(self, made: Made, work: Workloads) -> None:
        """Add the objects that a controller created."""
        for entry in made.pods:
            work.pods[key_of(entry)] = entry
        self._count_resolved([work.pods.infos[key_of(entry)] for entry in made.pods], work)
        work.podgroups.update((key_of(podgroup), podgroup) for podgroup in made.podgroups)
        work.changes.update(made.notes)

    # kind by kind

    def node(self, node: Object, changes: Counter[str]) -> Object:
        """Return a node; a missing allocatable defaults to its capacity."""
        status = node.get("status") or {}
        if self.defaults and status.get("allocatable") is None and status.get("capacity") is not None:
            changes[
                "Assumed: {n} node{s} without status.allocatable: all of the capacity is allocatable."
            ] += 1
            return {**node, "status": {**status, "allocatable": status["capacity"]}}
        return node

    def queues(self) -> list[Object]:
        """Return the queues, including `root` and `default`."""
        queues = [self.queue(entry) for entry in self.items("queues")]
        if self.document.get("default_queues") is not False:
            names = {queue["metadata"]["name"] for queue in queues}
            for queue in queues_of_volcano(names):
                queues.append(queue)
                name = queue["metadata"]["name"]
                self.changes[f"Assumed: queue {name} exists; Volcano creates it at start."] += 1
        return queues

    def queue(self, queue: Object) -> Object:
        """Return a queue with the defaults of its webhook and its controller."""
        return with_defaults(queue, self.changes) if self.defaults else queue

    def pod(self, pod: Object) -> Object:
        """Return a pod with namespace, uid, phase, scheduler name and priority."""
        metadata, spec, status = pod["metadata"], pod.get("spec") or _NOTHING, pod.get("status") or _NOTHING
        changed: dict[str, Any] = {}
        if not metadata.get("namespace") or not metadata.get("uid"):
            namespace = metadata.get("namespace") or DEFAULT_NAMESPACE
            uid = metadata.get("uid") or f"{namespace}-{metadata['name']}"
            changed["metadata"] = {**metadata, "namespace": namespace, "uid": uid}
        unset = self.defaults and spec.get("priority") is None
        priority = self._priority_of(spec) if unset else _NOTHING
        if priority or not spec.get("schedulerName"):
            scheduler = spec.get("schedulerName") or self.first_scheduler
            changed["spec"] = {**spec, "schedulerName": scheduler, **priority}
        if not status.get("phase"):
            phase = "Running" if spec.get("nodeName") else "Pending"
            changed["status"] = {**status, "phase": phase}
        return {**pod, **changed} if changed else pod

    def _priority_of(self, spec: Object) -> Object:
        """Return the priority and preemption policy from a pod's class or the global default."""
        chosen = self.classes.get(spec.get("priorityClassName") or "", self.default_class)
        if chosen is None:
            return _NOTHING
        if spec.get("preemptionPolicy") is None and chosen.get("preemptionPolicy"):
            return {"priority": chosen.get("value") or 0, "preemptionPolicy": chosen["preemptionPolicy"]}
        return {"priority": chosen.get("value") or 0}


def counted(change: str, count: int) -> str:
    """Return a sentence about `count` objects.

    Examples
    --------
    >>> counted("Assumed: {n} queue{s} without status.state: Open.", 1)
    'Assumed: 1 queue without status.state: Open.'

    """
    return change.replace("{n}", f"{count:,}").replace("{s}", "" if count == 1 else "s")


def _same(some: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    """Return whether two tuples contain the same objects."""
    return all(one is other for one, other in zip(some, others, strict=True))


def namespaced(thing: Object) -> Object:
    """Return an object with a namespace: its own, or the default one."""
    metadata = thing["metadata"]
    if metadata.get("namespace"):
        return thing
    return {**thing, "metadata": {**metadata, "namespace": DEFAULT_NAMESPACE}}
