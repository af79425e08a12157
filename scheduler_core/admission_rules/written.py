"""Readers of a Queue object's amounts, parent and pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.problem import Problem
from scheduler_core.quantity import QuantityError, parse_quantity
from scheduler_core.resource import PODS, Resource
from scheduler_core.resource_list import quantities, read_resource_list

Object = Mapping[str, Any]
Problems = Iterator[Problem]

PARTS = ("capability", "deserved", "guarantee")


def name_of(queue: Object) -> str:
    """Return the name of a queue."""
    name: str = queue["metadata"]["name"]
    return name


def parent_of(queue: Object) -> str:
    """Return the parent as written, empty if absent."""
    return (queue.get("spec") or {}).get("parent") or ""


def annotation_of(queue: Object, key: str) -> str:
    """Return an annotation, empty if absent."""
    return (queue["metadata"].get("annotations") or {}).get(key) or ""


def field_of(part: str) -> tuple[str, ...]:
    """Return the path of the amounts of a part of `PARTS`."""
    return ("spec", "guarantee", "resource") if part == "guarantee" else ("spec", part)


def written(queue: Object, part: str) -> Object:
    """Return the quantities of a part as written."""
    spec = queue.get("spec") or {}
    if part == "guarantee":
        return (spec.get("guarantee") or {}).get("resource") or {}
    return spec.get(part) or {}


def amounts_of(queue: Object, part: str) -> dict[str, Any]:
    """Return the amounts of a part as exact numbers."""
    amounts = {}
    for name, quantity in written(queue, part).items():
        try:
            amounts[name] = parse_quantity(quantity)
        except QuantityError:
            continue
    return amounts


def vector_of(queue: Object, part: str) -> Resource:
    """Return the amounts of a part as a `Resource`."""
    readable = amounts_of(queue, part).keys()
    return read_resource_list({n: quantity for n, quantity in written(queue, part).items() if n in readable})


def shown(queue: Object, part: str, resource: str) -> str:
    """Return one quantity of a part as written."""
    return str(written(queue, part)[resource])


def quantity_of(resource: str, amount: float) -> str:
    """Return an amount in the scheduler's unit as a quantity."""
    whole = Resource()
    whole.set(resource, amount)
    return quantities(whole)[resource]


def allocated_pods(queue: Object) -> float:
    """Return how many pods the status counts as allocated."""
    try:
        return float(parse_quantity(((queue.get("status") or {}).get("allocated") or {}).get(PODS) or 0))
    except QuantityError:
        return 0.0


def problem(
    queue: Object,
    rule: str,
    field: str,
    message: str,
    *,
    actual: Any = None,
    limit: Any = None,
    fix: str = "",
) -> Problem:
    """Return a problem with a field of a queue."""
    name = name_of(queue)
    return Problem(rule, "error", field, f"queue {name}: {field}: {message}", name, field, actual, limit, fix)
