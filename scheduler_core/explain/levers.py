"""Which single things could be changed for a job, in which steps, and how far?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.conf import DEFAULT_CONF
from scheduler_core.explain.changes import CONF, Change, value_at
from scheduler_core.explain.picture import Amounts, Object, Picture, items, key_of, plus
from scheduler_core.explain.wording import counted, said
from scheduler_core.model.node import allocatable_of
from scheduler_core.model.queue import HIERARCHY, HIERARCHY_WEIGHTS, rooted
from scheduler_core.model.snapshot import job_priorities
from scheduler_core.plugins.drf.tree import weight_of
from scheduler_core.resource import CPU, MEMORY, MIN_RESOURCE, PODS, Resource, quantities

Sizes = tuple[int, ...]

_STEPS: Mapping[str, Sequence[int]] = {CPU: (1000, 100, 1), MEMORY: (2**30, 2**20, 1)}
_SCALAR_STEPS = (1000, 1)
_MOST_NODES = 256
_MOST_WEIGHT = 1024
_NODE_SHAPES = 3
_EVICTING = ("preempt", "reclaim", "gangpreempt", "gangreclaim")
_JUDGES = frozenset({"capacity", "cdp", "conformance", "drf", "gang", "pdb", "priority", "proportion", "tdm"})


@dataclass(frozen=True)
class Lever:
    """One thing that can be changed, in whole steps along one axis or several.

    Attributes
    ----------
    name : str
        Its reason in the vocabulary.
    largest : tuple of int
        How many steps each axis goes at most; 0 steps are the state as it is.
    guess : tuple of int
        Where to look first on each axis; 0: nothing is known.
    changes : callable
        The changes of so many steps.
    sentence : callable
        What so many steps are, in words.
    numbers : callable
        The same in numbers.

    """

    name: str
    largest: Sizes
    guess: Sizes
    changes: Callable[[Sizes], list[Change]]
    sentence: Callable[[Sizes], str]
    numbers: Callable[[Sizes], dict[str, Any]]


def levers(picture: Picture, job: str, told: Mapping[str, Any]) -> Iterator[Lever]:
    """Yield what could be changed for a waiting job, of which `told` is the diagnosis."""
    waiting = Waiting(picture, job)
    queues = dict.fromkeys([told.get("queue") or waiting.queue, waiting.queue])
    yield from _members(waiting)
    for queue in queues:
        for field in ("capability", "deserved"):
            yield from _amounts(waiting, queue, field, told)
    if picture.queue_plugin == "proportion":
        yield from _weight(waiting)
    yield from _tree_weights(waiting)
    yield from _nodes(waiting)
    yield from _priority(waiting)
    yield from _actions(waiting)
    yield from _tiers(waiting)


class Waiting:
    """A waiting job with what its levers need to know.

    Attributes
    ----------
    request : dict
        What its waiting pods ask for in all, by resource, `pods` left out.
    units : dict
        The step in which each resource is raised.

    """

    def __init__(self, picture: Picture, job: str) -> None:
        self.picture = picture
        self.job = job
        self.entry = picture.job(job)
        self.queue: str = self.entry["queue"]
        self.pods = [
            task["pod"] for task in self.entry["tasks"] if task["status"] in ("Pending", "Pipelined")
        ]
        requests = [picture.request(pod) for pod in self.pods]
        total: Amounts = {}
        for request in requests:
            total = plus(total, request)
        self.request = {
            name: value for name, value in total.items() if name != PODS and value >= MIN_RESOURCE
        }
        self.units = {
            name: _unit(name, [request.get(name, 0.0) for request in requests]) for name in self.request
        }

    @property
    def conf(self) -> Mapping[str, Any]:
        """Return the configuration, a structure."""
        conf: Mapping[str, Any] = self.picture.document.get("scheduler_conf") or DEFAULT_CONF
        return conf

    @property
    def pods_in_all(self) -> int:
        """Return how many pods wait, of this job and of others."""
        return sum(entry["task_status"].get("Pending", 0) for entry in self.picture.jobs.values())

    def object_of(self, kind: str, key: str) -> Object | None:
        """Return an object of the scenario, None when there is none."""
        named = (entry for entry in items(self.picture.document, kind))
        if kind == "queues":
            return next((entry for entry in named if entry["metadata"]["name"] == key), None)
        return next((entry for entry in named if key_of(entry) == key), None)


def _unit(resource: str, amounts: Sequence[float]) -> int:
    steps = _STEPS.get(resource, _SCALAR_STEPS)
    return next(step for step in steps if step == 1 or all(amount % step == 0 for amount in amounts))


# more for a queue


def _amounts(waiting: Waiting, queue: str, field: str, told: Mapping[str, Any]) -> Iterator[Lever]:
    """Yield a lever that raises a queue's capability or deserved in what the job asks for."""
    entry = waiting.object_of("queues", queue)
    stated: Mapping[str, Any] = (value_at(entry, f"spec.{field}") if entry is not None else None) or {}
    if field == "capability" and not stated:
        return
    if field == "deserved" and waiting.picture.queue_plugin != "capacity":
        return
    before = Resource.from_list(stated)
    total: Object = waiting.picture.told["at_open"]["total_resource"]
    names = [name for name in waiting.request if field == "deserved" or name in stated]
    largest = []
    for name in names:
        ceiling = max(total.get(name, 0.0), before.get(name) + waiting.request[name])
        largest.append(math.ceil((ceiling - before.get(name)) / waiting.units[name]))
    if not names:
        return
    short: Mapping[str, Any] = told.get("short") or {}
    missing = [short[name]["missing"] / waiting.units[name] if name in short else 0 for name in names]

    def raised(sizes: Sizes) -> Resource:
        after = before.clone()
        for name, steps in zip(names, sizes, strict=True):
            if steps:
                after.set(name, before.get(name) + steps * waiting.units[name])
        return after

    def changes(sizes: Sizes) -> list[Change]:
        amount = quantities(raised(sizes))
        after = {**stated} | {name: amount[name] for name, steps in zip(names, sizes, strict=True) if steps}
        return [Change("queues", queue, f"spec.{field}", stated or None, after)]

    def sentence(sizes: Sizes) -> str:
        after = raised(sizes)
        parts = [
            f"{said(name, after.get(name))} instead of {said(name, before.get(name))}"
            for name, steps in zip(names, sizes, strict=True)
            if steps
        ]
        return f"{field} of queue {queue}: {', '.join(parts)}"

    def numbers(sizes: Sizes) -> dict[str, Any]:
        return {"queue": queue, "before": before.as_dict(), "after": raised(sizes).as_dict()}

    guess = tuple(min(math.ceil(steps), most) for steps, most in zip(missing, largest, strict=True))
    yield Lever(f"unblock.{field}", tuple(largest), guess, changes, sentence, numbers)


