"""Prices of a workspace, and the costs of a forecast."""

from planner.accounts.models import Workspace
from planner.forecasts.models import Forecast, NodePrices
from planner.forecasts.selectors.forecasts import record_of
from planning.forecasts.costs import Costs, Prices, costs


def prices_of(workspace: Workspace) -> Prices | None:
    """Return the prices of a workspace's nodes; None without prices (1 query)."""
    kept = NodePrices.objects.filter(workspace=workspace).first()
    return None if kept is None else Prices(kept.pools, kept.resources, kept.currency)


def costs_of_both(before: Forecast, after: Forecast, prices: Prices | None) -> tuple[Costs, Costs] | None:
    """Return the costs of two succeeded forecasts by the same prices.

    None without prices, and for forecasts that do not cover the same time.
    """
    first, second = record_of(before), record_of(after)
    if prices is None or first.end != second.end:
        return None
    return costs(first, prices), costs(second, prices)


def costs_of(forecast: Forecast) -> Costs | None:
    """Return the costs of a succeeded forecast; None if its workspace has no prices (2 queries)."""
    prices = prices_of(forecast.workspace)
    return None if prices is None else costs(record_of(forecast), prices)
