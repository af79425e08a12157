"""The workload and options of one cell of an experiment, to forecast it alone."""

import json
from collections.abc import Mapping
from typing import Any

from planning.experiments.definition import known_grid
from planning.experiments.forecast_cells import ForecastGrid

Json = Mapping[str, Any]


def alone_cell(content: bytes, _options: Json) -> tuple[bytes, Json]:
    """Return the workload of a cell under its first seed, with `seed` and the `options` of the forecast.

    The content is JSON: `scenario`, `workload` as text and `written` of the experiment, and the `combination`
    of the cell. The seed is None for the trace itself.
    """
    given = json.loads(content)
    grid = known_grid(given["scenario"], given["written"], given["workload"])
    assert isinstance(grid, ForecastGrid), "its cells are forecasts"
    combination = tuple(given["combination"])
    seed = grid.seeds(combination)[0]
    alone = grid.alone(combination, seed)
    return alone.workload.encode(), {"seed": seed, "options": alone.options}
