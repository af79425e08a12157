"""The known cells of an experiment, in their order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import Any

from planner.experiments.models import Experiment, ExperimentGroup
from planner.experiments.selectors.experiments import VERIFYING, Progress, progress_of
from planning.experiments.cells import front, intervals_written
from planning.experiments.definition import Definition
from planning.experiments.figures import Figure
from planning.experiments.outcomes import Entry, Outcome, outcome_of
from planning.experiments.search import Found
from planning.experiments.space import Combination, Space

State = ExperimentGroup.State


@dataclass(frozen=True)
class CellRow:
    """A cell for display: its number in the experiment, settings, price and figures by name.

    An unlimited amount is None; `figures` is empty if `error` says why there is no outcome. `front` says
    that the cell is on the Pareto front, `refused` why it is not proposed although it reaches every goal.
    `intervals` has `low` and `high`, the ends of the 95 % interval of each figure; it is empty without seeds.
    """

    number: int
    settings: Mapping[str, Any]
    price: float
    figures: Mapping[str, float | None]
    front: bool
    error: str
    refused: str
    intervals: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)


class Cells:
    """The known cells of an experiment; its groups are read once."""

    def __init__(self, experiment: Experiment, groups: Sequence[ExperimentGroup] | None = None) -> None:
        self.experiment = experiment
        every = list(experiment.groups.all()) if groups is None else list(groups)
        self.groups = [group for group in every if group.number != VERIFYING]
        self.verifying = next((group for group in every if group.number == VERIFYING), None)
        self.space = Space.kept(experiment.axes)
        self.definition = Definition.of(experiment.written)

    @property
    def progress(self) -> Progress:
        """Return the progress of the experiment."""
        return progress_of(self.experiment, [*self.groups, *filter(None, [self.verifying])])

    @property
    def figures(self) -> Sequence[Figure]:
        """Return the measured figures."""
        return self.definition.figures

    @cached_property
    def order(self) -> list[Combination]:
        """Return all planned cells in order; numbers count from 0."""
        return list(self.definition.combinations(self.experiment.written, self.space))

    @cached_property
    def entries(self) -> dict[Combination, Entry]:
        """Return the known entry of each cell."""
        known: dict[Combination, Entry] = {}
        for group in self.groups:
            for number, cell in enumerate(group.cells):
                if number < len(group.measured):
                    known[tuple(cell)] = group.measured[number]
                elif group.state == State.FAILED:
                    known[tuple(cell)] = {"error": group.error}
        return known

    @cached_property
    def outcomes(self) -> list[tuple[int, Outcome]]:
        """Return the known outcomes with their numbers."""
        return [
            (number, outcome_of(self.space, cell, self.entries[cell]))
            for number, cell in enumerate(self.order)
            if cell in self.entries
        ]

    @property
    def cheapest(self) -> list[Outcome]:
        """Return the outcomes of the first cells, up to the first unknown one."""
        known = takewhile(lambda cell: cell in self.entries, self.order)
        return [outcome_of(self.space, cell, self.entries[cell]) for cell in known]

    @cached_property
    def rows(self) -> list[CellRow]:
        """Return the known cells for display, by number."""
        best = {cell.combination for cell in front([one.cell for _, one in self.outcomes], self.directions)}
        return [
            self._row(number, outcome, outcome.cell.combination in best) for number, outcome in self.outcomes
        ]

    @property
    def directions(self) -> Sequence[int]:
        """Return the better direction of each figure: 1 less, -1 more, 0 none."""
        return self.definition.directions

    def row(self, number: int) -> CellRow | None:
        """Return a cell by its number, None if unknown."""
        return next((row for row in self.rows if row.number == number), None)

    def verdict_row(self) -> CellRow | None:
        """Return the cell that a search proposes, or the closest one; None without any."""
        number = self.experiment.verdict.get("cell")
        return None if number is None else self.row(number)

    def _row(self, number: int, outcome: Outcome, is_best: bool) -> CellRow:
        names = [axis.name for axis in self.space.axes]
        values = [None if value == float("inf") else value for value in outcome.cell.figures]
        return CellRow(
            number=number,
            settings=dict(zip(names, self.space.values(outcome.cell.combination), strict=True)),
            price=outcome.cell.price,
            figures=dict(zip(map(str, self.figures), values, strict=True)) if values else {},
            front=is_best,
            error=outcome.cell.error,
            refused=outcome.refused,
            intervals=intervals_written(outcome.cell, self.figures),
        )


def verdict_written(
    cells: Cells, found: Found, bounds: Sequence[str], verification: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the result of a search as it is stored and shown; without seeds it has no verification."""
    number = None if found.cell is None else cells.order.index(found.cell.combination)
    return {
        "status": found.status,
        "cell": number,
        "tried": len(found.tried),
        "grid_size": found.grid_size,
        "refused": found.refused,
        "failed": found.failed,
        "missed": [{"goal": str(missed.goal), "by": missed.by} for missed in found.missed],
        "at_the_end": list(bounds),
        "verification": verification,
    }
