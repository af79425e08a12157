"""What is free on each node while time passes? A row only where it changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.model.node import NodeTable
from scheduler_core.rendering import number
from scheduler_core.replay.shared_maps import SharedMaps


class FreeRoom:
    """What sessions found free on the nodes.

    Attributes
    ----------
    rows : list of dict
        ``t``, ``node`` and ``free``: by resource what no pod holds there from then on, resources of which
        nothing is free left out. Pods that terminate hold theirs until they are gone. A node that is gone
        has nothing free.

    """

    def __init__(self, rows: Iterable[Mapping[str, Any]] = ()) -> None:
        self.rows: list[Mapping[str, Any]] = list(rows)
        self._last: dict[str, Mapping[str, float]] = {row["node"]: row["free"] for row in self.rows}
        self._seen: tuple[NodeTable, int] | None = None
        self._shared = SharedMaps()

    def found(self, time: float, nodes: NodeTable) -> None:
        """Record what a session finds, of the nodes where it differs from what was found before."""
        if self._seen is not None and self._seen[0] is nodes:
            numbers: Iterable[int] = sorted(nodes.changes.since(self._seen[1]))
        else:
            numbers = range(len(nodes))
            for name in sorted(set(self._last) - set(nodes.names)):
                self._put(time, name, {})
        names = nodes.axis.names
        for node in numbers:
            free = {
                name: number(amount)
                for name, amount in zip(names, nodes.idle_of[node], strict=True)
                if amount
            }
            self._put(time, nodes.names[node], free)
        self._seen = nodes, len(nodes.changes)

    def _put(self, time: float, node: str, free: dict[str, float]) -> None:
        if self._last.get(node) != free:
            shared = self._last[node] = self._shared.one(free)
            self.rows.append({"t": number(time), "node": node, "free": shared})
