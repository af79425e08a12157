"""The changes that turn a scenario into a cell of an experiment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.experiments.models import Experiment
from planner.experiments.selectors.cells import CellRow, Cells
from planning.experiments.cells import Grid
from planning.experiments.definition import grid_of
from planning.experiments.forecast_cells import Alone, ForecastGrid
from planning.search import conf_text


@dataclass(frozen=True)
class Applied:
    """The objects that a cell changes or adds, by list, and its configuration as text; None: unchanged."""

    objects: Mapping[str, list[Any]]
    conf: str | None


def applied(experiment: Experiment, number: int) -> Applied:
    """Return the changes of a cell."""
    grid = _grid(experiment)
    parts = grid.parts(Cells(experiment, []).order[number])
    conf = parts.pop("scheduler_conf", None)
    objects = {
        kind: [one for one in listed if one not in (grid.document.get(kind) or ())]
        for kind, listed in parts.items()
    }
    return Applied(objects, None if conf is None else conf_text(conf))


def alone_forecast(experiment: Experiment, number: int) -> tuple[Alone, int | None]:
    """Return the forecast of a cell under its first seed, and that seed; None: the trace itself."""
    grid, combination = _grid(experiment), Cells(experiment, []).order[number]
    assert isinstance(grid, ForecastGrid), "its cells are forecasts"
    seed = grid.seeds(combination)[0]
    return grid.alone(combination, seed), seed


def _grid(experiment: Experiment) -> Grid:
    workload = experiment.workload.content().decode() if experiment.workload else ""
    return grid_of(experiment.input.document(), experiment.written, workload)[0]


def cell_title(row: CellRow) -> str:
    """Return a short name of a cell by its settings, for its scenario.

    >>> cell_title(CellRow(0, {"a.weight": 4, "actions": None}, 1.0, {}, False, "", ""))
    'a.weight 4'
    """
    return ", ".join(f"{name} {value}" for name, value in row.settings.items() if value is not None)
