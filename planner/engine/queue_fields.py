"""What may stand in the fields of a queue?"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from planner.rows import Problem
from scheduler_core.quantity import QuantityError, parse_quantity

_WEIGHTS = range(1, 65536)
_INT32 = range(2**31)
_NAME, _WORD = 253, 30
"""The longest texts that the columns hold; a Kubernetes name is never longer."""

Complaint = tuple[str, str, str, Any, str]
"""Rule, path below the queue, message, what was found, what to write instead."""


def spec_problems(name: str, spec: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with the fields of one edited queue, each with its path."""
    return [
        Problem(
            rule,
            "error",
            message,
            path=f"queues.{name}.{path}",
            queue=name,
            field=path.split(".")[0],
            actual=actual,
            fix=fix,
        )
        for rule, path, message, actual, fix in _complaints(spec)
    ]


def row_problems(manifest: Mapping[str, Any], path: str) -> list[Problem]:
    """Return which texts of an imported Queue are longer than their columns; all else the core checks."""
    return [
        Problem(
            rule,
            "error",
            message,
            path=f"{path}.{part}.{where}",
            queue=manifest["metadata"]["name"],
            field=field,
            actual=actual,
            fix=fix,
        )
        for part, field, check in _COLUMN_WIDTHS
        if (value := (manifest.get(part) or {}).get(field)) is not None
        for rule, where, message, actual, fix in check(field, value)
    ]


def _complaints(spec: Mapping[str, Any]) -> Iterator[Complaint]:
    for field, value in spec.items():
        check = _CHECKS.get(field)
        if check is None:
            fields = ", ".join(_CHECKS)
            yield "unknown_field", field, f"A queue has no field {field!r}.", None, f"One of {fields}."
        elif value is not None:
            yield from check(field, value)


def _text(field: str, value: Any) -> Iterator[Complaint]:
    if not isinstance(value, str):
        yield "not_a_text", field, f"{field} must be a string.", value, "Write it in quotes."


def _text_up_to(longest: int) -> Callable[[str, Any], Iterator[Complaint]]:
    def check(field: str, value: Any) -> Iterator[Complaint]:
        yield from _text(field, value)
        if isinstance(value, str) and len(value) > longest:
            fix = f"Use at most {longest} characters."
            yield "too_long", field, f"{field} has {len(value)} characters.", f"{value[:60]}…", fix

    return check


def _flag(field: str, value: Any) -> Iterator[Complaint]:
    if not isinstance(value, bool):
        yield "not_a_flag", field, f"{field} is true or false.", value, "Write true or false."


def _whole(allowed: range) -> Callable[[str, Any], Iterator[Complaint]]:
    def check(field: str, value: Any) -> Iterator[Complaint]:
        if not isinstance(value, int) or isinstance(value, bool) or value not in allowed:
            limits = f"from {allowed.start} to {allowed.stop - 1}"
            yield "out_of_range", field, f"{field} is a whole number {limits}.", value, f"Write one {limits}."

    return check


def _one_of(*words: str) -> Callable[[str, Any], Iterator[Complaint]]:
    def check(field: str, value: Any) -> Iterator[Complaint]:
        if value not in words:
            yield "unknown_word", field, f"{field} is one of {', '.join(words)}.", value, f"Write {words[0]}."

    return check


def _mapping(field: str, value: Any) -> Iterator[Complaint]:
    if not isinstance(value, Mapping):
        yield "not_an_object", field, f"{field} is an object.", value, "Write name and value pairs."


def _texts(field: str, value: Any) -> Iterator[Complaint]:
    yield from _mapping(field, value)
    if isinstance(value, Mapping):
        for key, text in value.items():
            yield from _text(f"{field}.{key}", text)


def _quantities(field: str, value: Any) -> Iterator[Complaint]:
    yield from _mapping(field, value)
    if isinstance(value, Mapping):
        for resource, quantity in value.items():
            yield from _quantity(f"{field}.{resource}", quantity)


def _quantity(path: str, value: Any) -> Iterator[Complaint]:
    try:
        amount = parse_quantity(value)
    except QuantityError as error:
        yield "bad_quantity", path, str(error), value, "Write a quantity such as 500m, 2 or 1.5Gi."
    else:
        if amount < 0:
            yield "negative_quantity", path, f"{path} is below zero.", value, "Write zero or more."


def _guarantee(field: str, value: Any) -> Iterator[Complaint]:
    yield from _mapping(field, value)
    if isinstance(value, Mapping):
        for key in value.keys() - {"resource"}:
            message = f"guarantee has no field {key!r}."
            yield (
                "unknown_field",
                f"{field}.{key}",
                message,
                value[key],
                "Write it below resource.",
            )
        yield from _quantities(f"{field}.resource", value.get("resource") or {})


_CHECKS: dict[str, Callable[[str, Any], Iterator[Complaint]]] = {
    "name": _text_up_to(_NAME),
    "parent": _text_up_to(_NAME),
    "weight": _whole(_WEIGHTS),
    "priority": _whole(_INT32),
    "reclaimable": _flag,
    "state": _one_of("Open", "Closed", "Closing", "Unknown"),
    "guarantee": _guarantee,
    "deserved": _quantities,
    "capability": _quantities,
    "dequeueStrategy": _one_of("traverse", "fifo"),
    "affinity": _mapping,
    "annotations": _texts,
    "labels": _texts,
}

_COLUMN_WIDTHS = (
    ("metadata", "name", _text_up_to(_NAME)),
    ("metadata", "creationTimestamp", _text_up_to(40)),
    ("spec", "parent", _text_up_to(_NAME)),
    ("spec", "dequeueStrategy", _text_up_to(_WORD)),
    ("status", "state", _text_up_to(_WORD)),
)
