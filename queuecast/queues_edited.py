"""Edits of the queues of a scenario document, by the rules of the server."""

from collections.abc import Iterable, Mapping
from typing import Any

from planning.documents import created, time_of_changes
from planning.queues import merge_patch
from queuecast.problems import Json, Refused, as_problem, refusal, unknown
from scheduler_core.queue_edits import below, moved, queue_problems, removal_problems

Patches = Mapping[str, Mapping[str, Any] | None]
"""A merge patch for each queue; None removes it."""
_METADATA = ("annotations", "labels")


def listed(document: Mapping[str, Any]) -> list[Json]:
    """Return the queues, with the field names of their CRD, including metadata and status."""
    return [_fields(queue) for queue in document.get("queues") or ()]


def changed(document: Json, name: str, patch: Mapping[str, Any], others: Patches | None = None) -> Json:
    """Change a queue of the document by a JSON merge patch; return it. `others` move in the same edit."""
    queue = _one(document, name)
    after = merge_patch(_fields(queue), patch)
    parents = _parents(document)
    if wrong := queue_problems(name, after, moved(parents, others or {}) | {name: parents[name]}):
        raise refusal([as_problem(one) for one in wrong])
    if after["name"] != name:
        raise Refused("Renaming a queue requires a server: its children and jobs follow it there.")
    for field, value in patch.items():
        if field != "name":
            part = {"state": "status"}.get(field, "metadata" if field in _METADATA else "spec")
            queue[part] = merge_patch(queue.get(part), {field: value})
    return _fields(queue)


def added(document: Json, fields: Mapping[str, Any]) -> Json:
    """Add a queue to the document; return it."""
    wanted = merge_patch({}, fields)
    if wrong := queue_problems("", wanted, _parents(document)):
        raise refusal([as_problem(one) for one in wrong])
    queue = dict(created({"metadata": {"name": wanted["name"]}}, time_of_changes(document)))
    document["queues"] = [*(document.get("queues") or ()), queue]
    return changed(document, wanted["name"], {field: wanted[field] for field in wanted if field != "name"})


def removed(document: Json, name: str, *, subtree: bool) -> None:
    """Remove a queue of the document, with `subtree` also its descendants."""
    _one(document, name)
    leaving = [name, *below(name, _parents(document))]
    if wrong := list(removal_problems(name, leaving, subtree=subtree)):
        raise refusal([as_problem(one) for one in wrong])
    document["queues"] = [one for one in document["queues"] if one["metadata"]["name"] not in leaving]


def children_first(document: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """Return names of queues in an order in which they can be removed one by one."""
    parents = _parents(document)
    return sorted(names, key=lambda name: len(below(name, parents)))


def _one(document: Json, name: str) -> Json:
    queues: list[Json] = document.get("queues") or []
    for queue in queues:
        if queue["metadata"]["name"] == name:
            return queue
    raise unknown("queue", name, (queue["metadata"]["name"] for queue in queues), where="in the scenario")


def _parents(document: Mapping[str, Any]) -> dict[str, str]:
    return {
        queue["metadata"]["name"]: (queue.get("spec") or {}).get("parent") or ""
        for queue in document.get("queues") or ()
    }


def _fields(queue: Mapping[str, Any]) -> Json:
    metadata = queue["metadata"]
    state = (queue.get("status") or {}).get("state")
    return {
        "name": metadata["name"],
        **(queue.get("spec") or {}),
        **({"state": state} if state else {}),
        **{part: metadata[part] for part in _METADATA if metadata.get(part)},
    }