def _weight(waiting: Waiting) -> Iterator[Lever]:
    entry = waiting.object_of("queues", waiting.queue)
    if entry is None:
        return
    stated = value_at(entry, "spec.weight")
    weight = int(stated or 1)
    yield _counter(
        "unblock.weight",
        _MOST_WEIGHT,
        lambda steps: [Change("queues", waiting.queue, "spec.weight", stated, weight + steps)],
        lambda steps: f"weight of queue {waiting.queue}: {weight + steps} instead of {weight}",
        lambda steps: {"queue": waiting.queue, "before": weight, "after": weight + steps},
    )


def _tree_weights(waiting: Waiting) -> Iterator[Lever]:
    """Yield a lever for each node of the queue's path in the tree of hierarchical drf, from the queue up."""
    entry = waiting.object_of("queues", waiting.queue)
    if entry is None or not _has_tree(waiting.conf):
        return
    path, weights = _path_of(entry)
    for level in range(min(len(path), len(weights)) - 1, 0, -1):
        yield _tree_weight(waiting, path[: level + 1], weight_of(weights[level]))


def _has_tree(conf: Mapping[str, Any]) -> bool:
    """Tell whether drf shares by the paths that queues are annotated with."""
    plugins = [plugin for tier in conf.get("tiers") or () for plugin in tier.get("plugins") or ()]
    return any(plugin.get("name") == "drf" and plugin.get("enableHierarchy") for plugin in plugins)


def _path_of(queue: Object) -> tuple[list[str], list[str]]:
    """Return a queue's path from root and the weights along it, as they are written."""
    stated = queue["metadata"].get("annotations") or {}
    annotations = rooted(stated) or stated
    path, weights = annotations.get(HIERARCHY) or "", annotations.get(HIERARCHY_WEIGHTS) or ""
    return path.split("/"), weights.split("/")


