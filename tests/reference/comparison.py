"""Comparison of two results: decisions, tasks, PodGroups and nodes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.reference.engine import cycles
from tests.reference.session import Session

Object = Mapping[str, Any]

SCENARIO = '{"scenario":'
KEYS = ("action", "op", "job", "pod", "node", "for", "state")
AMOUNTS = ("idle", "used", "releasing", "pipelined")


def entries(path: Path) -> Iterator[Any]:
    """Yield the recordings of a file."""
    yield from map(json.loads, lines(path))


def lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file of recordings."""
    with gzip.open(path, "rt") as packed:
        yield from packed


def scenario_of(line: str) -> Any:
    """Return the scenario of a recording, which comes first; the larger result is not parsed."""
    assert line.startswith(SCENARIO)
    return json.JSONDecoder().raw_decode(line, len(SCENARIO))[0]


def decided(document: Object, count: int | None = None) -> list[Object]:
    """Return the reference's decisions in every session, and the resulting tasks, PodGroups and nodes."""
    return [_of_session(session) for session in cycles(document, count)]


def _of_session(session: Session) -> Object:
    jobs = session.cluster.jobs
    return {
        "decisions": [facts_of(decision) for decision in session.decisions],
        "tasks": {task.key: (task.status, task.node) for job in jobs.values() for task in job.tasks},
        "phases": {key: (job.phase, session.phase_after(job)) for key, job in jobs.items()},
        "nodes": {
            name: {key: _amounts(getattr(node, key)) for key in AMOUNTS}
            for name, node in session.cluster.nodes.items()
        },
    }


def outcome(result: Object) -> list[Object]:
    """Return the same for a result, ours or a recorded one."""
    return [_of_cycle(cycle) for cycle in result["cycles"]]


def _of_cycle(cycle: Object) -> Object:
    groups = cycle.get("podgroups") or ()
    return {
        "decisions": [facts_of(decision) for decision in cycle.get("decisions") or ()],
        "tasks": {
            task["pod"]: (task["status"], task.get("node") or "")
            for group in groups
            for task in (group.get("tasks") or ())
        },
        "phases": {group["name"]: (group["phase_in_session"], group["phase_after"]) for group in groups},
        "nodes": {
            node["name"]: {key: _amounts(node.get(key)) for key in AMOUNTS}
            for node in cycle.get("nodes") or ()
        },
    }


def facts_of(decision: Object) -> Object:
    """Return the facts of a decision that must be equal; empty ones are left out."""
    return {key: decision[key] for key in KEYS if decision.get(key)}


def _amounts(vector: Object | None) -> dict[str, float]:
    """Return the non-zero amounts."""
    return {name: round(amount, 6) for name, amount in (vector or {}).items() if abs(amount) > 1e-6}


def difference(ours: list[Object], theirs: list[Object]) -> str | None:
    """Return the first difference of two results."""
    if len(ours) != len(theirs):
        return f"{len(ours)} and {len(theirs)} sessions"
    for number, (mine, other) in enumerate(zip(ours, theirs, strict=True), 1):
        for part in mine:
            if mine[part] != other[part]:
                return f"cycle {number}, {part}: {_first(mine[part], other[part])}"
    return None


def _first(mine: Any, other: Any) -> str:
    if isinstance(mine, dict):
        for key in sorted({*mine, *other}):
            if mine.get(key) != other.get(key):
                return f"{key}: {mine.get(key)} and {other.get(key)}"
    position = next(
        (number for number, pair in enumerate(zip(mine, other, strict=False)) if pair[0] != pair[1]),
        min(len(mine), len(other)),
    )
    return f"number {position}: {mine[position : position + 2]} and {other[position : position + 2]}"
