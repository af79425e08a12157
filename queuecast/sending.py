"""Preparation of a user's files for a server or for storage: relevant objects without secrets."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import manifests
from manifests.kinds import LISTS
from manifests.reading import Origin
from queuecast.backend import Files, Json

KEEP = "QUEUECAST_KEEP_ANNOTATIONS"
"""Annotations that are kept besides Volcano's own: full names, or a prefix with `*`, comma-separated."""


def kept_annotations() -> list[str]:
    """Return the annotations that the user wants to keep."""
    return [name.strip() for name in os.environ.get(KEEP, "").split(",") if name.strip()]


def bare_document(reading: manifests.Reading) -> Json:
    """Return a reading as one scenario document, with its configuration as text."""
    text = reading.scheduler_conf_text
    bare = manifests.stripped(reading.document, kept_annotations())
    return {**bare} if text is None else {**bare, "scheduler_conf": text}


def bare_files(names: Sequence[str], reading: manifests.Reading) -> Files:
    """Return files to send: each under its name, with its objects as JSON on the lines where they began.

    Objects that the server ignores are sent as kind and number only, so that it can report them.
    """
    document = bare_document(reading)
    if reading.is_scenario:
        return [(names[0], json.dumps(document, ensure_ascii=False).encode())]
    parts: dict[str, list[tuple[int, Json]]] = {name: [] for name in names}
    for origin, thing in _things(document, reading):
        parts[_file_of(origin, names)].append((origin.line(()), thing))
    unread = [_stub(kind, number) for kind, count in reading.unknown_kinds.items() for number in range(count)]
    if unread:
        parts[names[-1]] += [(0, stub) for stub in unread]
    return [(name, _lines(things)) for name, things in parts.items() if things]


def placed(problems: Sequence[Json], reading: manifests.Reading) -> list[Json]:
    """Return a server's problems with file and line of the user's own files."""
    return [_placed(problem, reading) for problem in problems]


def _placed(problem: Json, reading: manifests.Reading) -> Json:
    found = reading.line_of(problem.get("path") or "")
    return problem if found is None else {**problem, "document": found[0], "line": found[1]}


def _things(document: Mapping[str, Any], reading: manifests.Reading) -> Iterator[tuple[Origin, Json]]:
    for name, kind in LISTS.items():
        for index, thing in enumerate(document.get(name, ())):
            typed = {"apiVersion": f"{kind.group}/v1".strip("/"), "kind": kind.name}
            yield reading.origins[name, index], {**typed, **thing}
    text = document.get("scheduler_conf")
    if text is not None:
        config_map = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": manifests.CONF_MAP, "namespace": "volcano-system"},
            "data": {manifests.CONF_KEY: text},
        }
        yield reading.origins["scheduler_conf",], config_map


def _file_of(origin: Origin, names: Sequence[str]) -> str:
    """Return the file of a document, whose label is the file's name, possibly with a number."""
    label = origin.source.label
    return label if label in names else label.rpartition("#")[0]


def _stub(full_kind: str, number: int) -> Json:
    api_version, _, kind = full_kind.partition(" ")
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": f"left-out-{number}"}}


def _lines(things: Sequence[tuple[int, Json]]) -> bytes:
    """Return a List with each object on the line where it began, as far as their order allows."""
    lines, at = ['{"apiVersion":"v1","kind":"List","items":['], 1
    for place, (line, thing) in enumerate(sorted(things, key=lambda part: part[0])):
        gap = max(line - at, 0)
        lines.append("\n" * gap + ("," if place else "") + json.dumps(thing, ensure_ascii=False))
        at += gap
    return "".join([*lines, "]}\n"]).encode()