def _tree_weight(waiting: Waiting, node: Sequence[str], weight: float) -> Lever:
    """Return a lever that raises the weight of a node, in every queue whose path leads there."""
    level, place = len(node) - 1, "/".join(node)
    below = [
        (queue, path, weights)
        for queue in items(waiting.picture.document, "queues")
        for path, weights in [_path_of(queue)]
        if path[: level + 1] == node and level < len(weights)
    ]

    def changes(steps: int) -> list[Change]:
        raised = f"{weight + steps:g}"
        made = []
        for queue, path, weights in below:
            stated = queue["metadata"]["annotations"]
            after = {
                **stated,
                HIERARCHY: "/".join(path),
                HIERARCHY_WEIGHTS: "/".join([*weights[:level], raised, *weights[level + 1 :]]),
            }
            made.append(Change("queues", queue["metadata"]["name"], "metadata.annotations", stated, after))
        return made

    return _counter(
        "unblock.weight",
        _MOST_WEIGHT,
        changes,
        lambda steps: f"weight of {place} in the tree of queues: {weight + steps:g} instead of {weight:g}",
        lambda steps: {"queue": place, "before": weight, "after": weight + steps},
    )


def _counter(
    name: str,
    largest: int,
    changes: Callable[[int], list[Change]],
    sentence: Callable[[int], str],
    numbers: Callable[[int], dict[str, Any]],
) -> Lever:
    """Return a lever along one axis."""
    return Lever(
        name,
        (largest,),
        (0,),
        lambda sizes: changes(sizes[0]),
        lambda sizes: sentence(sizes[0]),
        lambda sizes: numbers(sizes[0]),
    )


# another job


def _members(waiting: Waiting) -> Iterator[Lever]:
    """Yield a lever that lowers minMember; minResources shrink with it, as the controller would have it."""
    minimum = waiting.entry["minAvailable"]
    podgroup = waiting.object_of("podgroups", waiting.job)
    if podgroup is None or minimum <= 1:
        return
    spec = podgroup["spec"]

    def changes(steps: int) -> list[Change]:
        after = minimum - steps
        made = [Change("podgroups", waiting.job, "spec.minMember", minimum, after)]
        stated = spec.get("minResources")
        if stated:
            smaller = quantities(Resource.from_list(stated).multi(after / minimum))
            smaller = {name: smaller[name] for name in stated if name in smaller}
            made.append(Change("podgroups", waiting.job, "spec.minResources", stated, smaller))
        return made

    yield _counter(
        "unblock.members",
        minimum - 1,
        changes,
        lambda steps: f"minMember of job {waiting.job}: {minimum - steps} instead of {minimum}",
        lambda steps: {"job": waiting.job, "before": minimum, "after": minimum - steps},
    )


def _priority(waiting: Waiting) -> Iterator[Lever]:
    """Yield a lever over the priorities at which an order could change: those of others, and one above."""
    podgroup = waiting.object_of("podgroups", waiting.job)
    if podgroup is None:
        return
    classes = items(waiting.picture.document, "priorityclasses")
    default, by_name = job_priorities(classes)
    mine = waiting.entry["priority"]
    known = {default, *by_name.values(), *(entry["priority"] for entry in waiting.picture.jobs.values())}
    values = sorted({value for other in known for value in (other, other + 1) if value > mine})
    if not values:
        return

    def changes(steps: int) -> list[Change]:
        value = values[steps - 1]
        name = next((name for name, of_class in sorted(by_name.items()) if of_class == value), None)
        made = []
        if name is None:
            name = f"priority-{value}"
            made.append(
                Change("priorityclasses", name, "", None, {"metadata": {"name": name}, "value": value})
            )
        before = podgroup["spec"].get("priorityClassName")
        made.append(Change("podgroups", waiting.job, "spec.priorityClassName", before, name))
        for pod in waiting.pods:
            spec = waiting.picture.pods[pod].get("spec") or {}
            made.append(Change("pods", pod, "spec.priorityClassName", spec.get("priorityClassName"), name))
            if spec.get("priority") is not None:
                made.append(Change("pods", pod, "spec.priority", spec["priority"], None))
        return made

    yield _counter(
        "unblock.priority",
        len(values),
        changes,
        lambda steps: f"priority of job {waiting.job}: {values[steps - 1]} instead of {mine}",
        lambda steps: {
            "job": waiting.job,
            "before": mine,
            "after": values[steps - 1] if steps else mine,
        },
    )


# more nodes


