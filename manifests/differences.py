"""Differences of scenario documents, by object and field."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]
_FIRST = ("scheduler_conf", "queues")
_TOLD_ELSEWHERE = ("name", "cycles")
_OF_TYPE = ("apiVersion", "kind")
"""Fields that only repeat what kind of object it is; objects that were not imported do not have them."""


@dataclass(frozen=True)
class Difference:
    """A value that differs between documents.

    A field of an object; an empty `field` is the whole object, whose value is None where it is not there.
    """

    kind: str
    name: str
    field: str
    values: tuple[Any, ...]


def differences(documents: Sequence[Json]) -> list[Difference]:
    """Return the differences, those of the configuration and the queues first, without those of types.

    >>> def queue(name, **spec):
    ...     return {"metadata": {"name": name}, "spec": spec}
    >>> for found in differences([
    ...     {"queues": [queue("a", weight=1, capability={"cpu": "8"}), queue("b")]},
    ...     {"queues": [{"kind": "Queue", **queue("a", weight=2, capability={"cpu": "8"})}]},
    ... ]):
    ...     print(found.name, found.field, found.values)
    a spec.weight (1, 2)
    b  ({'metadata': {'name': 'b'}, 'spec': {}}, None)
    """
    kinds = dict.fromkeys(kind for document in documents for kind in document if kind not in _TOLD_ELSEWHERE)
    order = [*(kind for kind in _FIRST if kind in kinds), *(kind for kind in kinds if kind not in _FIRST)]
    held = ((kind, [document.get(kind) for document in documents]) for kind in order)
    return [found for kind, values in held for found in _of_kind(kind, values)]


def _of_kind(kind: str, values: Sequence[Any]) -> Iterator[Difference]:
    if not _differ(values):
        return
    if kind != "scheduler_conf" and all(_holds_objects(value) for value in values):
        yield from _of_objects(kind, [_by_name(value) for value in values])
    else:
        yield Difference(kind, "", "", tuple(values))


def _of_objects(kind: str, held: Sequence[Mapping[str, Json]]) -> Iterator[Difference]:
    for name in dict.fromkeys(name for objects in held for name in objects):
        versions = [objects.get(name) for objects in held]
        if not _differ(versions):
            continue
        if None in versions:
            yield Difference(kind, name, "", tuple(versions))
            continue
        held_by_field = [dict(leaves(version)) for version in versions]
        for field in dict.fromkeys(field for version in held_by_field for field in version):
            values = tuple(version.get(field) for version in held_by_field)
            if field not in _OF_TYPE and _differ(values):
                yield Difference(kind, name, field, values)


def _holds_objects(value: Any) -> bool:
    """Return whether this is a list of objects, a Kubernetes List of them, or None."""
    return value is None or isinstance(value, list) or (isinstance(value, Mapping) and "items" in value)


def _by_name(value: Any) -> dict[str, Json]:
    """Return objects by `namespace/name`, or by name if they have no namespace."""
    named = {}
    for held in (value.get("items") if isinstance(value, Mapping) else value) or ():
        metadata = held.get("metadata") or {}
        named["/".join(part for part in (metadata.get("namespace"), metadata.get("name")) if part)] = held
    return named


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value that is not a mapping, with its dotted path."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def _differ(values: Sequence[Any]) -> bool:
    return any(value != values[0] for value in values)
