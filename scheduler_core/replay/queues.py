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
    queues = list(queues)
    below = _below(queues, names)

    def after(queue: Object) -> Object:
        name = queue["metadata"]["name"]
        if name == ROOT or name not in below or _state(queue) in STATES:
            return queue
        marked = queue if name in names else _marked(queue, "true")
        return _with_state(marked, "Closing" if name in in_use else "Closed")

    return [after(queue) for queue in queues]


def opened(queues: Iterable[Object], names: Collection[str]) -> list[Object]:
    """Return the queues after some are opened, along with the children that closing them had closed."""
    queues = list(queues)
    below = _below(queues, names)

    def after(queue: Object) -> Object:
        name = queue["metadata"]["name"]
        by_parent = CLOSED_BY_PARENT in (queue["metadata"].get("annotations") or {})
        if name in names or (name in below and by_parent):
            return _with_state(_marked(queue, None), "Open")
        return queue

    return [after(queue) for queue in queues]


def settled(queues: Iterable[Object], in_use: Collection[str]) -> list[Object]:
    """Return the queues after those that are Closing and have no PodGroups are set to Closed."""
    return [
        _with_state(queue, "Closed")
        if _state(queue) == "Closing" and queue["metadata"]["name"] not in in_use
        else queue
        for queue in queues
    ]


def closes(queues: Iterable[Object]) -> bool:
    """Return whether any queue is Closing."""
    return any(_state(queue) == "Closing" for queue in queues)


def _below(queues: Iterable[Object], names: Collection[str]) -> set[str]:
    """Return queues with all their descendants."""
    children: dict[str, list[str]] = {}
    for queue in queues:
        parent = (queue.get("spec") or {}).get("parent")
        if parent:
            children.setdefault(parent, []).append(queue["metadata"]["name"])
    found, left = set(names), list(names)
    while left:
        for child in children.get(left.pop(), ()):
            if child not in found:
                found.add(child)
                left.append(child)
    return found


def _state(queue: Object) -> str:
    return (queue.get("status") or {}).get("state") or "Open"


def _with_state(queue: Object, state: str) -> Object:
    return {**queue, "status": {**(queue.get("status") or {}), "state": state}}


def _marked(queue: Object, mark: str | None) -> Object:
    annotations = dict(queue["metadata"].get("annotations") or {})
    annotations.pop(CLOSED_BY_PARENT, None)
    if mark is not None:
        annotations[CLOSED_BY_PARENT] = mark
    return {**queue, "metadata": {**queue["metadata"], "annotations": annotations}}
