"""Creation of experiments over a frozen input."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from django.db import transaction
from django.utils import timezone

from planner.accounts.models import User
from planner.accounts.services.members import role_require
from planner.clusters.models import Blob, Snapshot
from planner.clusters.selectors.usage import quota_require
from planner.errors import Invalid
from planner.experiments.models import Experiment, ExperimentGroup
from planner.experiments.selectors.cells import Cells
from planner.experiments.selectors.experiments import SHARED
from planner.experiments.services.settling import experiment_settle
from planner.experiments.services.workloads import trace_of, with_prices
from planner.rules import row_create
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import (
    Frozen,
    document_of,
    locked_scenario,
    scenario_frozen,
    state_of_snapshot,
)
from planner.scenarios.services.scenarios import scenario_create
from planner.work.lifecycle import work_enqueue_all
from planning.experiments.cells import Grid
from planning.experiments.definition import (
    Definition,
    grid_of,
    name_problems,
    size_problems,
    written_problems,
)
from planning.experiments.outcomes import Entry
from planning.experiments.reuse import KnownCells
from planning.experiments.space import Combination
from planning.rows import Problem
from planning.version import ENGINE_VERSION

GROUPS = 16
"""A small experiment is divided into this many groups, so that several workers can share it."""
LEAST_CELLS = 4
"""The least cells in a group, as each group reads the cluster again."""
MOST_CELLS = {Experiment.Kind.SWEEP: 50, Experiment.Kind.SEARCH: 16}
"""The most cells in a group; fewer for a search, as its first cells may decide it."""
EARLIER = 5
"""The most earlier experiments on the same input in which to look for equal cells."""


@dataclass(frozen=True)
class ExperimentPlan:
    """An experiment to queue, with its frozen scenario and its workload as unsaved documents.

    With `makes_scenario` the scenario itself is unsaved, too.
    """

    scenario: Scenario
    content: Blob
    workload: Blob | None
    written: Mapping[str, Any]
    grid: Grid
    makes_scenario: bool = False


def experiment_create(
    *, scenario: Scenario, written: Mapping[str, Any], user: User | None = None
) -> Experiment:
    """Freeze the scenario's current revision and queue the cells of an experiment on it.

    `written` is the document of `queuecast sweep` and `search`; its `scenario` is ignored. Raises Invalid
    with every problem.
    """
    return experiment_queue(plan=experiment_plan(scenario=scenario, written=written, user=user), user=user)


def experiment_plan(
    *, scenario: Scenario, written: Mapping[str, Any], user: User | None = None
) -> ExperimentPlan:
    """Freeze the scenario's current revision for an experiment; slow, so call it outside transactions.

    Raises RoleTooLow, Gone, and Invalid with every problem.
    """
    role_require(user=user, workspace=scenario.workspace)
    return _valid(*_read(scenario, written, lambda: scenario_frozen(scenario)))


def experiment_plan_on_snapshot(
    *, snapshot: Snapshot, name: str, written: Mapping[str, Any], user: User | None = None
) -> ExperimentPlan:
    """Return an experiment on a new scenario on a snapshot, which `experiment_queue` creates.

    Slow, so call it outside transactions. Raises RoleTooLow, and Invalid with every problem.
    """
    role_require(user=user, workspace=snapshot.workspace)
    scenario = Scenario(workspace=snapshot.workspace, name=name, snapshot=snapshot)

    def frozen() -> Frozen:
        state = state_of_snapshot(snapshot)
        return Frozen(scenario, state, document_of(snapshot, name, state))

    return replace(_valid(*_read(scenario, written, frozen)), makes_scenario=True)


def _valid(plan: ExperimentPlan | None, problems: list[Problem]) -> ExperimentPlan:
    if plan is None or problems:
        raise Invalid(problems)
    return plan


def experiment_problems(*, scenario: Scenario, written: Mapping[str, Any]) -> list[Problem]:
    """Return everything that prevents an experiment, for a form that is incomplete itself."""
    return _read(scenario, written, lambda: scenario_frozen(scenario))[1]


def _read(
    scenario: Scenario, written: Mapping[str, Any], freeze: Callable[[], Frozen]
) -> tuple[ExperimentPlan | None, list[Problem]]:
    """Return the parts of an experiment if they can be read, and every problem."""
    with_scenario = {**written, "scenario": scenario.name or str(scenario.pk)}
    with_scenario.pop("snapshot", None)
    if isinstance(with_scenario.get("forecast"), Mapping):
        with_scenario["forecast"] = with_prices(with_scenario["forecast"], scenario.workspace)
    if problems := written_problems(with_scenario):
        return None, problems
    trace = trace_of(with_scenario, scenario.workspace)
    workload, queues = (None, None) if trace is None else (trace.source, trace.queues)
    present, _, frozen = freeze()
    text = workload.content().decode() if workload else ""
    grid, problems = grid_of(json.loads(frozen), with_scenario, text, queues)
    definition = Definition.of(with_scenario)
    problems += [
        *size_problems(with_scenario, definition, grid),
        *name_problems(grid.document, definition, grid),
    ]
    return ExperimentPlan(present, Blob.of(frozen), workload, with_scenario, grid), problems


@transaction.atomic
def experiment_queue(*, plan: ExperimentPlan, user: User | None = None) -> Experiment:
    """Queue the cells of a planned experiment. Raises QuotaExceeded and Gone."""
    scenario, written, grid = plan.scenario, plan.written, plan.grid
    quota_require(workspace=scenario.workspace)
    if plan.makes_scenario:
        scenario = scenario_create(snapshot=scenario.snapshot, name=scenario.name, owner=user)
    locked_scenario(scenario)
    definition = Definition.of(written)
    cells = list(definition.combinations(written, grid))
    experiment = row_create(
        Experiment(
            workspace=scenario.workspace,
            owner=user,
            scenario=scenario,
            scenario_revision=scenario.revision,
            input=plan.content.keep(),
            workload=plan.workload and plan.workload.keep(),
            name=written["name"],
            kind=definition.kind,
            written=written,
            axes=grid.to_keep(),
            grid_size=grid.size,
            planned=len(cells),
            engine_version=ENGINE_VERSION,
        )
    )
    known = _known(experiment, cells)
    if known:
        _shared_group(experiment, known)
    left = [cell for cell in cells if cell not in known]
    if experiment.kind == Experiment.Kind.SWEEP:
        left = grid.kindred(left)
    groups = [
        ExperimentGroup(
            workspace=scenario.workspace, owner=user, experiment=experiment, number=number, cells=part
        )
        for number, part in enumerate(_parts(left, experiment.kind))
    ]
    work_enqueue_all(kind=ExperimentGroup, rows=groups)
    if known:
        experiment_settle(experiment_id=experiment.pk)
        experiment.refresh_from_db()
    return experiment


def _parts(cells: Sequence[Combination], kind: str) -> Iterator[list[Combination]]:
    size = min(MOST_CELLS[Experiment.Kind(kind)], max(LEAST_CELLS, -(-len(cells) // GROUPS)))
    rest = iter(cells)
    while part := list(islice(rest, size)):
        yield part


def _known(experiment: Experiment, cells: Sequence[Combination]) -> dict[Combination, Entry]:
    """Return the cells that the same engine measured in an earlier experiment on the same input."""
    mine = KnownCells(experiment.written, Cells(experiment, []).space)
    earlier = Experiment.objects.filter(
        workspace=experiment.workspace,
        input=experiment.input_id,
        workload=experiment.workload_id,
        engine_version=ENGINE_VERSION,
    ).exclude(pk=experiment.pk)
    found: dict[Combination, Entry] = {}
    for other in earlier.order_by("-created")[:EARLIER]:
        theirs = Cells(other)
        found |= mine.shared(cells, KnownCells(other.written, theirs.space), theirs.entries)
    return found


def _shared_group(experiment: Experiment, known: Mapping[Combination, Entry]) -> None:
    now = timezone.now()
    ExperimentGroup.objects.create(
        workspace=experiment.workspace,
        owner=experiment.owner,
        experiment=experiment,
        number=SHARED,
        cells=list(known),
        measured=list(known.values()),
        state=ExperimentGroup.State.SUCCEEDED,
        progress=1.0,
        finished=now,
    )


@transaction.atomic
def experiment_delete(*, experiment: Experiment, user: User | None = None) -> None:
    """Delete an experiment with its cells; workers that measure it notice and stop."""
    role_require(user=user, workspace=experiment.workspace)
    experiment.delete()
