"""Free amounts of each node over time, with a row for each change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from scheduler_core.model.node import NodeTable
from scheduler_core.rendering import number
from scheduler_core.replay.shared_maps import MOST, SharedMaps


class FreeRow(NamedTuple):
    """What is free on a node from a session on.

    Attributes
    ----------
    t : float
        Seconds from the beginning.
    free : mapping
        By resource, without resources of which nothing is free. Terminating pods hold their amounts until
        they are deleted. A deleted node has nothing free.

    """

    t: float
    node: str
    free: Mapping[str, float]

    def shown(self) -> dict[str, Any]:
        """Return the row in a result."""
        return {"t": number(self.t), "node": self.node, "free": self.free}


class FreeRoom:
    """The free amounts of nodes at the open of sessions.

    Attributes
    ----------
    rows : list of FreeRow
        A row for each change.

    """

    def __init__(self, rows: Iterable[Mapping[str, Any]] = ()) -> None:
        self.rows = [FreeRow(float(row["t"]), row["node"], row["free"]) for row in rows]
        self._last: dict[str, Mapping[str, float]] = {row.node: row.free for row in self.rows}
        self._seen: tuple[NodeTable, int] | None = None
        self._shown: dict[tuple[float, ...], Mapping[str, float]] = {}
        self._shared = SharedMaps()

    def record(self, time: float, nodes: NodeTable) -> None:
        """Record the free amounts at the open of a session, for nodes on which they changed."""
        now = len(nodes.changes)
        if self._seen is not None and self._seen[0] is nodes:
            if self._seen[1] == now:
                return
            numbers: Iterable[int] = sorted(nodes.changes.since(self._seen[1]))
        else:
            numbers = range(len(nodes))
            self._shown.clear()
            for name in sorted(set(self._last) - set(nodes.names)):
                self._put(time, name, {})
        names = nodes.axis.names
        for node in numbers:
            idle = tuple(nodes.idle_of[node])
            free = self._shown.get(idle)
            if free is None:
                amounts = {name: number(amount) for name, amount in zip(names, idle, strict=True) if amount}
                free = self._shown[idle] = self._shared.one(amounts)
                if len(self._shown) > MOST:
                    self._shown.clear()
            self._put(time, nodes.names[node], free)
        self._seen = nodes, now

    def _put(self, time: float, node: str, free: Mapping[str, float]) -> None:
        before = self._last.get(node)
        if before is not free and before != free:
            self._last[node] = free
            self.rows.append(FreeRow(time, node, free))
