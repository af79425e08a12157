"""Is every object there once, and is what it names there, too?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from scheduler_core.admission_rules import QueueAdmission
from scheduler_core.conf import SchedulerConf
from scheduler_core.model.pod_info import GROUP_NAME, PodInfo
from scheduler_core.model.queue import ROOT
from scheduler_core.problem import Place
from scheduler_core.validate.fields import is_object
from scheduler_core.validate.kinds import KINDS, NAMESPACED
from scheduler_core.validate.report import Report
from scheduler_core.workload_rules import WorkloadAdmission, count, tasks_of

Object = Mapping[str, Any]

DEFAULT = "default"
MOST_PODS_OF_JOBS = 1_000_000


class Listed:
    """The objects of one list whose names can be relied on, with their positions in it.

    Attributes
    ----------
    all : list
        All objects of the list, those without a name among them.

    Parameters
    ----------
    things : list
        The same.
    nameless : frozenset of int
        The positions of those that are left out here.

    """

    def __init__(self, name: str, place: Place, things: list[Any], nameless: frozenset[int]) -> None:
        self.name = name
        self.place = place
        self.all = things
        self._nameless = nameless

    def __iter__(self) -> Iterator[tuple[Place, Object]]:
        return (
            ((self.place, index), thing)
            for index, thing in enumerate(self.all)
            if index not in self._nameless
        )

    def __bool__(self) -> bool:
        return bool(self.things)

    @cached_property
    def things(self) -> list[Object]:
        """Return the objects."""
        if not self._nameless:
            return self.all
        return [thing for index, thing in enumerate(self.all) if index not in self._nameless]

    @cached_property
    def keys(self) -> list[Any]:
        """Return what tells the objects apart: (namespace, name), or the name alone."""
        if self.name not in NAMESPACED:
            return self.names
        return [((m := thing["metadata"]).get("namespace") or DEFAULT, m["name"]) for thing in self.things]

    @cached_property
    def names(self) -> list[str]:
        """Return the objects' names."""
        return [thing["metadata"]["name"] for thing in self.things]

    @cached_property
    def has_twice(self) -> bool:
        """Tell whether two objects cannot be told apart."""
        return len(set(self.names)) < len(self.things) and len(set(self.keys)) < len(self.things)

    @cached_property
    def has_uid_twice(self) -> bool:
        """Tell whether two objects have the same uid."""
        uids = [uid for thing in self.things if isinstance(uid := thing["metadata"].get("uid"), str) and uid]
        return len(set(uids)) < len(uids)

    def look_at(self, place: Place, thing: Object, report: Report) -> None:
        """Say that the next problems are about this object."""
        metadata = thing["metadata"]
        space = f"{metadata.get('namespace') or DEFAULT}/" if self.name in NAMESPACED else ""
        queue = metadata["name"] if self.name == "queues" else ""
        report.look_at(f"{KINDS[self.name][0]} {space}{metadata['name']}", place, queue)


class ListedPods(Listed):
    """Pods that were all read.

    Parameters
    ----------
    infos : list of PodInfo
        What is read of each.

    """

    def __init__(self, name: str, place: Place, things: list[Any], infos: list[PodInfo]) -> None:
        super().__init__(name, place, things, frozenset())
        self._infos = infos

    @cached_property
    def has_twice(self) -> bool:
        """Tell whether two pods cannot be told apart."""
        return len({info.key for info in self._infos}) < len(self._infos)

    @cached_property
    def has_uid_twice(self) -> bool:
        """Tell whether two pods have the same uid, be it a given one or made up of their names."""
        return len({info.uid for info in self._infos}) < len(self._infos)


def check_integrity(objects: Mapping[str, Listed], document: Object, report: Report) -> None:
    """Report what makes a simulation impossible: duplicates, circles of parents, jobs that cannot be made."""
    _check_identity(objects, report)
    _check_pods_of_jobs(objects["jobs"], report)


