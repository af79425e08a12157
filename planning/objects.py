"""Validation of objects by the core's own checks, reported by the objects' names."""

import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from typing import Any

import manifests
import scheduler_core
from planning.rows import Problem
from planning.states import ObjectKey

Wanted = Mapping[ObjectKey, Mapping[str, Any] | None]

_PLACE = re.compile(r"^(\w+)\[(\d+)\]")


def object_problems(wanted: Mapping[ObjectKey, Mapping[str, Any]]) -> list[Problem]:
    """Return the problems of these objects in a scenario; a path begins like `nodes.n1.spec`."""
    listed: dict[str, list[Mapping[str, Any]]] = {}
    keys: dict[str, list[str]] = {}
    for (kind, key), manifest in wanted.items():
        listed.setdefault(kind, []).append(manifest)
        keys.setdefault(kind, []).append(key)
    found = scheduler_core.problems(dict(listed)) if listed else []
    return [
        _named(Problem(**asdict(problem)), keys)
        for problem in found
        if problem.severity == "error" and _PLACE.match(problem.path)
    ]


def bare_objects(wanted: Wanted, keep: Collection[str]) -> Wanted:
    """Return objects without possible secrets; None stands for a removed one."""
    return {
        (kind, key): thing and manifests.stripped_object(kind, thing, keep)
        for (kind, key), thing in wanted.items()
    }


def _named(problem: Problem, keys: Mapping[str, list[str]]) -> Problem:
    """Return a problem whose path has the object's name instead of its index."""
    place = _PLACE.match(problem.path or "")
    assert place is not None, "only problems of objects come here"
    kind, number = place[1], int(place[2])
    return replace(problem, path=f"{kind}.{keys[kind][number]}{(problem.path or '')[place.end() :]}")
