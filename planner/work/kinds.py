"""Registry of the kinds of work and the chores that features hand to the workers."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.work.models import Work

Step = Callable[[Any, Any], None]
"""Executes claimed work, given its `Claim` and its `Watch`."""

_steps: dict[type[Work], Step] = {}
_background: set[type[Work]] = set()
_chores: list["Chore"] = []
_later: list[Callable[[], None]] = []
_completing = threading.RLock()


@dataclass
class Chore:
    """A periodic task of every worker; several workers may execute it at once."""

    do: Callable[[], None]
    every_seconds: float
    """The interval between two starts; 0 disables it."""
    first_after_seconds: float = 0.0
    _next: float = field(init=False)

    def __post_init__(self) -> None:
        self._next = time.monotonic() + self.first_after_seconds

    def do_if_due(self) -> None:
        """Run it unless it was started less than `every_seconds` ago."""
        if self.every_seconds and time.monotonic() > self._next:
            self._next = time.monotonic() + self.every_seconds
            self.do()


def register_when_needed(register: Callable[[], None]) -> None:
    """Call `register` when the registry is first read.

    The modules that execute work take a third of a second to import, and most commands need none of them.
    """
    _later.append(register)


def _complete() -> None:
    """Register what was left for later; other threads wait until everything is registered."""
    with _completing:
        while _later:
            _later.pop()()


def work_register(kind: type[Work], step: Step, *, in_background: bool = False) -> None:
    """Let workers claim rows of a kind and execute them with `step`.

    Background work waits until no other kind is queued.
    """
    _steps[kind] = step
    if in_background:
        _background.add(kind)


def chore_register(chore: Chore) -> None:
    """Let workers run a chore."""
    _chores.append(chore)


def kinds() -> tuple[type[Work], ...]:
    """Return the kinds of work in order of registration."""
    _complete()
    return tuple(_steps)


def awaited_kinds() -> tuple[type[Work], ...]:
    """Return the kinds of work that users wait for."""
    return tuple(kind for kind in kinds() if kind not in _background)


def background_kinds() -> tuple[type[Work], ...]:
    """Return the kinds of work that run in the background."""
    return tuple(kind for kind in kinds() if kind in _background)


def steps() -> Mapping[type[Work], Step]:
    """Return the step of each kind of work."""
    _complete()
    return _steps


def chores() -> tuple[Chore, ...]:
    """Return the chores of the workers."""
    _complete()
    return tuple(_chores)
