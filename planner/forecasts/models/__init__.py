"""The models of workload traces and forecasts."""

from planner.forecasts.models.backtest import Backtest
from planner.forecasts.models.forecast import Forecast, ForecastPart
from planner.forecasts.models.prices import NodePrices
from planner.forecasts.models.target import WaitTarget
from planner.forecasts.models.trace import WorkloadTrace

__all__ = ["Backtest", "Forecast", "ForecastPart", "NodePrices", "WaitTarget", "WorkloadTrace"]
