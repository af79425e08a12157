"""Stored outcomes of cells, and the decision of a search.

An entry is the stored form of one cell: the list of its figures, null for an amount without limit;
``{"error": …}`` where there is no outcome; else ``{"figures": …}`` with ``refused`` where every goal is
reached by a change that cannot be proposed, and ``over`` with the figures under each seed.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from planning.experiments.cells import Cell, Grid
from planning.experiments.definition import Definition
from planning.experiments.forecast_cells import ForecastGrid
from planning.experiments.search import Found, closest, left_open, missed_goals
from planning.experiments.space import Combination, Space
from planning.experiments.verification import verified
from planning.rows import new_problems
from scheduler_core import Problem
from scheduler_core.lint import review

Entry = list[float | None] | dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """A cell, and why it is not proposed although it reaches every goal; empty otherwise.

    The webhook would refuse its change, or jobs that had not started leave a goal open.
    """

    cell: Cell
    refused: str = ""


class Measurer:
    """Measures cells of a grid one after the other, and returns their entries."""

    def __init__(self, grid: Grid, definition: Definition) -> None:
        self.grid, self.definition = grid, definition

    def entry(self, combination: Combination) -> Entry:
        """Simulate a combination and return its entry."""
        cell = self.grid.cell(combination, self.definition.figures)
        if cell.error:
            return {"error": cell.error}
        figures = _finite(cell.figures)
        more: dict[str, Any] = {"over": [_finite(one) for one in cell.over]} if cell.over else {}
        if why := self.refused(cell):
            more["refused"] = why
        return {"figures": figures, **more} if more else figures

    def verification(self, combination: Combination) -> dict[str, Any]:
        """Forecast a proposal under unseen seeds; return the verification to store."""
        assert isinstance(self.grid, ForecastGrid), "runs have no seeds"
        figures, unseen = self.definition.figures, self.grid.work.unseen
        cell = self.grid.over(combination, figures, unseen)
        return verified(cell, self.definition.goals, figures, len(unseen)).to_keep(figures)

    def refused(self, cell: Cell) -> str:
        """Return why a cell that reaches every goal is not proposed, empty if it is or misses a goal."""
        goals, figures = self.definition.goals, self.definition.figures
        if not goals or missed_goals(cell, goals, figures):
            return ""
        return left_open(cell, goals, figures) or self._new_error(cell.combination)

    def _new_error(self, combination: Combination) -> str:
        """Return why the webhook would reject a change, or which error is new; empty if none."""
        after = self.grid.changed(combination)
        new = new_problems(self._problems, review(after))
        return next((one.message for one in new if one.severity == "error"), "")

    @cached_property
    def _problems(self) -> Sequence[Problem]:
        """Return the problems of the scenario without a change."""
        return review(self.grid.document)


def _finite(figures: Sequence[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in figures]


def outcome_of(space: Space, combination: Combination, entry: Entry) -> Outcome:
    """Return the outcome of an entry."""
    price = space.price(combination)
    if isinstance(entry, Mapping) and "error" in entry:
        return Outcome(Cell(combination, price, (), entry["error"]))
    row: Mapping[str, Any] = entry if isinstance(entry, Mapping) else {"figures": entry}
    figures, *over = (
        tuple(math.inf if value is None else value for value in listed)
        for listed in (row["figures"], *row.get("over", ()))
    )
    return Outcome(Cell(combination, price, figures, over=tuple(over)), row.get("refused", ""))


def decided(
    outcomes: Sequence[Outcome], definition: Definition, space: Space, *, is_over: bool
) -> Found | None:
    """Return the result of a search by the outcomes of its cheapest cells, in order; None: not decided.

    `is_over` says that there are no further cells.
    """
    tried: list[Cell] = []
    for outcome in outcomes:
        cell = outcome.cell
        tried.append(cell)
        if (
            not cell.error
            and not outcome.refused
            and not missed_goals(cell, definition.goals, definition.figures)
        ):
            return Found("found", cell, (), tuple(tried), space.size)
    if not is_over:
        return None
    possible = [outcome.cell for outcome in outcomes if not outcome.refused]
    return closest(tried, possible, definition.goals, space.size, definition.figures)
