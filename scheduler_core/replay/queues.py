"""Closing and opening queues.

Source: volcano ``pkg/controllers/queue`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from scheduler_core.model.queue import ROOT

Object = Mapping[str, Any]

CLOSED_BY_PARENT = "volcano.sh/closed-by-parent"
STATES = ("Closing", "Closed")


def closed(queues: Iterable[Object], names: Collection[str], in_use: Collection[str]) -> list[Object]:
    """Return the queues after some, and all queues below them, are closed; root stays open.

    A queue with PodGroups is Closing until the last of them is deleted. Children record that their parent
    closed them.

    Parameters
    ----------
    queues : iterable of mapping
        All queues.
    names : collection of str
        The queues to close.
    in_use : collection of str
        The queues that have PodGroups.

    """
    by_name = {queue["metadata"]["name"]: queue for queue in queues}
    left = [(name, False) for name in names]
    while left:
        name, by_parent = left.pop(0)
        queue = by_name.get(name)
        if queue is None or name == ROOT or _state(queue) in STATES:
            continue
        marked = _marked(queue, "true") if by_parent else queue
        by_name[name] = _with_state(marked, "Closing" if name in in_use else "Closed")
        left += [(child, True) for child in _children(by_name, name) if child not in names]
    return list(by_name.values())


def opened(queues: Iterable[Object], names: Collection[str]) -> list[Object]:
    """Return the queues after some are opened, along with the children that closing them had closed.

    A queue whose parent stays closed is not opened.
    """
    by_name = {queue["metadata"]["name"]: queue for queue in queues}
    left = [name for name in names if name in by_name and _state(by_name[name]) in STATES]
    while ready := [name for name in left if not _has_closed_parent(by_name, name)]:
        for name in ready:
            by_name[name] = _with_state(_marked(by_name[name], None), "Open")
        children = [child for name in ready for child in _children(by_name, name)]
        left = [
            *(name for name in left if name not in ready),
            *(name for name in children if CLOSED_BY_PARENT in _annotations(by_name[name])),
        ]
    return list(by_name.values())


def settled(queues: Iterable[Object], in_use: Collection[str]) -> list[Object]:
    """Return the queues after those that are Closing and have no PodGroups are set to Closed."""
    return [
        _with_state(queue, "Closed")
        if _state(queue) == "Closing" and queue["metadata"]["name"] not in in_use
        else queue
        for queue in queues
    ]


def accepts_podgroups(queues: Iterable[Object], name: str) -> bool:
    """Return whether PodGroups may be created in a queue: it is neither Closing nor Closed."""
    return not any(_state(queue) in STATES for queue in queues if queue["metadata"]["name"] == name)


def closes(queues: Iterable[Object]) -> bool:
    """Return whether any queue is Closing."""
    return any(_state(queue) == "Closing" for queue in queues)


def _children(by_name: Mapping[str, Object], parent: str) -> list[str]:
    return [name for name, queue in by_name.items() if (queue.get("spec") or {}).get("parent") == parent]


def _has_closed_parent(by_name: Mapping[str, Object], name: str) -> bool:
    parent = (by_name[name].get("spec") or {}).get("parent") or ""
    return parent in by_name and parent != ROOT and _state(by_name[parent]) in STATES


def _annotations(queue: Object) -> Mapping[str, str]:
    annotations: Mapping[str, str] = queue["metadata"].get("annotations") or {}
    return annotations


def _state(queue: Object) -> str:
    return (queue.get("status") or {}).get("state") or "Open"


def _with_state(queue: Object, state: str) -> Object:
    return {**queue, "status": {**(queue.get("status") or {}), "state": state}}


def _marked(queue: Object, mark: str | None) -> Object:
    annotations = dict(_annotations(queue))
    annotations.pop(CLOSED_BY_PARENT, None)
    if mark is not None:
        annotations[CLOSED_BY_PARENT] = mark
    return {**queue, "metadata": {**queue["metadata"], "annotations": annotations}}
