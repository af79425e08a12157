"""What do the events of a document do to the cluster?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from scheduler_core.controllers import group_plain_pods
from scheduler_core.controllers.made import key_of
from scheduler_core.model.snapshot import NodeList
from scheduler_core.replay.queues import closed, opened

if TYPE_CHECKING:
    from scheduler_core.replay.world import World

Object = Mapping[str, Any]


def apply(world: World, event: Object, time: float) -> None:
    """Let one event of the document happen: what it creates, replaces, deletes and so on, in this order."""
    for name, things in (event.get("create") or {}).items():
        for thing in things:
            _create(world, name, _stamped(world, thing, time), time)
    for name, things in (event.get("replace") or {}).items():
        _replace(world, name, things)
    for name in _named(event, "delete", "nodes"):
        world.machines.delete(name, time)
    for key in _named(event, "delete", "jobs"):
        world.jobs.delete(_with_namespace(key), time)
    if names := _named(event, "close", "queues"):
        world.cluster.queues = closed(world.cluster.queues, names, world.queues_in_use())
    if names := _named(event, "open", "queues"):
        world.cluster.queues = opened(world.cluster.queues, names)
    for name in _named(event, "drain", "nodes"):
        world.machines.drain(name, time)
    for name in _named(event, "lose", "nodes"):
        world.machines.lose(name, time)
    for verb, action in (("abort", "AbortJob"), ("resume", "ResumeJob")):
        for key in _named(event, verb, "jobs"):
            world.jobs.command(_with_namespace(key), action)
    if "scheduler_conf" in event:
        world.scheduler_conf = event["scheduler_conf"]


def _named(event: Object, verb: str, kind: str) -> list[str]:
    return [str(name) for name in (event.get(verb) or {}).get(kind) or ()]


def _with_namespace(key: str) -> str:
    return key if "/" in key else f"default/{key}"


def _stamped(world: World, thing: Object, time: float) -> Object:
    metadata = {**thing["metadata"]}
    metadata.setdefault("creationTimestamp", world.timestamp(time))
    return {**thing, "metadata": metadata}


def _create(world: World, name: str, thing: Object, time: float) -> None:
    if name == "podgroups":
        world.know_podgroup(key_of(thing), thing, time)
    elif name == "pods":
        world.add_pod(key_of(thing), thing, time)
        if world.admission.document.get("controllers") is True:
            _group(world, key_of(thing), time)
    elif name == "nodes":
        node = world.admission.node(thing, world.admission.changes)
        world.cluster.nodes = NodeList([*world.cluster.nodes.objects, node])
    elif name == "queues":
        world.cluster.queues = [*world.cluster.queues, world.admission.queue(thing)]
    elif name == "jobs":
        world.jobs.submit(thing, time)
    else:
        world.schedules.submit(name, thing, time)


def _group(world: World, key: str, time: float) -> None:
    """Give a plain pod its PodGroup, as the controller does."""
    made = group_plain_pods(
        {key: world.cluster.pods[key]},
        podgroups=world.podgroups,
        namespaces=world.admission.items("namespaces"),
        scheduler_names=world.admission.scheduler_order,
        default_requests=world.admission.defaults,
    )
    for podgroup in made.podgroups:
        world.know_podgroup(key_of(podgroup), podgroup, time)
    for pod in made.pods:
        world.add_pod(key, pod, time)


def _replace(world: World, name: str, things: Iterable[Object]) -> None:
    for thing in things:
        if name == "queues":
            world.cluster.queues = [_replaced(queue, thing) for queue in world.cluster.queues]
        else:
            nodes = [_replaced(node, thing) for node in world.cluster.nodes.objects]
            world.cluster.nodes = NodeList(nodes)


def _replaced(old: Object, new: Object) -> Object:
    """Return metadata and spec of a new object with the status of the old one, if it has the same name."""
    if old["metadata"]["name"] != new["metadata"]["name"]:
        return old
    return {**new, "status": old.get("status") or {}}
