"""Creation of a scenario, and of a forecast, from a cell of an experiment."""

from django.db import transaction

from planner.accounts.models import User
from planner.accounts.services.members import role_require
from planner.clusters.models import Blob
from planner.errors import Invalid
from planner.experiments.models import Experiment
from planner.experiments.selectors.applying import alone_forecast, applied, cell_title
from planner.experiments.selectors.cells import CellRow, Cells
from planner.forecasts.models import Forecast, WorkloadTrace
from planner.forecasts.services.forecasts import forecast_create
from planner.forecasts.services.traces import trace_create, trace_of_text
from planner.scenarios.models import Scenario
from planner.scenarios.services.branches import scenario_branch
from planner.scenarios.services.documents import Wanted, document_update
from planning.rows import Problem


def cell_open(*, experiment: Experiment, number: int, name: str = "", user: User | None = None) -> Scenario:
    """Create a branch of the experiment's scenario at its revision, with the settings of a cell as edits.

    Raises RoleTooLow, and Invalid for an unknown cell or an impossible change.
    """
    role_require(user=user, workspace=experiment.workspace)
    row = _row(experiment, number)
    change = applied(experiment, number)
    called = (name or f"{experiment.name}: {cell_title(row)}")[:253]
    with transaction.atomic():
        branch = scenario_branch(
            scenario=experiment.scenario, name=called, revision=experiment.scenario_revision, user=user
        )
        if change.objects or change.conf is not None:
            document_update(
                scenario=branch,
                wanted=Wanted(objects=change.objects, removed=change.removed, conf=change.conf),
                expected_revision=branch.revision,
                user=user,
            )
        branch.refresh_from_db()
    return branch


@transaction.atomic
def cell_forecast(*, experiment: Experiment, number: int, user: User | None = None) -> Forecast:
    """Create the scenario of a cell and queue its forecast.

    The workload of its first seed is stored as a trace, unless there is a trace with the same text.

    Raises RoleTooLow, and Invalid for a cell that is a run and for an unknown cell.
    """
    role_require(user=user, workspace=experiment.workspace)
    _row(experiment, number)
    if not experiment.is_of_forecasts:
        message, fix = "The cells of this experiment are runs.", "Open the cell, and run the scenario."
        raise Invalid([Problem("experiment.cell", "error", message, path="cell", actual=number, fix=fix)])
    alone, seed = alone_forecast(experiment, number)
    scenario = cell_open(experiment=experiment, number=number, user=user)
    source = Blob.of(alone.workload.encode())
    trace = WorkloadTrace.objects.filter(workspace=experiment.workspace, source=source.pk).first()
    if trace is None:
        drawn = "" if seed is None else f", seed {seed}"
        trace = trace_create(
            workspace=experiment.workspace,
            name=f"{experiment.name}{drawn}"[:253],
            read=trace_of_text(text=alone.workload, provenance=f"experiment {experiment.name}{drawn}"[:500]),
            user=user,
        )
    return forecast_create(scenario=scenario, trace=trace, options=alone.options, user=user)


def _row(experiment: Experiment, number: int) -> CellRow:
    row = Cells(experiment).row(number)
    if row is None:
        message = f"Cell {number} does not exist or is not measured yet."
        fix = "Choose the number of a measured cell."
        raise Invalid([Problem("experiment.cell", "error", message, path="cell", actual=number, fix=fix)])
    return row
