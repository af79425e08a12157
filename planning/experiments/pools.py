"""The setting for the number of nodes in a pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from manifests.pools import node_like, numbered_names
from planning.experiments.levels import Json, Parts, Setting, UnusableSetting
from planning.experiments.values import Refusal, count_refusal
from planning.nodes import pool_name
from scheduler_core.model.unmodelled import belongs_to_node


@dataclass(frozen=True)
class PoolSetting(Setting):
    """The number of nodes in a pool; removed nodes are the last by name among those without pods.

    Pods of DaemonSets and static pods, which every node has, do not count.
    """

    pool: str

    def present(self, document: Json) -> Any:
        """Return the number of nodes in the pool."""
        return len(self._members(document))

    def moved(self, document: Json, value: Any) -> Parts:
        """Return the nodes with this many in the pool."""
        nodes, members = list(document.get("nodes") or ()), self._members(document)
        more = int(value) - len(members)
        if more >= 0:
            first = members[0]["metadata"]["name"]
            names = numbered_names(f"{first}-more", more, {node["metadata"]["name"] for node in nodes})
            return {"nodes": [*nodes, *(node_like(members[0], name) for name in names)]}
        held = {
            (pod.get("spec") or {}).get("nodeName")
            for pod in document.get("pods") or ()
            if not belongs_to_node(pod)
        }
        empty = [name for node in members if (name := node["metadata"]["name"]) not in held]
        if len(empty) < -more:
            raise UnusableSetting(
                "values",
                f"only {len(empty)} of {len(members)} nodes of pool {self.pool} hold no pods",
                f"write {len(members) - len(empty)} or more, or drain nodes at a time of a forecast",
            )
        gone = set(empty[more:])
        return {"nodes": [node for node in nodes if node["metadata"]["name"] not in gone]}

    def timed(self, document: Json, value: Any) -> Json:
        """Return how many nodes join the pool, or are drained."""
        more = int(value) - len(self._members(document))
        return {"pool": self.pool, **({"add": more} if more > 0 else {"remove": -more, "how": "drain"})}

    def refusal(self, document: Json, value: Any) -> Refusal | None:
        """Return why the pool cannot have this many nodes."""
        if found := count_refusal(value):
            return found
        try:
            if not self.at:
                self.moved(document, value)
        except UnusableSetting as unusable:
            return unusable.message, unusable.fix
        return None

    def _members(self, document: Json) -> list[Json]:
        nodes = document.get("nodes") or ()
        members = [node for node in nodes if pool_name(node) == self.pool]
        if not members:
            known = ", ".join(sorted({pool_name(node) for node in nodes})[:10])
            raise UnusableSetting("pool", f"there is no pool {self.pool!r}", f"name one of {known}")
        return sorted(members, key=lambda node: str(node["metadata"]["name"]))
