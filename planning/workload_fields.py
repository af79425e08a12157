"""Editable fields of a workload, and their effect on its objects."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planning.constraint_choices import LIKE_QUEUE, NODE_CONSTRAINTS
from planning.nodes import name_problems
from planning.rows import Problem, Quantities
from planning.states import Json
from scheduler_core.controllers.usage import as_quantities, effective
from scheduler_core.model.pod import container_requests
from scheduler_core.model.pod_info import GROUP_NAME
from scheduler_core.quantity import QuantityError, parse_quantity

JOBS, PODGROUPS, PODS = "jobs", "podgroups", "pods"
KINDS = (JOBS, PODGROUPS, PODS)
FIELDS = ("queue", "priorityClassName", "minMember", "replicas", "requests")
_OF_A_JOB = ("name", "namespace", "node_constraints")
DEFAULT = "default"
QUEUE_NAME = "scheduling.volcano.sh/queue-name"
MOST_OBJECTS = 10_000
"""The most objects that one edit may add."""


def new_job_problems(fields: Mapping[str, Any]) -> list[Problem]:
    """Return the problems of the fields of a new job."""
    described = {name: value for name, value in fields.items() if name not in _OF_A_JOB}
    return [
        *name_problems(JOBS, fields.get("name")),
        *(name_problems("namespaces", fields["namespace"]) if fields.get("namespace") else ()),
        *field_problems(JOBS, {"replicas": None, **described}),
        *_constraint_problems(fields.get("node_constraints", LIKE_QUEUE)),
    ]


def _constraint_problems(chosen: Any) -> list[Problem]:
    if chosen in NODE_CONSTRAINTS:
        return []
    fix, path = f"Choose one of {', '.join(NODE_CONSTRAINTS)}.", f"{JOBS}.node_constraints"
    message = "Unknown value for node constraints."
    return [Problem("workload.constraints", "error", message, path=path, actual=chosen, fix=fix)]


def job_of(fields: Mapping[str, Any], now: str | None, constraints: Mapping[str, Any]) -> Json:
    """Return the vcjob with the fields of a form, and with the node constraints of its pods."""
    requests = dict(fields.get("requests") or {})
    replicas = int(fields["replicas"])
    container = {"name": "main", "image": "busybox", "resources": {"requests": requests}}
    template = {"spec": {"containers": [container], **constraints}}
    metadata = {"name": fields["name"], "namespace": fields.get("namespace") or DEFAULT}
    spec: Json = {
        "schedulerName": "volcano",
        "minAvailable": int(fields.get("minMember") or replicas),
        "queue": fields.get("queue") or DEFAULT,
        "tasks": [{"name": "task", "replicas": replicas, "template": template}],
    }
    if fields.get("priorityClassName"):
        spec["priorityClassName"] = fields["priorityClassName"]
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": metadata | ({"creationTimestamp": now} if now else {}),
        "spec": spec,
    }


def requests_of(spec: Mapping[str, Any]) -> Quantities:
    """Return the request of one pod of a specification: as written, or the sum over its containers."""
    containers = spec.get("containers") or []
    if len(containers) == 1 and not spec.get("initContainers"):
        requests = (containers[0].get("resources") or {}).get("requests") or {}
        return {resource: str(quantity) for resource, quantity in requests.items()}
    try:
        return as_quantities(usage(spec))
    except QuantityError:
        return {}


def field_problems(where: str, fields: Mapping[str, Any]) -> list[Problem]:
    """Return the problems of a workload's fields, each with its path below `where`."""
    return [
        Problem(rule, "error", message, path=f"{where}.{path}", actual=actual, fix=fix)
        for name, value in fields.items()
        for rule, path, message, actual, fix in _complaints(name, value)
    ]


