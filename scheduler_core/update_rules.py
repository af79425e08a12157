"""Checks of an update of an existing Job, pod or priority class: what API server and webhook keep fixed.

Only a field that has a value before and another one after is a change: a manifest that leaves a field out
does not contradict the value that the cluster has.

Source: volcano ``pkg/webhooks/admission/jobs/validate/admit_job.go`` at v1.15.1; Kubernetes
``pkg/apis/core/validation`` and ``pkg/apis/scheduling/validation``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

from scheduler_core.problem import Problem, refused
from scheduler_core.quantity import QuantityError, parse_quantity

Object = Mapping[str, Any]
Problems = Iterator[Problem]
Steps = tuple[str | int, ...]
Update = Callable[[Object, Object], Problems]

_OF_JOBS = ("minAvailable", "priorityClassName", "volumes")
_OF_TASKS = ("replicas", "minAvailable")
_FIXED_IN_PODS = ("nodeName", "schedulerName", "priority", "priorityClassName", "nodeSelector")
_CONTAINERS = ("containers", "initContainers")
_AGAIN = "delete the object and create it again"


def job_update_problems(before: Object, after: Object) -> Problems:
    """Yield why the webhook refuses an update of a Job."""
    old, new = before.get("spec") or {}, after.get("spec") or {}
    rule, fix = "job.fixed", _AGAIN
    if new.get("tasks") and len(old.get("tasks") or ()) != len(new["tasks"]):
        message = "may not get or lose a task in an update"
        yield refused(rule, ("spec", "tasks"), message, fix=fix)
    elif new.get("tasks"):
        for index, (task, wanted) in enumerate(zip(old["tasks"], new["tasks"], strict=True)):
            way: Steps = ("spec", "tasks", index)
            yield from _changes(rule, fix, way, _without(task, _OF_TASKS), _without(wanted, _OF_TASKS))
    free = (*_OF_JOBS, "tasks")
    yield from _changes(
        rule, fix, ("spec",), {"queue": "default", **_without(old, free)}, _without(new, free)
    )


def pod_update_problems(before: Object, after: Object) -> Problems:
    """Yield why the API server refuses an update of a pod."""
    old, new = before.get("spec") or {}, after.get("spec") or {}
    fields = _FIXED_IN_PODS[:-1] if old.get("schedulingGates") else _FIXED_IN_PODS
    sides = ({field: spec.get(field) for field in fields} for spec in (old, new))
    yield from _changes("pod.fixed", _AGAIN, ("spec",), *sides)
    for field in _CONTAINERS:
        pairs = zip_longest(*(_requests(spec.get(field)) for spec in (old, new)), fillvalue={})
        for index, (held, wanted) in enumerate(pairs):
            yield from _changes("pod.fixed", _AGAIN, ("spec", field, index), held, wanted)


def class_update_problems(before: Object, after: Object) -> Problems:
    """Yield why the API server refuses an update of a priority class."""
    sides = (
        {field: entry.get(field) for field in ("value", "preemptionPolicy")} for entry in (before, after)
    )
    yield from _changes("class.fixed", _AGAIN, (), *sides)


UPDATES: Mapping[str, tuple[str, Update]] = {
    "jobs": ("job", job_update_problems),
    "pods": ("pod", pod_update_problems),
    "priorityclasses": ("priority class", class_update_problems),
}
"""By list of a scenario: what an object is called, and its checks. Other objects may be changed."""


def _changes(rule: str, fix: str, way: Steps, old: Any, new: Any) -> Problems:
    """Yield a problem for every value that is set on both sides and differs."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key, value in new.items():
            yield from _changes(rule, fix, (*way, str(key)), old.get(key), value)
    elif isinstance(old, list) and isinstance(new, list):
        for index, (held, value) in enumerate(zip(old, new, strict=False)):
            yield from _changes(rule, fix, (*way, index), held, value)
    elif not _is_unset(old) and not _is_unset(new) and not _equal(old, new, way):
        message = f"is {old!s} in the cluster and cannot be changed to {new!s}"
        yield refused(rule, way, message, actual=new, limit=old, fix=fix)


def _is_unset(value: Any) -> bool:
    return value is None or value in ("", {}, [])


def _equal(old: Any, new: Any, way: Steps) -> bool:
    if old == new or not {"requests", "limits"} & {*way}:
        return bool(old == new)
    try:
        return parse_quantity(old) == parse_quantity(new)
    except QuantityError:
        return False


def _without(fields: Any, names: tuple[str, ...]) -> Object:
    held = fields.items() if isinstance(fields, Mapping) else ()
    return {key: value for key, value in held if key not in names}


def _requests(containers: Any) -> list[Object]:
    """Return the resources of each container, the part that the scheduler reads."""
    listed = containers if isinstance(containers, list) else ()
    return [{"resources": one.get("resources")} for one in listed if isinstance(one, Mapping)]
