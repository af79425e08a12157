"""An experiment in an installation: start it, follow it, compare its cells with separate runs."""

from typing import Any

from planner.experiments.models import Experiment, ExperimentGroup
from planner.experiments.selectors.cells import Cells
from planner.experiments.services.experiments import experiment_create
from planning.experiments.definition import grid_of
from scheduler_core import Options, simulate_document
from tests import factories


def begin_experiment(cells: str) -> str:
    """Begin a sweep of `cells` cells, a multiple of five; return its id."""
    written = {
        **factories.SWEEP,
        "settings": [
            {"queue": "waits", "field": "weight", "range": {"from": 2, "to": int(cells) // 5, "step": 1}},
            {"like": "n0", "range": {"from": 1, "to": 4, "step": 1}, "price": 3},
        ],
        "run": {"cycles": 5},
    }
    document = factories.cluster(nodes=20, waiting=40)
    user = factories.user()
    experiment = experiment_create(scenario=factories.scenario(document=document), written=written, user=user)
    return str(experiment.pk)


def experiment_progress(experiment_id: str) -> dict[str, Any]:
    """Return the state of an experiment, and how many of its cells are measured."""
    experiment = Experiment.objects.get(pk=experiment_id)
    return {"state": experiment.state, "measured": len(Cells(experiment).entries)}


def count_failed_cells(experiment_id: str) -> dict[str, Any]:
    """Return how many cells were lost, duplicated, or differ from the same run alone.

    An unfinished group has lost its unmeasured cells.
    """
    experiment = Experiment.objects.select_related("input").get(pk=experiment_id)
    cells = Cells(experiment)
    grid, _ = grid_of(experiment.input.document(), experiment.written)
    kept = [tuple(cell) for group in cells.groups for cell in group.cells[: len(group.measured)]]
    wrong = 0
    for row in cells.rows:
        alone = simulate_document(grid.changed(cells.order[row.number]), Options(explain=False))
        wrong += repr(list(row.figures.values())) != repr([float(one.of(alone)) for one in cells.figures])
    groups = ExperimentGroup.objects.filter(experiment=experiment)
    return {
        "state": experiment.state,
        "planned": experiment.planned,
        "lost": experiment.planned - len(set(kept)),
        "doubled": len(kept) - len(set(kept)) + sum(len(one.measured) > len(one.cells) for one in groups),
        "wrong": wrong,
        "taken_again": sum(max(one.attempt - 1, 0) for one in groups),
    }
