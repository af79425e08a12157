"""For which jobs is something reserved that they do not hold yet?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler_core.resource import Resource

NAMED = 3
"""So many holders of a resource are named, the largest ones."""


class Reservations:
    """What is reserved for enqueued jobs: of each resource the largest holders, and how many there are."""

    __slots__ = ("_holders", "_largest")

    def __init__(self) -> None:
        self._largest: dict[str, list[tuple[float, str]]] = {}
        self._holders: dict[str, int] = {}

    def add(self, job: str, reserved: Resource) -> None:
        """Count what is reserved for a job."""
        for name, amount in reserved.items():
            if amount > 0:
                self._holders[name] = self._holders.get(name, 0) + 1
                self._keep(name, [(-amount, job)])

    def include(self, other: Reservations) -> None:
        """Add all that is reserved in another queue."""
        for name, holders in other._holders.items():
            self._holders[name] = self._holders.get(name, 0) + holders
            self._keep(name, other._largest[name])

    def of(self, names: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the `largest` holders of some resources and how many `holders` there are, none left out."""
        return {
            name: {
                "largest": [{"job": job, "reserved": -amount} for amount, job in self._largest[name]],
                "holders": self._holders[name],
            }
            for name in names
            if name in self._largest
        }

    def _keep(self, name: str, holders: list[tuple[float, str]]) -> None:
        self._largest[name] = sorted([*self._largest.get(name, ()), *holders])[:NAMED]
