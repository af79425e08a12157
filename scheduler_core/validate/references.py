"""References between objects, and the checks of the admission webhooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.admission_rules import QueueAdmission
from scheduler_core.conf import SchedulerConf
from scheduler_core.model.pod_info import GROUP_NAME
from scheduler_core.model.queue import ROOT
from scheduler_core.problem import Problem
from scheduler_core.validate.fields import is_object
from scheduler_core.validate.listed import DEFAULT, Listed, spec_of
from scheduler_core.validate.report import Report
from scheduler_core.workload_rules import WorkloadAdmission

Object = Mapping[str, Any]


def check_references(
    objects: Mapping[str, Listed], document: Object, conf: SchedulerConf | None, report: Report
) -> None:
    """Report dangling and cyclic references, webhook refusals, and problems of nodes and budgets."""
    _check_parents(objects["queues"], report)
    _check_webhook(objects["queues"], report)
    _check_admission(objects, document, report)
    _check_classes_of_podgroups(objects, report)
    if conf is not None and conf.hierarchy_enabled("capacity"):
        _check_leaves(objects, report)
    _check_nodes_of_pods(objects, report)
    if not objects["jobs"]:
        _check_groups_of_pods(objects, report)
    _check_nodes(objects["nodes"], report)
    _check_classes(objects["priorityclasses"], report)
    if conf is not None and conf.first_option("pdb") is not None:
        _check_budgets(objects["poddisruptionbudgets"], report)


# queues


def _check_parents(queues: Listed, report: Report) -> None:
    places = {queue["metadata"]["name"]: (place, queue) for place, queue in queues}
    parents = {
        name: parent
        for name, (_, queue) in places.items()
        if isinstance(parent := spec_of(queue).get("parent"), str) and parent and name != ROOT
    }
    circles = _circles(parents)
    for name in sorted(parents):
        place, queue = places[name]
        queues.set_subject(place, queue, report)
        where = ((place, "spec"), "parent")
        if name in circles:
            message = f"is a cycle: {' -> '.join(circles[name][:10])}"
            fix = "choose another parent; with a pod allocated below it Volcano never ends a session"
            report.add("queue.cycle", "warning", where, message, actual=parents[name], fix=fix)
        elif parents[name] not in places and parents[name] != ROOT:
            message = f"names queue {parents[name]!r}, which does not exist"
            fix = "create it or choose another; with a pod allocated below it Volcano crashes"
            report.add("queue.parent_missing", "warning", where, message, actual=parents[name], fix=fix)


def _circles(parents: Mapping[str, str]) -> dict[str, list[str]]:
    """Return, for every queue in a cycle of parents, that cycle starting from the queue."""
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
    """Report the queues that the webhook refuses; nothing if they are malformed."""
    if any(problem.path.startswith("queues") and problem.severity == "error" for problem in report.problems):
        return
    places = {queue["metadata"]["name"]: (place, queue) for place, queue in queues}
    for problem in QueueAdmission(queue for queue in queues.things).of_all():
        if problem.rule not in ("queue.parent_missing", "queue.state"):
            place, queue = places[problem.queue]
            queues.set_subject(place, queue, report)
            report.include_problem(replace(problem, severity="warning"), place, "the webhook would refuse it")


# podgroups and pods


def _check_classes_of_podgroups(objects: Mapping[str, Listed], report: Report) -> None:
    classes = set(objects["priorityclasses"].names)
    podgroups = objects["podgroups"]
    if classes.issuperset(podgroups.classes_named):
        return
    for place, podgroup in podgroups:
        priority_class = spec_of(podgroup).get("priorityClassName")
        if isinstance(priority_class, str) and priority_class and priority_class not in classes:
            podgroups.set_subject(place, podgroup, report)
            message = (
                f"uses priority class {priority_class!r}, which does not exist: the default class applies"
            )
            where = ((place, "spec"), "priorityClassName")
            fix = "add the priority class"
            report.add("class.missing", "warning", where, message, actual=priority_class, fix=fix)


def _check_leaves(objects: Mapping[str, Listed], report: Report) -> None:
    """Report PodGroups in queues with children, which capacity cannot account for."""
    podgroups, parents = objects["podgroups"], _parents_of(objects["queues"])
    if parents.isdisjoint(podgroups.queues_named):
        return
    for place, podgroup in podgroups:
        queue = spec_of(podgroup).get("queue") or DEFAULT
        if isinstance(queue, str) and queue in parents:
            podgroups.set_subject(place, podgroup, report)
            message = (
                f"uses queue {queue!r}, which has children: capacity then schedules nothing in the cluster"
            )
            where = ((place, "spec"), "queue")
            report.add(
                "podgroup.not_leaf", "warning", where, message, actual=queue, fix="choose a leaf queue"
            )


def _parents_of(queues: Listed) -> set[str]:
    """Return the queues that some queue names as its parent; `root` always has children."""
    parents = (spec_of(queue).get("parent") for queue in queues.things)
    return {ROOT, *(parent for parent in parents if isinstance(parent, str) and parent)}


def _check_nodes_of_pods(objects: Mapping[str, Listed], report: Report) -> None:
    pods, nodes = objects["pods"], {"", None, *objects["nodes"].names}
    if pods.nodes_named is not None and nodes.issuperset(pods.nodes_named):
        return
    for place, pod in pods:
        node = spec_of(pod).get("nodeName")
        if isinstance(node, str) and node not in nodes:
            pods.set_subject(place, pod, report)
            message = f"names node {node!r}, which does not exist: the pod counts on no node"
            where = ((place, "spec"), "nodeName")
            report.add("pod.node_missing", "warning", where, message, actual=node, fix="add the node")


def _check_groups_of_pods(objects: Mapping[str, Listed], report: Report) -> None:
    pods, groups = objects["pods"], set(objects["podgroups"].keys)
    missing = pods.distinct_groups_named - groups
    if not missing:
        return
    for (namespace, group), (place, pod) in zip(pods.groups_named, pods, strict=True):
        if (namespace, group) in missing and _phase_of(pod) not in _ENDED:
            pods.set_subject(place, pod, report)
            message = (
                f"names podgroup {group!r}, which does not exist in its namespace: the pod is never scheduled"
            )
            where = (((place, "metadata"), "annotations"), GROUP_NAME)
            fix = "add the podgroup"
            report.add("pod.podgroup_missing", "warning", where, message, actual=group, fix=fix)


_ENDED = ("Succeeded", "Failed")
"""The phases of pods that are not scheduled any more; Volcano deletes the PodGroup of a finished job."""


def _phase_of(pod: Object) -> object:
    status = pod.get("status")
    return status.get("phase") if isinstance(status, Mapping) else None


# jobs


def _check_admission(objects: Mapping[str, Listed], document: Object, report: Report) -> None:
    """Report jobs and PodGroups that the webhooks refuse, but accept existing ones whose queue changed."""
    made = () if document.get("default_queues") is False else (ROOT, DEFAULT)
    webhook = WorkloadAdmission(objects["queues"].things, made)
    webhooks: list[tuple[str, Callable[[Object], list[Problem]]]] = [("jobs", webhook.on_create_job)]
    if any(
        webhook.on_create_podgroup({"spec": {"queue": name}}) for name in objects["podgroups"].queues_named
    ):
        webhooks.append(("podgroups", webhook.on_create_podgroup))
    for kind, ask in webhooks:
        for place, thing in objects[kind]:
            for problem in ask(thing):
                if problem.rule in _ONLY_NEW and _exists(thing):
                    continue
                objects[kind].set_subject(place, thing, report)
                named = replace(problem, severity="warning", message=f"{report.subject}: {problem.message}")
                report.include_problem(named, place, "the webhook refuses it")


_ONLY_NEW = ("job.queue_closed", "podgroup.queue_closed", "job.not_leaf")
"""Rules about the queue at the creation of an object: it may be closed or get children afterwards."""


def _exists(thing: Object) -> bool:
    """Return whether an object exists in the cluster: its controller has written a status."""
    status = thing.get("status")
    return isinstance(status, Mapping) and bool(status.get("phase") or status.get("state"))


# nodes, classes, budgets


def _check_nodes(nodes: Listed, report: Report) -> None:
    for place, node in nodes:
        status = node.get("status") or {}
        amounts = status.get("allocatable") or status.get("capacity")
        where = ((place, "status"), "allocatable")
        if not amounts:
            nodes.set_subject(place, node, report)
            message = "is missing, and so is capacity: no pod fits the node"
            report.add("node.no_allocatable", "warning", where, message, fix="write cpu, memory and pods")
        elif is_object(amounts) and "pods" not in amounts:
            nodes.set_subject(place, node, report)
            message = "has no pods: no pod fits the node"
            report.add("node.no_pods", "warning", where, message, fix="write pods: 110")


def _check_classes(classes: Listed, report: Report) -> None:
    default: str | None = None
    for place, entry in classes:
        if entry.get("globalDefault") is True:
            if default is not None:
                classes.set_subject(place, entry, report)
                message = f"is also set on {default}: pods use the first one, jobs the last one"
                report.add("class.two_defaults", "warning", (place, "globalDefault"), message, fix="keep one")
            default = entry["metadata"]["name"]


def _check_budgets(budgets: Listed, report: Report) -> None:
    for place, budget in budgets:
        if "disruptionsAllowed" not in (budget.get("status") or {}):
            budgets.set_subject(place, budget, report)
            message = "is missing: plugin pdb protects all of its pods"
            where = ((place, "status"), "disruptionsAllowed")
            report.add("budget.no_status", "warning", where, message, fix="set the status, too")
