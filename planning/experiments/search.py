"""Search for the smallest change that reaches every goal.

Combinations are simulated by rising price, so that the first one that reaches every goal is the smallest of
the grid: each cheaper one was simulated and missed. No property of the scheduler is assumed; more weight may
well give a queue less.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from planning.experiments.cells import Cell, Grid
from planning.experiments.figure_texts import goal_text
from planning.experiments.figures import Figure, Goal
from planning.experiments.space import Combination, Space
from scheduler_core.explain.wording import agreed, listed
from traces.text import counted

Status = Literal["found", "impossible", "undecided"]
Measure = Callable[[Sequence[Combination]], Iterable[Cell]]
"""Simulates combinations and yields their cells in the same order."""
Accept = Callable[[Cell], bool]
BATCH = 16


ONE_CYCLE = (
    "Each combination was simulated for one cycle: pods wait, pipelined, while the pods evicted for them"
    " terminate. With 3 cycles (run: {cycles: 3}) they can start."
)


@dataclass(frozen=True)
class Missed:
    """A missed goal and by how much, in the figure's unit."""

    goal: Goal
    by: float


@dataclass(frozen=True)
class Found:
    """The result of a search.

    Attributes
    ----------
    status : str
        ``found``: `cell` is the smallest change of the grid; ``impossible``: no combination reaches the
        goals, and `cell` comes closest; ``undecided``: the limit ended the search; `cell` is the closest.
    cell : Cell or None
        None when every simulation gave an error.
    missed : tuple of Missed
        The goals that `cell` does not reach.
    tried : tuple of Cell
        Everything that was simulated, by rising price.
    grid_size : int
        How many combinations there are.
    refused : int
        How many of `tried` reach every goal but cannot be proposed; `cell` is none of them if `missed`.

    """

    status: Status
    cell: Cell | None
    missed: tuple[Missed, ...]
    tried: tuple[Cell, ...]
    grid_size: int
    refused: int = 0

    @property
    def failed(self) -> int:
        """Return how many simulations gave an error."""
        return sum(bool(cell.error) for cell in self.tried)


def by_price(space: Space) -> Iterator[Combination]:
    """Yield every combination in order of price; for equal prices those with fewer moved settings first.

    Each step moves one setting to its next level: levels are sorted by price, so that no combination is
    cheaper than the one that it was reached from, and the heap gives them in order.
    """
    start = (0,) * len(space.axes)
    waiting = [(0.0, 0, start, 0)]
    while waiting:
        _, _, combination, first = heapq.heappop(waiting)
        yield combination
        # Only later settings move on from here, so that each combination is reached in one way.
        for place in range(first, len(combination)):
            if combination[place] + 1 < len(space.axes[place].levels):
                after = (*combination[:place], combination[place] + 1, *combination[place + 1 :])
                moved = sum(map(bool, after))
                heapq.heappush(waiting, (space.price(after), moved, after, place))


def smallest(
    grid: Grid,
    goals: Sequence[Goal],
    *,
    limit: int,
    measure: Measure | None = None,
    acceptable: Accept = lambda cell: True,
) -> Found:
    """Return the smallest change that reaches every goal.

    Parameters
    ----------
    grid : Grid
        The settings that may change.
    goals : sequence of Goal
        The goals to reach.
    limit : int
        The most combinations that are simulated.
    measure : callable, optional
        Simulates batches; without it one after the other.
    acceptable : callable, optional
        Says whether a cell that reaches the goals may be proposed: the webhook may refuse its change.

    """
    figures = goal_figures(goals)
    many = measure or (lambda batch: [grid.cell(combination, figures) for combination in batch])
    order, tried, possible = by_price(grid), list[Cell](), list[Cell]()
    while batch := list(islice(order, min(BATCH, limit - len(tried)))):
        for cell in many(batch):
            tried.append(cell)
            if cell.error or missed_goals(cell, goals):
                possible.append(cell)
            elif acceptable(cell):
                return Found("found", cell, (), tuple(tried), grid.size)
    return closest(tried, possible, goals, grid.size)


def closest(
    tried: Sequence[Cell],
    possible: Sequence[Cell],
    goals: Sequence[Goal],
    size: int,
    figures: Sequence[Figure] | None = None,
) -> Found:
    """Return the result of a search in which no cell is proposed.

    `possible` are those of `tried` that are not refused although they reach every goal; `size` is the number
    of combinations, `figures` are the measured figures, by default those of the goals.
    """
    status: Status = "impossible" if len(tried) == size else "undecided"
    measured = [cell for cell in possible if not cell.error]

    def order(cell: Cell) -> tuple[float, float]:
        return _distance(missed_goals(cell, goals, figures)), cell.price

    nearest = min(measured, key=order, default=None)
    missed = missed_goals(nearest, goals, figures) if nearest else ()
    return Found(status, nearest, missed, tuple(tried), size, len(tried) - len(possible))


