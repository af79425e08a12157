"""Shares equal amounts between rows, so that hundreds of thousands of them fit into memory."""

from __future__ import annotations

from scheduler_core.rendering import amounts
from scheduler_core.resource import Resource

MOST = 20_000
"""The maximum number of stored maps; in a cluster with more distinct amounts few are equal."""


class SharedMaps:
    """Amounts by resource, with one object for all equal ones; they must not be changed.

    Examples
    --------
    >>> shared = SharedMaps()
    >>> shared.one({"cpu": 1}) is shared.one({"cpu": 1})
    True

    """

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[str, float], ...], dict[str, float]] = {}
        self._of: dict[tuple[object, ...], dict[str, float]] = {}

    def one(self, amounts: dict[str, float]) -> dict[str, float]:
        """Return the map that represents all equal ones."""
        if len(self._known) >= MOST:
            self._known.clear()
        return self._known.setdefault(tuple(amounts.items()), amounts)

    def of(self, resource: Resource) -> dict[str, float]:
        """Return the map of a resource vector, see `rendering.amounts`."""
        key = resource.cpu, resource.memory, *(resource.scalars or {}).items()
        known = self._of.get(key)
        if known is None:
            if len(self._of) >= MOST:
                self._of.clear()
            known = self._of[key] = self.one(amounts(resource))
        return known
