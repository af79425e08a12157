"""Cells of an experiment: the figures of a cluster at each selected combination of settings.

Each cell is a run here, a forecast in `planning.experiments.forecast_cells`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from planning.experiments.figures import PARTS_OF_1, Figure
from planning.experiments.levels import Setting
from planning.experiments.openings import Openings
from planning.experiments.settings import changes
from planning.experiments.space import Combination, Space
from planning.forecasts.seeds import interval
from scheduler_core import Options, Prepared, Reuse, prepare

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """One combination and its outcome.

    Attributes
    ----------
    combination : tuple of int
        The level of each setting.
    price : float
        The price of the change.
    figures : tuple of float
        The measured figures, in their order; empty when the simulation gave an error.
    error : str
        Why there is no outcome, empty when there is one.
    over : tuple of tuple of float
        The figures under each seed, of which `figures` are the means; empty where no seed draws the work.
    highest : tuple of float
        The upper bound of each figure, in case jobs that had not started by the end of a forecast never do;
        empty: the figures themselves.
    highest_over : tuple of tuple of float
        The same under each seed, of which `highest` are the means; empty: `over`.

    """

    combination: Combination
    price: float
    figures: tuple[float, ...]
    error: str = ""
    over: tuple[tuple[float, ...], ...] = ()
    highest: tuple[float, ...] = ()
    highest_over: tuple[tuple[float, ...], ...] = ()

    @cached_property
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """Return the ends of the 95 % interval of each mean; with fewer than two seeds the figure itself."""
        if len(self.over) < 2:
            return tuple((value, value) for value in self.figures)
        found = (interval(values, least=0.0) for values in zip(*self.over, strict=True))
        return tuple((float(one.low or 0.0), float(one.high or 0.0)) for one in found)


def intervals_written(cell: Cell, figures: Sequence[Figure]) -> dict[str, dict[str, float | None]]:
    """Return the 95 % intervals of a cell, `low` and `high` by figure; empty without seeds.

    An end is None where there is none, and a utilisation and a fairness end at 1.
    """
    if not cell.over:
        return {}
    written = {}
    for figure, (low, high) in zip(figures, cell.intervals, strict=True):
        highest = min(high, 1.0) if figure.kind in PARTS_OF_1 else high
        written[str(figure)] = {
            name: end if isfinite(end) else None for name, end in (("low", low), ("high", highest))
        }
    return written


class Grid(Space):
    """The settings of an experiment and its cluster, of which each combination can be simulated.

    Parameters
    ----------
    document : mapping
        The scenario, with its configuration as a structure; `cycles` is how long each cell is simulated.
    settings : sequence of Setting
        The settings that vary.

    Raises
    ------
    UnusableSetting
        If the cluster lacks the object of a setting.

    """

    def __init__(self, document: Json, settings: Sequence[Setting]) -> None:
        super().__init__(Space.of(document, settings).axes)
        self.document, self.settings = document, tuple(settings)
        self._openings = Openings(document, self.settings)
        self._known: dict[tuple[str, tuple[Figure, ...]], tuple[tuple[float, ...], str]] = {}
        self._reuse = Reuse()

    @cached_property
    def _prepared(self) -> Prepared:
        return prepare(self.document)

    def kindred(self, combinations: Iterable[Combination]) -> list[Combination]:
        """Return combinations in an order in which consecutive ones share work."""
        return list(combinations)

    def parts(self, combination: Combination) -> dict[str, Any]:
        """Return the changed parts of the document at a combination, whole lists by name."""
        return changes(self.document, self.settings, self.chosen(combination))

    def changed(self, combination: Combination) -> dict[str, Any]:
        """Return the whole document at a combination."""
        return {**self.document, **self.parts(combination)}

    def cell(self, combination: Combination, figures: Sequence[Figure]) -> Cell:
        """Simulate a combination; the figures are those that a run of the changed document has."""
        parts, price = self.parts(combination), self.price(combination)
        key = self._openings.key(combination, parts), tuple(figures)
        if key not in self._known or not key[0]:
            self._known[key] = self._measured(parts, figures)
        measured, error = self._known[key]
        return Cell(combination, price, measured, error)

    def _measured(self, parts: Json, figures: Sequence[Figure]) -> tuple[tuple[float, ...], str]:
        """Return the figures of a simulation, and its error."""
        shows = frozenset[str]().union(*(figure.reads for figure in figures))
        options = Options(explain=False, reuse=self._reuse, shows=shows)
        result = self._prepared.simulate(parts, options)
        error = str(result.get("error") or "")
        return () if error else tuple(float(figure.of(result)) for figure in figures), error


def front(cells: Sequence[Cell], directions: Sequence[int]) -> list[Cell]:
    """Return the Pareto front: cells that no other cell dominates.

    Parameters
    ----------
    cells : sequence of Cell
        Measured cells; those with an error are left out.
    directions : sequence of int
        For each figure 1 if less is better, -1 if more is better, 0 if it does not count; the price counts
        as one more figure of which less is better.

    Examples
    --------
    >>> two = [Cell((0,), 0.0, (3.0,)), Cell((1,), 1.0, (3.0,))]
    >>> [cell.combination for cell in front(two, [1])]
    [(0,)]

    """
    measured = [cell for cell in cells if not cell.error]
    if not measured:
        return []
    # An unlimited figure that does not count has no product with 0.
    costs = np.array(
        [
            [cell.price, *(way * value for way, value in zip(directions, cell.figures, strict=True) if way)]
            for cell in measured
        ]
    )
    kept = []
    for place, cell in enumerate(measured):
        no_worse = (costs <= costs[place]).all(axis=1)
        better = (costs < costs[place]).any(axis=1)
        if not (no_worse & better).any():
            kept.append(cell)
    return kept
