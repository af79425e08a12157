"""How do forecasts reach a worker?"""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from planner.accounts.models import User
from planner.forecasts.models import Forecast, WorkloadTrace
from planner.forecasts.services.forecasts import forecast_create
from planner.forecasts.services.replays import forecast_replay
from planner.scenarios.models import Scenario
from planner.work.kinds import work_register
from planner.work.tasks import notify_workers


def register() -> None:
    """Let workers replay forecasts."""
    work_register(Forecast, forecast_replay)


def submit_forecast(
    *,
    scenario: Scenario,
    trace: WorkloadTrace,
    options: Mapping[str, Any] | None = None,
    user: User | None = None,
) -> Forecast:
    """Queue a forecast of the scenario's present revision under a trace, and notify a worker."""
    forecast = forecast_create(scenario=scenario, trace=trace, options=options, user=user)
    transaction.on_commit(notify_workers)
    return forecast
