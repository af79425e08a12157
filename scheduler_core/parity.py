"""Comparison of results with recorded ones: the first difference that counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

_RELATIVE, _ABSOLUTE = 1e-9, 1e-6
_DECISION = ("action", "op", "job", "pod", "node", "for", "state")
_PODGROUP = (
    "queue",
    "phase_before",
    "phase_in_session",
    "phase_after",
    "ready",
    "pipelined",
    "starving",
    "session_job_ready",
    "session_job_pipelined",
    "invalid_reason",
    "task_status",
)
_NODE = ("idle", "used", "releasing", "pipelined")
_MESSAGES = ("fit_error", "pending_reasons", "conditions")


def first_difference(ours: Mapping[str, Any], recorded: Mapping[str, Any]) -> str | None:
    """Return the first difference between two results, None if they are equal."""
    return next(_differences(ours, recorded), None)


def first_message_difference(ours: Mapping[str, Any], recorded: Mapping[str, Any]) -> str | None:
    """Return the first difference between the texts of two results, None if they are equal."""
    if "error" in recorded:
        return None
    return next(_message_differences(ours, recorded), None)


def _differences(ours: Mapping[str, Any], recorded: Mapping[str, Any]) -> Iterator[str]:
    if ("error" in ours) != ("error" in recorded):
        yield f"error: ours {ours.get('error')!r}, recorded {recorded.get('error')!r}"
    if "error" in recorded:
        return
    for mine, theirs in _cycles(ours, recorded):
        where = f"cycle {theirs['cycle']}"
        yield from _state_difference(f"{where} at_open", mine["at_open"], theirs["at_open"])
        yield from _decisions(where, mine["decisions"], theirs.get("decisions") or [])
        yield from _podgroups(where, mine["podgroups"], theirs.get("podgroups") or [])
        yield from _state_difference(f"{where} at_end", mine["at_end"], theirs["at_end"])
        yield from _nodes(where, mine["nodes"], theirs.get("nodes") or [])


def _cycles(ours: Mapping[str, Any], recorded: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    return zip(ours.get("cycles") or [], recorded.get("cycles") or [], strict=False)


def _state_difference(where: str, mine: Any, theirs: Any) -> Iterator[str]:
    yield from _unequal(where, _by_name(mine), _by_name(theirs))


def _by_name(value: Any) -> Any:
    """Return lists of objects with names or paths as maps, so that a difference has a readable path."""
    if isinstance(value, Mapping):
        return {name: _by_name(entry) for name, entry in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        key = "name" if "name" in value[0] else "path"
        if key in value[0]:
            return {entry[key]: _by_name(entry) for entry in value}
    return value


def _unequal(where: str, mine: Any, theirs: Any) -> Iterator[str]:
    if isinstance(mine, Mapping) or isinstance(theirs, Mapping):
        mine, theirs = mine or {}, theirs or {}
        if not isinstance(mine, Mapping) or not isinstance(theirs, Mapping):
            yield f"{where}: ours {mine!r}, recorded {theirs!r}"
            return
        for name in sorted({*mine, *theirs}):
            yield from _unequal(f"{where}.{name}", mine.get(name), theirs.get(name))
    elif not _same(mine, theirs):
        yield f"{where}: ours {mine!r}, recorded {theirs!r}"


def _same(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, bool) or isinstance(theirs, bool):
        return bool(mine) == bool(theirs)
    mine, theirs = (0 if value is None else value for value in (mine, theirs))
    if isinstance(mine, (int, float)) and isinstance(theirs, (int, float)):
        gap = abs(mine - theirs)
        return gap <= _ABSOLUTE or gap <= _RELATIVE * max(abs(mine), abs(theirs))
    return (mine or None) == (theirs or None)


def _decisions(where: str, mine: list[Any], theirs: list[Any]) -> Iterator[str]:
    for position in range(max(len(mine), len(theirs))):
        left = _short(mine[position]) if position < len(mine) else "nothing"
        right = _short(theirs[position]) if position < len(theirs) else "nothing"
        if left != right:
            yield f"{where} decision {position + 1}: ours {left}, recorded {right}"


def _short(decision: Mapping[str, Any]) -> str:
    return " ".join(f"{key}={decision[key]}" for key in _DECISION if decision.get(key))


def _podgroups(where: str, mine: list[Any], theirs: list[Any]) -> Iterator[str]:
    left = {entry["name"]: _podgroup(entry) for entry in mine}
    right = {entry["name"]: _podgroup(entry) for entry in theirs}
    yield from _unequal(f"{where} podgroups", left, right)


def _podgroup(entry: Mapping[str, Any]) -> dict[str, Any]:
    tasks = {
        task["pod"]: {"status": task["status"], "node": task.get("node")} for task in entry.get("tasks") or []
    }
    return {**{key: entry.get(key) for key in _PODGROUP}, "tasks": tasks}


def _nodes(where: str, mine: list[Any], theirs: list[Any]) -> Iterator[str]:
    left = {entry["name"]: {key: entry.get(key) for key in _NODE} for entry in mine}
    right = {entry["name"]: {key: entry.get(key) for key in _NODE} for entry in theirs}
    yield from _unequal(f"{where} nodes", left, right)


def _message_differences(ours: Mapping[str, Any], recorded: Mapping[str, Any]) -> Iterator[str]:
    for mine, theirs in _cycles(ours, recorded):
        where = f"cycle {theirs['cycle']}"
        for position, (left, right) in enumerate(
            zip(mine["decisions"], theirs.get("decisions") or [], strict=False)
        ):
            yield from _unequal(
                f"{where} decision {position + 1} reason", left.get("reason"), right.get("reason")
            )
        by_name = {entry["name"]: entry for entry in mine["podgroups"]}
        for right in theirs.get("podgroups") or []:
            left = by_name.get(right["name"], {})
            yield from _unequal(f"{where} {right['name']}", _messages(left), _messages(right))


def _messages(entry: Mapping[str, Any]) -> dict[str, Any]:
    tasks = {
        task["pod"]: {key: task.get(key) for key in ("reason", "message", "nominatedNodeName")}
        for task in entry.get("tasks") or []
    }
    conditions = {
        condition.get("type"): {key: condition.get(key) for key in ("status", "reason", "message")}
        for condition in entry.get("conditions") or []
    }
    return {**{key: entry.get(key) for key in _MESSAGES}, "conditions": conditions, "tasks": tasks}


def unmet(ours: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """Return the differences of a result from the expectations of Volcano's own unit test.

    Expectations about scores and filters of single nodes are ignored, as results do not have them.
    """
    cycles = ours.get("cycles") or []
    decisions = [decision for cycle in cycles for decision in cycle["decisions"] or ()]
    binds = {entry["pod"]: entry["node"] for entry in decisions if entry["op"] == "bind"}
    evicted = sorted(entry["pod"] for entry in decisions if entry["op"] == "evict")
    got: dict[str, Any] = {
        "bind_count": len(binds),
        "binds": binds,
        "bind_order": list(binds),
        "evict_count": len(evicted),
        "evicted": evicted,
        "enqueued": {job: _was_enqueued(decisions, job) for job in expected.get("enqueued") or {}},
        "pipelined": _nodes_of(decisions, "pipeline"),
        "podgroup_phase": {
            entry["name"]: entry["phase_in_session"]
            for cycle in cycles[-1:]
            for entry in cycle["podgroups"] or ()
        },
        "job_allocated": {
            job: figures["allocated"]
            for job, figures in _at(cycles, -1, "at_end").get("drf_jobs", {}).items()
        },
        "queue_share_at_open": _queues_at_open(cycles, "share"),
        "queue_inqueue_at_open": _queues_at_open(cycles, "inqueue"),
    }
    return [
        difference
        for name, want in expected.items()
        if name in got
        for difference in _unmet_difference(name, got[name], sorted(want) if name == "evicted" else want)
    ]


def _unmet_difference(name: str, got: Any, want: Any) -> Iterator[str]:
    if isinstance(want, Mapping) and isinstance(got, Mapping) and name != "binds":
        got = {key: got.get(key) for key in want}
    yield from _unequal(name, got, want)


def _was_enqueued(decisions: list[Any], job: str) -> bool:
    return any(entry["op"] == "enqueue" and entry["job"] == job for entry in decisions)


def _nodes_of(decisions: list[Any], op: str) -> dict[str, list[str]]:
    """Return the nodes on which each job's pods had an operation, sorted."""
    nodes: dict[str, list[str]] = {}
    for entry in decisions:
        if entry["op"] == op:
            nodes.setdefault(entry["job"], []).append(entry["node"])
    return {job: sorted(names) for job, names in nodes.items()}


