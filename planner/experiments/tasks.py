"""How do experiments reach workers?"""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import transaction

from planner.accounts.models import User
from planner.experiments.models import Experiment, ExperimentGroup
from planner.experiments.services.cells import cell_prepare_forecast
from planner.experiments.services.experiments import experiment_create
from planner.experiments.services.groups import group_measure
from planner.experiments.services.settling import experiments_settle
from planner.forecasts.models import Forecast
from planner.forecasts.tasks import submit_forecast
from planner.scenarios.models import Scenario
from planner.work.kinds import Chore, chore_register, work_register
from planner.work.tasks import notify_workers

MOST_KICKS = 16
"""So many places of workers are called at once for one experiment; others see its groups when they look."""


def register() -> None:
    """Let workers measure groups of cells, and end the experiments whose last group was lost."""
    work_register(ExperimentGroup, group_measure, in_background=True)
    chore_register(Chore(experiments_settle, settings.RUN_SWEEP_SECONDS))


def submit_cell_forecast(*, experiment: Experiment, number: int, user: User | None = None) -> Forecast:
    """Open a cell as a scenario, and queue the forecast that it is; return it."""
    with transaction.atomic():
        ready = cell_prepare_forecast(experiment=experiment, number=number, user=user)
        return submit_forecast(scenario=ready.scenario, trace=ready.trace, options=ready.options, user=user)


def submit_experiment(
    *, scenario: Scenario, written: Mapping[str, Any], user: User | None = None
) -> Experiment:
    """Queue an experiment on the scenario's present revision, and notify a worker for each group."""
    experiment = experiment_create(scenario=scenario, written=written, user=user)
    for _ in range(min(MOST_KICKS, experiment.groups.count())):
        transaction.on_commit(notify_workers)
    return experiment