def _nodes(waiting: Waiting) -> Iterator[Lever]:
    """Yield a lever for each of the commonest shapes of nodes that have room for a pod when empty."""
    by_shape: dict[str, list[Object]] = {}
    for node in items(waiting.picture.document, "nodes"):
        by_shape.setdefault(_shape(node), []).append(node)
    fitting = [
        nodes for nodes in by_shape.values() if any(_has_room(nodes[0], waiting, pod) for pod in waiting.pods)
    ]
    names = {str(node["metadata"]["name"]) for node in items(waiting.picture.document, "nodes")}
    commonest = sorted(fitting, key=lambda nodes: (-len(nodes), nodes[0]["metadata"]["name"]))
    for nodes in commonest[:_NODE_SHAPES]:
        yield _more_like(nodes[0], len(nodes), names, min(_MOST_NODES, waiting.pods_in_all))


def _shape(node: Object) -> str:
    metadata, spec = node["metadata"], node.get("spec") or {}
    labels = {
        name: value
        for name, value in (metadata.get("labels") or {}).items()
        if name != "kubernetes.io/hostname" and value != metadata["name"]
    }
    amounts = (node.get("status") or {}).get("allocatable") or (node.get("status") or {}).get("capacity")
    return repr((sorted(labels.items()), spec.get("taints"), sorted((amounts or {}).items())))


def _has_room(node: Object, waiting: Waiting, pod: str) -> bool:
    if (node.get("spec") or {}).get("unschedulable"):
        return False
    offered = allocatable_of(node)
    return all(amount <= offered.get(name) for name, amount in waiting.picture.request(pod).items())


def _more_like(node: Object, present: int, names: set[str], largest: int) -> Lever:
    name = str(node["metadata"]["name"])

    def changes(steps: int) -> list[Change]:
        return [
            Change("nodes", made["metadata"]["name"], "", None, made)
            for made in (_copy(node, number, names) for number in range(1, steps + 1))
        ]

    return _counter(
        "unblock.nodes",
        largest,
        changes,
        lambda steps: f"{counted(steps, 'more node')} like {name} (there are {present})",
        lambda steps: {"like": name, "before": present, "after": present + steps},
    )


def _copy(node: Object, number: int, names: set[str]) -> dict[str, Any]:
    old = node["metadata"]["name"]
    name = f"{old}-more-{number}"
    while name in names:
        name += "-more"
    labels = {
        label: name if value == old else value
        for label, value in (node["metadata"].get("labels") or {}).items()
    }
    metadata = {**node["metadata"], "name": name, "labels": labels}
    metadata.pop("uid", None)
    return {**node, "metadata": metadata}


# another configuration


def _actions(waiting: Waiting) -> Iterator[Lever]:
    """Yield: reclaim or preempt where it is missing, and no enqueue."""
    conf = waiting.conf
    actions = list(waiting.picture.actions)
    others = {
        **{
            f"action {name} added": [*actions, name] for name in ("reclaim", "preempt") if name not in actions
        },
        **(
            {"action enqueue left out": [name for name in actions if name != "enqueue"]}
            if "enqueue" in actions
            else {}
        ),
    }
    for text, after in others.items():
        if after:
            yield _configured("unblock.actions", conf, {**conf, "actions": ", ".join(after)}, text)


def _tiers(waiting: Waiting) -> Iterator[Lever]:
    """Yield every move of a plugin that judges victims to another tier."""
    if not set(_EVICTING) & set(waiting.picture.actions):
        return
    conf = waiting.conf
    tiers: list[Any] = list(conf.get("tiers") or ())
    for number, tier in enumerate(tiers):
        for plugin in tier.get("plugins") or ():
            if plugin.get("name") not in _JUDGES:
                continue
            for target in range(len(tiers) + 1):
                if target != number and (target < len(tiers) or len(tier["plugins"]) > 1):
                    text = f"plugin {plugin['name']} in tier {target + 1} instead of {number + 1}"
                    moved = {**conf, "tiers": _moved(tiers, number, target, plugin)}
                    yield _configured("unblock.tiers", conf, moved, text)


def _moved(tiers: Sequence[Any], number: int, target: int, plugin: Any) -> list[Any]:
    plugins = [[entry for entry in tier.get("plugins") or () if entry is not plugin] for tier in tiers]
    if target == len(tiers):
        plugins.append([plugin])
    else:
        plugins[target] = [*plugins[target], plugin]
    return [{"plugins": entries} for entries in plugins if entries]


def _configured(name: str, before: Any, after: Any, text: str) -> Lever:
    return _counter(
        name,
        1,
        lambda _steps: [Change(CONF, "", "", before, after)],
        lambda _steps: text,
        lambda _steps: {"change": text},
    )
