"""Backtests of the forecasts of a cluster."""

from django.db.models import Q, QuerySet

from planner.clusters.models import Snapshot
from planner.forecasts.models import Backtest, Forecast


def backtests_beside(forecast: Forecast) -> QuerySet[Backtest]:
    """Return the backtests of a forecast and of all others of its cluster, newest first (1 query)."""
    cluster = forecast.scenario.snapshot.cluster_id
    same = Q(forecast=forecast)
    if cluster is not None:
        same |= Q(forecast__scenario__snapshot__cluster=cluster, forecast__scenario__removed=None)
    return Backtest.objects.filter(same, forecast__workspace=forecast.workspace_id).select_related("forecast")


def later_snapshots(forecast: Forecast, limit: int = 50) -> QuerySet[Snapshot]:
    """Return the other snapshots of a forecast's cluster, otherwise of its workspace, newest first."""
    own = forecast.scenario.snapshot
    others = Snapshot.objects.filter(workspace=forecast.workspace_id).exclude(pk=own.pk)
    if own.cluster_id is not None:
        others = others.filter(cluster=own.cluster_id)
    return others.defer("queues", "problems").order_by("-created")[:limit]
