"""What is one document of a text: its value, its faults, and where its parts stand?"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

MAX_DEPTH = 100
"""How deep values may nest. Kubernetes objects stay far below."""

Step = str | int
"""A key of a mapping or an index of a list."""
Steps = tuple[Step, ...]


class Span(NamedTuple):
    """Where a value stands in its text."""

    start: int
    """Index of its first character."""
    column: int
    """Characters before it on its line."""
    line: int
    """Its line, the first is 0."""
    end: int
    """Index behind its last character."""


class Fault(NamedTuple):
    """Something wrong with the form of a text."""

    rule: str
    message: str
    line: int
    """The first is 0."""
    fix: str
    steps: Steps = ()


class Place(NamedTuple):
    """Where a key stands, and where the lines of its text begin when it holds one."""

    line: int
    """The first is 0."""
    text_line: int | None = None
    """Line of the first line of a literal text (`key: |`); None when its lines are not those of the file."""


@dataclass(slots=True)
class Document:
    """One document of a text."""

    text: str
    """The whole text that it stands in."""
    whole: Span
    value: Any
    find: "Callable[[Document, Steps], Place]"
    """Return the place of a key of this document; the deepest part that exists counts."""
    faults: list[Fault] = field(default_factory=list)
    spans: dict[Steps, Span] = field(default_factory=dict)
    """The elements of its outer lists, so that a key is looked for in one element only."""

    def place(self, steps: Steps) -> Place:
        """Return where a key stands."""
        return self.find(self, steps)

    def nearest_span(self, steps: Steps) -> tuple[Span, Steps]:
        """Return the smallest known part that holds a key, and the way on from there."""
        for taken in range(len(steps), 0, -1):
            if steps[:taken] in self.spans:
                return self.spans[steps[:taken]], steps[taken:]
        return self.whole, steps
