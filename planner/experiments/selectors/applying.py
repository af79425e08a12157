"""The changes that turn a scenario into a cell of an experiment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.experiments.models import Experiment
from planner.experiments.selectors.cells import CellRow, Cells
from planning.experiments.definition import known_grid
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
    grid = known_grid(experiment.input.document(), experiment.written)
    parts = grid.parts(Cells(experiment, []).order[number])
    conf = parts.pop("scheduler_conf", None)
    objects, removed = {}, {}
    for kind, listed in parts.items():
        present = grid.document.get(kind) or ()
        objects[kind] = [one for one in listed if one not in present]
        staying = {object_key(kind, one) for one in listed}
        removed[kind] = [key for one in present if (key := object_key(kind, one)) not in staying]
    return Applied(objects, removed, None if conf is None else conf_text(conf))


def cell_title(row: CellRow) -> str:
    """Return a short name of a cell by its settings, for its scenario.

    >>> cell_title(CellRow(0, {"a.weight": 4, "actions": None}, 1.0, {}, False, "", ""))
    'a.weight 4'
    """
    return ", ".join(f"{name} {value}" for name, value in row.settings.items() if value is not None)