def _complaints(name: str, value: Any) -> Iterator[tuple[str, str, str, Any, str]]:
    if name not in FIELDS:
        fix = f"One of {', '.join(FIELDS)}."
        yield "workload.unknown_field", name, f"A workload has no field {name!r}.", value, fix
    elif name in ("minMember", "replicas"):
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_OBJECTS:
            limits = f"from 0 to {MOST_OBJECTS}"
            yield "number.range", name, f"{name} is a whole number {limits}.", value, f"Write one {limits}."
    elif name == "requests":
        yield from _quantity_complaints(value)
    elif value is not None and not isinstance(value, str):
        yield "form.type", name, f"{name} is a text.", value, "Write it in quotes."


def _quantity_complaints(value: Any) -> Iterator[tuple[str, str, str, Any, str]]:
    if not isinstance(value, Mapping):
        yield "form.type", "requests", "requests is an object.", value, "Write name and value pairs."
        return
    for resource, quantity in value.items():
        if quantity is not None and not isinstance(quantity, str):
            yield (
                "form.type",
                f"requests.{resource}",
                "A quantity is a text.",
                quantity,
                "Write it in quotes.",
            )
            continue
        try:
            negative = quantity is not None and parse_quantity(quantity) < 0
        except QuantityError as error:
            fix = "Write a quantity such as 500m, 2 or 1.5Gi."
            yield "quantity.unreadable", f"requests.{resource}", str(error), quantity, fix
        else:
            if negative:
                message = f"{resource} is below zero."
                yield "quantity.negative", f"requests.{resource}", message, quantity, "Write zero or more."


def usage(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request of one pod of this spec, with the scheduler's defaults."""
    return effective(spec, lambda container: container_requests(container, default_requests=True))


def changed_manifest(kind: str, manifest: Mapping[str, Any], fields: Mapping[str, Any]) -> Json:
    """Return a copy of one object of a workload with the given fields."""
    changed: Json = copy.deepcopy(dict(manifest))
    spec = changed.setdefault("spec", {})
    if "priorityClassName" in fields:
        _set(spec, "priorityClassName", fields["priorityClassName"])
        if kind == PODS:
            spec.pop("priority", None)
    if "queue" in fields:
        _move(kind, changed, fields["queue"])
    if "minMember" in fields and kind in (JOBS, PODGROUPS):
        spec["minAvailable" if kind == JOBS else "minMember"] = fields["minMember"]
        spec.pop("minTaskMember", None)
    if kind == JOBS:
        _tasks_changed(spec.get("tasks") or [], fields)
    elif kind == PODS and "requests" in fields:
        _ask(spec, fields["requests"])
    return changed


def _move(kind: str, changed: Json, queue: str | None) -> None:
    annotations = changed["metadata"].get("annotations") or {}
    if kind in (JOBS, PODGROUPS):
        _set(changed["spec"], "queue", queue)
    elif GROUP_NAME not in annotations:
        _set(annotations, QUEUE_NAME, queue)
        changed["metadata"]["annotations"] = annotations


def _tasks_changed(tasks: Sequence[Json], fields: Mapping[str, Any]) -> None:
    """Set replicas and requests of the first task; most jobs have only one."""
    for task in tasks[:1]:
        if "replicas" in fields:
            others = sum(int(other.get("replicas") or 0) for other in tasks[1:])
            task["replicas"] = max(0, fields["replicas"] - others)
        if "requests" in fields:
            _ask(task.setdefault("template", {}).setdefault("spec", {}), fields["requests"])


def _ask(spec: Json, requests: Mapping[str, Any]) -> None:
    """Set these requests in the first container; a limit of the same resource follows."""
    for container in (spec.get("containers") or [])[:1]:
        resources = container.setdefault("resources", {})
        requested, limits = resources.setdefault("requests", {}), resources.get("limits") or {}
        for resource, quantity in requests.items():
            _set(requested, resource, quantity)
            if resource in limits:
                _set(limits, resource, quantity)


def _set(mapping: Json, name: str, value: Any) -> None:
    if value in (None, ""):
        mapping.pop(name, None)
    else:
        mapping[name] = value
