"""Backtests of forecasts."""

from django.conf import settings
from django.db import models

from planner.accounts.models.workspace import Identified
from planner.clusters.models.snapshot import Snapshot
from planner.forecasts.models.forecast import Forecast


class Backtest(Identified):
    """A forecast compared with what really happened according to a later snapshot."""

    forecast = models.ForeignKey(Forecast, on_delete=models.CASCADE, related_name="backtests")
    snapshot = models.ForeignKey(Snapshot, null=True, on_delete=models.SET_NULL, related_name="backtests")
    snapshot_name = models.CharField(max_length=253)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="backtests"
    )
    created = models.DateTimeField(auto_now_add=True)
    until_seconds = models.FloatField(
        help_text="The last second for which the real outcome is known, counted from second 0."
    )
    result = models.JSONField(help_text="The result of `planning.forecasts.backtest`.")

    class Meta:
        ordering = ["-created"]
        constraints = [
            models.UniqueConstraint(fields=["forecast", "snapshot"], name="backtest_once_a_snapshot")
        ]

    def __str__(self) -> str:
        return f"{self.forecast_id} beside {self.snapshot_name}"
