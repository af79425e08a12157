"""Creation of a scenario, and of a forecast, from a cell of an experiment.

Each is planned first, which is slow, and then stored in one transaction.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from planner.accounts.models import User
from planner.accounts.services.members import role_require
from planner.clusters.models import Blob
from planner.errors import Invalid
from planner.experiments.models import Experiment
from planner.experiments.selectors.applying import applied, cell_title
from planner.experiments.selectors.cells import Cells
from planner.forecasts.models import Forecast, WorkloadTrace
from planner.forecasts.services.forecasts import ForecastPlan, forecast_queue, options_require
from planner.forecasts.services.traces import TraceRead, trace_create, trace_of_stored
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import Frozen, document_of, state_at
from planner.scenarios.services.branches import scenario_branch
from planner.scenarios.services.documents import Wanted, state_edited
from planner.scenarios.services.history import edits_make
from planner.work.awaited import IN_PROCESS_BYTES, Cost, computed
from planning.experiments.alone import alone_cell
from planning.experiments.space import Combination
from planning.forecasts.options import DEFAULTS
from planning.rows import Problem
from planning.states import Edit, State

_NAME = "Drawing the workload of the cell"
_COST = Cost("experiment.too_costly", "cell", "Use a trace with fewer jobs.")


@dataclass(frozen=True)
class CellPlan:
    """A branch to create for a cell of an experiment."""

    experiment: Experiment
    name: str
    edits: Sequence[Edit]
    """What the cell changes in the experiment's scenario at its revision."""
    state: State
    """The state of the branch."""


@dataclass(frozen=True)
class CellForecastPlan:
    """A forecast to queue for a cell, with the frozen scenario and the workload as unsaved documents."""

    cell: CellPlan
    content: Blob
    options: Mapping[str, Any]
    trace: WorkloadTrace | None
    """The stored trace with the workload, None if there is none."""
    trace_name: str
    read: TraceRead | None
    """The workload to store, None if it is stored."""


def cell_plan(*, experiment: Experiment, number: int, name: str = "", user: User | None = None) -> CellPlan:
    """Return the branch for a cell; slow, so call it outside transactions.

    Raises RoleTooLow, and Invalid for an unknown cell or an impossible change.
    """
    role_require(user=user, workspace=experiment.workspace)
    row = Cells(experiment).row(number)
    if row is None:
        message = f"Cell {number} does not exist or is not measured yet."
        raise _refused(number, message, "Choose the number of a measured cell.")
    change = applied(experiment, number)
    called = (name or f"{experiment.name}: {cell_title(row)}")[:253]
    wanted = Wanted(change.objects, change.removed, change.conf)
    state = state_at(experiment.scenario, experiment.scenario_revision)
    edits = state_edited(scenario=experiment.scenario, state=state, wanted=wanted)
    return CellPlan(experiment, called, edits, state)


@transaction.atomic
def cell_open(*, plan: CellPlan, user: User | None = None) -> Scenario:
    """Create a branch of the experiment's scenario at its revision, with the settings of a cell as edits.

    Raises RoleTooLow and Gone.
    """
    experiment = plan.experiment
    branch = scenario_branch(
        scenario=experiment.scenario, name=plan.name, revision=experiment.scenario_revision, user=user
    )
    edits_make(scenario=branch, edits=plan.edits, user=user)
    branch.refresh_from_db()
    return branch


def cell_forecast_plan(*, experiment: Experiment, number: int, user: User | None = None) -> CellForecastPlan:
    """Return the forecast of a cell; slow, so call it outside transactions.

    The workload of its first seed is stored as a trace, unless there is a trace with the same text.

    Raises RoleTooLow, Busy, and Invalid for a cell that is a run and for an unknown cell.
    """
    cell = cell_plan(experiment=experiment, number=number, user=user)
    if not experiment.is_of_forecasts:
        message = "The cells of this experiment are runs."
        raise _refused(number, message, "Open the cell, and run the scenario.")
    source, seed, options = _drawn(experiment, number)
    drawn = f"{experiment.name}{'' if seed is None else f', seed {seed}'}"
    trace = WorkloadTrace.objects.filter(workspace=experiment.workspace, source=source.pk).first()
    read = None
    if trace is None:
        read = trace_of_stored(source=source, provenance=f"experiment {drawn}"[:500])
        trace_queues = read.facts.queues
    else:
        trace_queues = trace.queues
    frozen = _frozen(cell)
    options_require(options=options, trace_queues=trace_queues, frozen=frozen)
    return CellForecastPlan(cell, Blob.of(frozen.document), options, trace, drawn[:253], read)


@transaction.atomic
def cell_forecast(*, plan: CellForecastPlan, user: User | None = None) -> Forecast:
    """Create the scenario of a cell and queue its forecast. Raises as `cell_open` and `forecast_queue` do."""
    scenario = cell_open(plan=plan.cell, user=user)
    trace = plan.trace
    if plan.read is not None:
        trace = trace_create(workspace=scenario.workspace, name=plan.trace_name, read=plan.read, user=user)
    assert trace is not None, "a workload that is not stored was read"
    return forecast_queue(plan=ForecastPlan(scenario, plan.content, trace, plan.options), user=user)


def _drawn(experiment: Experiment, number: int) -> tuple[Blob, int | None, Mapping[str, Any]]:
    """Return the workload of a cell under its first seed, that seed, and the options of its forecast."""
    large = sum(blob.size for blob in (experiment.input, experiment.workload) if blob) > IN_PROCESS_BYTES
    content = _content(experiment, Cells(experiment, []).order[number])
    with computed(alone_cell, content, {}, name=_NAME, cost=_COST, is_large=large) as (text, found):
        return Blob.of(text.read()), found["seed"], {**DEFAULTS, **found["options"]}


def _content(experiment: Experiment, combination: Combination) -> Iterator[bytes]:
    """Yield the JSON that `alone_cell` reads."""
    workload = experiment.workload.content().decode() if experiment.workload else ""
    rest = {"workload": workload, "written": experiment.written, "combination": combination}
    yield b'{"scenario":'
    yield from experiment.input.pieces()
    yield b"," + json.dumps(rest).encode()[1:]


def _frozen(cell: CellPlan) -> Frozen:
    """Return the branch of a cell as it will be, with its document."""
    scenario = cell.experiment.scenario
    return Frozen(scenario, cell.state, document_of(scenario.snapshot, cell.name, cell.state))


def _refused(number: int, message: str, fix: str) -> Invalid:
    return Invalid([Problem("experiment.cell", "error", message, path="cell", actual=number, fix=fix)])
