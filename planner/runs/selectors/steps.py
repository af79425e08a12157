"""The steps of a run, packed in parts: a page unpacks those that it shows, a filter all."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

from planner.runs.models import Run
from planning.rows import Decision
from planning.rows.stored import DECISIONS, DECISIONS_IN_A_PART

TEXTS = ("job", "pod", "node", "for_pod")
"""The fields that a text search looks at."""


class Steps(Sequence[Decision]):
    """Decisions of a run in order, all or a selection."""

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
        return self.matching(lambda step: all(getattr(step, name) == value for name, value in wanted.items()))

    def matching(self, condition: Callable[[Decision], bool]) -> "Steps":
        """Return the steps for which a condition holds."""
        return Steps([step for step in self._decisions if condition(step)])

    def containing(self, words: str, texts: Sequence[str] = TEXTS) -> "Steps":
        """Return the steps one of whose `texts` contains the words, ignoring case."""
        sought = words.casefold()
        return self.matching(lambda step: any(sought in getattr(step, text).casefold() for text in texts))

    def ordered(self, field: str, *, backwards: bool = False) -> "Steps":
        """Return the steps sorted by a field."""
        return Steps(sorted(self._decisions, key=lambda step: getattr(step, field), reverse=backwards))


class _StoredDecisions(Sequence[Decision]):
    """The decisions of a run; only the parts in use are read."""

    def __init__(self, run: Run, total: int) -> None:
        self._run = run
        self._total = total
        self._parts: dict[int, list[Decision]] = {}

    def __len__(self) -> int:
        return self._total

    @overload
    def __getitem__(self, place: int) -> Decision: ...
    @overload
    def __getitem__(self, place: slice) -> list[Decision]: ...
    def __getitem__(self, place: int | slice) -> Decision | list[Decision]:
        places = range(self._total)[place]
        if isinstance(places, int):
            return self._of([places])[0]
        return self._of(places)

    def __iter__(self) -> Iterator[Decision]:
        return iter(self._of(range(self._total)))

    def _of(self, places: Sequence[int]) -> list[Decision]:
        """Return the decisions at these places, with one query for the parts not read yet."""
        needed = {place // DECISIONS_IN_A_PART for place in (*places[:1], *places[-1:])}
        if needed:
            self._read(set(range(min(needed), max(needed) + 1)) - self._parts.keys())
        return [self._parts[place // DECISIONS_IN_A_PART][place % DECISIONS_IN_A_PART] for place in places]

    def _read(self, numbers: set[int]) -> None:
        if not numbers:
            return
        keys = [f"{number:06}" for number in numbers]
        for part in self._run.traces.filter(part=DECISIONS, key__in=keys):
            self._parts[int(part.key)] = [Decision(*row) for row in part.payload()]


def decisions(run: Run) -> Steps:
    """Return every step of the run (1 query for the parts in use)."""
    if run.outcome is not None and run.outcome.counts is not None:
        return Steps(_StoredDecisions(run, run.outcome.counts["decisions"]))
    parts = run.traces.filter(part=DECISIONS).order_by("key")
    return Steps([Decision(*row) for part in parts for row in part.payload()])
