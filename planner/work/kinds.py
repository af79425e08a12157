"""What do workers do? Each feature registers its kinds of work and its chores when the app starts."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.work.models import Work

Step = Callable[[Any, Any], None]
"""Does claimed work, given its `Claim` and its `Watch`."""

_steps: dict[type[Work], Step] = {}
_background: set[type[Work]] = set()
_chores: list["Chore"] = []


@dataclass
class Chore:
    """What every worker does now and then beside its work; several workers that do it at once do no harm."""

    do: Callable[[], None]
    every_seconds: float
    """The time between two starts; 0 switches it off."""
    first_after_seconds: float = 0.0
    _next: float = field(init=False)

    def __post_init__(self) -> None:
        self._next = time.monotonic() + self.first_after_seconds

    def do_if_due(self) -> None:
        """Do it unless it was done less than `every_seconds` ago."""
        if self.every_seconds and time.monotonic() > self._next:
            self._next = time.monotonic() + self.every_seconds
            self.do()


def work_register(kind: type[Work], step: Step, *, in_background: bool = False) -> None:
    """Let workers claim rows of a kind and do them with `step`.

    What is done in the background waits until nothing of the other kinds does.
    """
    _steps[kind] = step
    if in_background:
        _background.add(kind)


def chore_register(chore: Chore) -> None:
    """Let workers do a chore."""
    _chores.append(chore)


def kinds() -> tuple[type[Work], ...]:
    """Return the kinds of work, in the order in which they were registered."""
    return tuple(_steps)


def awaited_kinds() -> tuple[type[Work], ...]:
    """Return the kinds of work that somebody waits for."""
    return tuple(kind for kind in _steps if kind not in _background)


def background_kinds() -> tuple[type[Work], ...]:
    """Return the kinds of work that are done while nobody waits for anything."""
    return tuple(kind for kind in _steps if kind in _background)


def steps() -> Mapping[type[Work], Step]:
    """Return how each kind of work is done."""
    return _steps


def chores() -> tuple[Chore, ...]:
    """Return what workers do beside their work."""
    return tuple(_chores)