def why_none(verdict: Mapping[str, Any], *, is_of_forecasts: bool) -> str:
    """Return what became of the combinations of a search that proposes none, from its stored result."""
    refused, failed = verdict.get("refused", 0), verdict.get("failed", 0)
    missing = verdict["tried"] - refused - failed
    if not refused and not failed:
        return "It misses a goal." if verdict["tried"] == 1 else "Each of them misses a goal."
    is_open = agreed(refused, " or leaves one open", " or leave one open") if is_of_forecasts else ""
    parts = [
        f"{missing:,} {agreed(missing, 'misses', 'miss')} a goal" if missing else "",
        f"{refused:,} {agreed(refused, 'reaches', 'reach')} every goal but"
        f" {agreed(refused, 'is', 'are')} refused by the webhook{is_open}"
        if refused
        else "",
        f"{failed:,} could not be {'forecast' if is_of_forecasts else 'simulated'}" if failed else "",
    ]
    return f"Of {counted(verdict['tried'], 'combination')}, {listed(filter(None, parts))}."


def remark(verdict: Mapping[str, Any], written: Mapping[str, Any]) -> str:
    """Return what an experiment's document makes impossible whatever the settings; empty: nothing known.

    >>> goals = [{"figure": "waiting_pods", "at_most": 0}]
    >>> remark({"status": "impossible"}, {"goals": goals, "run": {"cycles": 3}})
    ''
    """
    if verdict["status"] == "found" or "forecast" in written:
        return ""
    cycles = (written.get("run") or {}).get("cycles", 1)
    waits = any(goal["figure"].startswith("waiting_") for goal in written.get("goals") or ())
    return ONE_CYCLE if cycles == 1 and waits else ""


def why_smallest(verdict: Mapping[str, Any], *, is_of_forecasts: bool) -> str:
    """Return why nothing cheaper than the proposal of a search is proposed, from its stored result."""
    failed, measured = verdict.get("failed", 0), "forecast" if is_of_forecasts else "simulated"
    is_open = ", leaves one open" if is_of_forecasts else ""
    unknown = f"{failed:,} of them could not be {measured}, and " if failed else ""
    other = "other " if failed else ""
    return f"{unknown}every {other}cheaper one misses a goal{is_open}, or is one that the webhook refuses."


def at_the_end(space: Space, combination: Combination) -> list[str]:
    """Return the settings at the largest or the smallest of their values: these bounds limit the search."""
    return [
        axis.name for axis, place in zip(space.axes, combination, strict=True) if axis.is_at_the_end(place)
    ]


def goal_figures(goals: Sequence[Goal]) -> list[Figure]:
    """Return the figures that goals are about, each once."""
    return list(dict.fromkeys(goal.figure for goal in goals))


def missed_goals(
    cell: Cell, goals: Sequence[Goal], figures: Sequence[Figure] | None = None
) -> tuple[Missed, ...]:
    """Return the goals that a measured cell misses; `figures` are those of the goals by default.

    Over seeds a goal is reached when the whole 95 % interval of the mean reaches it.
    """
    ends = dict(zip(figures or goal_figures(goals), cell.intervals, strict=True))
    gaps = ((goal, max(map(goal.missed_by, ends[goal.figure]))) for goal in goals)
    return tuple(Missed(goal, gap) for goal, gap in gaps if gap > 0)


def left_open(cell: Cell, goals: Sequence[Goal], figures: Sequence[Figure] | None = None) -> str:
    """Return why a cell that reaches every goal may still miss one; empty if it does not.

    Jobs that had not started count with their wait until the end of the forecast. A goal that they may still
    miss is open, like a wait target of a forecast.
    """
    most = dict(zip(figures or goal_figures(goals), cell.highest, strict=True)) if cell.highest else {}
    for goal in goals:
        if goal.most is not None and most.get(goal.figure, goal.most) > goal.most:
            limit = goal_text(str(goal))
            return f"{limit} is open: jobs that had not started by the end of the forecast decide"
    return ""


def _distance(missed: Sequence[Missed]) -> float:
    """Return how far a cell is from all goals, each relative to its limit, or to 1 for a limit of 0."""
    return sum(
        one.by / (abs(one.goal.most if one.goal.most is not None else one.goal.least or 0) or 1.0)
        for one in missed
    )
