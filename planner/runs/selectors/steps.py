"""Which steps did a run take? Unpacked, then filtered and cut into pages in memory."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

from planner.runs.models import Run
from planning.rows import Decision
from planning.traces import DECISIONS

TEXTS = ("job", "pod", "node", "for_pod")
"""In which fields words are looked for."""


class Steps(Sequence[Decision]):
    """Decisions in the order taken, or some of them."""

    def __init__(self, decisions: Sequence[Decision]) -> None:
        self._decisions = decisions

    def __len__(self) -> int:
        return len(self._decisions)

    @overload
    def __getitem__(self, place: int) -> Decision: ...
    @overload
    def __getitem__(self, place: slice) -> "Steps": ...
    def __getitem__(self, place: int | slice) -> "Decision | Steps":
        found = self._decisions[place]
        return found if isinstance(found, Decision) else Steps(found)

    def __iter__(self) -> Iterator[Decision]:
        return iter(self._decisions)

    def where(self, **wanted: Any) -> "Steps":
        """Return the steps whose fields have these values."""
        return self.that(lambda step: all(getattr(step, name) == value for name, value in wanted.items()))

    def that(self, holds: Callable[[Decision], bool]) -> "Steps":
        """Return the steps of which something holds."""
        return Steps([step for step in self._decisions if holds(step)])

    def naming(self, words: str, texts: Sequence[str] = TEXTS) -> "Steps":
        """Return the steps one of whose `texts` holds the words, in any case."""
        sought = words.casefold()
        return self.that(lambda step: any(sought in getattr(step, text).casefold() for text in texts))

    def ordered(self, field: str, *, backwards: bool = False) -> "Steps":
        """Return the steps in the order of a field."""
        return Steps(sorted(self._decisions, key=lambda step: getattr(step, field), reverse=backwards))


def decisions(run: Run) -> Steps:
    """Return every step of the run (1 query)."""
    parts = run.traces.filter(part=DECISIONS).order_by("key")
    return Steps([Decision(*row) for part in parts for row in part.payload()])
