"""Reuse of cells that another experiment has measured."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from planning.experiments.definition import Definition
from planning.experiments.outcomes import Entry
from planning.experiments.space import Combination, Space

_ONLY_HERE = ("name", "values", "range", "price")
"""Keys that say how a setting is tried, not what it is."""


class KnownCells:
    """The cells of an experiment by their changes, whatever the order of settings and levels."""

    def __init__(self, written: Mapping[str, Any], space: Space) -> None:
        self.definition, self.space = Definition.of(written), space
        self.cycles = (written.get("run") or {}).get("cycles", 1)
        self.forecast = written.get("forecast")
        self.settings = [
            json.dumps({key: value for key, value in one.items() if key not in _ONLY_HERE}, sort_keys=True)
            for one in written["settings"]
        ]

    def key(self, combination: Combination) -> frozenset[tuple[str, str]]:
        """Return the changes of a cell: each moved setting with its value."""
        levels = zip(self.settings, self.space.chosen(combination), strict=True)
        return frozenset(
            (setting, json.dumps(level.value)) for setting, level in levels if not level.is_present
        )

    def is_like(self, other: "KnownCells") -> bool:
        """Return whether both measure the same figures over the same time against the same goals."""
        ours, theirs = self.definition, other.definition
        return (ours.figures, ours.goals, self.cycles, self.forecast) == (
            theirs.figures, theirs.goals, other.cycles, other.forecast,
        )  # fmt: skip

    def shared(
        self, cells: Iterable[Combination], other: "KnownCells", entries: Mapping[Combination, Entry]
    ) -> dict[Combination, Entry]:
        """Return the entries of the cells that another experiment has measured; errors are retried."""
        if not self.is_like(other):
            return {}
        known = {
            other.key(cell): entry
            for cell, entry in entries.items()
            if not (isinstance(entry, dict) and "error" in entry)
        }
        return {cell: known[key] for cell in cells if (key := self.key(cell)) in known}