def check_references(
    objects: Mapping[str, Listed], document: Object, conf: SchedulerConf | None, report: Report
) -> None:
    """Report duplicates, dangling names, circles of parents and numbers that contradict each other."""
    _check_identity(objects, report)
    _check_webhook(objects["queues"], report)
    _check_admission(objects, document, report)
    _check_classes_of_podgroups(objects, report)
    if conf is not None and conf.hierarchy_enabled("capacity"):
        _check_leaves(objects, report)
    _check_nodes_of_pods(objects, report)
    if not objects["jobs"]:
        _check_groups_of_pods(objects, report)
    _check_pods_of_jobs(objects["jobs"], report)
    _check_nodes(objects["nodes"], report)
    _check_classes(objects["priorityclasses"], report)
    if conf is not None and conf.first_option("pdb") is not None:
        _check_budgets(objects["poddisruptionbudgets"], report)


def _check_identity(objects: Mapping[str, Listed], report: Report) -> None:
    for listed in objects.values():
        _check_duplicates(listed, report)
    _check_uids(objects["pods"], report)
    _check_parents(objects["queues"], report)


def _spec(thing: Object) -> Object:
    return thing.get("spec") or {}


def _group(pod: Object) -> str:
    """Return the podgroup that a pod names, empty when it names none."""
    annotations = pod["metadata"].get("annotations")
    group = annotations.get(GROUP_NAME) if is_object(annotations) else None
    return group if isinstance(group, str) else ""


def _check_duplicates(listed: Listed, report: Report) -> None:
    if not listed.has_twice:
        return
    seen = set()
    for key, (place, thing) in zip(listed.keys, listed, strict=True):
        if key in seen:
            listed.look_at(place, thing, report)
            where = ((place, "metadata"), "name")
            name = thing["metadata"]["name"]
            report.add(
                "name.duplicate", "error", where, "is used by another one", actual=name, fix="rename one"
            )
        seen.add(key)


def _check_uids(pods: Listed, report: Report) -> None:
    if not pods.has_uid_twice:
        return
    seen: dict[str, str] = {}
    for place, pod in pods:
        uid, name = pod["metadata"].get("uid"), pod["metadata"]["name"]
        if not isinstance(uid, str) or not uid:
            continue
        if uid in seen:
            pods.look_at(place, pod, report)
            where = ((place, "metadata"), "uid")
            says = f"is also that of pod {seen[uid]}"
            report.add("name.duplicate", "error", where, says, actual=uid, fix="give every pod its own uid")
        seen[uid] = name


# queues


def _check_parents(queues: Listed, report: Report) -> None:
    places = {queue["metadata"]["name"]: (place, queue) for place, queue in queues}
    parents = {
        name: parent
        for name, (_, queue) in places.items()
        if isinstance(parent := _spec(queue).get("parent"), str) and parent and name != ROOT
    }
    circles = _circles(parents)
    for name in sorted(parents):
        place, queue = places[name]
        queues.look_at(place, queue, report)
        where = ((place, "spec"), "parent")
        if name in circles:
            says = f"is a cycle: {' -> '.join(circles[name][:10])}"
            fix = "choose another parent; with a pod allocated below it Volcano never ends a session"
            report.add("queue.cycle", "warning", where, says, actual=parents[name], fix=fix)
        elif parents[name] not in places and parents[name] != ROOT:
            says = f"names queue {parents[name]!r}, which does not exist"
            fix = "create it or choose another; with a pod allocated below it Volcano crashes"
            report.add("queue.parent_missing", "warning", where, says, actual=parents[name], fix=fix)


def _circles(parents: Mapping[str, str]) -> dict[str, list[str]]:
    """Return, for every queue that lies on a circle of parents, that circle from the queue on."""
    circles: dict[str, list[str]] = {}
    done: set[str] = set()
    for start in sorted(parents):
        chain: dict[str, int] = {}
        name = start
        while name in parents and name not in done and name not in chain:
            chain[name] = len(chain)
            name = parents[name]
        if name in chain:
            circle = list(chain)[chain[name] :]
            for position, member in enumerate(circle):
                circles[member] = [*circle[position:], *circle[:position], member]
        done.update(chain)
    return circles


