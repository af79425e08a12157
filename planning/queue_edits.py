"""Edits of queues, with arithmetic, and their problems in the tree, which the core checks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from planning.arithmetic import (
    NotComputable,
    computed_quantity,
    computed_whole,
    is_arithmetic,
)
from planning.queues import Queue, apply_spec, merge_patch, planned_queue, queue_spec
from planning.rows import Amounts, Problem
from scheduler_core import Problem as Found
from scheduler_core import queue_edits
from scheduler_core.quantity import QuantityError, parse_quantity

Json = dict[str, Any]
Patches = Mapping[str, Mapping[str, Any]]
"""A queue's name to the merge patch of its fields, named as in the CRD."""

_QUANTITIES = ("guarantee", "deserved", "capability")
_COUNTS = ("weight", "priority")
_BASE_UNITS = ("memory", "pods")
_FIX = "Write +10%, 2x, 1/3 of root or 40% of parent, or a plain value."


@dataclass(frozen=True)
class Batch:
    """Queues after unsaved edits; if some have problems, the valid edits are made anyway.

    Attributes
    ----------
    edited : mapping
        Of each edited queue, by its name before: its fields before and after, in the spelling of the CRD.
    following : mapping
        The same of the other children of renamed queues.

    """

    queues: Sequence[Queue]
    edited: Mapping[str, tuple[Json, Json]]
    following: Mapping[str, tuple[Json, Json]]
    problems: Sequence[Problem]


def edit_queues(queues: Sequence[Queue], patches: Patches, total: Callable[[], Amounts]) -> Batch:
    """Apply merge patches to queues; weights, priorities and quantities may be arithmetic.

    Fractions refer to the values before the edits: those of root to the total of the cluster's nodes
    (`total`), those of parent to the parent's value of the same field. An unknown name is a new queue. The
    children of a renamed queue stay below it, whether the patches name it by its name before or after. Moves
    are checked together, so that two queues may exchange their places.
    """
    rows = {row.name: planned_queue(row, row.id) for row in queues}
    before = {name: queue_spec(row) for name, row in rows.items()}
    parents = {name: row.parent for name, row in rows.items()}
    later = queue_edits.moved(parents, patches)
    edited: dict[str, Queue] = {}
    problems: list[Problem] = []
    for name, patch in patches.items():
        resolved, faults = resolved_patch(name, patch, before, total)
        after = merge_patch(before.get(name) or {"name": name}, resolved)
        own = {name: parents[name]} if name in parents else {}
        faults += queue_problems(name if name in before else "", after, later | own)
        problems += faults
        if faults:
            continue
        row = rows.setdefault(name, Queue(name, position=len(rows)))
        apply_spec(row, after)
        row.name, later[name], later[after["name"]] = after["name"], row.parent, row.parent
        edited[name] = row
    following = _below_renamed(rows)
    return Batch(
        list(rows.values()),
        {name: (before.get(name, {}), queue_spec(row)) for name, row in edited.items()},
        {name: (before[name], queue_spec(rows[name])) for name in following if name not in edited},
        problems,
    )


def _below_renamed(rows: Mapping[str, Queue]) -> list[str]:
    """Set the parents of the children of renamed queues; return the names of the children before."""
    found = []
    for name, row in rows.items():
        parent = rows.get(row.parent)
        if parent is not None and parent.name != row.parent:
            row.parent = parent.name
            found.append(name)
    return found


def resolved_patch(
    name: str, patch: Mapping[str, Any], specs: Mapping[str, Json], total: Callable[[], Amounts]
) -> tuple[Json, list[Problem]]:
    """Return a patch of the queue `name` with its arithmetic evaluated, and its problems.

    `specs` holds the fields of all queues before the edit.
    """
    resolved, problems = dict(patch), list[Problem]()
    for way, text in _arithmetic(patch):
        path = ".".join(way)
        try:
            value: Any = _value(name, way, text, specs, total)
        except NotComputable as error:
            message = f"queue {name}: {path}: {error}"
            problems.append(
                Problem(
                    "edit.arithmetic", "error", message, f"queues.{name}.{path}", name, way[0], text, fix=_FIX
                )
            )
            value = None
        _put(resolved, way, value)
    return resolved, problems


def queue_problems(name: str, spec: Mapping[str, Any], parents: Mapping[str, str]) -> list[Problem]:
    """Return why a queue of this tree cannot have these fields; `name` is its current one, empty if new."""
    return [_row(found) for found in queue_edits.queue_problems(name, spec, parents)]


def tree_problems(spec: Mapping[str, Any], parents: Mapping[str, str]) -> list[Problem]:
    """Return why a removed queue no longer fits into this tree."""
    return [_row(found) for found in queue_edits.tree_problems("", spec, parents)]


def removal_problems(name: str, leaving: Sequence[str], *, subtree: bool) -> list[Problem]:
    """Return why queues cannot be removed."""
    return [_row(found) for found in queue_edits.removal_problems(name, leaving, subtree=subtree)]


def names_below(name: str, parents: Mapping[str, str]) -> list[str]:
    """Return the descendants of a queue, parents first."""
    return queue_edits.below(name, parents)


def _row(found: Found) -> Problem:
    return Problem(**asdict(found) | {"field": found.field or None})


def _arithmetic(patch: Mapping[str, Any]) -> Iterator[tuple[list[str], str]]:
    """Yield the path and text of each field of a patch that contains arithmetic."""
    for field in _COUNTS:
        if is_arithmetic(patch.get(field)):
            yield [field], patch[field]
    for field in _QUANTITIES:
        held, way = patch.get(field), [field]
        if field == "guarantee" and isinstance(held, Mapping):
            held, way = held.get("resource"), [field, "resource"]
        if isinstance(held, Mapping):
            yield from (([*way, resource], text) for resource, text in held.items() if is_arithmetic(text))


def _value(
    name: str, way: list[str], text: str, specs: Mapping[str, Json], total: Callable[[], Amounts]
) -> Any:
    spec, resource = specs.get(name, {}), way[-1]

    def whole(of: str) -> Fraction | None:
        parent = spec.get("parent") or "root"
        if of == "root" or parent == "root":
            return None if way[0] in _COUNTS else _in_base_units(resource, total())
        return _number(_at(specs.get(parent, {}), way))

    if way[0] in _COUNTS:
        return computed_whole(text, spec.get(way[0]), whole)
    return computed_quantity(text, resource, _at(spec, way), whole)


def _at(spec: Mapping[str, Any], way: list[str]) -> Any:
    held: Any = spec
    for key in way:
        held = (held or {}).get(key)
    return held


def _put(patch: Json, way: list[str], value: Any) -> None:
    """Write a value into a copy of the patch's own dictionaries on the way to it."""
    for key in way[:-1]:
        patch[key] = dict(patch[key])
        patch = patch[key]
    patch[way[-1]] = value


def _in_base_units(resource: str, total: Amounts) -> Fraction | None:
    amount = total.get(resource)
    if amount is None:
        return None
    return Fraction(round(amount)) / (1 if resource in _BASE_UNITS else 1000)


def _number(value: Any) -> Fraction | None:
    try:
        return None if value in (None, "") else parse_quantity(value)
    except QuantityError:
        return None
