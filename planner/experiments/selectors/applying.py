"""The changes that turn a scenario into a cell of an experiment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.experiments.models import Experiment
from planner.experiments.selectors.cells import CellRow, Cells
from planning.experiments.cells import Grid
from planning.experiments.definition import known_grid
from planning.experiments.forecast_cells import Alone, ForecastGrid
from planning.search import conf_text
from planning.states import object_key


@dataclass(frozen=True)
class Applied:
    """The objects that a cell changes or adds, by list, and the keys of those that it removes.

    `conf` is its configuration as text, None if it is unchanged.
    """

    objects: Mapping[str, list[Any]]
    removed: Mapping[str, list[str]]
    conf: str | None


def applied(experiment: Experiment, number: int) -> Applied:
    """Return the changes of a cell."""
    grid = _grid(experiment)
    parts = grid.parts(Cells(experiment, []).order[number])
    conf = parts.pop("scheduler_conf", None)
    objects, removed = {}, {}
    for kind, listed in parts.items():
        present = grid.document.get(kind) or ()
        objects[kind] = [one for one in listed if one not in present]
        staying = {object_key(kind, one) for one in listed}
        removed[kind] = [key for one in present if (key := object_key(kind, one)) not in staying]
    return Applied(objects, removed, None if conf is None else conf_text(conf))


def alone_forecast(experiment: Experiment, number: int) -> tuple[Alone, int | None]:
    """Return the forecast of a cell under its first seed, and that seed; None: the trace itself."""
    grid, combination = _grid(experiment), Cells(experiment, []).order[number]
    assert isinstance(grid, ForecastGrid), "its cells are forecasts"
    seed = grid.seeds(combination)[0]
    return grid.alone(combination, seed), seed


def _grid(experiment: Experiment) -> Grid:
    workload = experiment.workload.content().decode() if experiment.workload else ""
    return known_grid(experiment.input.document(), experiment.written, workload)


def cell_title(row: CellRow) -> str:
    """Return a short name of a cell by its settings, for its scenario.

    >>> cell_title(CellRow(0, {"a.weight": 4, "actions": None}, 1.0, {}, False, "", ""))
    'a.weight 4'
    """
    return ", ".join(f"{name} {value}" for name, value in row.settings.items() if value is not None)
