"""Registers forecasts as work for the workers."""

from planner.forecasts.models import Forecast
from planner.forecasts.services.replays import forecast_replay
from planner.work.kinds import work_register


def register() -> None:
    """Let workers replay forecasts."""
    work_register(Forecast, forecast_replay)
