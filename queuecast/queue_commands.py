"""Commands about queues."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from planning.queues import count_or_text
from queuecast.backend import Backend, Json
from queuecast.commands import edited
from queuecast.problems import Refused
from queuecast.shown import Output, Table


def queue_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List the queues of a scenario."""
    return _queues(backend.queues(args.scenario))


def queue_set(backend: Backend, args: argparse.Namespace) -> Output:
    """Change fields of a queue."""
    patch = patch_of(args.fields)
    return edited(backend, args, lambda: backend.queue_set(args.scenario, args.queue, patch), _queues)


def queue_add(backend: Backend, args: argparse.Namespace) -> Output:
    """Add a queue."""
    fields = {"name": args.queue, **patch_of(args.fields)}
    return edited(backend, args, lambda: backend.queue_add(args.scenario, fields), _queues)


def queue_remove(backend: Backend, args: argparse.Namespace) -> Output:
    """Remove a queue; its jobs remain without a queue."""

    def remove() -> Json:
        backend.queue_remove(args.scenario, args.queue, subtree=args.subtree)
        return {"removed": args.queue}

    return edited(backend, args, remove, lambda done: Output(done, [f"{args.queue} was removed."]))


def patch_of(fields: Sequence[str]) -> Json:
    """Return the merge patch of ``field=value`` words; an empty value removes the field.

    >>> patch_of(["weight=4", "capability.cpu=8", "reclaimable=false", "parent="])
    {'weight': 4, 'capability': {'cpu': '8'}, 'reclaimable': False, 'parent': None}
    >>> patch_of(["guarantee.nvidia.com/gpu=2"])
    {'guarantee': {'resource': {'nvidia.com/gpu': '2'}}}
    """
    patch: Json = {}
    for word in fields:
        way, equals, text = word.partition("=")
        if not equals:
            raise Refused(f"{word!r} is not field=value.")
        field, _, inner = way.partition(".")
        if field in patch and not (inner and isinstance(patch[field], dict)):
            raise Refused(f"{field} is written twice.")
        if not inner:
            patch[field] = _typed(field, text)
        elif field == "guarantee":
            patch.setdefault("guarantee", {"resource": {}})["resource"][inner] = _typed(field, text)
        else:
            patch.setdefault(field, {})[inner] = _typed(field, text)
    return patch


def _typed(field: str, text: str) -> Any:
    if text == "":
        return None
    if field in ("weight", "priority"):
        return count_or_text(text)
    if field == "reclaimable" and text in ("true", "false"):
        return text == "true"
    return text


def _queues(found: Json | list[Json]) -> Output:
    rows = [
        (
            one["name"], one.get("parent"), one.get("weight"), one.get("reclaimable"),
            quantities((one.get("guarantee") or {}).get("resource")),
            quantities(one.get("deserved")), quantities(one.get("capability")),
            one.get("priority"), one.get("state"),
        )
        for one in (found if isinstance(found, list) else [found])
    ]  # fmt: skip
    columns = (
        "QUEUE", "PARENT", "WEIGHT", "RECLAIMABLE", "GUARANTEE", "DESERVED", "CAPABILITY",
        "PRIORITY", "STATE",
    )  # fmt: skip
    return Output(found, [Table(columns, rows, wide=2)])


def quantities(held: Mapping[str, Any] | None) -> str:
    """Return quantities in the form ``cpu=8 memory=32Gi``."""
    return " ".join(f"{name}={quantity}" for name, quantity in (held or {}).items())
