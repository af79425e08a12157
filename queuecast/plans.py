"""Which cluster results when changes are put over a snapshot, and what would Volcano decide about it?"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import manifests
from scheduler_core import Options, problems, simulate_document

_NAMED = ("nodes", "queues", "podgroups", "pods", "jobs", "priorityclasses")
"""The lists of a scenario document whose objects a change replaces by name."""


class Refused(Exception):
    """A file cannot be read, or a plan cannot be simulated; the lines say why."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))


def read(paths: Sequence[Path]) -> dict[str, Any]:
    """Return what the files hold as one scenario document, or raise Refused with every problem."""
    try:
        reading = manifests.read([(str(path), path.read_bytes()) for path in paths])
    except OSError as error:
        raise Refused([f"{error.filename}: {error.strerror}"]) from None
    wrong = [found for found in reading.problems if found.severity == "error"]
    if wrong:
        raise Refused([f"{found.document}:{found.line}: {found.message}" for found in wrong])
    return manifests.resolve(reading.document)


def changed(snapshot: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the snapshot with the objects of `changes` in place of those of the same name, or beside them.

    >>> changed({"queues": [{"metadata": {"name": "a"}, "spec": {"weight": 1}}]},
    ...         {"queues": [{"metadata": {"name": "a"}, "spec": {"weight": 2}}]})
    {'queues': [{'metadata': {'name': 'a'}, 'spec': {'weight': 2}}]}
    """
    document = dict(snapshot)
    for kind in _NAMED:
        objects = {_key(held): held for held in snapshot.get(kind) or ()}
        objects |= {_key(held): _over(objects.get(_key(held)), held) for held in changes.get(kind) or ()}
        if objects:
            document[kind] = list(objects.values())
    if changes.get("scheduler_conf"):
        document["scheduler_conf"] = changes["scheduler_conf"]
    return document


def simulate(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the core's result, or raise Refused with every problem of the plan."""
    wrong = [found for found in problems(document) if found.severity == "error"]
    if wrong:
        raise Refused([f"{found.path}: {found.message}" for found in wrong])
    result = simulate_document(document, Options())
    if "error" in result:
        raise Refused([str(result["error"])])
    return result


def _key(held: Mapping[str, Any]) -> tuple[str, str]:
    metadata = held.get("metadata") or {}
    return metadata.get("namespace") or "", metadata.get("name") or ""


def _over(present: Mapping[str, Any] | None, change: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changed object; the status of the present one stays where the change tells none."""
    status = (present or {}).get("status")
    return {**change, "status": status} if status and not change.get("status") else dict(change)