def _check_webhook(queues: Listed, report: Report) -> None:
    """Tell which queues the webhook would not take as they stand; nothing while their form is wrong."""
    if any(problem.path.startswith("queues") and problem.severity == "error" for problem in report.problems):
        return
    places = {queue["metadata"]["name"]: (place, queue) for place, queue in queues}
    for problem in QueueAdmission(queue for queue in queues.things).of_all():
        if problem.rule not in ("queue.parent_missing", "queue.state"):
            place, queue = places[problem.queue]
            queues.look_at(place, queue, report)
            report.take(replace(problem, severity="warning"), place, "the webhook would refuse it")


# podgroups and pods


def _check_classes_of_podgroups(objects: Mapping[str, Listed], report: Report) -> None:
    classes = set(objects["priorityclasses"].names)
    podgroups = objects["podgroups"]
    for place, podgroup in podgroups:
        priority_class = _spec(podgroup).get("priorityClassName")
        if isinstance(priority_class, str) and priority_class and priority_class not in classes:
            podgroups.look_at(place, podgroup, report)
            says = f"uses priority class {priority_class!r}, which does not exist: the default class applies"
            where = ((place, "spec"), "priorityClassName")
            fix = "add the priority class"
            report.add("class.missing", "warning", where, says, actual=priority_class, fix=fix)


def _check_leaves(objects: Mapping[str, Listed], report: Report) -> None:
    """Tell which podgroups lie in queues with children, which capacity cannot account for."""
    podgroups, parents = objects["podgroups"], _parents_of(objects["queues"])
    for place, podgroup in podgroups:
        queue = _spec(podgroup).get("queue") or DEFAULT
        if isinstance(queue, str) and queue in parents:
            podgroups.look_at(place, podgroup, report)
            says = f"uses queue {queue!r}, which has children: capacity then schedules nothing in the cluster"
            where = ((place, "spec"), "queue")
            report.add("podgroup.not_leaf", "warning", where, says, actual=queue, fix="choose a leaf queue")


def _parents_of(queues: Listed) -> set[str]:
    """Return the queues that some queue names as its parent; `root` always has children."""
    parents = (_spec(queue).get("parent") for queue in queues.things)
    return {ROOT, *(parent for parent in parents if isinstance(parent, str) and parent)}


def _check_nodes_of_pods(objects: Mapping[str, Listed], report: Report) -> None:
    pods, nodes = objects["pods"], {"", None, *objects["nodes"].names}
    named = [_spec(pod).get("nodeName") for pod in pods.things]
    if all(isinstance(node, str) or node is None for node in named) and nodes.issuperset(named):
        return
    for place, pod in pods:
        node = _spec(pod).get("nodeName")
        if isinstance(node, str) and node not in nodes:
            pods.look_at(place, pod, report)
            says = f"names node {node!r}, which does not exist: the pod counts on no node"
            where = ((place, "spec"), "nodeName")
            report.add("pod.node_missing", "warning", where, says, actual=node, fix="add the node")


def _check_groups_of_pods(objects: Mapping[str, Listed], report: Report) -> None:
    pods, groups = objects["pods"], set(objects["podgroups"].keys)
    named = [(pod["metadata"].get("namespace") or DEFAULT, _group(pod)) for pod in pods.things]
    missing = {(namespace, group) for namespace, group in set(named) - groups if group}
    if not missing:
        return
    for (namespace, group), (place, pod) in zip(named, pods, strict=True):
        if (namespace, group) in missing:
            pods.look_at(place, pod, report)
            says = (
                f"names podgroup {group!r}, which does not exist in its namespace: the pod is never scheduled"
            )
            where = (((place, "metadata"), "annotations"), GROUP_NAME)
            fix = "add the podgroup"
            report.add("pod.podgroup_missing", "warning", where, says, actual=group, fix=fix)


