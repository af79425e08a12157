"""Simulations of changes: whether a job runs with a change, and how small the change may be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.explain.changes import applied
from scheduler_core.explain.cycle_view import CycleView, Object, items
from scheduler_core.explain.effects import JobOutcome, Outcome
from scheduler_core.explain.remedies import Remedy, Sizes
from scheduler_core.options import Options

Simulate = Callable[[Mapping[str, Any], Options], Mapping[str, Any]]
_EXPLAINED = Options()
_BARE = Options(explain=False)
_ONE_BY_ONE = 16
_LATER = 2
"""Sessions that a pipelined job gets to be bound, once evicted pods have terminated."""


class OutOfTrials(Exception):
    """No more simulations are allowed."""


@dataclass(frozen=True)
class Limits:
    """The limits of a search.

    Attributes
    ----------
    simulations : int
        The maximum number of simulations.
    milliseconds : float
        The maximum time, which `timer` measures.
    least : int
        The number of simulations to run even if they take longer, as few of a large cluster fit into the
        time.
    timer : callable, optional
        A clock in milliseconds; without one, time is not limited and a search is reproducible.

    """

    simulations: int = 500
    milliseconds: float = math.inf
    least: int = 20
    timer: Callable[[], float] | None = None


class Trials:
    """The simulations of one search.

    Attributes
    ----------
    base : CycleView
        The last cycle of the unchanged scenario.
    before : Outcome
        The outcome of all jobs there.
    count : int
        The number of simulations so far.

    """

    def __init__(self, document: Object, job: str, simulate: Simulate, limits: Limits) -> None:
        self.document = document
        self.simulate = simulate
        self.limits = limits
        self._started = self._now()
        self.count = 1
        self.base = CycleView(document, simulate({}, _EXPLAINED))
        self.job: str = self.base.job(job)["name"]
        self.before = Outcome(self.base.result)
        own = self._own(self.before)
        self.was_served, self.has_pods = own.served, own.has_pods
        lacks = own.pending or self.job in self.before.looping or not own.has_pods
        self.waits = bool(lacks) and not self.runs(self.before)
        self._remedy: Remedy | None = None
        self._known: dict[Sizes, Outcome | None] = {}

    def _own(self, outcome: Outcome) -> JobOutcome:
        return outcome.jobs[self.job]

    def _now(self) -> float:
        return self.limits.timer() if self.limits.timer is not None else 0.0

    @property
    def spent(self) -> float:
        """Return how many milliseconds the search has taken, 0 without a timer."""
        return self._now() - self._started

    @property
    def is_late(self) -> bool:
        """Return whether the time is up."""
        return self.spent > self.limits.milliseconds and self.count >= self.limits.least

    def runs(self, outcome: Outcome) -> bool:
        """Return whether the job gets its minimum, or the rest of its pods if it already had its minimum.

        A job without pods waits to be enqueued.
        """
        own = outcome.jobs.get(self.job)
        if own is not None and not self.has_pods:
            return own.phase not in ("", "Pending")
        if own is None or not (own.served or own.reserved) or self.job in outcome.looping:
            return False
        return not (self.was_served and (own.pending or outcome.lost(self.job)))

    @property
    def later_sessions(self) -> int:
        """Return the number of sessions after which a pipelined job should run."""
        return _LATER + int(self.document.get("termination_cycles") or 0)

    def binds_later(self, remedy: Remedy, sizes: Sizes) -> bool | None:
        """Return whether later sessions bind a job that is pipelined with a remedy; None: out of trials.

        The next session may refuse what a pipelined job was given: the queue is full, or the evicted pods
        take their places again.
        """
        if self.count >= self.limits.simulations or self.is_late:
            return None
        self.count += 1
        parts = applied(self.document, remedy.changes(sizes))
        # pods that terminate from the start do so through the whole run: their room counts as free
        pods = items({**self.document, **parts}, "pods")
        parts["pods"] = [pod for pod in pods if not pod["metadata"].get("deletionTimestamp")]
        parts["cycles"] = int(self.document.get("cycles") or 1) + self.later_sessions
        result = self.simulate(parts, _BARE)
        if "error" in result or not result.get("cycles"):
            return False
        outcome = Outcome(result)
        return self.runs(outcome) and outcome.jobs[self.job].served

    def tried(
        self, remedy: Remedy, sizes: Sizes, how: Options = _EXPLAINED
    ) -> tuple[Mapping[str, Any], Outcome | None]:
        """Simulate with a remedy at some sizes; return the result and, if the job runs, the outcome.

        Raises
        ------
        OutOfTrials
            If no more simulations are allowed.

        """
        if self.count >= self.limits.simulations or self.is_late:
            raise OutOfTrials
        self.count += 1
        if remedy is not self._remedy:
            self._remedy, self._known = remedy, {(0,) * len(remedy.axes): None}
        result = self.simulate(applied(self.document, remedy.changes(sizes)), how)
        outcome = None if "error" in result or not result.get("cycles") else Outcome(result)
        if outcome is not None and not self.runs(outcome):
            outcome = None
        self._known[sizes] = outcome
        return result, outcome

    def working(self, remedy: Remedy, sizes: Sizes) -> Outcome | None:
        """Return the outcome with a remedy at some sizes, None if the job does not run."""
        if remedy is self._remedy and sizes in self._known:
            return self._known[sizes]
        return None if not any(sizes) else self.tried(remedy, sizes, _BARE)[1]

    def works(self, remedy: Remedy, sizes: Sizes) -> bool:
        """Return whether the job runs with a remedy at some sizes."""
        return self.working(remedy, sizes) is not None

    def smallest(self, remedy: Remedy, sizes: Sizes) -> Sizes:
        """Return the smallest sizes with which the job runs, none larger than `sizes`, with which it does."""
        likely = tuple(min(axis.guess, size) for axis, size in zip(remedy.axes, sizes, strict=True))
        if any(likely) and likely != sizes and self.works(remedy, likely):
            sizes = likely
        for axis in range(len(sizes)):
            sizes = self._along(remedy, sizes, axis)
        while (loose := self._loose_axis(remedy, sizes)) is not None:
            sizes = self._along(remedy, sizes, loose)
        return self._fewest(remedy, sizes)

    def gaps(self, remedy: Remedy, sizes: Sizes) -> list[int]:
        """Return the tried sizes on the only axis that are above the smallest one but do not help."""
        if len(sizes) > 1:
            return []
        tried = [known[0] for known, outcome in self._known.items() if outcome is None]
        return sorted(size for size in tried if size > sizes[0])

    def _loose_axis(self, remedy: Remedy, sizes: Sizes) -> int | None:
        """Return an axis that can be lowered by another unit, None if none can."""
        return next((axis for axis, smaller in one_smaller(sizes) if self.works(remedy, smaller)), None)

    def _along(self, remedy: Remedy, sizes: Sizes, axis: int) -> Sizes:
        """Lower one axis as far as possible: first to its guess, then by bisection over round amounts."""

        def works(size: int) -> bool:
            return self.works(remedy, _at(sizes, axis, size))

        span = remedy.axes[axis]
        fails, runs = 0, sizes[axis]
        if runs == 0 or works(0):
            return _at(sizes, axis, 0)
        for likely in (span.guess, span.guess - 1):
            if fails < likely < runs:
                fails, runs = (fails, likely) if works(likely) else (likely, runs)
        step = span.rounds[0] if span.rounds else 1
        while fails and fails + step < runs and not works(fails + step):
            fails, step = fails + step, step * 2
        if fails and fails + step < runs:
            runs = fails + step
        for step in (*span.rounds, 1):
            if runs - fails > 1 and works(runs - 1):
                runs -= 1
            elif runs - fails > 1:
                fails = runs - 1
            while (middle := span.round_between(fails, runs, step)) is not None:
                fails, runs = (fails, middle) if works(middle) else (middle, runs)
        return _at(sizes, axis, runs)

    def _fewest(self, remedy: Remedy, sizes: Sizes) -> Sizes:
        """Return the smallest size of all, not just one whose next smaller size does not help.

        More is not always better. If there are few sizes, all are tried, unless time is short.
        """
        if len(sizes) > 1 or sizes[0] > _ONE_BY_ONE or self.spent > self.limits.milliseconds / 2:
            return sizes
        try:
            return next((size,) for size in range(1, sizes[0] + 1) if self.works(remedy, (size,)))
        except OutOfTrials:
            return sizes


def _at(sizes: Sizes, axis: int, size: int) -> Sizes:
    return (*sizes[:axis], size, *sizes[axis + 1 :])


def one_smaller(sizes: Sizes) -> Iterator[tuple[int, Sizes]]:
    """Yield every axis above 0, with the sizes one unit smaller on it."""
    for axis, size in enumerate(sizes):
        if size:
            yield axis, _at(sizes, axis, size - 1)
