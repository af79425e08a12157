"""Which cluster results when changes are put over a snapshot, and what would Volcano decide about it?"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import manifests
from scheduler_core import Options, prepare, problems
from scheduler_core.explain import with_loops

_NAMED = ("nodes", "queues", "podgroups", "pods", "jobs", "priorityclasses")
"""The lists of a scenario document whose objects a change replaces by name."""


class Refused(Exception):
    """A file cannot be read, or a plan cannot be simulated; the lines say why."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))


def contents(paths: Sequence[Path]) -> list[tuple[str, bytes]]:
    """Return the files, or raise Refused with the first that cannot be read."""
    try:
        return [(str(path), path.read_bytes()) for path in paths]
    except OSError as error:
        raise Refused([f"{error.filename}: {error.strerror}"]) from None


def read_bytes(
    files: Sequence[tuple[str, bytes]], progress: manifests.Progress | None = None
) -> manifests.Reading:
    """Return what files hold, or raise Refused with every problem and its line."""
    reading = manifests.read(files, progress=progress) if progress else manifests.read(files)
    wrong = [found for found in reading.problems if found.severity == "error"]
    if wrong:
        raise Refused([f"{found.document}:{found.line}: {found.message}" for found in wrong])
    return reading


def read(paths: Sequence[Path]) -> dict[str, Any]:
    """Return what the files hold as one scenario document, or raise Refused with every problem."""
    return manifests.resolve(read_bytes(contents(paths)).document)


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


def refuse_errors(document: Mapping[str, Any]) -> None:
    """Raise Refused with every problem that forbids to simulate the plan."""
    try:
        wrong = [found for found in problems(manifests.resolve(document)) if found.severity == "error"]
    except manifests.Unreadable as error:
        raise Refused([f"{found.path}: {found.message}" for found in error.problems]) from None
    if wrong:
        raise Refused([f"{found.path}: {found.message}" for found in wrong])


def simulate(
    document: Mapping[str, Any], progress: Callable[[float, str], None] | None = None
) -> dict[str, Any]:
    """Return the core's result, or raise Refused with every problem of the plan."""
    refuse_errors(document)
    prepared, options = prepare(manifests.resolve(document)), Options(progress=progress)
    result = with_loops(prepared, prepared.simulate(options=options), options)
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