# jobs


def _check_pods_of_jobs(jobs: Listed, report: Report) -> None:
    """Report jobs whose pods cannot be made: too many, or two of one name."""
    total = 0
    for place, job in jobs:
        jobs.look_at(place, job, report)
        at_tasks = ((place, "spec"), "tasks")
        tasks = tasks_of(_spec(job))
        total += sum(count(task, "replicas") for _, task in tasks)
        if total > MOST_PODS_OF_JOBS:
            says = f"brings the pods of all jobs above {MOST_PODS_OF_JOBS}"
            report.add(
                "job.too_many_pods",
                "error",
                at_tasks,
                says,
                limit=MOST_PODS_OF_JOBS,
                fix="reduce the replicas",
            )
            return
        _check_task_names(at_tasks, tasks, report)


def _check_task_names(at_tasks: Place, tasks: list[tuple[int, Object]], report: Report) -> None:
    seen: set[str] = set()
    for index, task in tasks:
        name = task.get("name") or f"default{index}"
        if isinstance(name, str):
            if name in seen:
                says = "is used by another task of the job"
                at: Place = ((at_tasks, index), "name")
                report.add("job.task_twice", "error", at, says, actual=name, fix="rename it")
            seen.add(name)


def _check_admission(objects: Mapping[str, Listed], document: Object, report: Report) -> None:
    """Tell which jobs and podgroups the webhooks would not take; one that exists may be in a closed queue."""
    made = () if document.get("default_queues") is False else (ROOT, DEFAULT)
    webhook = WorkloadAdmission(objects["queues"].things, made)
    for kind, ask in (("jobs", webhook.on_create_job), ("podgroups", webhook.on_create_podgroup)):
        for place, thing in objects[kind]:
            for problem in ask(thing):
                if problem.rule.endswith(".queue_closed") and _exists(thing):
                    continue
                objects[kind].look_at(place, thing, report)
                named = replace(problem, severity="warning", message=f"{report.subject}: {problem.message}")
                report.take(named, place, "the webhook refuses it")


def _exists(thing: Object) -> bool:
    """Tell whether an object was in the cluster already: its controller has written a status."""
    status = thing.get("status")
    return isinstance(status, Mapping) and bool(status.get("phase") or status.get("state"))


# nodes, classes, budgets


def _check_nodes(nodes: Listed, report: Report) -> None:
    for place, node in nodes:
        status = node.get("status") or {}
        amounts = status.get("allocatable") or status.get("capacity")
        where = ((place, "status"), "allocatable")
        if not amounts:
            nodes.look_at(place, node, report)
            says = "is missing, and so is capacity: no pod fits the node"
            report.add("node.no_allocatable", "warning", where, says, fix="write cpu, memory and pods")
        elif is_object(amounts) and "pods" not in amounts:
            nodes.look_at(place, node, report)
            says = "has no pods: no pod fits the node"
            report.add("node.no_pods", "warning", where, says, fix="write pods: 110")


def _check_classes(classes: Listed, report: Report) -> None:
    default: str | None = None
    for place, entry in classes:
        if entry.get("globalDefault") is True:
            if default is not None:
                classes.look_at(place, entry, report)
                says = f"is also set on {default}: pods use the first one, jobs the last one"
                report.add("class.two_defaults", "warning", (place, "globalDefault"), says, fix="keep one")
            default = entry["metadata"]["name"]


def _check_budgets(budgets: Listed, report: Report) -> None:
    for place, budget in budgets:
        if "disruptionsAllowed" not in (budget.get("status") or {}):
            budgets.look_at(place, budget, report)
            says = "is missing: plugin pdb protects all of its pods"
            where = ((place, "status"), "disruptionsAllowed")
            report.add("budget.no_status", "warning", where, says, fix="set the status, too")