def _at(cycles: list[Any], position: int, when: str) -> Mapping[str, Any]:
    return cycles[position][when] if cycles else {}


def _queues_at_open(cycles: list[Any], field: str) -> dict[str, Any]:
    return {entry["name"]: entry.get(field) for entry in _at(cycles, 0, "at_open").get("queues") or []}


# replays


def first_replay_difference(ours: Mapping[str, Any], recorded: Mapping[str, Any]) -> str | None:
    """Return the first difference between two replay results, None if they are equal."""
    return next(_replay_differences(ours, recorded), None)


def _replay_differences(ours: Mapping[str, Any], recorded: Mapping[str, Any]) -> Iterator[str]:
    if ("error" in ours) != ("error" in recorded):
        yield f"error: ours {ours.get('error')!r}, recorded {recorded.get('error')!r}"
    if "error" in recorded:
        return
    for mine, theirs in zip_longest(ours["log"], recorded["log"], fillvalue={"t": "none", "decisions": []}):
        yield from _unequal("log t", mine["t"], theirs["t"])
        yield from _decisions(f"t {theirs['t']}", _made(mine), _made(theirs))
    yield from _unequal("jobs", ours["jobs"], recorded["jobs"])
    rows = zip_longest(ours["queues"], recorded["queues"])
    for position, (row, other) in enumerate(rows):
        yield from _unequal(f"queues[{position}]", row, other)
    for name in ("sessions", "end_seconds"):
        yield from _unequal(name, ours[name], recorded[name])


def _made(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the decisions of a log entry, all of them committed."""
    return [{**decision, "state": ""} for decision in entry["decisions"]]
