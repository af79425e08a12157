"""Plugin nodegroup: ``spec/node_plugins.md`` 1, ``scoring.md`` 5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.reference.cluster import Node
from tests.reference.plugin import Plugin
from tests.reference.pods import Task

LABEL = "volcano.sh/nodegroup-name"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class NodeGroup(Plugin):
    def affinity_of(self, task: Task) -> Mapping[str, Any] | None:
        """Return the affinity of the queue, or of its nearest ancestor with one."""
        queues = self.session.cluster.queues
        queue, seen = queues[task.job.queue], set()
        inherits = self.session.entries["nodegroup"].get("enableHierarchy") is True
        while queue.affinity is None and inherits and queue.parent in queues and queue.name not in seen:
            seen.add(queue.name)
            queue = queues[queue.parent]
        return queue.affinity

    def groups_of(self, task: Task) -> dict[tuple[str, str], list[str]]:
        affinity = self.affinity_of(task) or {}
        return {
            (kind, strength): list((affinity.get(kind) or {}).get(strength) or ())
            for kind in ("nodeGroupAffinity", "nodeGroupAntiAffinity")
            for strength in (REQUIRED, PREFERRED)
        }

    def predicate(self, task: Task, node: Node) -> list[int]:
        groups = self.groups_of(task)
        unset = not any(groups.values())
        if LABEL not in node.labels:
            return [] if unset and not self.flag("strict", True) else [3]
        group = node.labels[LABEL]
        allowed = group in groups["nodeGroupAffinity", REQUIRED] + groups["nodeGroupAffinity", PREFERRED]
        allowed = allowed and group not in groups["nodeGroupAntiAffinity", REQUIRED]
        allowed = allowed or group in groups["nodeGroupAntiAffinity", PREFERRED]
        return [] if allowed else [3]

    def node_order(self, task: Task, node: Node) -> float:
        groups, group = self.groups_of(task), node.labels.get(LABEL)
        if group is None or self.affinity_of(task) is None:
            return 0.0
        if group in groups["nodeGroupAntiAffinity", PREFERRED]:
            return -1.0
        score = 100.0 if group in groups["nodeGroupAffinity", REQUIRED] else 0.0
        preferred = groups["nodeGroupAffinity", PREFERRED]
        if group in preferred:
            distinct, last = len({*preferred}), len(preferred) - 1 - preferred[::-1].index(group)
            ordered = self.flag("enablePreferredOrder", False)
            score += 50.0 * (distinct - last) / distinct if ordered else 50.0
        return score
