"""Remedies in weights: of the job's queue, and of nodes in the tree of hierarchical drf."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.explain.changes import Change, value_at
from scheduler_core.explain.cycle_view import Object, items
from scheduler_core.explain.remedies.remedy import Axis, Remedy, counter
from scheduler_core.explain.remedies.waiting import Waiting
from scheduler_core.model.queue import HIERARCHY, HIERARCHY_WEIGHTS, rooted
from scheduler_core.plugins.drf.tree import weight_of

_MOST_WEIGHT = 1024


def queue_weight(waiting: Waiting) -> Iterator[Remedy]:
    """Yield a remedy that raises the weight of the queue."""
    entry = waiting.object_of("queues", waiting.queue)
    if entry is None:
        return
    stated = value_at(entry, "spec.weight")
    weight = int(stated or 1)
    yield counter(
        "unblock.weight",
        f"weight of queue {waiting.queue}",
        Axis(_MOST_WEIGHT),
        lambda steps: [Change("queues", waiting.queue, "spec.weight", stated, weight + steps)],
        lambda steps: f"weight of queue {waiting.queue}: {weight + steps} instead of {weight}",
        lambda steps: {"queue": waiting.queue, "before": weight, "after": weight + steps},
        lambda steps: f"{weight + steps:,}",
    )


def tree_weights(waiting: Waiting) -> Iterator[Remedy]:
    """Yield a remedy for each node of the queue's path in the tree of hierarchical drf, from the queue up."""
    entry = waiting.object_of("queues", waiting.queue)
    if entry is None or not _has_tree(waiting.conf):
        return
    path, weights = _tree_path(entry)
    for level in range(min(len(path), len(weights)) - 1, 0, -1):
        yield _tree_weight(waiting, path[: level + 1], weight_of(weights[level]))


def _has_tree(conf: Mapping[str, Any]) -> bool:
    """Return whether drf uses the annotated hierarchy."""
    plugins = [plugin for tier in conf.get("tiers") or () for plugin in tier.get("plugins") or ()]
    return any(plugin.get("name") == "drf" and plugin.get("enableHierarchy") for plugin in plugins)


def _tree_path(queue: Object) -> tuple[list[str], list[str]]:
    """Return a queue's path from root and the weights along it, as written."""
    stated = queue["metadata"].get("annotations") or {}
    annotations = rooted(stated) or stated
    path, weights = annotations.get(HIERARCHY) or "", annotations.get(HIERARCHY_WEIGHTS) or ""
    return path.split("/"), weights.split("/")


def _tree_weight(waiting: Waiting, node: Sequence[str], weight: float) -> Remedy:
    """Return a remedy that raises the weight of a node, in every queue whose path contains it."""
    level, place = len(node) - 1, "/".join(node)
    below = [
        (queue, path, weights)
        for queue in items(waiting.view.document, "queues")
        for path, weights in [_tree_path(queue)]
        if path[: level + 1] == node and level < len(weights)
    ]

    def changes(steps: int) -> list[Change]:
        raised = f"{weight + steps:g}"
        made = []
        for queue, path, weights in below:
            stated = queue["metadata"]["annotations"]
            after = {
                **stated,
                HIERARCHY: "/".join(path),
                HIERARCHY_WEIGHTS: "/".join([*weights[:level], raised, *weights[level + 1 :]]),
            }
            made.append(Change("queues", queue["metadata"]["name"], "metadata.annotations", stated, after))
        return made

    return counter(
        "unblock.weight",
        f"weight of {place}",
        Axis(_MOST_WEIGHT),
        changes,
        lambda steps: f"weight of {place} in the tree of queues: {weight + steps:g} instead of {weight:g}",
        lambda steps: {"queue": place, "before": weight, "after": weight + steps},
        lambda steps: f"{weight + steps:,g}",
    )
