"""Applies the events of a document to the cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from scheduler_core.admission import namespaced
from scheduler_core.controllers import equip, group_plain_pods, pods_of_nodes, twins_of
from scheduler_core.controllers.made import key_of
from scheduler_core.model.snapshot import NodeList
from scheduler_core.replay.jobs import JobController
from scheduler_core.replay.machines import Machines
from scheduler_core.replay.queues import closed, opened
from scheduler_core.replay.runs import PodRuns
from scheduler_core.replay.schedules import Schedules
from scheduler_core.replay.world import World
from scheduler_core.transitions import created, replaced

Object = Mapping[str, Any]

CLUSTER_WIDE = frozenset({"nodes", "queues"})
"""The kinds of created objects that have no namespace."""


class Outside:
    """Applies the events of the document: actions of people and programs outside the simulation."""

    def __init__(
        self, world: World, runs: PodRuns, machines: Machines, jobs: JobController, schedules: Schedules
    ) -> None:
        self.world = world
        self.runs = runs
        self.machines = machines
        self.jobs = jobs
        self.schedules = schedules

    def apply(self, event: Object, time: float) -> None:
        """Apply one event: first what it creates, then what it replaces, then what it deletes, and so on."""
        world, cluster = self.world, self.world.cluster
        for name, things in (event.get("create") or {}).items():
            for thing in things:
                thing = thing if name in CLUSTER_WIDE else namespaced(thing)
                self._create(name, created(thing, world.timestamp(time)), time)
        if nodes := (event.get("create") or {}).get("nodes"):
            self._equip({node["metadata"]["name"] for node in nodes}, time)
        for name, things in (event.get("replace") or {}).items():
            self._replace(name, things)
        for name in _named(event, "delete", "nodes"):
            self.machines.delete(name, time)
        for key in _named(event, "delete", "jobs"):
            self.jobs.delete(_with_namespace(key), time)
        if names := _named(event, "close", "queues"):
            cluster.queues = closed(cluster.queues, names, world.queues_in_use())
        if names := _named(event, "open", "queues"):
            cluster.queues = opened(cluster.queues, names)
        for name in _named(event, "drain", "nodes"):
            self.machines.drain(name, time)
        for name in _named(event, "lose", "nodes"):
            self.machines.lose(name, time)
        for verb, action in (("abort", "AbortJob"), ("resume", "ResumeJob")):
            for key in _named(event, verb, "jobs"):
                self.jobs.known.command(_with_namespace(key), action)
        if "scheduler_conf" in event:
            world.scheduler_conf = event["scheduler_conf"]

    def _create(self, name: str, thing: Object, time: float) -> None:
        world, cluster = self.world, self.world.cluster
        if name == "podgroups":
            world.add_podgroup(key_of(thing), thing, time)
        elif name == "pods":
            self.runs.add(key_of(thing), thing, time)
            if world.admission.document.get("controllers") is True:
                self._group(key_of(thing), time)
        elif name == "nodes":
            node = world.admission.node(thing, world.admission.changes)
            cluster.nodes = NodeList([*cluster.nodes.objects, node])
        elif name == "queues":
            cluster.queues = [*cluster.queues, world.admission.queue(thing)]
        elif name == "jobs":
            self.jobs.submit(thing, time)
        else:
            self.schedules.submit(name, thing, time)

    def _equip(self, names: Collection[str], time: float) -> None:
        """Create the pods of DaemonSets on new nodes."""
        cluster = self.world.cluster
        equipped = pods_of_nodes(info.given for info in cluster.pods.infos.values())
        twins = twins_of(cluster.nodes.objects, equipped, names)
        for pod in equip(twins, equipped, cluster.pods).pods:
            self.runs.add(key_of(pod), created(pod, self.world.timestamp(time)), time)

    def _group(self, key: str, time: float) -> None:
        """Create the PodGroup of a plain pod, as the controller does."""
        world = self.world
        made = group_plain_pods(
            {key: world.cluster.pods[key]},
            podgroups=world.podgroups,
            namespaces=world.admission.items("namespaces"),
            scheduler_names=world.admission.scheduler_order,
            default_requests=world.admission.defaults,
        )
        for podgroup in made.podgroups:
            world.add_podgroup(key_of(podgroup), podgroup, time)
        for pod in made.pods:
            self.runs.add(key, pod, time)

    def _replace(self, name: str, things: Iterable[Object]) -> None:
        cluster = self.world.cluster
        for thing in things:
            if name == "queues":
                cluster.queues = replaced(cluster.queues, thing)
            else:
                cluster.nodes = NodeList(replaced(cluster.nodes.objects, thing))


def _named(event: Object, verb: str, kind: str) -> list[str]:
    return [str(name) for name in (event.get(verb) or {}).get(kind) or ()]


def _with_namespace(key: str) -> str:
    return key if "/" in key else f"default/{key}"
