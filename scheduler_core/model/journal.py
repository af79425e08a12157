"""Which objects changed since the state was brought up to date?

Whoever writes an object notes it here, and nothing else: what follows from it is for `model.state` to find.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

Object = Mapping[str, Any]


class Journal:
    """The keys of the objects that came, changed or went, each once, in order of the first change.

    Attributes
    ----------
    pods, podgroups : dict
        By namespace/name.

    """

    __slots__ = ("podgroups", "pods")

    def __init__(self) -> None:
        self.pods: dict[str, None] = {}
        self.podgroups: dict[str, None] = {}


class PodGroups(MutableMapping[str, Object]):
    """PodGroups by namespace/name, which note in a journal what happens to them."""

    def __init__(self, journal: Journal, podgroups: Mapping[str, Object]) -> None:
        self.journal = journal
        self._podgroups = dict(podgroups)

    def __getitem__(self, key: str) -> Object:
        return self._podgroups[key]

    def __setitem__(self, key: str, podgroup: Object) -> None:
        self.journal.podgroups[key] = None
        self._podgroups[key] = podgroup

    def write(self, key: str, podgroup: Object) -> None:
        """Write a PodGroup in whose status nothing differs but the phase, which its job has, and counts."""
        self._podgroups[key] = podgroup

    def __delitem__(self, key: str) -> None:
        self.journal.podgroups[key] = None
        del self._podgroups[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._podgroups)

    def __len__(self) -> int:
        return len(self._podgroups)
