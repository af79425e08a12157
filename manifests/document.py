"""A document of a text: its value, its errors, and the places of its parts."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

MAX_DEPTH = 100
"""The limit of nesting. Kubernetes objects stay far below."""

Step = str | int
"""A key of a mapping or an index of a list."""
Steps = tuple[Step, ...]


class Span(NamedTuple):
    """The place of a value in its text."""

    start: int
    """Index of its first character."""
    column: int
    """The number of characters before it on its line."""
    line: int
    """Its line, from 0."""
    end: int
    """Index after its last character."""


class Fault(NamedTuple):
    """An error in the form of a text."""

    rule: str
    message: str
    line: int
    """From 0."""
    fix: str
    steps: Steps = ()


class Place(NamedTuple):
    """The place of a key, and where the lines of its text begin if its value is a text."""

    line: int
    """From 0."""
    text_line: int | None = None
    """Line of the first line of a literal text (`key: |`); None if its lines are not those of the file."""


@dataclass(slots=True)
class Document:
    """One document of a text."""

    text: str
    """The whole text that contains it."""
    whole: Span
    value: Any
    find: "Callable[[Document, Steps], Place]"
    """Return the place of a key of this document; the deepest part that exists counts."""
    faults: list[Fault] = field(default_factory=list)
    spans: dict[Steps, Span] = field(default_factory=dict)
    """The elements of its outer lists, so that only one element is searched for a key."""

    def place(self, steps: Steps) -> Place:
        """Return the place of a key."""
        return self.find(self, steps)

    def nearest_span(self, steps: Steps) -> tuple[Span, Steps]:
        """Return the smallest known part with a key, and the rest of its path."""
        for taken in range(len(steps), 0, -1):
            if steps[:taken] in self.spans:
                return self.spans[steps[:taken]], steps[taken:]
        return self.whole, steps
