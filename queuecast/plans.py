"""Changes in files: their objects, and the places of their problems."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import manifests
from queuecast.problems import Json, Refused, as_problem, problem, refusal

NAMED = (
    "nodes", "queues", "podgroups", "pods", "jobs",
    "priorityclasses", "resourcequotas", "namespaces", "poddisruptionbudgets",
)  # fmt: skip
"""The lists of a scenario document whose objects a change replaces by name."""

_PLACE = re.compile(r"^(\w+)\[(\d+)\]")
Key = tuple[str, str]
"""Namespace and name."""


def contents(paths: Sequence[Path]) -> list[tuple[str, bytes]]:
    """Return the files, or raise Refused for the first that cannot be read."""
    try:
        return [(str(path), path.read_bytes()) for path in paths]
    except OSError as error:
        raise Refused(f"{error.filename}: {error.strerror}") from None


def read_bytes(
    files: Sequence[tuple[str, bytes]], progress: manifests.Progress | None = None
) -> manifests.Reading:
    """Return the contents of files, or raise Refused with every problem and its line."""
    reading = manifests.read(files, progress=progress) if progress else manifests.read(files)
    return _sound(reading)


def read_changes(files: Sequence[tuple[str, bytes]]) -> manifests.Reading:
    """Return the objects of a change, which may be the scheduler's configuration alone."""
    reading = manifests.read(files)
    if "scheduler_conf" in reading.document:
        reading.problems = [found for found in reading.problems if found.rule != "form.empty"]
    return _sound(reading)


def _sound(reading: manifests.Reading) -> manifests.Reading:
    if reading.has_errors:
        raise refusal([as_problem(found) for found in reading.problems if found.severity == "error"])
    return reading


def read(paths: Sequence[Path]) -> Json:
    """Return the files as one scenario document, or raise Refused with every problem."""
    return manifests.resolve(read_bytes(contents(paths)).document)


def overlay(present: Mapping[str, Any], wanted: Mapping[str, Any]) -> Json:
    """Return the objects and the configuration that turn one document into the other, for a server.

    >>> queue = {"metadata": {"name": "a"}}
    >>> overlay({"queues": [queue]}, {"queues": [{**queue, "spec": {"weight": 2}}], "scheduler_conf": "x"})
    {'objects': {'queues': [{'metadata': {'name': 'a'}, 'spec': {'weight': 2}}]}, 'removed': {}, 'conf': 'x'}
    """
    objects: dict[str, list[Any]] = {}
    removed: dict[str, list[str]] = {}
    for kind in NAMED:
        there, shall = ({key_of(kind, one): one for one in doc.get(kind) or ()} for doc in (present, wanted))
        objects[kind] = [one for key, one in shall.items() if there.get(key) != one]
        removed[kind] = ["/".join(filter(None, key)) for key in there if key not in shall]
    conf = wanted.get("scheduler_conf") or ""
    changed_conf = {"conf": conf} if conf != (present.get("scheduler_conf") or "") else {}
    filled = {
        part: {kind: listed for kind, listed in lists.items() if listed}
        for part, lists in (("objects", objects), ("removed", removed))
    }
    return {**filled, **changed_conf}


@dataclass(frozen=True)
class Source:
    """Files of a plan's parts, to locate problems."""

    reading: manifests.Reading

    def placed(self, one: Mapping[str, Any], document: Mapping[str, Any]) -> Json:
        """Return a problem of the plan with file and line, if these files contain its object."""
        way = self._way(one.get("path") or "", document)
        found = self.reading.line_of(way) if way else None
        place = {} if found is None else {"document": found[0], "line": found[1]}
        return problem(**{**one, **place})

    def _way(self, path: str, document: Mapping[str, Any]) -> str:
        """Return the path of an object of the plan in the files; empty if they do not contain it."""
        place = _PLACE.match(path)
        if not place:
            return path if path.startswith("scheduler_conf") else ""
        kind, index = place[1], int(place[2])
        key = key_of(kind, document[kind][index])
        for number, held in enumerate(self.reading.document.get(kind) or ()):
            if key_of(kind, held) == key:
                return f"{kind}[{number}]{path[place.end() :]}"
        return ""


def new_problems(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[Json]:
    """Return the problems of `after` that `before` does not have, as `planning.rows.new_problems` does."""
    known = {(one["rule"], one["severity"], one["message"]) for one in before}
    return [dict(one) for one in after if (one["rule"], one["severity"], one["message"]) not in known]


def key_of(kind: str, held: Mapping[str, Any]) -> Key:
    """Return namespace and name of an object; no namespace means `default` where the kind has one."""
    metadata = held.get("metadata") or {}
    namespace = metadata.get("namespace") or "default"
    return namespace if manifests.is_namespaced(kind) else "", metadata.get("name") or ""
