"""Forms of a queue on the way of a rollout: half-way, compared, and what an update removes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scheduler_core.admission_rules.written import PARTS, Object, written
from scheduler_core.model.queue import HIERARCHY, HIERARCHY_WEIGHTS
from scheduler_core.problem import spell_steps
from scheduler_core.quantity import parse_quantity

_PROMISES = ("guarantee", "deserved")


def larger(there: Object, goal: Object) -> Object:
    """Return a queue with the larger amounts of both, and a limit only if both have one."""
    parts = {part: _either(written(there, part), written(goal, part)) for part in _PROMISES}
    return with_amounts(there, parts | {"capability": _loose(there, goal)})


def smaller(there: Object, goal: Object) -> Object:
    """Return a queue with the smaller amounts of both, and a limit only if both have one."""
    parts = {part: _both(written(there, part), written(goal, part), min) for part in _PROMISES}
    return with_amounts(there, parts | {"capability": _loose(there, goal)})


def bare(there: Object, _goal: Object) -> Object:
    """Return a queue without amounts and without a path."""
    without = with_amounts(there, {part: {} for part in PARTS})
    annotations = (without["metadata"].get("annotations") or {}).items()
    kept = {key: value for key, value in annotations if key not in (HIERARCHY, HIERARCHY_WEIGHTS)}
    metadata = {key: value for key, value in without["metadata"].items() if key != "annotations"}
    return {**without, "metadata": {**metadata, **({"annotations": kept} if kept else {})}}


def _loose(there: Object, goal: Object) -> Object:
    return _both(written(there, "capability"), written(goal, "capability"), max)


def _both(one: Object, other: Object, choose: Callable[..., Any]) -> Object:
    return {name: choose(one[name], other[name], key=parse_quantity) for name in one if name in other}


def _either(one: Object, other: Object) -> Object:
    return {**one, **other, **_both(one, other, max)}


def with_amounts(queue: Object, parts: Mapping[str, Object]) -> Object:
    """Return a queue with these amounts by part; empty ones are left out."""
    spec = {key: value for key, value in (queue.get("spec") or {}).items() if key not in parts}
    filled = {
        part: {"resource": amounts} if part == "guarantee" else amounts
        for part, amounts in parts.items()
        if amounts
    }
    return {**queue, "spec": {**spec, **filled}}


def content_of(queue: Object | None) -> object:
    """Return the content of a queue's manifest, in which empty and absent parts are equal."""
    if queue is None:
        return None
    metadata, spec = queue["metadata"], queue.get("spec") or {}
    other_fields = {
        key: value for key, value in spec.items() if key not in PARTS and value not in (None, {}, "")
    }
    amounts = {part: dict(written(queue, part)) for part in PARTS}
    return other_fields, amounts, metadata.get("annotations") or {}, metadata.get("labels") or {}


def removed_fields(there: Object, queue: Object) -> Iterator[str]:
    """Yield the paths of the fields that are set before an update and not after it."""
    for part in (("spec",), ("metadata", "annotations"), ("metadata", "labels")):
        before, after = there, queue
        for key in part:
            before, after = before.get(key) or {}, after.get(key) or {}
        yield from _missing(before, after, part)


def _missing(before: Object, after: Object, path: tuple[str, ...]) -> Iterator[str]:
    for name, value in before.items():
        left = after.get(name)
        if value in (None, {}, "") or value == left:
            continue
        if left in (None, {}, ""):
            yield spell_steps(*path, name)
        elif isinstance(value, Mapping) and isinstance(left, Mapping):
            yield from _missing(value, left, (*path, name))
