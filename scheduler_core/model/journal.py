"""Journal of the objects that changed since the state was last renewed.

Writers of objects record only keys; `model.state` derives the consequences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

Object = Mapping[str, Any]


class Journal:
    """The keys of objects that were added, changed or removed, each once, in order of the first change.

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
    """PodGroups by namespace/name that record their changes in a journal."""

    def __init__(self, journal: Journal, podgroups: Mapping[str, Object]) -> None:
        self.journal = journal
        self._podgroups = dict(podgroups)

    def __getitem__(self, key: str) -> Object:
        return self._podgroups[key]

    def __setitem__(self, key: str, podgroup: Object) -> None:
        self.journal.podgroups[key] = None
        self._podgroups[key] = podgroup

    def write(self, key: str, podgroup: Object) -> None:
        """Write a PodGroup that differs only in its counts, and in its phase, which the job already has."""
        self._podgroups[key] = podgroup

    def __delitem__(self, key: str) -> None:
        self.journal.podgroups[key] = None
        del self._podgroups[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._podgroups)

    def __len__(self) -> int:
        return len(self._podgroups)
